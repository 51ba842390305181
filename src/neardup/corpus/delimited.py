"""CSV: pyarrow's reader for whole blocks; where a quote is stray, one line at a time.

A line with an odd number of quotes opens a record of several lines or closes one. Where rows do
not come out as the header promises, only the line that opened the record is left out, and
reading goes on with the next line: a stray quote costs one row and not the rest of the file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

from neardup.corpus.batches import EMPTY, Batches, File, from_columns
from neardup.corpus.errors import BrokenStreamError, CorpusError, brief
from neardup.corpus.fields import Fields, Wish, choose
from neardup.corpus.inflate import CHUNK, FileStream, open_stream
from neardup.corpus.limits import Limits
from neardup.corpus.lines import blocks, line_bounds
from neardup.corpus.parts import FilePart
from neardup.kernels import I64

_BOM = b"\xef\xbb\xbf"
_MAX_HEADER = 1 << 20


class Header(NamedTuple):
    """The first record of a CSV file: its raw line, its column names and the delimiter."""

    line: bytes
    names: tuple[str, ...]
    delimiter: bytes
    end: int  #: where the first row begins


@dataclass
class Chunk:
    """Some rows: where each begins and ends in `data`, and the wanted columns by number."""

    offset: int
    data: bytes
    row: int
    starts: I64
    stops: I64
    rows: I64
    columns: list[pa.Array]
    skipped: list[tuple[int, str, str | None]] = field(default_factory=list)
    rest: int = 0  #: where in `data` a record begins that has not ended
    count: int = 0


@dataclass(frozen=True)
class CsvPart(FilePart):
    """A whole file: only reading it from the start tells which line breaks end rows."""

    header: Header
    fields: Fields

    @property
    def meaning(self) -> str:
        return f"{self.fields} {self.limits}"

    @property
    def wanted(self) -> list[int]:
        return [self.header.names.index(name) for name in self.fields.columns]

    def read(self) -> Batches:
        try:
            for chunk in self.chunks():
                skipped = [self.file.skip(*place) for place in chunk.skipped]
                yield EMPTY, skipped
                if len(chunk.starts):
                    columns = dict(zip(self.fields.columns, chunk.columns, strict=True))
                    positions = chunk.offset + chunk.starts
                    yield from from_columns(
                        self.file, self.fields, columns, positions, chunk.rows.copy, self.limits
                    )
        except OSError as error:
            yield EMPTY, [self.file.skip(0, "unreadable", brief(error))]

    def chunks(self) -> Iterator[Chunk]:
        """The file's rows, with what had to be left out between them."""
        stream = open_stream(self.file.path, self.file.compression)
        try:
            for chunk in _chunks(stream, self.header, self.wanted, self.limits):
                yield chunk
                self.reached(stream.consumed)
        finally:
            stream.close()


def csv_parts(file: File, wish: Wish, limits: Limits) -> Iterator[CsvPart]:
    header = read_header(file)
    if header is None:
        return
    fields = choose(header.names, wish, file.name)
    for name in fields.columns:
        if header.names.count(name) > 1:
            raise CorpusError(f"{file.name}: there are several columns named {name!r}")
    yield CsvPart(file, limits, header, fields)


def read_header(file: File) -> Header | None:
    """The header, or None for an empty file."""
    data = b""
    try:
        stream = open_stream(file.path, file.compression)
        try:
            while b"\n" not in data and len(data) < _MAX_HEADER and (more := stream.read(CHUNK)):
                data += more
        finally:
            stream.close()
    except OSError as error:
        raise CorpusError(f"{file.name}: cannot be read: {brief(error)}") from None
    except BrokenStreamError as error:
        if b"\n" not in data:
            raise CorpusError(f"{file.name}: cannot be read: {error.detail}") from None
    if not data:
        return None
    end = data.find(b"\n") + 1 or len(data)
    line = data[:end].removeprefix(_BOM).rstrip(b"\r\n")
    counts = {mark: line.count(mark) for mark in (b",", b"\t", b";", b"|")}
    tabs = file.path.lower().removesuffix(".gz").removesuffix(".zst").endswith(".tsv")
    delimiter = b"\t" if tabs else max(counts, key=lambda mark: counts[mark])
    cells = split_record(line, delimiter)
    if cells is None or len(data) >= _MAX_HEADER > end:
        raise CorpusError(f"{file.name}: the first line is not a CSV header")
    names = tuple(cell.decode("utf-8", "backslashreplace").strip() for cell in cells)
    return Header(line, names, delimiter, end)


def split_record(record: bytes, delimiter: bytes) -> list[bytes] | None:
    """The cells of one record, or None where its quotes do not fit (RFC 4180, section 2).

    A quote within a cell that does not begin with one is taken as it stands.
    """
    cells, at = [], 0
    while True:
        if record[at : at + 1] == b'"':
            end = record.find(b'"', at + 1)
            while end >= 0 and record[end + 1 : end + 2] == b'"':
                end = record.find(b'"', end + 2)
            after = record[end + 1 : end + 2]
            if end < 0 or after not in (b"", delimiter):
                return None
            cells.append(record[at + 1 : end].replace(b'""', b'"'))
            at = end + 1
        else:
            end = record.find(delimiter, at)
            cell = record[at:] if end < 0 else record[at:end]
            if b"\n" in cell:
                return None
            cells.append(cell)
            at += len(cell)
        if at >= len(record):
            return cells
        at += 1


def _chunks(
    stream: FileStream, header: Header, wanted: list[int], limits: Limits
) -> Iterator[Chunk]:
    held, row, first = b"", 0, True
    place = header.end  # where `held` begins
    for block in blocks(stream, limits):
        data, offset = block.data, block.offset
        if first and not block.reason:
            data, offset, first = data[header.end :], header.end, False
        final = bool(block.reason) or len(held) + len(data) > limits.max_line
        if not held:
            place = offset
        chunk = _cut(held + data, place, row, header, wanted, final)
        if block.reason:
            chunk.skipped.append((block.offset, block.reason, block.detail))
        yield chunk
        row += chunk.count
        held, place = chunk.data[chunk.rest :], place + chunk.rest
    if held:
        yield _cut(held, place, row, header, wanted, True)


def _cut(
    data: bytes, offset: int, row: int, header: Header, wanted: list[int], final: bool
) -> Chunk:
    """The records in some whole lines; unless `final`, the last may be unfinished."""
    view, starts, ends = line_bounds(data)
    bounds = np.append(starts, len(data))
    odd = np.zeros(len(starts), bool)
    if len(starts):
        odd = (np.add.reduceat(view == ord('"'), starts, dtype=np.int64) & 1).astype(bool)
    closed = np.flatnonzero(np.cumsum(odd) % 2 == 0)
    lines = int(closed[-1]) + 1 if len(closed) else 0
    opens = np.concatenate(([True], (np.cumsum(odd) % 2 == 0)[:-1]))[: len(starts)]
    blank = (ends == starts) & opens & ~odd
    begin = np.flatnonzero((opens & ~blank)[:lines])
    if (not final or lines == len(starts)) and len(begin):
        stop = np.flatnonzero((np.cumsum(odd) % 2 == 0)[:lines] & ~blank[:lines])
        columns = _whole(data[: bounds[lines]], header, wanted, len(begin))
        if columns is not None:
            rows = np.arange(row, row + len(begin), dtype=np.int64)
            return Chunk(
                offset, data, row, starts[begin], bounds[stop + 1], rows, columns,
                rest=int(bounds[lines]), count=len(begin),
            )  # fmt: skip
    return _line_by_line(data, offset, row, header, wanted, final, bounds, odd)


def _whole(data: bytes, header: Header, wanted: list[int], count: int) -> list[pa.Array] | None:
    """The wanted columns of all records at once, or None when pyarrow sees other records."""
    names = [f"c{i}" for i in range(len(header.names))]
    asked = [names[i] for i in wanted]
    try:
        table = pc.read_csv(
            pa.BufferReader(data),
            read_options=pc.ReadOptions(
                use_threads=False, block_size=len(data) + 64, column_names=names
            ),
            parse_options=pc.ParseOptions(
                delimiter=header.delimiter.decode(), newlines_in_values=True
            ),
            convert_options=pc.ConvertOptions(
                check_utf8=False,
                include_columns=asked,
                column_types={name: pa.binary() for name in asked},
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, ValueError):
        return None
    if table.num_rows != count:
        return None
    return [table.column(name).combine_chunks() for name in asked]


def _line_by_line(
    data: bytes,
    offset: int,
    row: int,
    header: Header,
    wanted: list[int],
    final: bool,
    bounds: I64,
    odd: npt.NDArray[np.bool_],
) -> Chunk:
    """Each record alone: a line, or the lines up to the next odd one."""
    odd_lines = np.flatnonzero(odd)
    partner = {int(a): int(b) for a, b in itertools.pairwise(odd_lines)}
    starts, stops, rows = [], [], []
    cells: list[list[bytes]] = []
    skipped: list[tuple[int, str, str | None]] = []
    line, count, rest = 0, 0, len(data)
    while line < len(bounds) - 1:
        record = data[bounds[line] : bounds[line + 1]].rstrip(b"\r\n")
        last = line
        found = split_record(record, header.delimiter) if record else []
        if found is None or len(found) != len(header.names):
            if odd[line] and line not in partner and not final:
                rest = int(bounds[line])
                break
            if odd[line] and line in partner:
                wide = data[bounds[line] : bounds[partner[line] + 1]].rstrip(b"\r\n")
                longer = split_record(wide, header.delimiter)
                if longer is not None and len(longer) == len(header.names):
                    found, last = longer, partner[line]
        if found:
            if len(found) == len(header.names):
                starts.append(bounds[line])
                stops.append(bounds[last + 1])
                rows.append(row + count)
                cells.append([found[i] for i in wanted])
            else:
                detail = f"{len(found)} fields instead of {len(header.names)}"
                skipped.append((int(offset + bounds[line]), "bad record", detail))
        elif found is None:
            skipped.append((int(offset + bounds[line]), "bad record", "a quote does not close"))
        count += found != []
        line = last + 1
    columns = [pa.array([c[i] for c in cells], pa.large_binary()) for i in range(len(wanted))]
    return Chunk(
        offset, data, row, np.array(starts, np.int64), np.array(stops, np.int64),
        np.array(rows, np.int64), columns, skipped, rest, count,
    )  # fmt: skip
