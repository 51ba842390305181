"""kept.parquet: all columns, in the schema and codec of the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.corpus.batches import File
from neardup.corpus.errors import CorpusError, brief
from neardup.corpus.opening import Corpus
from neardup.corpus.parquet import BROKEN, STEP_ROWS, chunk_sizes, open_parquet
from neardup.corpus.writers.ahead import ahead
from neardup.corpus.writers.annotations import Annotations
from neardup.corpus.writers.decisions import Decisions, free_names
from neardup.corpus.writers.staging import Staging

#: About how many bytes are gathered for a row group.
_GROUP = 32 << 20
_TYPES = (pa.string(), pa.int64(), pa.bool_())


def write_parquet(
    corpus: Corpus,
    files: list[File],
    compression: str,
    decisions: Callable[[int], Decisions],
    staging: Staging,
    annotations: Annotations,
    threads: int,
) -> None:
    """One output for all files of one schema; a further schema gets kept-2.parquet."""
    groups: list[tuple[pa.Schema, list[File]]] = []
    for file in files:
        with open_parquet(file.path) as source:
            schema = source.schema_arrow
        same = next((members for known, members in groups if known.equals(schema)), None)
        if same is None:
            groups.append((schema, [file]))
        else:
            same.append(file)
    for schema, members in groups:
        with open_parquet(members[0].path) as source:
            options = _options(source)
        path = staging.path(staging.free("kept", ".parquet"))
        schema = _annotated(schema) if annotations.wanted else schema
        with pq.ParquetWriter(path, schema, **options) as writer:
            for file in members:
                batches = _selected(file, decisions(file.index))
                _write_all(writer, ahead(batches) if threads > 1 else batches, schema)


def write_table(table: pa.Table, decisions: Decisions, staging: Staging) -> None:
    """The kept rows of a table in memory, as kept.parquet."""
    schema = _annotated(table.schema) if decisions.annotate else table.schema
    with pq.ParquetWriter(staging.path("kept.parquet"), schema) as writer:
        row = 0
        for batch in table.to_batches():
            _write_all(writer, iter([_select(batch, row, decisions)]), schema)
            row += batch.num_rows


def _annotated(schema: pa.Schema) -> pa.Schema:
    for name, kind in zip(free_names(set(schema.names)), _TYPES, strict=True):
        schema = schema.append(pa.field(name, kind))
    return schema


def _options(source: pq.ParquetFile) -> dict[str, object]:
    """The codec of the input; no dictionaries for columns of long values, where they only cost."""
    if not source.metadata.num_row_groups:
        return {}
    try:
        sizes = chunk_sizes(source, 0, None)
    except BROKEN:  # its rows will be missed where they are copied
        return {}
    group = source.metadata.row_group(0)
    codecs = {}
    for i, path in enumerate(sizes):
        codec = group.column(i).compression.lower()
        codecs[path] = "none" if codec == "uncompressed" else codec
    short = [path for path, size in sizes.items() if size < 64 * max(group.num_rows, 1)]
    return {"compression": codecs, "use_dictionary": short or False}


def _selected(file: File, decisions: Decisions) -> Iterator[pa.RecordBatch]:
    """The rows of a file that are to be written."""
    row = 0
    with open_parquet(file.path) as source:
        for number in range(source.metadata.num_row_groups):
            group = source.metadata.row_group(number)
            start, end = row, row + group.num_rows
            try:
                for batch in source.iter_batches(STEP_ROWS, [number], use_threads=False):
                    yield _select(batch, row, decisions)
                    row += batch.num_rows
            except BROKEN as error:
                lost = decisions.kept_in(row, end)
                if lost:
                    raise CorpusError(
                        f"{file.name}: {lost} kept rows of row group {number} cannot "
                        f"be copied, from row {row - start} of it on: {brief(error)}"
                    ) from None
            row = end


def _select(batch: pa.RecordBatch, row: int, decisions: Decisions) -> pa.RecordBatch:
    positions = np.arange(row, row + batch.num_rows, dtype=np.int64)
    if not decisions.annotate:
        wanted = decisions.wanted(positions)
        return batch if wanted.all() else batch.filter(pa.array(wanted))
    columns = decisions.annotations(positions)
    names = free_names(set(batch.schema.names))
    for name, column in zip(names, columns, strict=True):
        batch = batch.append_column(name, column)
    return batch


def _write_all(
    writer: pq.ParquetWriter, batches: Iterator[pa.RecordBatch], schema: pa.Schema
) -> None:
    """Batches gathered into row groups of a good size."""
    gathered: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        gathered.append(batch)
        size += batch.nbytes
        if size >= _GROUP:
            writer.write_table(pa.Table.from_batches(gathered, gathered[0].schema).cast(schema))
            gathered, size = [], 0
    if sum(batch.num_rows for batch in gathered):
        writer.write_table(pa.Table.from_batches(gathered, gathered[0].schema).cast(schema))
