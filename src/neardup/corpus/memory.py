"""Texts and tables that are in memory already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.corpus.batches import BATCH_ROWS, Batches, File, from_columns
from neardup.corpus.errors import CorpusError
from neardup.corpus.fields import Fields, Wish, choose
from neardup.corpus.limits import Limits
from neardup.corpus.parquet import STEP_ROWS, check_types, gathered
from neardup.corpus.parts import Part

MEMORY = File(0, "memory", "", "memory")


@dataclass(frozen=True)
class MemoryPart(Part):
    """Some rows of a table; a row without an id is called by its number."""

    table: pa.Table
    first: int
    fields: Fields
    limits: Limits

    @property
    def name(self) -> str:
        return f"memory [{self.first}-{self.first + self.table.num_rows}]"

    @property
    def files(self) -> Sequence[int]:
        return [0]

    @property
    def size(self) -> int:
        return int(self.table.nbytes)

    @property
    def identity(self) -> str:
        return f"{self.name} {self.size} {self.fields}"

    def read(self) -> Batches:
        row = self.first
        for batch in gathered(iter(self.table.select(self.fields.columns).to_batches(STEP_ROWS))):
            at = np.arange(row, row + batch.num_rows, dtype=np.int64)
            columns = {name: batch.column(name) for name in self.fields.columns}
            yield from from_columns(MEMORY, self.fields, columns, at, at.copy, self.limits)
            row += batch.num_rows


def memory_parts(table: pa.Table, wish: Wish, limits: Limits) -> Iterator[MemoryPart]:
    """Parts of as many rows as make a good piece of work."""
    fields = choose(table.column_names, wish, "the table")
    check_types(table.schema, fields, "the table")
    step = 16 * BATCH_ROWS
    for first in range(0, table.num_rows, step):
        yield MemoryPart(table.slice(first, step), first, fields, limits)


def as_table(source: Any) -> pa.Table | None:
    """What is in memory as a table, or None when the source is something else.

    Texts become the column `text`. pandas is known by its methods and never imported.
    """
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _texts(source)
    if hasattr(source, "to_numpy") and hasattr(source, "index"):
        if hasattr(source, "columns"):
            return pa.Table.from_pandas(source, preserve_index=False)
        return _texts(pa.Array.from_pandas(source))
    return None


def as_texts(texts: Sequence[str]) -> pa.Table:
    """A list of str as a table; a str with lone surrogates cannot be UTF-8 and is refused."""
    try:
        return _texts(pa.array(texts, pa.large_string()))
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise CorpusError(f"the list of texts cannot be read: {error}") from None


def _texts(array: Any) -> pa.Table:
    return pa.table({"text": array})
