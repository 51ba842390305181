"""A stream of bytes cut into blocks of whole lines, each line bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from neardup.corpus.errors import BrokenStreamError
from neardup.corpus.inflate import Stream
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


def blocks(stream: Stream, limits: Limits, offset: int = 0) -> Iterator[Block]:
    """The stream in blocks that end with a line's end; `offset` is where the stream begins.

    A break in the stream costs the line it is in and ends the iteration.
    """
    held, before = b"", stream.consumed  # what follows the last whole line, read from here on
    while True:
        data, broken = _read(stream, BLOCK)
        end = data.rfind(b"\n") + 1
        if end or (not data and not broken):
            whole = held + data[:end]
            if whole:
                yield Block(offset, whole)
            offset, held, before = offset + len(whole), data[end:], stream.consumed
            if not data:
                return
        else:
            held += data
        if broken:
            yield Block(offset, b"", broken.reason, broken.detail)
            return
        if len(held) > limits.max_line:
            reason, detail, length, held = _drop_line(stream, limits, len(held), before)
            yield Block(offset, b"", reason, detail)
            offset += length
            if reason != "too large":
                return


def _read(stream: Stream, size: int) -> tuple[bytes, BrokenStreamError | None]:
    """`size` bytes or, at the end or where the stream breaks, less."""
    parts: list[bytes] = []
    try:
        while size > 0 and (data := stream.read(size)):
            parts.append(data)
            size -= len(data)
    except BrokenStreamError as error:
        return b"".join(parts), error
    return b"".join(parts), None


def _drop_line(
    stream: Stream, limits: Limits, length: int, before: int
) -> tuple[str, str, int, bytes]:
    """Read over the rest of a line: why it is left out, its length, and what follows it."""
    try:
        while data := stream.read(BLOCK):
            end = data.find(b"\n") + 1
            if end:
                length += end
                return "too large", f"a line of {length} bytes", length, data[end:]
            length += len(data)
            if limits.is_bomb(length, stream.consumed - before):
                return "decompression bomb", f"a line of over {length} bytes", length, b""
    except BrokenStreamError as error:
        return error.reason, error.detail, length, b""
    return "too large", f"a line of {length} bytes", length, b""


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
