"""JSON lines, plain or compressed: pyarrow's reader for whole blocks, orjson for odd ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json as pj

from neardup.corpus.batches import EMPTY, Batches, File, from_columns
from neardup.corpus.errors import BrokenStreamError, CorpusError, brief
from neardup.corpus.fields import HTML, TEXT, Fields, Wish, choose, first_of
from neardup.corpus.inflate import open_stream
from neardup.corpus.limits import Limits
from neardup.corpus.lines import Block, blocks, line_bounds, line_ranges
from neardup.corpus.parts import PART_BYTES, FilePart
from neardup.kernels import I64, U8

_SAMPLE = 1 << 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Shape:
    """The fields of a JSONL file and the Arrow types its first lines suggest for them."""

    fields: Fields
    numeric: frozenset[str]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, self._type(name)) for name in self.fields.columns])

    def _type(self, name: str) -> pa.DataType:
        if name not in self.numeric:
            return pa.string()
        return pa.int64() if name in (self.fields.id, self.fields.url) else pa.float64()


@dataclass(frozen=True)
class JsonlPart(FilePart):
    """The lines of [start, stop) of a plain file, or a whole compressed one."""

    shape: Shape
    start: int
    stop: int | None

    @property
    def range(self) -> str:
        return "all" if self.stop is None else f"{self.start}-{self.stop}"

    @property
    def size(self) -> int:
        return self.file.size if self.stop is None else self.stop - self.start

    @property
    def meaning(self) -> str:
        return f"{self.shape} {self.limits}"

    def read(self) -> Batches:
        try:
            stream = open_stream(self.file.path, self.file.compression, self.start, self.stop)
        except OSError as error:
            yield EMPTY, [self.file.skip(self.start, "unreadable", brief(error))]
            return
        lines = LineNumbers(self.file)
        try:
            for block in blocks(stream, self.limits, self.start):
                if block.reason:
                    yield EMPTY, [self.file.skip(block.offset, block.reason, block.detail)]
                else:
                    yield from read_block(self.file, self.shape, block, lines.before, self.limits)
                lines.pass_over(block)
                self.reached(stream.consumed)
        finally:
            stream.close()


class LineNumbers:
    """How many lines precede a place in a file; only ids made of row numbers ask for it."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.offset = self.lines = 0

    def before(self, offset: int) -> int:
        """Count on to this offset; a plain file is read for it, wherever its part begins."""
        if not self.file.compression and offset > self.offset:
            with open(self.file.path, "rb", buffering=0) as source:
                source.seek(self.offset)
                while (left := offset - self.offset) and (data := source.read(min(left, 1 << 22))):
                    self.lines += data.count(b"\n")
                    self.offset += len(data)
        return self.lines

    def pass_over(self, block: Block) -> None:
        """Count the lines of a compressed file while they are at hand."""
        if self.file.compression:
            self.lines += 1 if block.reason else block.data.count(b"\n")


def jsonl_parts(file: File, wish: Wish, limits: Limits) -> Iterator[JsonlPart]:
    """A part for every 32 MB of a plain file, one for a compressed file."""
    shape = find_shape(file, wish, limits)
    if file.compression:
        yield JsonlPart(file, limits, shape, 0, None)
        return
    for start, stop in line_ranges(file.path, file.size, PART_BYTES):
        yield JsonlPart(file, limits, shape, start, stop)


def find_shape(file: File, wish: Wish, limits: Limits) -> Shape:
    """Look at the first lines; a file where none can be read keeps the usual names."""
    kinds: dict[str, set[type]] = {}
    for line in _first_lines(file):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            for key, value in record.items():
                kinds.setdefault(key, set()).add(type(value))
    if not kinds:
        content = wish.html or wish.text or TEXT[0]
        fields = Fields(content, wish.html is not None, wish.id, wish.url, wish.date, wish.value)
        return Shape(fields, frozenset({wish.value} if wish.value else ()))
    fields = choose(kinds, wish, file.name)
    if not kinds[fields.content] & {str, type(None)}:
        raise CorpusError(f"{file.name}: the field {fields.content!r} does not hold strings")
    if not (wish.text or wish.html or fields.is_html):
        fields = replace(fields, spare=first_of(kinds, HTML) or HTML[0])
    numeric = {n for n in fields.columns if kinds[n] & {int, float} and str not in kinds[n]}
    return Shape(fields, frozenset(numeric - {fields.content}))


def _first_lines(file: File) -> list[bytes]:
    data = bytearray()
    try:
        stream = open_stream(file.path, file.compression)
    except OSError as error:
        raise CorpusError(f"{file.name}: cannot be read: {brief(error)}") from None
    try:
        while len(data) < _SAMPLE or (b"\n" not in data and len(data) < 64 * _SAMPLE):
            try:
                more = stream.read(_SAMPLE)
            except BrokenStreamError:
                if not stream.resume():
                    break
                more = b"\n"
            if not more:
                break
            data += more
    finally:
        stream.close()
    return bytes(data).removeprefix(_BOM).split(b"\n")[:1000]


def read_block(
    file: File, shape: Shape, block: Block, lines_before: Callable[[int], int], limits: Limits
) -> Batches:
    """The pages of some whole lines."""
    data = block.data
    if block.offset == 0 and data.startswith(_BOM):
        data = b"   " + data[3:]
    view, starts, ends = line_bounds(data)

    def rows() -> I64:
        return np.arange(len(starts), dtype=np.int64) + lines_before(block.offset)

    spare = shape.fields.spare
    table = _whole_block(data, view, starts, ends, shape.schema)
    if table is not None and spare and table.column(shape.fields.content).null_count:
        schema = shape.schema.append(pa.field(spare, pa.string()))
        table = _whole_block(data, view, starts, ends, schema)
    if table is not None:
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        yield from from_columns(file, shape.fields, columns, block.offset + starts, rows, limits)
        return
    yield from _line_by_line(file, shape, block.offset, data, starts, ends, rows, limits)


def _whole_block(
    data: bytes, view: U8, starts: I64, ends: I64, schema: pa.Schema
) -> pa.Table | None:
    """All lines at once, or None when pyarrow refuses or a line may not be one record.

    Every line must begin with { and end with }: between a } and a { no JSON value goes on, so
    then as many rows as lines means one row a line. (A root `null` crashes pyarrow 26.)
    """
    if not len(starts) or (ends <= starts).any() or b"\0" in data:
        return None
    if (view[starts] != ord("{")).any() or (view[ends - 1] != ord("}")).any():
        return None
    try:
        table = parse_block(data, schema)
    except (pa.ArrowException, ValueError):
        return None
    return table if table.num_rows == len(starts) else None


def parse_block(data: bytes, schema: pa.Schema) -> pa.Table:
    """pyarrow's reader over one block of lines, on this thread."""
    return pj.read_json(
        pa.BufferReader(data),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(data) + 64),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _line_by_line(
    file: File,
    shape: Shape,
    offset: int,
    data: bytes,
    starts: I64,
    ends: I64,
    rows: Callable[[], I64],
    limits: Limits,
) -> Batches:
    """One bad line costs one row: each is read alone. Blank lines are no records."""
    fields = shape.fields
    found: list[int] = []
    contents = [fields.content] + ([fields.spare] if fields.spare else [])
    values: dict[str, list[Any]] = {name: [] for name in (*fields.columns, *contents)}
    skipped = []
    for i in range(len(starts)):
        line = data[starts[i] : ends[i]].strip(b" \t\r")
        if not line:
            continue
        record = read_line(line, values)
        if isinstance(record, str):
            skipped.append(file.skip(int(offset + starts[i]), record))
            continue
        for name in contents:
            if not isinstance(record[name], bytes):
                record[name] = None  # a number is no text
        found.append(i)
        for name, column in values.items():
            column.append(record.get(name))
    yield EMPTY, skipped
    if found:
        columns = {name: column_of(values[name]) for name in values}
        for name in contents:  # JSON strings, as pyarrow's reader types them; still to be checked
            columns[name] = columns[name].view(pa.large_string())
        at = np.array(found)
        yield from from_columns(
            file, fields, columns, offset + starts[at], lambda: rows()[at], limits
        )


def read_line(line: bytes, names: Iterable[str]) -> dict[str, Any] | str:
    """The wanted fields of one line as bytes, numbers or None; or the reason to leave it out.

    What only orjson or only pyarrow can read is read, so that a line means the same whether
    or not a neighbour is broken. (pyarrow knows NaN and any depth, orjson mixed types.)
    """
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if b"\0" in line or not (line.startswith(b"{") and line.endswith(b"}")):
            return "bad json"
        try:
            if parse_block(line, pa.schema([])).num_rows != 1:
                return "bad json"
        except (pa.ArrowException, ValueError) as refused:
            return "undecodable" if "surrogate" in f"{refused} {error}" else "bad json"
        return {name: _one_field(line, name) for name in names}
    if not isinstance(record, dict):
        return "bad json"
    return {name: _plain(record.get(name)) for name in names}


def _one_field(line: bytes, name: str) -> Any:
    """A field of a line that pyarrow reads, of whichever type it has."""
    for kind in (pa.string(), pa.int64(), pa.float64()):
        try:
            values = parse_block(line, pa.schema([(name, kind)])).column(name)
        except (pa.ArrowException, ValueError):
            continue
        return (values.cast(pa.binary()) if kind == pa.string() else values)[0].as_py()
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    return None if isinstance(value, dict | list | bool) else value


def column_of(values: list[Any]) -> pa.Array:
    """Values of mixed kinds as one binary column; numbers as JSON writes them."""
    return pa.array(
        [v if v is None or isinstance(v, bytes) else orjson.dumps(v) for v in values],
        pa.large_binary(),
    )
