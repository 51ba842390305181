"""datasketch (numpy) with xxhash in place of SHA-1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from datasketch import MinHash, MinHashLSH

from benchmarks.tools.shingles import words5

PACKAGE = "datasketch"
NOTES = {"job": "two threads asked, one used: datasketch has no threads"}


def _sets(texts: list[str]) -> list[list[bytes]]:
    return [[shingle.encode() for shingle in words5(text)] for text in texts]


def minhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """128 permutations of word 5-grams, hashed with xxh32."""
    strings = texts.to_pylist()
    return lambda: MinHash.bulk(_sets(strings), num_perm=128, hashfunc=xxhash.xxh32_intdigest)


def job(path: Path, threads: int, work: Path) -> dict[str, Any]:
    """Index as we go, query before inserting: a document with an earlier match is removed."""
    index = MinHashLSH(threshold=0.8, num_perm=128)
    removed = number = 0
    for batch in pq.ParquetFile(path).iter_batches(1000, columns=["text"]):
        sets = _sets(batch["text"].to_pylist())
        for sketch in MinHash.bulk(sets, num_perm=128, hashfunc=xxhash.xxh32_intdigest):
            if index.query(sketch):
                removed += 1
            else:
                index.insert(number, sketch, check_duplication=False)
            number += 1
    return {"removed": removed}
