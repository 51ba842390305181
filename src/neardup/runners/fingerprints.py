"""Fingerprints of a whole corpus, batch by batch."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.corpus import Corpus
from neardup.extract import Extract, extract
from neardup.features.tokens import token_counts
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.kernels import strings
from neardup.specs import Spec, SpecError, parse


def fingerprints(corpus: Corpus, spec: str | Spec, content: Extract) -> Iterator[pa.RecordBatch]:
    """id, url and fingerprint (big-endian bytes, null for a page without words) of every page."""
    chosen = parse(spec, Spec) if isinstance(spec, str) else spec
    if not isinstance(chosen, Simhash | MinHash | Exact):
        raise SpecError(f"{chosen} is not a fingerprint; use Simhash, MinHash or Exact")
    return _batches(corpus, chosen, content)


def _batches(
    corpus: Corpus, spec: Simhash | MinHash | Exact, content: Extract
) -> Iterator[pa.RecordBatch]:
    for pages in corpus:
        texts = strings(extract(pages, content)["text"])
        values: npt.NDArray[Any] = np.asarray(spec.batch(texts))
        values = values.reshape(len(texts), -1)
        values = values.astype(values.dtype.newbyteorder(">"))
        empty = token_counts(texts, getattr(spec, "features", "words:1")) == 0
        rows = [None if none else row.tobytes() for none, row in zip(empty, values, strict=True)]
        width = values.shape[1] * values.dtype.itemsize
        columns = {
            "id": pages["id"],
            "url": pages["url"],
            "fingerprint": pa.array(rows, pa.binary(width)),
        }
        metadata = {"neardup.spec": str(spec), "neardup.digest": spec.digest}
        yield pa.record_batch(columns).replace_schema_metadata(metadata)


def save(batches: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write beside and rename, so that no half file is left."""
    beside = path.with_name(path.name + ".partial")
    rows = iter(batches)
    first = next(rows, None)
    try:
        schema = first.schema if first is not None else pa.schema({"id": pa.string()})
        with pq.ParquetWriter(beside, schema) as writer:
            for batch in itertools.chain([first] if first is not None else [], rows):
                writer.write_batch(batch)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
