"""Which column is the text, the id, the URL, the date; and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.corpus.errors import CorpusError

#: The names looked for, the first found wins; upper and lower case are the same.
TEXT = ("text", "content", "body", "raw_content")
HTML = ("html", "raw_html")
ID = ("id", "_id", "docid", "doc_id", "document_id", "url", "uri", "warc-target-uri")
URL = ("url", "uri", "warc-target-uri", "target_uri", "source_url")
DATE = ("date", "timestamp", "time", "crawl_date", "fetch_time", "warc-date", "published")

TIMESTAMP = pa.timestamp("us")
_DIGITS = re.compile(r"\d{14}")
#: 26-FEB-1987 15:01:01.79, as news wires write it
_DASHED = re.compile(r"^(\d{1,2})-([A-Za-z]{3})-(?=\d{4})")
_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")
_EPOCH = datetime(1970, 1, 1)
_LAST_SECOND = 253402300799  # the year 9999


@dataclass(frozen=True)
class Wish:
    """The field names the user gave; None is looked for by name."""

    text: str | None = None
    html: str | None = None
    id: str | None = None
    url: str | None = None
    date: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Fields:
    """The columns of one file that a page is made of."""

    content: str
    is_html: bool
    id: str | None = None
    url: str | None = None
    date: str | None = None
    value: str | None = None
    spare: str | None = None  #: with HTML, for a record of a JSONL file that has no text

    @property
    def columns(self) -> list[str]:
        """Each column once, the content first."""
        names = (self.content, self.id, self.url, self.date, self.value)
        return list(dict.fromkeys(name for name in names if name is not None))


def choose(columns: Iterable[str], wish: Wish, where: str) -> Fields:
    """The fields of a file with these columns, or `CorpusError` that lists them."""
    names = list(columns)
    if wish.text is not None and wish.html is not None:
        raise CorpusError("give either a text field or an HTML field, not both")
    if wish.html is not None:
        content, is_html = _named(names, wish.html, where), True
    elif wish.text is not None:
        content, is_html = _named(names, wish.text, where), False
    else:
        text, html = first_of(names, TEXT), first_of(names, HTML)
        if text is None and html is None:
            raise CorpusError(
                f"{where}: no text or HTML column found among {_listed(names)}; "
                "name it with --text-field or --html-field"
            )
        content, is_html = (text, False) if text is not None else (str(html), True)
    others = {}
    for role, known in (("id", ID), ("url", URL), ("date", DATE), ("value", ())):
        wanted = getattr(wish, role)
        found = first_of(names, known) if wanted is None else _named(names, wanted, where)
        others[role] = found
    return Fields(content, is_html, **others)


def first_of(names: Iterable[str], known: tuple[str, ...]) -> str | None:
    """The column whose name is the first of the known ones, in any case."""
    lower = {name.lower(): name for name in reversed(list(names))}
    return next((lower[name] for name in known if name in lower), None)


def _named(names: list[str], wanted: str, where: str) -> str:
    if wanted not in names:
        raise CorpusError(f"{where}: no column {wanted!r}; there are {_listed(names)}")
    return wanted


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:30])
    return (shown or "no columns at all") + (", ..." if len(names) > 30 else "")


def parse_date(value: Any) -> datetime | None:
    """A date written in any usual way, in UTC; None when it cannot be read.

    ISO 8601, the 14 digits of web archives, HTTP dates, and seconds, milliseconds or
    microseconds since 1970.
    """
    try:
        if isinstance(value, datetime):
            date = value
        elif isinstance(value, bool) or value is None:
            return None
        elif isinstance(value, int | float):
            return _from_epoch(value)
        else:
            date = _from_text(str(value).strip())
        if date.tzinfo is not None:
            date = date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date


def _from_epoch(value: float) -> datetime | None:
    if 1000 <= value <= 9999 and value == int(value):
        return datetime(int(value), 1, 1)  # a year
    seconds = value / 1e6 if abs(value) > 1e14 else value / 1e3 if abs(value) > 1e11 else value
    if not abs(seconds) < _LAST_SECOND:
        return None
    return _EPOCH + timedelta(seconds=seconds)


def _from_text(text: str) -> datetime:
    if _DIGITS.fullmatch(text) and text.isascii():
        return datetime.strptime(text, "%Y%m%d%H%M%S")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        if text.isascii() and text.removeprefix("-").replace(".", "", 1).isdigit():
            date = _from_epoch(float(text))
            if date is not None:
                return date
        return parsedate_to_datetime(_FRACTION.sub("", _DASHED.sub(r"\1 \2 ", text[:100])))


def timestamps(values: pa.Array) -> pa.Array:
    """A column of any type as timestamps; what cannot be read is null."""
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        try:
            if pa.types.is_timestamp(kind) and kind.tz is not None:
                values = pc.cast(values, pa.timestamp(kind.unit, "UTC")).cast(
                    pa.timestamp(kind.unit)
                )
            return pc.cast(values, TIMESTAMP, safe=False)
        except (pa.ArrowException, ValueError):
            return pa.nulls(len(values), TIMESTAMP)
    if pa.types.is_nested(kind):
        return pa.nulls(len(values), TIMESTAMP)
    try:
        items = values.to_pylist()
    except (ValueError, OverflowError):
        return pa.nulls(len(values), TIMESTAMP)
    return pa.array([parse_date(item) for item in items], TIMESTAMP)


def numbers(values: pa.Array) -> pa.Array:
    """A column of any type as float64; what is not a number is null."""
    try:
        return pc.cast(values, pa.float64(), safe=False)
    except (pa.ArrowException, ValueError):
        return pa.array([_number(item) for item in values.to_pylist()], pa.float64())


def _number(item: Any) -> float | None:
    try:
        return float(item)
    except (TypeError, ValueError, OverflowError):
        return None
