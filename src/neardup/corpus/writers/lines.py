"""kept.jsonl and kept.csv: the raw lines of the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import orjson

from neardup.corpus.batches import File
from neardup.corpus.delimited import Chunk, CsvPart
from neardup.corpus.inflate import open_stream
from neardup.corpus.lines import blocks, line_bounds
from neardup.corpus.opening import Corpus
from neardup.corpus.writers.annotations import Annotations
from neardup.corpus.writers.decisions import Decisions, free_names
from neardup.corpus.writers.staging import Sink, Staging
from neardup.kernels import I64

_BOM = b"\xef\xbb\xbf"
_ENDINGS = {"": "", "gz": ".gz", "zst": ".zst"}


class _NameTakenError(Exception):
    """A record has a field called like one that is to be added."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        super().__init__()


def write_jsonl(
    corpus: Corpus,
    files: list[File],
    compression: str,
    decisions: Callable[[int], Decisions],
    staging: Staging,
    annotations: Annotations,
    threads: int,
) -> None:
    """One output; it is begun anew with other names if a line has a field of an added name."""
    name = "kept.jsonl" + _ENDINGS[compression]
    taken: set[str] = set()
    while True:
        try:
            with Sink(staging.path(name), compression) as sink:
                for file in files:
                    lines = _kept_lines(file, decisions(file.index), corpus, free_names(taken))
                    for piece in lines:
                        sink.write(piece)
            return
        except _NameTakenError as clash:
            staging.forget(name)
            taken |= clash.names


def _kept_lines(
    file: File, decisions: Decisions, corpus: Corpus, names: tuple[str, ...]
) -> Iterator[bytes | memoryview]:
    stream = open_stream(file.path, file.compression)
    try:
        for block in blocks(stream, corpus.limits):
            if block.reason:
                continue
            _, starts, _ = line_bounds(block.data)
            bounds = np.append(starts, len(block.data))
            if decisions.annotate:
                yield from _annotated(block.data, bounds, block.offset, decisions, names)
            else:
                yield from _runs(block.data, bounds, decisions.wanted(block.offset + starts))
    finally:
        stream.close()


def _runs(data: bytes, bounds: I64, wanted: Any) -> Iterator[bytes | memoryview]:
    """The wanted lines, neighbours in one piece, each with its end of line."""
    view = memoryview(data)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wanted, [False]))))
    for first, last in edges.reshape(-1, 2).tolist():
        piece = view[bounds[first] : bounds[last]]
        yield piece[3:] if bytes(piece[:3]) == _BOM else piece
        if bytes(piece[-1:]) != b"\n":
            yield b"\n"


def _annotated(
    data: bytes, bounds: I64, offset: int, decisions: Decisions, names: tuple[str, ...]
) -> Iterator[bytes]:
    """Every record with three more fields at its end; what is no record is left out."""
    columns = [column.to_pylist() for column in decisions.annotations(offset + bounds[:-1])]
    quoted = [orjson.dumps(name) for name in names]
    for i, values in enumerate(zip(*columns, strict=True)):
        line = data[bounds[i] : bounds[i + 1]].removeprefix(_BOM).strip()
        if values[2] is None and not _is_record(line):
            continue
        if any(name in line for name in quoted):
            taken = _top_level(line) & set(names)
            if taken:
                raise _NameTakenError(taken)
        body = line[:-1].rstrip()
        added = b",".join(
            name + b":" + orjson.dumps(value) for name, value in zip(quoted, values, strict=True)
        )
        yield body + (b"" if body == b"{" else b",") + added + b"}\n"


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _top_level(line: bytes) -> set[str]:
    """The field names of a line; of one that only pyarrow can read, all that may be."""
    try:
        return set(orjson.loads(line))
    except orjson.JSONDecodeError:
        return {name for name in ("cluster", "cluster_size", "kept") if name.encode() in line}


def write_csv(
    corpus: Corpus,
    files: list[File],
    compression: str,
    decisions: Callable[[int], Decisions],
    staging: Staging,
    annotations: Annotations,
    threads: int,
) -> None:
    """One output for all files of one header; a further header gets kept-2.csv."""
    groups: dict[tuple[bytes, bytes], list[CsvPart]] = {}
    for part in corpus.parts:
        if isinstance(part, CsvPart) and part.file in files:
            groups.setdefault((part.header.line, part.header.delimiter), []).append(part)
    for (line, delimiter), parts in groups.items():
        ending = ".tsv" if delimiter == b"\t" else ".csv"
        name = staging.free("kept", ending + _ENDINGS[compression])
        names = free_names(set(parts[0].header.names))
        with Sink(staging.path(name), compression) as sink:
            added = [name.encode() for name in names] if annotations.wanted else []
            sink.write(delimiter.join([line, *added]) + b"\n")
            for part in parts:
                found = decisions(part.file.index)
                for chunk in part.chunks():
                    sink.write(b"".join(_kept_records(chunk, found, delimiter)))


def _kept_records(chunk: Chunk, decisions: Decisions, delimiter: bytes) -> Iterator[bytes]:
    positions = chunk.offset + chunk.starts
    places = zip(chunk.starts.tolist(), chunk.stops.tolist(), strict=True)
    if not decisions.annotate:
        for (start, stop), wanted in zip(places, decisions.wanted(positions), strict=True):
            if wanted:
                record = chunk.data[start:stop]
                yield record if record.endswith(b"\n") else record + b"\n"
        return
    columns = [column.to_pylist() for column in decisions.annotations(positions)]
    for (start, stop), *values in zip(places, *columns, strict=True):
        record = chunk.data[start:stop].rstrip(b"\r\n")
        yield delimiter.join([record, *(_cell(value) for value in values)]) + b"\n"


def _cell(value: Any) -> bytes:
    """A value as a CSV cell; strings are quoted, so that none reads as a formula's start."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, str):
        return b'"' + value.replace('"', '""').encode() + b'"'
    return b"" if value is None else str(value).encode()
