"""Compressed bytes as streams that never give more than was asked for.

isal reads gzip 2.4 times as fast as zlib here (679 against 284 MB/s of output on one core) and
lets other threads run meanwhile; zstd and brotli come with pyarrow.
"""

from __future__ import annotations

import io
import os
from typing import Any, Protocol

import pyarrow as pa
from isal import isal_zlib

from neardup.corpus.errors import BrokenStreamError, brief
from neardup.corpus.limits import Limits

CHUNK = 1 << 18
GZIP_ERROR: Any = isal_zlib.error
GZIP_MAGIC = b"\x1f\x8b\x08"


class Stream(Protocol):
    """Bytes in order."""

    @property
    def consumed(self) -> int:
        """How much was read from below, compressed."""

    def read(self, size: int) -> bytes:
        """At most `size` bytes, none at the end; `BrokenStreamError` if it breaks before."""

    def close(self) -> None: ...


class PlainStream:
    """The file as it is, or `length` bytes of it."""

    def __init__(self, file: io.RawIOBase, length: int | None = None) -> None:
        self.file = file
        self.length = length
        self.consumed = 0

    def read(self, size: int) -> bytes:
        if self.length is not None:
            size = min(size, self.length - self.consumed)
        try:
            data = self.file.read(size) or b""
        except OSError as error:
            raise BrokenStreamError("unreadable", brief(error)) from None
        self.consumed += len(data)
        return data

    def close(self) -> None:
        self.file.close()


class GzipStream:
    """All members of a gzip file, one after the other; zeros after the last are padding."""

    def __init__(self, below: Stream) -> None:
        self.below = below
        self.consumed = 0
        self.pending = b""
        self.inflater: Any = None

    def read(self, size: int) -> bytes:
        while True:
            if not self.pending:
                self.pending = self.below.read(CHUNK)
                self.consumed = self.below.consumed
                if not self.pending and self.inflater is not None:
                    raise BrokenStreamError("truncated gzip", "the file ends inside a gzip member")
                if not self.pending:
                    return b""
            if self.inflater is None and not self._starts_member():
                return b""
            try:
                data = self.inflater.decompress(self.pending, size)
            except GZIP_ERROR as error:
                raise BrokenStreamError("truncated gzip", brief(error)) from None
            if self.inflater.eof:
                self.pending, self.inflater = self.inflater.unused_data, None
            else:
                self.pending = self.inflater.unconsumed_tail
            if data:
                return bytes(data)

    def _starts_member(self) -> bool:
        while len(self.pending) < len(GZIP_MAGIC) and (more := self.below.read(CHUNK)):
            self.pending += more
        if self.pending.startswith(GZIP_MAGIC):
            self.inflater = isal_zlib.decompressobj(31)
            return True
        if self.pending.strip(b"\0"):
            raise BrokenStreamError("truncated gzip", "what follows is not a gzip member")
        self.pending = self.below.read(CHUNK)
        return bool(self.pending) and self._starts_member()

    def close(self) -> None:
        self.below.close()


class ArrowStream:
    """zstd or brotli, by pyarrow's decoder."""

    def __init__(self, below: pa.NativeFile, codec: str) -> None:
        self.below = below
        self.codec = codec
        self.stream = pa.CompressedInputStream(below, codec)
        self.consumed = 0

    def read(self, size: int) -> bytes:
        try:
            data: bytes = self.stream.read(size)
            self.consumed = self.below.tell()
        except (OSError, ValueError, MemoryError) as error:
            reason = "truncated gzip" if self.codec == "gzip" else "unreadable"
            raise BrokenStreamError(reason, brief(error)) from None
        return data

    def close(self) -> None:
        self.stream.close()
        self.below.close()


def open_stream(path: str, compression: str, start: int = 0, stop: int | None = None) -> Stream:
    """The file's bytes, decompressed; [start, stop) is a part of one that is not compressed."""
    if compression == "zst":
        return ArrowStream(pa.OSFile(os.fsencode(path)), "zstd")
    file = open(path, "rb", buffering=0)  # noqa: SIM115  (the stream closes it)
    if compression == "gz":
        return GzipStream(PlainStream(file))
    file.seek(start)
    return PlainStream(file, None if stop is None else stop - start)


def read_all(stream: Stream, limit: int, limits: Limits) -> bytes:
    """Everything a stream gives, or `BrokenStreamError` once it is too large or a bomb."""
    parts: list[bytes] = []
    total = 0
    while data := stream.read(min(CHUNK, limit + 1 - total)):
        parts.append(data)
        total += len(data)
        if limits.is_bomb(total, stream.consumed):
            raise BrokenStreamError(
                "decompression bomb", f"over {total} bytes of {stream.consumed}"
            )
        if total > limit:
            raise BrokenStreamError("too large", f"more than {limit} bytes")
    return b"".join(parts)
