"""A plain C loop for simhash (benchmarks/c/simhash.c), compiled by gcc for this machine."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.corpus import CACHE

PACKAGE = ""
SOURCE = Path(__file__).resolve().parent.parent / "c" / "simhash.c"
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
NOTES = {"simhash": "gcc " + " ".join(FLAGS[:2])}
ALONE = 0x80000000
#: scripts written without spaces, by the start of their characters' names
SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def library() -> ctypes.CDLL:
    """The compiled loop, cached by its source."""
    digest = hashlib.blake2b(SOURCE.read_bytes() + repr(FLAGS).encode(), digest_size=6).hexdigest()
    built = CACHE / "c" / f"simhash-{digest}.so"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", *FLAGS, str(SOURCE), "-o", str(built)], check=True)
    return ctypes.CDLL(str(built))


def table() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """For every code point: 0, or the folded character, marked where it stands alone."""
    path = CACHE / "c" / f"unicode-{unicodedata.unidata_version}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.array([_entry(code) for code in range(0x110000)], np.uint32))
    return np.load(path)


def _entry(code: int) -> int:
    character = chr(code)
    if unicodedata.category(character)[0] not in "LNM":
        return 0
    lower = character.lower()
    folded = ord(lower) if len(lower) == 1 else code
    alone = unicodedata.name(character, "").startswith(SPACELESS)
    return folded | ALONE if alone else folded


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits of folded word 3-grams, straight from Arrow's buffers."""
    run, words = library().simhash, table()
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset :]
    out = np.empty(len(texts), np.uint64)
    pointer = ctypes.c_void_p

    def call() -> Any:
        run(
            pointer(data.address),
            pointer(starts.ctypes.data),
            ctypes.c_int64(len(texts)),
            pointer(words.ctypes.data),
            pointer(out.ctypes.data),
        )
        return out

    return call
