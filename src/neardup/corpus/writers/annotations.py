"""`annotations.parquet`: the decisions about records that have no columns to add to."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.corpus.batches import BATCH_ROWS
from neardup.corpus.writers.decisions import ADDED, Decisions
from neardup.corpus.writers.staging import Staging

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("file", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("cluster", pa.string()),
        pa.field("cluster_size", pa.int64()),
        pa.field("kept", pa.bool_()),
    ]
)


class Annotations:
    """One row a page of a WARC or an HTML tree, written as they come."""

    def __init__(self, staging: Staging, wanted: bool) -> None:
        self.staging = staging
        self.wanted = wanted
        self.writer: pq.ParquetWriter | None = None
        self.rows: list[dict[str, object]] = []

    def add(self, id: str, file: str, decisions: Decisions, row: int) -> None:
        """The decision in row `row`, if annotation was asked for."""
        if not self.wanted:
            return
        position = int(decisions.positions[row])
        values = {name: decisions.columns[name][row].as_py() for name in ADDED}
        self.rows.append({"id": id, "file": file, "position": position, **values})
        if len(self.rows) >= 16 * BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self.writer is None:
            self.writer = pq.ParquetWriter(self.staging.path("annotations.parquet"), SCHEMA)
        self.writer.write_table(pa.Table.from_pylist(self.rows, SCHEMA))
        self.rows = []

    def __enter__(self) -> Annotations:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.rows and kind is None:
            self._flush()
        if self.writer is not None:
            self.writer.close()
