"""neardup itself, through its public names."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

import neardup
from neardup import schemas
from neardup.extract import Extract, scan

PACKAGE = "neardup"


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits of word 3-grams, weighted by their count."""
    spec = neardup.Simhash(bits=64, features="words:3", weights="tf")
    return lambda: spec.batch(texts)


def minhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """128 values of word 5-grams."""
    spec = neardup.MinHash(permutations=128, features="words:5")
    return lambda: spec.batch(texts)


def job(path: Path, threads: int, work: Path) -> dict[str, Any]:
    """Parquet to verified clusters: every removed document was compared with the kept one."""
    result = neardup.deduplicate(neardup.open_corpus(path), recipe="text", threads=threads)
    return {"removed": result.summary.removed, "stages": result.summary.stages}


def html(pages: pa.Array, threads: int) -> Callable[[], Any]:
    """Visible text, title and links of batches of pages, on a pool of threads."""
    batches = [_pages(pages.slice(at, 64)) for at in range(0, len(pages), 64)]
    spec = Extract()

    def run() -> list[Any]:
        with ThreadPoolExecutor(threads) as pool:
            scans = pool.map(lambda batch: scan(batch, spec), batches)
            return [None for found in scans for _ in range(found.documents.num_rows)]

    return run


def _pages(html: pa.Array) -> pa.RecordBatch:
    """The pages as a reader of the corpus room hands them on."""
    given = {
        "id": pa.array([str(number) for number in range(len(html))]),
        "file": pa.array([0] * len(html), pa.int32()),
        "position": pa.array(range(len(html)), pa.int64()),
        "html": html.cast(pa.binary()),
    }
    columns = [given.get(f.name, pa.nulls(len(html), f.type)) for f in schemas.PAGES]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.PAGES)
