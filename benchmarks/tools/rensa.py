"""rensa (Rust): plain RMinHash in its bulk form; the `_rho` path samples 15 tokens, so not that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from rensa import RMinHash

from benchmarks.tools.shingles import words5

PACKAGE = "rensa"
NOTES = {"minhash": "shingles made in Python, as rensa takes tokens"}


def minhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """128 permutations of word 5-grams."""
    strings = texts.to_pylist()

    def run() -> list[Any]:
        for at in range(0, len(strings), 1000):
            RMinHash.digest_matrix_from_token_sets(
                [list(words5(text)) for text in strings[at : at + 1000]], 128, 1
            )
        return strings

    return run
