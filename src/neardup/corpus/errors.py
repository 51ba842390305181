"""What can go wrong: an error of the user's stops the job, a broken record is left out."""

from __future__ import annotations

from typing import NamedTuple

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


class CorpusError(ValueError):
    """The job cannot start or go on: a missing file, no text column, an unknown format.

    The message is one line for a person; the command line prints it and ends with code 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split())))


class Skipped(NamedTuple):
    """A record that was left out, one row of `schemas.SKIPPED`."""

    file: str
    offset: int
    id: str | None
    reason: str
    detail: str | None


#: Every reason this room gives, and what it means.
REASONS = {
    "bad json": "the line is not one JSON object",
    "bad record": "a CSV row or WARC record whose parts do not fit together",
    "bad http": "a response whose HTTP head or transfer encoding cannot be read",
    "bad encoding": "a content encoding that is unknown or whose data is broken",
    "decompression bomb": "data that swells more than `Limits.max_ratio` times",
    "http status": "the answer was not a page: a redirect or an error",
    "link out of the tree": "a symbolic link in a folder that leads out of it or to a folder",
    "no text": "the field with the text or HTML is missing, null or not a string",
    "not a file": "a FIFO, socket or device in a folder",
    "not a page": "another kind of content: an image, a style sheet, a DNS answer",
    "revisit": "a WARC revisit of a page that is not in the same file",
    "too large": "larger than `Limits.max_page`, `max_line` or `max_record`",
    "truncated gzip": "a gzip member ends too early or is broken",
    "undecodable": "text that is not UTF-8, or not in the charset it declares",
    "unreadable": "the file or a part of it cannot be read",
}


class BrokenStreamError(Exception):
    """Compressed data that cannot be read on; `reason` is one of `REASONS`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def printable(text: str) -> str:
    """Text that can be stored and shown: undecodable bytes of a file name as `\\xNN`."""
    if not text.isprintable():
        raw = text.encode("utf-8", "surrogateescape")
        text = raw.decode("utf-8", "backslashreplace").translate(_CONTROLS)
    return text


def brief(error: BaseException) -> str:
    """The first line of an error, short enough for a row of a table."""
    lines = printable(str(error)).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
