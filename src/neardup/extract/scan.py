"""The scanner: one pass over a page's bytes gives its text, blocks, title and links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.extract import tags as t
from neardup.extract.markup import (
    SPANS,
    find,
    is_letter,
    raw_end,
    read_attributes,
    read_name,
    skip_declaration,
    style_hides,
)
from neardup.extract.settle import (
    BEGIN,
    BLOCKS,
    LANE,
    LINE,
    LINK_TEXT,
    NOTHING,
    OUT,
    PENDING,
    TEXT,
    TITLE_TEXT,
    WORD,
    write_text,
    write_value,
)
from neardup.extract.tree import (
    STACK,
    STATE_ROWS,
    TOP,
    close_element,
    open_element,
    place_of_top,
)
from neardup.kernels import I64, U8, kernel

_LT = t.whole(60)
_SLASH, _BANG, _QUESTION = 47, 33, 63
_CANONICAL = t.name_hash("canonical")
_CONTENT_LANGUAGE, _LANGUAGE = t.name_hash("content-language"), t.name_hash("language")

# More of `state`, behind the stack: spans of the page's own facts, and the number of links.
CANONICAL = t.whole(STATE_ROWS)
LANGUAGE = CANONICAL + 2
META_LANGUAGE = LANGUAGE + 2
LINKS = META_LANGUAGE + 2
_STATE_ROWS = LINKS + 1


class Page(NamedTuple):
    """What the scanner writes for a page; reused from page to page of a batch."""

    out: U8
    state: I64
    blocks: I64
    link_ends: I64


def new_page(total: int, longest: int, *, links: bool) -> Page:
    """Room for a batch of `total` bytes whose longest page has `longest`.

    Text grows only where a reference is shorter than its character: at worst six bytes for
    five. A block takes at least four bytes of source, a link eight.
    """
    return Page(
        out=np.empty((3 if links else 2, total + total // 4 + 16), np.uint8),
        state=np.zeros(_STATE_ROWS, np.int64),
        blocks=np.empty((longest // 4 + 4, 3), np.int64),
        link_ends=np.empty(total // 8 + 2 if links else 0, np.int64),
    )


@kernel
def _word(data: U8, i: int, end: int) -> int:
    """Hash of a lower-cased, trimmed value."""
    while i < end and data[i] <= 32:
        i += 1
    while end > i and data[end - 1] <= 32:
        end -= 1
    key = t.SEED
    for at in range(i, end):
        key = (key ^ (np.int64(data[at]) | 32)) * t.PRIME
    return key


@kernel
def _has_word(data: U8, i: int, end: int, key: int) -> bool:
    """Whether one of the words between spaces hashes to `key`."""
    while i < end:
        start = i
        while i < end and data[i] > 32:
            i += 1
        if i > start and _word(data, start, i) == key:
            return True
        i += 1
    return False


@kernel
def _keep_span(attribute: int, fact: int, state: I64) -> None:
    """Keep where an attribute's value stands as a fact of the page; the first one counts."""
    if state[fact + 1] == 0:
        state[fact] = state[SPANS + 2 * attribute]
        state[fact + 1] = state[SPANS + 2 * attribute + 1]


@kernel
def _note(data: U8, tag: int, seen: int, tables: I64, page: Page) -> None:
    """Keep what a tag's attributes tell of the page: language, canonical link, links."""
    state = page.state
    start, stop = state[SPANS + 2 * t.HREF], state[SPANS + 2 * t.HREF + 1]
    if tag == t.A or tag == t.AREA:
        if seen >> t.HREF & 1 and len(page.link_ends):
            o = state[LINK_TEXT * LANE + OUT]
            o = write_value(data, start, stop, tables, page.out, LINK_TEXT, o)
            state[LINK_TEXT * LANE + OUT] = page.link_ends[state[LINKS]] = o
            state[LINKS] += 1
    elif tag == t.LINK_TAG:
        if seen >> t.REL & 1 and seen >> t.HREF & 1:
            row = SPANS + 2 * t.REL
            if _has_word(data, state[row], state[row + 1], _CANONICAL):
                _keep_span(t.HREF, CANONICAL, state)
    elif tag == t.HTML:
        attribute = t.LANG if seen >> t.LANG & 1 else t.XML_LANG
        if seen >> attribute & 1:
            _keep_span(attribute, LANGUAGE, state)
    elif tag == t.META and seen >> t.CONTENT & 1:
        attribute = t.HTTP_EQUIV if seen >> t.HTTP_EQUIV & 1 else t.NAME
        if seen >> attribute & 1:
            row = SPANS + 2 * attribute
            key = _word(data, state[row], state[row + 1])
            if key == _CONTENT_LANGUAGE or (key == _LANGUAGE and attribute == t.NAME):
                _keep_span(t.CONTENT, META_LANGUAGE, state)


@kernel
def _place(data: U8, tag: int, seen: int, tables: I64, state: I64) -> int:
    """The place bits an element adds for what it contains."""
    place = tables[t.PLACES + tag]
    closed = tag == t.DIALOG and not seen >> t.OPEN & 1
    if closed or tables[t.KINDS + tag] & t.UNSEEN or seen >> t.HIDDEN_ATTRIBUTE & 1:
        place |= t.HIDDEN
    elif seen >> t.STYLE & 1:
        row = SPANS + 2 * t.STYLE
        if style_hides(data, state[row], state[row + 1]):
            place |= t.HIDDEN
    return place


@kernel
def _break(kind: int, state: I64) -> None:
    """What an element's tag puts between the text before and behind it."""
    if kind & t.BLOCK:
        state[PENDING] = LINE
    elif kind & t.SPACE and state[PENDING] == NOTHING:
        state[PENDING] = WORD


@kernel
def _content(
    data: U8, i: int, end: int, tag: int, key: int, place: int, tables: I64, page: Page
) -> int:
    """Read an element whose content is no markup; where its end tag stands."""
    last = end if tag == t.PLAINTEXT else raw_end(data, i, end, tag, key, tables)
    lane = TEXT
    if tag == t.TITLE:
        lane, place = TITLE_TEXT, 0
        shown = page.state[TITLE_TEXT * LANE + OUT] == page.state[TITLE_TEXT * LANE + BEGIN]
    else:
        shown = not (tables[t.KINDS + tag] & t.RAW or place & t.HIDDEN)
    if shown:
        write_text(data, i, last, tables, page.out, page.state, page.blocks, lane, place)
    return last


@kernel
def _start_tag(data: U8, i: int, end: int, tables: I64, page: Page) -> int:
    """A start tag whose name begins at i; where to read on."""
    after, key, tag = read_name(data, i, end, tables)
    after, seen, closing = read_attributes(data, after, end, tables, page.state)
    if after < 0:
        return end
    kind = tables[t.KINDS + tag]
    _break(kind, page.state)
    if seen:
        _note(data, tag, seen, tables, page)
    outer = place_of_top(page.state)
    place = _place(data, tag, seen, tables, page.state)
    textual = tag == t.TITLE or tag == t.TEXTAREA or tag == t.XMP or tag == t.PLAINTEXT
    if (kind & t.RAW or textual) and not outer & t.FOREIGN:
        return _content(data, after, end, tag, key, outer | place, tables, page)
    open_element(tag, key, closing, place, page.state, tables)
    return after


@kernel
def _end_tag(data: U8, i: int, end: int, tables: I64, page: Page) -> int:
    """An end tag whose name begins at i; where to read on."""
    after, key, tag = read_name(data, i, end, tables)
    after, _, _ = read_attributes(data, after, end, tables, page.state)
    if after < 0:
        return end
    _break(tables[t.KINDS + tag], page.state)
    close_element(tag, key, page.state, tables)
    return after


@kernel
def _scan_page(data: U8, i: int, end: int, tables: I64, page: Page) -> None:
    """Read one page from data[i:end]."""
    while i < end:
        mark = find(data, i, end, _LT)
        c = np.int64(data[mark + 1]) if mark + 1 < end else 0
        tag = is_letter(data, mark + 1, end)
        literal = mark < end and not tag and c != _SLASH and c != _BANG and c != _QUESTION
        last = mark + 1 if literal else mark
        place = place_of_top(page.state)
        if last > i and not place & t.HIDDEN:
            write_text(data, i, last, tables, page.out, page.state, page.blocks, TEXT, place)
        if literal or mark == end:
            i = last
        elif tag:
            i = _start_tag(data, mark + 1, end, tables, page)
        elif c == _SLASH and is_letter(data, mark + 2, end):
            i = _end_tag(data, mark + 2, end, tables, page)
        else:
            i = skip_declaration(data, mark, end, c == _BANG and place & t.FOREIGN != 0)


@kernel
def _clear(state: I64) -> None:
    """Make ready for the next page, whose text goes behind that of the last."""
    for lane in (TEXT, TITLE_TEXT):
        at = lane * LANE
        state[at + BEGIN], state[at + PENDING], state[at + BLOCKS] = state[at + OUT], NOTHING, 0
    for row in range(TOP, STACK):
        state[row] = 0
    for row in range(CANONICAL, LINKS):
        state[row] = 0


@kernel
def scan_pages(data: U8, offsets: I64, tables: I64, page: Page, ends: I64, spans: I64) -> None:
    """Read each page data[offsets[k]:offsets[k + 1]].

    Row k of `ends` gets where its text, title and links end (bytes, bytes, number); row k of
    `spans` where its canonical link and language stand in `data`.
    """
    state = page.state
    for k in range(len(offsets) - 1):
        _clear(state)
        _scan_page(data, offsets[k], offsets[k + 1], tables, page)
        ends[k, 0], ends[k, 1] = state[TEXT * LANE + OUT], state[TITLE_TEXT * LANE + OUT]
        ends[k, 2] = state[LINKS]
        row = LANGUAGE if state[LANGUAGE + 1] > state[LANGUAGE] else META_LANGUAGE
        spans[k, 0], spans[k, 1] = state[CANONICAL], state[CANONICAL + 1]
        spans[k, 2], spans[k, 3] = state[row], state[row + 1]
