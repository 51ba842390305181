"""WARC and WET: the pages among the records of a web archive."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.corpus.batches import EMPTY, Batches, File, Rows
from neardup.corpus.errors import BrokenStreamError, brief
from neardup.corpus.fields import Wish, parse_date
from neardup.corpus.http_payload import decoded_body, parse_answer
from neardup.corpus.limits import Limits
from neardup.corpus.parts import FilePart
from neardup.corpus.tree import looks_like_html
from neardup.corpus.warc_records import PAGE_TYPES, Record, read_records, record_at

_HTTP = b"application/http"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = ("text/plain",)
_UNSURE_TYPES = ("", "application/octet-stream", "text/xml", "application/xml", "unk", "unknown")


#: Charsets of the web. Python knows more codecs, some slow (punycode) and some no charsets.
_CHARSETS = (
    *("utf-8", "utf-16", "ascii", "iso8859", "cp", "koi8", "mac", "tis", "gb", "hz", "big5"),
    *("euc", "shift_jis", "iso2022"),
)


class Page(NamedTuple):
    """The content of a record: HTML bytes with their declared charset, or text."""

    html: bytes | None
    charset: str | None
    text: str | None


class NotAPage(Exception):  # noqa: N818  (an answer, not a failure)
    """The record holds no page; `reason` is one of `REASONS`."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class Archive:
    """The records of one file with their ids, and what revisits may refer to."""

    def __init__(self, file: File, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.urls: set[int] = set()
        self.keys = array("q")  # hashes of what names a record ...
        self.places = array("q")  # ... and where it is; 16 bytes for each name

    def __iter__(self) -> Iterator[tuple[Record, str]]:
        """Every record that could be a page or is broken, with its id."""
        for record in read_records(self.file.path, self.file.compression, self.limits):
            if record.reason is None and record.type not in PAGE_TYPES:
                continue
            yield record, self.name(record)
            if record.reason is None and record.type != b"revisit":
                self._remember(record)

    def name(self, record: Record) -> str:
        """The URL; a later capture of one in the same file gets its date, then its position."""
        url = record.text(b"warc-target-uri")
        if not url:
            return f"{self.file.label}:{record.position}"
        url = url.strip("<>")
        date = "".join(c for c in record.text(b"warc-date") or "" if c.isdigit())[:14]
        for candidate in (url, f"{url}@{date}", f"{url}@{date}:{record.position}"):
            if hash(candidate) not in self.urls:
                break
        self.urls.add(hash(candidate))
        return candidate

    def _remember(self, record: Record) -> None:
        for key in _names(record, b"warc-record-id", b"warc-target-uri", b"warc-date"):
            self.keys.append(key)
            self.places.append(record.position)

    def target(self, revisit: Record) -> Record | None:
        """The record of this file that a revisit says it is the same as."""
        if not len(self.keys):
            return None
        known = np.frombuffer(self.keys, np.int64)
        for key in _names(
            revisit,
            b"warc-refers-to",
            b"warc-refers-to-target-uri",
            b"warc-refers-to-date",
        ):
            found = np.flatnonzero(known == key)
            if len(found):
                place = self.places[int(found[0])]
                file = self.file
                return record_at(file.path, file.compression, place, self.limits)
        return None


def _names(record: Record, id: bytes, uri: bytes, date: bytes) -> Iterator[int]:
    """Hashes of the ways to name a record: its id, its URL and date, its payload's digest."""
    headers = record.headers
    if id in headers:
        yield hash((b"id", headers[id]))
    if uri in headers and date in headers:
        yield hash((b"uri", headers[uri], headers[date]))
    if b"warc-payload-digest" in headers:
        yield hash((b"digest", headers[b"warc-payload-digest"]))


@dataclass(frozen=True)
class WarcPart(FilePart):
    """A whole archive file."""

    def read(self) -> Batches:
        rows = Rows()
        archive = Archive(self.file, self.limits)
        try:
            for record, id in archive:
                try:
                    self._add(record, id, archive, rows)
                except NotAPage as other:
                    place = (record.position, other.reason, other.detail, id)
                    rows.skipped.append(self.file.skip(*place))
                if rows.full:
                    self.reached(record.position)
                    yield rows.take()
        except OSError as error:
            yield EMPTY, [self.file.skip(0, "unreadable", brief(error))]
        yield rows.take()

    def _add(self, record: Record, id: str, archive: Archive, rows: Rows) -> None:
        source = record
        if record.reason is None and record.type == b"revisit":
            target = archive.target(record)
            if target is None:
                raise NotAPage("revisit", "of " + _refers_to(record))
            source = target
        page = page_of(source, self.limits)
        rows.add(
            self.file,
            record.position,
            id,
            html=page.html,
            text=page.text,
            charset=page.charset,
            url=record.text(b"warc-target-uri"),
            date=parse_date(record.text(b"warc-date")),
        )


def warc_parts(file: File, wish: Wish, limits: Limits) -> Iterator[WarcPart]:
    yield WarcPart(file, limits)


def _refers_to(revisit: Record) -> str:
    for name in (b"warc-refers-to-target-uri", b"warc-refers-to", b"warc-payload-digest"):
        if value := revisit.text(name):
            return value[:200]
    return "an unnamed record"


def page_of(record: Record, limits: Limits) -> Page:
    """The page in a record, or `NotAPage`."""
    if record.reason is not None:
        raise NotAPage(record.reason, record.detail)
    headers, body = record.headers, record.block
    try:
        if record.type == b"response":
            declared = headers.get(b"content-type", _HTTP)
            if not declared.lower().startswith(_HTTP):
                raise NotAPage("not a page", _shown(declared))
            answer = parse_answer(record.block, limits)
            if not 200 <= answer.status < 300:
                raise NotAPage("http status", str(answer.status))
            kind = answer.headers.get(b"content-type", b"")
            if not kind:
                kind = headers.get(b"warc-identified-payload-type", b"")
            _check_type(kind)
            body = decoded_body(answer, limits)
        else:
            kind = headers.get(b"content-type", b"")
            if len(body) > limits.max_page:
                raise NotAPage("too large", f"{len(body)} bytes")
    except BrokenStreamError as error:
        raise NotAPage(error.reason, error.detail) from None
    return _page(kind, body)


def _media_type(kind: bytes) -> str:
    return kind.split(b";")[0].split(b",")[0].strip().lower().decode("ascii", "replace")


def _shown(kind: bytes) -> str:
    return _media_type(kind)[:80] or "no content type"


def _check_type(kind: bytes) -> None:
    """Refuse what is no page before its encodings are undone."""
    if _media_type(kind) not in (*_HTML_TYPES, *_TEXT_TYPES, *_UNSURE_TYPES):
        raise NotAPage("not a page", _shown(kind))


def _page(kind: bytes, body: bytes) -> Page:
    _check_type(kind)
    media = _media_type(kind)
    charset = _charset(kind)
    if media in _TEXT_TYPES:
        return Page(None, None, _text(body, charset))
    if media in _HTML_TYPES or looks_like_html(body):
        return Page(body, charset, None)
    raise NotAPage("not a page", _shown(kind))


def _charset(kind: bytes) -> str | None:
    """The charset parameter of a content type."""
    for parameter in kind.split(b";")[1:]:
        name, _, value = parameter.partition(b"=")
        if name.strip().lower() == b"charset":
            return value.strip(b" \t\"'").decode("ascii", "replace")[:40] or None
    return None


def _text(body: bytes, charset: str | None) -> str:
    """Plain text in the charset it declares, else UTF-8."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        known = codecs.lookup(charset).name if charset else "utf-8"
    except (LookupError, ValueError):
        known = "utf-8"
    if not known.startswith(_CHARSETS):
        known = "utf-8"
    try:
        return body.decode(known)
    except UnicodeError:
        raise NotAPage("undecodable", f"not {known}") from None
