"""WARC framing: where each record begins and ends, plain or compressed (ISO 28500, section 4).

Every gzip member is read on its own, so a broken one costs its record only, the raw bytes of
a record can be copied as they are, and a bomb is stopped before it grows. fastwarc is the
oracle of the tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from isal import isal_zlib

from neardup.corpus.errors import BrokenStreamError, brief
from neardup.corpus.inflate import CHUNK, GZIP_ERROR, GZIP_MAGIC, Stream, open_stream
from neardup.corpus.limits import Limits

#: Records of other types (requests, metadata, warcinfo) are no pages and are passed over.
PAGE_TYPES = (b"response", b"resource", b"conversion", b"revisit")
_START = b"WARC/"
_HEAD_END = b"\r\n\r\n"
_STEP = 1 << 16


@dataclass(slots=True)
class Record:
    """One record. `position` rises through the file; `raw` is where its bytes are in it.

    In a gzip file the position is that of the record's member, plus the record's number within
    it: 0 unless the file was compressed as a whole.
    """

    position: int
    headers: dict[bytes, bytes] = field(default_factory=dict)
    head: bytes = b""
    block: bytes = b""
    reason: str | None = None
    detail: str | None = None
    raw: tuple[int, int] | None = None

    @property
    def type(self) -> bytes:
        return self.headers.get(b"warc-type", b"").lower()

    def text(self, name: bytes) -> str | None:
        """A header as text, or None."""
        value = self.headers.get(name)
        return None if value is None else value.decode("utf-8", "replace")


class Tape:
    """A buffer over a stream: bytes are looked at before they are taken."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.buffer = b""
        self.taken = 0  # bytes given out so far
        self.broken: BrokenStreamError | None = None

    def fill(self, size: int) -> bool:
        """Whether `size` bytes are there, after reading on."""
        if len(self.buffer) >= size:
            return True
        parts, have = [self.buffer], len(self.buffer)
        try:
            while have < size and (data := self.stream.read(max(_STEP, size - have))):
                parts.append(data)
                have += len(data)
        except BrokenStreamError as error:
            self.broken = error
        self.buffer = b"".join(parts)
        return have >= size

    def take(self, size: int) -> bytes:
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        self.taken += len(data)
        return data

    def skip_breaks(self) -> bool:
        """Step over the line breaks between records; whether anything follows."""
        while self.fill(1):
            stripped = self.buffer.lstrip(b"\r\n")
            self.taken += len(self.buffer) - len(stripped)
            self.buffer = stripped
            if stripped:
                return True
        return False


def parse_head(head: bytes) -> dict[bytes, bytes]:
    """The named fields after the first line, names in lower case, the first of a name."""
    fields: dict[bytes, bytes] = {}
    name = b""
    for line in head.split(b"\n")[1:]:
        if line[:1] in (b" ", b"\t") and name:  # a folded line
            fields[name] += b" " + line.strip()
            continue
        key, colon, value = line.partition(b":")
        key = key.strip().lower()
        name = key if colon and key not in fields else b""
        if name:
            fields[name] = value.strip()
    return fields


def _read_head(tape: Tape, limits: Limits) -> bytes | None:
    """The lines up to the blank one, which is taken too; None when there is none."""
    size = 4096
    while True:
        whole = tape.fill(size)
        if not tape.buffer.startswith(_START[: len(tape.buffer)]):
            return None
        end, length = tape.buffer.find(_HEAD_END), len(_HEAD_END)
        short = tape.buffer.find(b"\n\n", 0, end + 1 if end >= 0 else len(tape.buffer))
        if short >= 0:
            end, length = short, 2
        if end >= 0:
            return tape.take(end + length)
        if not whole or size > limits.max_head:
            return None
        size *= 4


def content_length(headers: dict[bytes, bytes]) -> int | None:
    value = headers.get(b"content-length", b"")
    return int(value) if value.isdigit() and len(value) < 16 else None


def read_records(path: str, compression: str, limits: Limits) -> Iterator[Record]:
    """All records of a file in order; those that cannot be read have a `reason`."""
    if compression == "gz":
        yield from _gzip_records(path, limits)
        return
    if compression == "zst":
        stream = open_stream(path, compression)
        try:
            yield from _stream_records(Tape(stream), 0, limits, in_member=False)
        finally:
            stream.close()
        return
    yield from _plain_records(path, limits)


def record_at(path: str, compression: str, position: int, limits: Limits) -> Record | None:
    """The record at a position that was read before; None if that is costly or not possible."""
    if compression == "zst":
        return None
    try:
        with open(path, "rb", buffering=0) as file:
            if compression == "gz":
                member = Member(file.fileno(), position)
                records = _stream_records(Tape(member), position, limits)
            else:
                records = _plain_records(path, limits, position)
            record = next(records, None)
    except OSError:
        return None
    if record is None or record.reason or record.position != position:
        return None
    return record


def _plain_records(path: str, limits: Limits, position: int = 0) -> Iterator[Record]:
    """Records of a file that is not compressed, each length checked before it is believed."""
    with open(path, "rb", buffering=0) as file:
        handle = file.fileno()
        size = os.fstat(handle).st_size
        while True:
            position = _skip_breaks_at(handle, position)
            if position >= size:
                return
            record, after = _plain_record(handle, position, size, limits)
            yield record
            if record.reason == "bad record":
                after = _next_start(handle, after, size)
            position = after


def _plain_record(handle: int, position: int, size: int, limits: Limits) -> tuple[Record, int]:
    """The record at a position, and where to look for the next one."""
    record = Record(position)
    head = os.pread(handle, 4096, position)
    tape = Tape(_Bytes(head))
    raw = _read_head(tape, limits)
    if raw is None and head.startswith(_START):
        head = os.pread(handle, limits.max_head, position)
        raw = _read_head(Tape(_Bytes(head)), limits)
    if raw is None:  # no header ends in what was read, so none that begins in it is whole
        record.reason, record.detail = "bad record", "no WARC header here"
        return record, position + max(1, len(head) - 8192)
    record.head, record.headers = raw, parse_head(raw)
    length = content_length(record.headers)
    start = position + len(raw)
    end = start + (length or 0)
    if length is None or end > size or not _record_ends(handle, end, size):
        record.reason, record.detail = "bad record", "Content-Length does not fit the file"
        return record, start
    record.raw = (position, end)
    if record.type not in PAGE_TYPES:
        return record, end
    if length > limits.max_record:
        record.reason, record.detail = "too large", f"{length} bytes"
    else:
        record.block = _pread(handle, length, start)
    return record, end


def _pread(handle: int, length: int, start: int) -> bytes:
    parts = []
    while length > 0 and (data := os.pread(handle, length, start)):
        parts.append(data)
        start, length = start + len(data), length - len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _record_ends(handle: int, end: int, size: int) -> bool:
    """Whether a record can end here: line breaks and the next record, or the file's end."""
    after = os.pread(handle, 64, end)
    rest = after.lstrip(b"\r\n")
    return rest.startswith(_START) or (not rest and (end + len(after) >= size or bool(after)))


def _skip_breaks_at(handle: int, position: int) -> int:
    while data := os.pread(handle, 4096, position):
        rest = data.lstrip(b"\r\n")
        position += len(data) - len(rest)
        if rest:
            break
    return position


def _next_start(handle: int, position: int, size: int) -> int:
    """Where the next line begins with `WARC/`, after a record that cannot be trusted."""
    mark = b"\n" + _START
    position, step = max(position - 1, 0), 1024
    while data := os.pread(handle, step, position):
        step = min(2 * step, CHUNK)  # near ones must be cheap: every record may be broken
        found = data.find(mark)
        if found >= 0:
            return position + found + 1
        if len(data) <= len(mark):
            break
        position += len(data) - len(mark) + 1
    return size


class _Bytes:
    """Bytes as a stream."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.consumed = len(data)

    def read(self, size: int) -> bytes:
        data, self.data = self.data, b""
        return data

    def close(self) -> None:
        pass


class Member:
    """One gzip member as a stream; `end` is where it ends in the file, once it has."""

    def __init__(self, handle: int, start: int) -> None:
        self.handle = handle
        self.at = self.start = start  # how far the file was read
        self.pending = b""
        self.inflater = isal_zlib.decompressobj(31)
        self.end: int | None = None

    @property
    def consumed(self) -> int:
        return self.at - self.start - len(self.pending)

    def read(self, size: int) -> bytes:
        while self.end is None:
            if not self.pending:
                try:
                    self.pending = os.pread(self.handle, 1 << 16, self.at)
                except OSError as error:
                    raise BrokenStreamError("unreadable", brief(error)) from None
                self.at += len(self.pending)
                if not self.pending:
                    raise BrokenStreamError("truncated gzip", "the file ends inside a gzip member")
            try:
                data = self.inflater.decompress(self.pending, size)
            except GZIP_ERROR as error:
                raise BrokenStreamError("truncated gzip", brief(error)) from None
            if self.inflater.eof:
                self.end = self.at - len(self.inflater.unused_data)
            self.pending = self.inflater.unconsumed_tail
            if data:
                return bytes(data)
        return b""

    def close(self) -> None:
        pass


def _gzip_records(path: str, limits: Limits) -> Iterator[Record]:
    """Records of a gzip file, member by member; after a broken one the next is searched for."""
    with open(path, "rb", buffering=0) as file:
        handle = file.fileno()
        position, size = 0, os.fstat(handle).st_size
        while position < size:
            if os.pread(handle, len(GZIP_MAGIC), position) != GZIP_MAGIC:
                following = _next_member(handle, position, size)
                if _pread(handle, min(following - position, 4096), position).strip(b"\0"):
                    yield Record(position, reason="truncated gzip", detail="not a gzip member")
                position = following
                continue
            member = Member(handle, position)
            held: Record | None = None  # its raw bytes are known once the member has ended
            count = 0
            for record in _stream_records(Tape(member), position, limits):
                if held is not None:
                    yield held
                held, count = record, count + 1
            if held is not None:
                if count == 1 and member.end is not None:
                    held.raw = (position, member.end)
                yield held
            position = member.end or _next_member(handle, position + 1, size)


def _next_member(handle: int, position: int, size: int) -> int:
    """Where a gzip member begins whose first bytes are those of a record."""
    while position < size and (data := os.pread(handle, CHUNK, position)):
        found = data.find(GZIP_MAGIC)
        while found >= 0:
            try:
                start = isal_zlib.decompressobj(31).decompress(data[found : found + 512], 64)
            except GZIP_ERROR:
                start = b""
            if start.lstrip(b"\r\n").startswith(_START):
                return position + found
            found = data.find(GZIP_MAGIC, found + 1)
        if len(data) <= len(GZIP_MAGIC):
            break
        position += len(data) - len(GZIP_MAGIC) + 1
    return size


def _stream_records(
    tape: Tape, base: int, limits: Limits, in_member: bool = True
) -> Iterator[Record]:
    """Records one after the other in a stream that cannot go back."""
    count = 0
    while tape.skip_breaks():
        record = Record(base + count if in_member else tape.taken)
        head = _read_head(tape, limits)
        if head is None:
            record.reason = tape.broken.reason if tape.broken else "bad record"
            record.detail = tape.broken.detail if tape.broken else "no WARC header here"
            yield record
            return
        record.head, record.headers = head, parse_head(head)
        _read_block(tape, record, limits)
        if in_member and not count and tape.broken and not tape.buffer and not record.reason:
            record.reason, record.detail = tape.broken.reason, tape.broken.detail  # its checksum
        if in_member and record.reason is None and count > tape.stream.consumed:
            record.reason, record.detail = "decompression bomb", "more records than bytes"
        count += 1
        yield record
        if record.reason not in (None, "too large"):
            return
    if tape.broken is not None:
        position = base + count if in_member else tape.taken
        yield Record(position, reason=tape.broken.reason, detail=tape.broken.detail)


def _read_block(tape: Tape, record: Record, limits: Limits) -> None:
    """Take the block of a record from the tape, or say why it cannot be had."""
    length = content_length(record.headers)
    if length is None:
        record.reason, record.detail = "bad record", "no Content-Length"
        return
    before = tape.stream.consumed
    wanted = record.type in PAGE_TYPES
    if wanted and length > limits.max_record:
        record.reason, record.detail = "too large", f"{length} bytes"
        wanted = False
    parts, left = [], length
    while left > 0:
        if not tape.fill(1):
            cause = tape.broken or BrokenStreamError("bad record", "ends before Content-Length")
            record.reason, record.detail = cause.reason, cause.detail
            return
        data = tape.take(left)
        left -= len(data)
        if wanted:
            parts.append(data)
        if limits.is_bomb(length - left, tape.stream.consumed - before + 4096):
            record.reason = "decompression bomb"
            record.detail = f"over {length - left} bytes of {tape.stream.consumed - before}"
            return
    record.block = parts[0] if len(parts) == 1 else b"".join(parts)
    if tape.skip_breaks() and not _plausible_start(tape):
        record.reason, record.detail = "bad record", "Content-Length ends inside the record"


def _plausible_start(tape: Tape) -> bool:
    tape.fill(len(_START))
    return tape.buffer.startswith(_START)
