"""FastSketchLSH (C++): its similarity sketch in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from FastSketchLSH import FastSimilaritySketch

from benchmarks.tools.shingles import words5

PACKAGE = "FastSketchLSH"
NOTES = {"minhash": "shingles made in Python, as FastSketchLSH takes tokens"}


def minhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """A sketch of 128 of word 5-grams."""
    strings = texts.to_pylist()
    sketch = FastSimilaritySketch(128, 1)

    def run() -> list[Any]:
        for at in range(0, len(strings), 1000):
            tokens = [list(words5(text)) for text in strings[at : at + 1000]]
            sketch.batch(tokens, num_threads=threads)
        return strings

    return run
