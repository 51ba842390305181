"""The body of an HTTP answer with its transfer and content encodings undone, in bounds."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import pyarrow as pa
from isal import isal_zlib

from neardup.corpus.errors import BrokenStreamError, brief
from neardup.corpus.inflate import GZIP_ERROR, ArrowStream, GzipStream, PlainStream, read_all
from neardup.corpus.limits import Limits
from neardup.corpus.warc_records import parse_head


class Answer(NamedTuple):
    """Status, headers and body of a response, as they were sent."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


def parse_answer(block: bytes, limits: Limits) -> Answer:
    """Split a response at the end of its head; `BrokenStreamError` if it has none."""
    if not block.startswith(b"HTTP/"):
        raise BrokenStreamError("bad http", "does not begin with HTTP/")
    head = block[: limits.max_head]
    end, width = head.find(b"\r\n\r\n"), 4
    short = head.find(b"\n\n", 0, end if end >= 0 else len(head))
    if short >= 0:
        end, width = short, 2
    if end < 0:
        if len(block) > limits.max_head:
            raise BrokenStreamError("bad http", "the head does not end")
        end, width = len(block), 0
    words = head[:end].split(b"\n", 1)[0].split(None, 2)
    if len(words) < 2 or not words[1].isdigit() or len(words[1]) != 3:
        raise BrokenStreamError("bad http", "no status code")
    return Answer(int(words[1]), parse_head(head[:end]), block[end + width :])


def decoded_body(answer: Answer, limits: Limits) -> bytes:
    """The body as the page was before it was packed for the way."""
    body = answer.body
    if b"chunked" in answer.headers.get(b"transfer-encoding", b"").lower():
        body = _dechunked(body)
    codings = answer.headers.get(b"content-encoding", b"").lower().replace(b",", b" ").split()
    if len(codings) > 4:
        raise BrokenStreamError("bad encoding", f"{len(codings)} content encodings")
    for coding in reversed(codings):
        body = _decoded(body, coding, limits)
    if len(body) > limits.max_page:
        raise BrokenStreamError("too large", f"{len(body)} bytes")
    return body


def _dechunked(body: bytes) -> bytes:
    """RFC 9112, section 7.1. Many archives store the body joined already: then as it is."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\n", at, at + 1024)
        size_text = body[at:end].split(b";")[0].strip() if end >= 0 else b""
        try:
            size = int(size_text, 16) if size_text.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            if not parts:
                return body
            break  # cut off or damaged: what came before is the page
        if size == 0:
            break
        parts.append(body[end + 1 : end + 1 + size])
        at = end + 1 + size
        if at >= len(body):
            break
        at += 2 if body[at : at + 2] == b"\r\n" else 1 if body[at : at + 1] == b"\n" else 0
    return b"".join(parts)


def _decoded(body: bytes, coding: bytes, limits: Limits) -> bytes:
    if coding in (b"identity", b"none", b"utf-8") or not body:
        return body
    if coding in (b"gzip", b"x-gzip"):
        if not body.startswith(b"\x1f\x8b"):  # declared, but undone by whoever stored it
            return body
        stream: Any = GzipStream(PlainStream(io.BytesIO(body)))  # type: ignore[arg-type]
    elif coding == b"deflate":
        stream = _Deflate(body)
    elif coding in (b"br", b"zstd"):
        codec = "brotli" if coding == b"br" else "zstd"
        stream = ArrowStream(pa.BufferReader(body), codec)
    else:
        raise BrokenStreamError("bad encoding", coding.decode("ascii", "backslashreplace")[:40])
    try:
        return read_all(stream, limits.max_page, limits)
    except BrokenStreamError as error:
        if error.reason in ("too large", "decompression bomb"):
            raise
        raise BrokenStreamError("bad encoding", f"{coding.decode()}: {error.detail}") from None


class _Deflate:
    """Deflate with the zlib wrapper, or without it as some servers send it."""

    def __init__(self, body: bytes) -> None:
        wrapped = len(body) > 1 and body[0] & 15 == 8 and (body[0] * 256 + body[1]) % 31 == 0
        self.inflater = isal_zlib.decompressobj(15 if wrapped else -15)
        self.pending = body
        self.consumed = len(body)

    def read(self, size: int) -> bytes:
        try:
            data = self.inflater.decompress(self.pending, size)
        except GZIP_ERROR as error:
            raise BrokenStreamError("bad encoding", brief(error)) from None
        self.pending = self.inflater.unconsumed_tail
        if not data and not self.inflater.eof:
            raise BrokenStreamError("bad encoding", "the data ends too early")
        return bytes(data)

    def close(self) -> None:
        pass
