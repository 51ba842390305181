"""Parquet: row groups are the parts, and only the needed columns are decoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.corpus.batches import BATCH_BYTES, BATCH_ROWS, EMPTY, Batches, File, from_columns
from neardup.corpus.errors import CorpusError, brief
from neardup.corpus.fields import Fields, Wish, choose
from neardup.corpus.limits import Limits
from neardup.corpus.parts import PART_BYTES, FilePart

_MOST_ROWS = 1 << 48
#: Rows decoded at once: a page that a dictionary repeats for every row must not fill the memory.
STEP_ROWS = 256
#: What pyarrow raises when a file's bytes are wrong.
BROKEN = (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError)


def open_parquet(path: str) -> pq.ParquetFile:
    """Buffered and without read-ahead: memory holds pages of a column, not whole row groups."""
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)


@dataclass(frozen=True)
class RowGroup:
    """A row group: its number, its first row in the file, its rows and its bytes, unpacked."""

    number: int
    first: int
    rows: int
    bytes: int


def chunk_sizes(source: pq.ParquetFile, number: int, columns: list[str] | None) -> dict[str, int]:
    """The unpacked size of each column of a row group, or an error of `BROKEN`.

    pyarrow 26 aborts the process when the metadata of a column is asked for and is damaged, but
    only raises when the column is read: so a row is read first.
    """
    next(source.iter_batches(1, [number], columns, use_threads=False), None)
    group = source.metadata.row_group(number)
    paths = [source.schema.column(i).path for i in range(group.num_columns)]
    wanted = [i for i, path in enumerate(paths) if columns is None or path in columns]
    return {paths[i]: int(group.column(i).total_uncompressed_size) for i in wanted}


@dataclass(frozen=True)
class ParquetPart(FilePart):
    """One row group, or a few small ones."""

    fields: Fields
    groups: tuple[RowGroup, ...]
    rows: int  #: of the whole file

    @property
    def range(self) -> str:
        return f"{self.groups[0].number}-{self.groups[-1].number}"

    @property
    def size(self) -> int:
        return self.file.size * sum(group.rows for group in self.groups) // max(self.rows, 1)

    @property
    def meaning(self) -> str:
        return f"{self.fields} {self.limits}"

    def read(self) -> Batches:
        try:
            source = open_parquet(self.file.path)
        except BROKEN as error:
            yield EMPTY, [self.file.skip(self.groups[0].first, "unreadable", brief(error))]
            return
        with source:
            for group in self.groups:
                yield from self._read_group(source, group)

    def _read_group(self, source: pq.ParquetFile, group: RowGroup) -> Batches:
        row = group.first
        if self.limits.is_bomb(group.bytes, self.file.size * 50):
            yield EMPTY, [self.file.skip(row, "decompression bomb", f"row group {group.number}")]
            return
        columns = self.fields.columns
        try:
            for batch in gathered(
                source.iter_batches(STEP_ROWS, [group.number], columns, use_threads=False)
            ):
                at = np.arange(row, row + batch.num_rows, dtype=np.int64)
                values = {name: batch.column(name) for name in columns}
                yield from from_columns(self.file, self.fields, values, at, at.copy, self.limits)
                row += batch.num_rows
        except BROKEN as error:
            end = group.first + group.rows
            detail = f"rows {row} to {end} of row group {group.number}: {brief(error)}"
            yield EMPTY, [self.file.skip(row, "unreadable", detail)]


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small batches put together until they are worth the work on a batch.

    What was gathered before an error is given out before it is raised.
    """
    held: list[pa.RecordBatch] = []
    broken: Exception | None = None
    while broken is None:
        try:
            batch = next(batches, None)
        except BROKEN as error:
            batch, broken = None, error
        if batch is not None:
            held.append(_unfolded(batch))
        size = sum(one.nbytes for one in held)
        if held and (batch is None or size >= BATCH_BYTES or len(held) * STEP_ROWS >= BATCH_ROWS):
            yield pa.concat_batches(held) if len(held) > 1 else held[0]
            held = []
        if batch is None and broken is None:
            return
    raise broken


def _unfolded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Dictionaries written out, so that the size of a batch is what it will take."""
    columns = {
        name: column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    return pa.RecordBatch.from_pydict(columns)


def parquet_parts(file: File, wish: Wish, limits: Limits) -> Iterator[ParquetPart]:
    """Row groups in order, small ones together until there is enough work for a part."""
    try:
        with open_parquet(file.path) as source:
            metadata, schema = source.metadata, source.schema_arrow
    except BROKEN as error:
        raise CorpusError(f"{file.name}: cannot be read as Parquet: {brief(error)}") from None
    fields = choose(schema.names, wish, file.name)
    check_types(schema, fields, file.name)
    groups = list(_row_groups(metadata, file.name))
    rows = sum(group.rows for group in groups)
    gathered: list[RowGroup] = []
    for group in groups:
        if gathered and sum(g.bytes for g in gathered) + group.bytes > PART_BYTES:
            yield ParquetPart(file, limits, fields, tuple(gathered), rows)
            gathered = []
        gathered.append(group)
    if gathered:
        yield ParquetPart(file, limits, fields, tuple(gathered), rows)


def _row_groups(metadata: pq.FileMetaData, where: str) -> Iterator[RowGroup]:
    first = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if not 0 <= group.num_rows < _MOST_ROWS:
            raise CorpusError(f"{where}: cannot be read as Parquet: {group.num_rows} rows")
        yield RowGroup(number, first, group.num_rows, max(group.total_byte_size, 0))
        first += group.num_rows


def check_types(schema: pa.Schema, fields: Fields, where: str) -> None:
    """Refuse a column that cannot be what it is taken for, before any work is done."""
    for name in fields.columns:
        if schema.get_field_index(name) < 0:
            raise CorpusError(f"{where}: there are several columns named {name!r}")
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        holds_text = pa.types.is_null(kind) or any(
            check(kind)
            for check in (
                pa.types.is_string,
                pa.types.is_large_string,
                pa.types.is_string_view,
                pa.types.is_binary,
                pa.types.is_large_binary,
                pa.types.is_binary_view,
            )
        )
        if name == fields.content and not holds_text:
            raise CorpusError(f"{where}: column {name!r} is {kind}, not text")
        if pa.types.is_nested(kind):
            raise CorpusError(f"{where}: column {name!r} is {kind}, not a single value")
