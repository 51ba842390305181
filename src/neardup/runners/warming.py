"""Compile what comes after reading in a second process, while the first one compiles reading.

Numba compiles under one lock a process, so on a new machine two processes take half the time; they
meet in the cache folder. `python -m neardup.runners.warming` is the second process: the whole job
on a few plain texts, which uses every kernel but those for HTML.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pyarrow as pa

from neardup.kernels import cache_folder
from neardup.runners.deduplicate import deduplicate


def is_cold() -> bool:
    """Whether no kernel of this version was compiled on this machine yet."""
    return not any(cache_folder().glob("*/*.nbc"))


def warm() -> None:
    """Start the second process and leave it alone; it ends by itself."""
    if len(os.sched_getaffinity(0)) < 2:
        return
    with contextlib.suppress(OSError):  # no second process: all is compiled in the first
        subprocess.Popen(
            [sys.executable, "-m", "neardup.runners.warming"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _main() -> None:
    menu = "a menu of many words that stands on every page of this one site"
    own = [" ".join(f"word{30 * n + i}" for i in range(80)) for n in range(16)]
    texts = [f"{menu}\n{text}" for text in [*own, own[0]]]  # a template is found and left out
    urls = [f"http://example.org/{n}" for n in range(len(texts))]
    deduplicate(pa.table({"id": urls, "url": urls, "text": texts}), "web", threads=1)


if __name__ == "__main__":
    _main()
