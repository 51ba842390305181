"""A stream of bytes cut into blocks of whole lines, each line bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from neardup.corpus.errors import BrokenStreamError
from neardup.corpus.inflate import FileStream
from neardup.corpus.limits import Limits
from neardup.kernels import I64, U8

BLOCK = 4 << 20
NEWLINE = 10


class Block(NamedTuple):
    """Whole lines from `offset` on; with `reason` set, a line that was left out instead."""

    offset: int
    data: bytes
    reason: str | None = None
    detail: str | None = None


def blocks(stream: FileStream, limits: Limits, offset: int = 0) -> Iterator[Block]:
    """The stream in blocks that end with a line's end; `offset` is where the stream begins.

    A line that is too long is read over; a break costs the line it is in, and what the stream
    cannot resume after.
    """
    held: list[bytes] = []  # what follows the last whole line, read ...
    before = stream.consumed  # ... from here on
    rest, bombs = b"", 0
    while True:
        data, broken = (rest, None) if rest else _read(stream, BLOCK)
        rest, end = b"", data.rfind(b"\n") + 1
        if end or not (data or broken):
            whole = b"".join([*held, data[:end]])
            if whole:
                yield Block(offset, whole)
            offset, held, before = offset + len(whole), [], stream.consumed
        held.append(data[end:])
        length = sum(map(len, held))
        if broken:
            dropped = Dropped(broken.reason, broken.detail, length, b"", stream.resume())
        elif length > limits.max_line:
            dropped = _drop_line(stream, limits, length, before, limits.max_skipped - bombs)
        elif data:
            continue
        else:
            return
        yield Block(offset, b"", dropped.reason, dropped.detail)
        if not dropped.more:
            return
        offset, held, before, rest = offset + dropped.length, [], stream.consumed, dropped.rest
        bombs += dropped.length if dropped.reason == "decompression bomb" else 0


def _read(stream: FileStream, size: int) -> tuple[bytes, BrokenStreamError | None]:
    """`size` bytes or, at the end or where the stream breaks, less."""
    parts: list[bytes] = []
    try:
        while size > 0 and (data := stream.read(size)):
            parts.append(data)
            size -= len(data)
    except BrokenStreamError as error:
        return b"".join(parts), error
    return b"".join(parts), None


class Dropped(NamedTuple):
    """Why a line is left out, its length, what was read after it, and whether to go on."""

    reason: str
    detail: str
    length: int
    rest: bytes
    more: bool


def _drop_line(
    stream: FileStream, limits: Limits, length: int, before: int, allowed: int
) -> Dropped:
    """Read over the rest of a line, if it is a bomb not further than `allowed`."""
    while True:
        try:
            data = stream.read(BLOCK)
        except BrokenStreamError as error:
            return Dropped(error.reason, error.detail, length, b"", stream.resume())
        end = data.find(b"\n") + 1
        length += end or len(data)
        detail = f"a line of {length} bytes"
        bomb = limits.is_bomb(length, stream.consumed - before)
        if end or not data:
            reason = "decompression bomb" if bomb else "too large"
            return Dropped(reason, detail, length, data[end:], bool(end))
        if bomb and length > allowed:
            detail += " and more; the rest of the file is left out"
            return Dropped("decompression bomb", detail, length, b"", False)


def line_bounds(data: bytes) -> tuple[U8, I64, I64]:
    """The bytes, and where each line begins and ends (before its \\n or \\r\\n)."""
    view = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(view == NEWLINE).astype(np.int64)
    if len(view) and view[-1] != NEWLINE:
        ends = np.append(ends, np.int64(len(view)))
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    return_ = (
        (ends > starts) & (view[np.maximum(ends - 1, 0)] == 13) if len(view) else ends > starts
    )
    return view, starts, ends - return_


def line_ranges(path: str, size: int, step: int) -> Iterator[tuple[int, int]]:
    """A plain file cut into ranges of about `step` bytes that begin and end with a line."""
    start = 0
    with open(path, "rb", buffering=0) as file:
        while start < size:
            stop = min(start + step, size)
            if stop < size:
                file.seek(stop - 1)
                stop -= 1
                while data := file.read(1 << 16):
                    end = data.find(b"\n") + 1
                    stop += end or len(data)
                    if end:
                        break
            yield start, stop
            start = stop
