"""Columns or single pages -> PAGES batches; rows that cannot be pages -> skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.corpus.errors import Skipped, printable
from neardup.corpus.fields import Fields, numbers, timestamps
from neardup.corpus.limits import Limits
from neardup.kernels import I64
from neardup.schemas import PAGES

BATCH_BYTES = 4 << 20
BATCH_ROWS = 4096

Bad = dict[int, tuple[str, str | None]]  #: why a row is no page
Batches = Iterator[tuple[pa.RecordBatch, list[Skipped]]]


@dataclass(frozen=True)
class File:
    """One file of a corpus: its number, where it is, and what it is called in ids."""

    index: int
    path: str
    label: str
    format: str
    compression: str = ""
    size: int = 0
    changed: int = 0

    @property
    def name(self) -> str:
        return printable(self.path)

    def skip(
        self, offset: int, reason: str, detail: str | None = None, id: str | None = None
    ) -> Skipped:
        return Skipped(self.name, offset, id, reason, detail)


EMPTY = pa.RecordBatch.from_pylist([], schema=PAGES)


class Rows:
    """Pages collected one by one, given out as batches of about 4 MB."""

    def __init__(self) -> None:
        self.skipped: list[Skipped] = []
        self._clear()

    def _clear(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.bytes = 0

    def add(
        self,
        file: File,
        position: int,
        id: str,
        *,
        html: bytes | None = None,
        text: str | bytes | None = None,
        url: str | None = None,
        charset: str | None = None,
        date: datetime | None = None,
    ) -> None:
        self.rows.append((id, url, file.index, position, html, charset, text, date, None))
        self.bytes += len(html or text or b"")

    @property
    def full(self) -> bool:
        return (
            self.bytes >= BATCH_BYTES
            or len(self.rows) >= BATCH_ROWS
            or len(self.skipped) >= BATCH_ROWS
        )

    def take(self) -> tuple[pa.RecordBatch, list[Skipped]]:
        """What was collected, and start anew."""
        columns = zip(*self.rows, strict=True) if self.rows else [() for _ in PAGES]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, PAGES, strict=True)]
        skipped, self.skipped = self.skipped, []
        self._clear()
        return pa.RecordBatch.from_arrays(arrays, schema=PAGES), skipped


def from_columns(
    file: File,
    fields: Fields,
    table: Mapping[str, pa.Array],
    positions: I64,
    rows: Callable[[], I64],
    limits: Limits,
) -> Batches:
    """Pages of whole columns. `rows` numbers the records; asked only when one has no id."""
    bad: Bad = {}
    content = _content(table[fields.content], fields.is_html, limits, bad)
    n = len(content)
    html, charset = pa.nulls(n, pa.binary()), pa.nulls(n, pa.string())
    if fields.is_html:
        html, charset = content, _charset(table[fields.content].type, n)
    elif fields.spare and fields.spare in table:
        html, charset = _instead(table[fields.spare], limits, bad)
    ids = _ids(table[fields.id] if fields.id else pa.nulls(n, pa.string()), file, rows)
    columns = {
        "id": ids,
        "url": _readable(table[fields.url]) if fields.url else pa.nulls(n, pa.string()),
        "file": pa.array(np.full(n, file.index, np.int32)),
        "position": pa.array(positions),
        "html": html,
        "charset": charset,
        "text": pa.nulls(n, pa.string()) if fields.is_html else content,
        "date": _dates(table[fields.date]) if fields.date else pa.nulls(n, pa.timestamp("us")),
        "value": numbers(table[fields.value]) if fields.value else pa.nulls(n, pa.float64()),
    }
    skipped = [file.skip(int(positions[row]), *bad[row], ids[row].as_py()) for row in sorted(bad)]
    batch = pa.RecordBatch.from_arrays([columns[name] for name in PAGES.names], schema=PAGES)
    if bad:
        good = np.ones(n, bool)
        good[list(bad)] = False
        batch = batch.filter(pa.array(good))
    first, *rest = _split(batch)
    yield first, skipped
    for piece in rest:
        yield piece, []


def _instead(values: pa.Array, limits: Limits, bad: Bad) -> tuple[pa.Array, pa.Array]:
    """HTML and charset of the rows that have no text but HTML; they are no longer in `bad`."""
    wrong: Bad = {}
    html = _content(values, True, limits, wrong)
    wanted = np.zeros(len(values), bool)
    for row in [row for row, (reason, _) in bad.items() if reason == "no text"]:
        if row in wrong:
            bad[row] = wrong[row]
        else:
            del bad[row]
            wanted[row] = True
    mask = pa.array(wanted)
    charset = _charset(values.type, len(values))
    return tuple(pc.if_else(mask, c, pa.scalar(None, c.type)) for c in (html, charset))


def _content(values: pa.Array, is_html: bool, limits: Limits, bad: Bad) -> pa.Array:
    """The content column as PAGES wants it; rows that cannot be pages are noted in `bad`."""
    plain = _decoded(values)
    if not _is_bytes(plain.type):
        for row in range(len(plain)):
            bad[row] = ("no text", f"a value of type {plain.type}")
        return pa.nulls(len(plain), pa.binary() if is_html else pa.string())
    for row in np.flatnonzero(plain.is_null().to_numpy(zero_copy_only=False)).tolist():
        bad[row] = ("no text", None)
    long = pc.fill_null(pc.greater(pc.binary_length(plain), limits.max_page), False)
    if pc.any(long).as_py():
        for row in np.flatnonzero(long.to_numpy(zero_copy_only=False)).tolist():
            bad[row] = ("too large", f"{len(plain[row].as_buffer())} bytes")
        plain = pc.if_else(long, pa.scalar(None, plain.type), plain)
    if is_html:
        return plain.cast(pa.binary())
    text, wrong = as_utf8(plain)
    for row in wrong:
        bad[row] = ("undecodable", "not UTF-8")
    return text


def _decoded(values: pa.Array) -> pa.Array:
    """Without dictionary or view encoding, which few functions know."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_string_view(values.type):
        return values.cast(pa.large_binary())
    if pa.types.is_binary_view(values.type):
        return values.cast(pa.large_binary())
    return values


def _charset(kind: pa.DataType, n: int) -> pa.Array:
    """A column of strings is UTF-8, whatever the page says of the bytes it once was."""
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    if any(is_kind(kind) for is_kind in binary):
        return pa.nulls(n, pa.string())
    return pa.repeat(pa.scalar("utf-8"), n)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def as_utf8(values: pa.Array) -> tuple[pa.Array, list[int]]:
    """Strings or bytes as `string`; rows that are not UTF-8 are null, and listed.

    Parquet and JSON hand out invalid UTF-8 without a word, so nothing is taken on trust.
    """
    try:
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            values.validate(full=True)  # a cast from large_string does not check
        return values.cast(pa.string()), []  # a cast from binary does
    except pa.ArrowInvalid:
        pass
    wrong: list[int] = []
    texts: list[str | None] = []
    for row, item in enumerate(values.cast(pa.large_binary()).to_pylist()):
        try:
            texts.append(None if item is None else item.decode())
        except UnicodeDecodeError:
            texts.append(None)
            wrong.append(row)
    return pa.array(texts, pa.string()), wrong


def _readable(values: pa.Array) -> pa.Array:
    """Any simple column as valid strings; what cannot be one is null."""
    plain = _decoded(values)
    if _is_bytes(plain.type):
        return as_utf8(plain)[0]
    try:
        return plain.cast(pa.string())
    except (pa.ArrowException, ValueError):
        return pa.nulls(len(plain), pa.string())


def _dates(values: pa.Array) -> pa.Array:
    plain = _decoded(values)
    return timestamps(as_utf8(plain)[0] if _is_bytes(plain.type) else plain)


def _ids(values: pa.Array, file: File, rows: Callable[[], I64]) -> pa.Array:
    """The ids; where there is none, the file's label and the row number."""
    ids = _readable(values)
    if ids.null_count:
        made = pa.array([f"{file.label}:{row}" if file.label else str(row) for row in rows()])
        ids = pc.coalesce(ids, made)
    return ids


def _split(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Slices of about `BATCH_BYTES` of content and at most `BATCH_ROWS` rows."""
    lengths = sum(
        pc.fill_null(pc.binary_length(batch.column(name)), 0).to_numpy(zero_copy_only=False)
        for name in ("html", "text")
    )
    if len(lengths) <= BATCH_ROWS and int(lengths.sum()) <= 2 * BATCH_BYTES:
        return [batch]
    ends = np.cumsum(lengths.astype(np.int64))
    pieces, start = [], 0
    while start < len(ends):
        base = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, base + BATCH_BYTES, "right"))
        stop = min(max(stop, start + 1), start + BATCH_ROWS)
        pieces.append(batch.slice(start, stop - start))
        start = stop
    return pieces or [batch]
