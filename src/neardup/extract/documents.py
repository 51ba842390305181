"""PAGES to DOCUMENTS: the spec, and the batch calls around the scanner."""

from __future__ import annotations

import dataclasses
import html
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schemas
from neardup.extract.charset import PRESCAN, needs_decoding, to_utf8
from neardup.extract.content import keep_main
from neardup.extract.entities import TABLES
from neardup.extract.scan import Page, new_page, scan_pages
from neardup.extract.settle import LINK_TEXT, TEXT, TITLE_TEXT
from neardup.kernels import I64, U8
from neardup.specs import Spec, SpecError

_CONTENTS = ("visible", "main")


@dataclasses.dataclass(frozen=True)
class Extract(Spec):
    """What of a page counts as its text: all that is visible, or its main content."""

    content: str = "visible"

    def __post_init__(self) -> None:
        if self.content not in _CONTENTS:
            raise SpecError(f"Extract: content is {' or '.join(_CONTENTS)}, not {self.content!r}")


class Scan(NamedTuple):
    """A batch of pages read once: DOCUMENTS, and the links of each page."""

    documents: pa.RecordBatch
    links: pa.ListArray


def extract(pages: pa.RecordBatch, spec: Extract) -> pa.RecordBatch:
    """The DOCUMENTS of PAGES, row for row; pages that are text already pass unchanged."""
    count = pages.num_rows
    if pages.column("html").null_count == count and not pages.column("text").null_count:
        none = pa.nulls(count, pa.string())
        columns = [none, pages.column("text"), none, none]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)
    return scan(pages, spec, links=False).documents


def links(pages: pa.RecordBatch) -> pa.ListArray:
    """The href of every `a` and `area` of each page, as written, references decoded."""
    return scan(pages, Extract()).links


def scan(pages: pa.RecordBatch, spec: Extract, *, links: bool = True) -> Scan:
    """Text, title, language, canonical link and (unless told otherwise) links in one pass."""
    data, offsets = _utf8(pages)
    count = pages.num_rows
    main = spec.content == "main"
    page = new_page(int(offsets[-1] - offsets[0]), count, links=links, names=main)
    ends = np.zeros((count, 8), np.int64)
    scan_pages(data, offsets, TABLES, *page, ends)
    if main:
        most = int(np.diff(ends[:, 3], prepend=0).max(initial=0))
        keep_main(page.out, ends, page.blocks, np.empty((most, 2)))
    text = _strings(page.out[TEXT], ends[:, 0])
    if pages.column("text").null_count < count:
        text = pc.fill_null(pages.column("text"), text)
    titles = _strings(page.out[TITLE_TEXT], ends[:, 1])
    columns = [
        pc.if_else(pc.equal(titles, ""), None, titles),
        text,
        pa.array([_language(data, *span) for span in ends[:, 6:].tolist()], pa.string()),
        pa.array([_value(data, *span) for span in ends[:, 4:6].tolist()], pa.string()),
    ]
    documents = pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)
    return Scan(documents, _links(page, ends[:, 2]) if links else pa.array([[]] * count))


def _utf8(pages: pa.RecordBatch) -> tuple[U8, I64]:
    """The pages' HTML as valid UTF-8 and its offsets; no copy where it all is already."""
    column = pages.column("html").fill_null(b"").cast(pa.large_binary())
    labels = pages.column("charset").to_pylist()
    data, offsets = _view(column)
    starts, stops = offsets[:-1].tolist(), offsets[1:].tolist()
    heads = [bytes(data[a : min(a + PRESCAN, b)]) for a, b in zip(starts, stops, strict=True)]
    if not _valid(column) or any(map(needs_decoding, heads, labels)):
        column = pa.array(map(to_utf8, column.to_pylist(), labels), pa.large_binary())
        data, offsets = _view(column)
    return data, offsets


def _valid(column: pa.LargeBinaryArray) -> bool:
    """Whether every value is valid UTF-8 (Arrow looks at them without the GIL)."""
    try:
        column.view(pa.large_string()).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _view(column: pa.LargeBinaryArray) -> tuple[U8, I64]:
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.zeros(1, np.int64)
    if len(column):
        offsets = np.frombuffer(offset_buffer, np.int64, len(column) + 1, column.offset * 8)
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    offsets.flags.writeable = data.flags.writeable = False
    return data, offsets


def _strings(data: U8, ends: I64) -> pa.StringArray:
    """An Arrow array of the strings that end at `ends` in `data`."""
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    size = int(offsets[-1])
    return pa.StringArray.from_buffers(
        len(ends), pa.py_buffer(offsets), pa.py_buffer(data[:size].tobytes())
    )


def _links(page: Page, counts: I64) -> pa.ListArray:
    offsets = np.zeros(len(counts) + 1, np.int32)
    offsets[1:] = counts
    values = _strings(page.out[LINK_TEXT], page.link_ends[: offsets[-1]])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def _value(data: U8, start: int, stop: int) -> str | None:
    """An attribute's value, or None where it is empty."""
    return html.unescape(bytes(data[start:stop]).decode()).strip() or None


def _language(data: U8, start: int, stop: int) -> str | None:
    """A declared language in lower case, the first where there are several: `en-us`."""
    value = _value(data, start, stop)
    if not value:
        return None
    first = value.replace(",", " ").replace(";", " ").replace("_", "-").split()
    return first[0].lower() if first and len(first[0]) <= 35 else None
