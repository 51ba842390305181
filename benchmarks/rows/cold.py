"""Cold start: the first run on a new machine, the second, and what --help costs."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.corpus import CACHE
from benchmarks.measure import ROOT
from benchmarks.row import Check, Row, at_most

PAGES = ROOT / "examples" / "web"
TRIES = 5


def run(size: str) -> Row:
    """`neardup dedup` with an empty cache, again with the filled one, then the light calls."""
    CACHE.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="cold-", dir=CACHE))
    try:
        dedup = ["-m", "neardup", "dedup", str(PAGES), "-o", str(folder / "out"), "--overwrite"]
        shutil.copytree(ROOT / "src", folder / "src")  # an edit would empty the cache
        first = timed(dedup, folder)
        second = min(timed(dedup, folder) for _ in range(3))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    light = {
        "import neardup": ["-c", "import neardup"],
        "neardup --help": ["-m", "neardup", "--help"],
        "neardup dedup --help": ["-m", "neardup", "dedup", "--help"],
    }
    row = Row("cold", "Cold start", "s")
    row.checks = [
        at_most("compiling in the first dedup (first - second)", first[0] - second[0], 15, "s"),
        at_most("second dedup, whole run of a small corpus", second[0], 2, "s"),
    ]
    measured = {"first dedup": first[0], "second dedup": second[0]}
    row.facts = [
        f"On the processor: first dedup {first[1]:.2f} s, second {second[1]:.2f} s, "
        "beside a second process that compiles the rest meanwhile."
    ]
    for name, arguments in light.items():
        measured[name] = min(timed(arguments, ROOT)[0] for _ in range(TRIES))
        row.checks.append(at_most(name, measured[name], 0.3, "s"))
    row.checks.append(loaded())
    row.records = [
        {"row": "cold", "tool": name, "unit": "s", "value": value}
        for name, value in measured.items()
    ]
    return row


def timed(arguments: list[str], home: Path) -> tuple[float, float]:
    """One run of the interpreter, from nothing to its exit: by the clock, and on the processor."""
    path = str(home / "src")
    environment = {**os.environ, "NEARDUP_CACHE": str(home / ".cache"), "PYTHONPATH": path}
    begin, before = time.perf_counter(), _children()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return time.perf_counter() - begin, _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def loaded() -> Check:
    """The heavy packages that --help imports: none."""
    heavy = ("numpy", "pyarrow", "numba")
    code = (
        "import sys, neardup\nfrom neardup.cli import main\n"
        "sys.argv = ['neardup', 'dedup', '--help']\ntry:\n main()\nexcept SystemExit:\n pass\n"
        f"print('|', *[m for m in {heavy!r} if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    found = done.stdout.rpartition("|")[2].split()
    return Check("heavy packages imported by --help", "none", ", ".join(found) or "none", not found)
