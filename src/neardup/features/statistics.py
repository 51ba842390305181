"""Statistics: in how many documents each feature occurs (df), the table behind tf-idf."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.features.shingles import shingles
from neardup.features.specs import Features
from neardup.kernels import I64, U64, Int, kernel
from neardup.specs import SpecError

_FORMAT = "neardup statistics 1"
_SCHEMA = pa.schema(
    [pa.field("feature", pa.uint64(), nullable=False), pa.field("df", pa.int64(), nullable=False)]
)


@kernel
def look_up(keys: U64, key: np.uint64) -> Int:
    """The place of `key` in sorted `keys`, or their number when it is not there."""
    low, high = np.int64(0), np.int64(len(keys))
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else len(keys)


@dataclass(frozen=True, eq=False)
class Statistics:
    """`df[i]` of `documents` documents have the feature with the hash `keys[i]` (sorted)."""

    features: str
    documents: int
    keys: U64
    df: I64

    @classmethod
    def build(cls, texts: Any, features: str | Features = "words:1") -> Statistics:
        """Count the texts, or batches of texts one after the other."""
        features = str(Features.of(features))
        total = cls(features, 0, np.empty(0, np.uint64), np.empty(0, np.int64))
        waiting: list[Statistics] = []
        for batch in _batches(texts):
            values, ends = shingles(batch, features)
            keys, df = np.unique(values, return_counts=True)
            waiting.append(cls(features, len(ends) - 1, keys, df.astype(np.int64)))
            # merging only when as much waits as is there keeps the work n log n
            if sum(len(part.keys) for part in waiting) > len(total.keys):
                total, waiting = total.merge(*waiting), []
        return total.merge(*waiting)

    def merge(self, *others: Statistics) -> Statistics:
        """The statistics of all their documents together."""
        parts = [self, *others]
        if any(part.features != self.features for part in parts):
            kinds = " and ".join(sorted({part.features for part in parts}))
            raise SpecError(f"cannot merge statistics of {kinds}")
        keys, where = np.unique(np.concatenate([p.keys for p in parts]), return_inverse=True)
        df = np.zeros(len(keys), np.int64)
        np.add.at(df, where, np.concatenate([p.df for p in parts]))
        return Statistics(self.features, sum(p.documents for p in parts), keys, df)

    def idf(self) -> npt.NDArray[np.float64]:
        """ln((N + 1) / (df + 1)) of every key, and last that of a feature never seen."""
        return np.log((self.documents + 1) / (np.append(self.df, 0) + 1))

    @cached_property
    def digest(self) -> str:
        """16 hex digits that name this table in a spec."""
        digest = hashlib.blake2b(f"{_FORMAT} {self.features} {self.documents}".encode())
        digest.update(self.keys.tobytes())
        digest.update(self.df.tobytes())
        return digest.hexdigest()[:16]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an Arrow file; it appears under its name only when it is whole."""
        about = {"format": _FORMAT, "features": self.features, "documents": str(self.documents)}
        batch = pa.record_batch([self.keys, self.df], schema=_SCHEMA.with_metadata(about))
        beside = Path(f"{os.fspath(path)}.part")
        with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
        beside.replace(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Statistics:
        """Read what `save` wrote, checking every claim of the file."""
        try:
            with pa.OSFile(os.fspath(path), "rb") as source, pa.ipc.open_file(source) as reader:
                table = reader.read_all()
            table.validate(full=True)
            about = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
            if about.get("format") != _FORMAT or not table.schema.equals(_SCHEMA):
                raise SpecError(f"not a table of {_FORMAT}")
            keys, df = (np.asarray(column.to_numpy()) for column in table.columns)
            statistics = cls(str(Features.of(about["features"])), int(about["documents"]), keys, df)
            statistics._check()
        except (pa.ArrowException, KeyError, ValueError) as error:
            raise SpecError(f"cannot read statistics from {os.fspath(path)}: {error}") from None
        return statistics

    def _check(self) -> None:
        if (self.keys[1:] <= self.keys[:-1]).any():
            raise SpecError("the features are not sorted")
        if len(self.df) and not (self.df.min() >= 1 and self.df.max() <= self.documents):
            raise SpecError(f"a df outside 1 .. {self.documents}")


def _batches(texts: Any) -> Iterable[Any]:
    """Texts as they are; an iterable of anything but str as batches."""
    if isinstance(texts, pa.Array) or hasattr(texts, "dtype"):
        return [texts]
    if isinstance(texts, pa.ChunkedArray):
        return list(texts.chunks)
    texts = list(texts) if not hasattr(texts, "__next__") else texts
    if isinstance(texts, list) and all(text is None or isinstance(text, str) for text in texts):
        return [texts]
    return (batch for batch in texts)
