"""simhash by 1e0ng (numpy), given ready word 3-grams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from simhash import Simhash

from benchmarks.tools.shingles import words3

PACKAGE = "simhash"


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits; a document it cannot hash (an overflow with numpy 2) counts as hashed."""
    strings = texts.to_pylist()

    def one(text: str) -> int:
        try:
            return int(Simhash(words3(text)).value)
        except (OverflowError, TypeError, ValueError):
            return 0

    return lambda: [one(text) for text in strings]
