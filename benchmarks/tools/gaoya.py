"""gaoya (Rust): its bulk calls, which tokenise and hash without Python in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from gaoya.minhash import MinHashStringIndex
from gaoya.simhash import SimHashStringIndex

PACKAGE = "gaoya"


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits of lower-cased word 3-grams, signatures only."""
    strings = texts.to_pylist()
    index = SimHashStringIndex(64, 6, 5, "word", True, (3, 3)).index
    return lambda: index.par_bulk_doc2signatures(strings)


def minhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """128 hashes of 32 bits of lower-cased word 5-grams, signatures only."""
    strings = texts.to_pylist()
    index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5)).minhash_index
    return lambda: index.bulk_hash_docs(strings)


def job(path: Path, threads: int, work: Path) -> dict[str, Any]:
    """Insert every document, query every document, keep the first of each group."""
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    index = MinHashStringIndex(
        32, 0.8, None, None, 128, "word", True, (5, 5), id_container="smallvec"
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    removed: set[int] = set()
    for number, found in enumerate(index.par_bulk_query(texts)):
        if number not in removed:
            removed.update(other for other in found if other > number)
    return {"removed": len(removed)}
