"""The scanner: one pass over a page's bytes gives its text, blocks, title and links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.extract import tags as t
from neardup.extract.markup import (
    BYTES,
    LETTER,
    SPANS,
    find,
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
from neardup.extract.tags import Int
from neardup.extract.tree import HERE, STACK, STATE_ROWS, close_element, open_element
from neardup.kernels import I64, U8, kernel, part

_LT = t.whole(60)
_SLASH, _BANG, _QUESTION = 47, 33, 63
_CANONICAL = t.whole(t.name_hash("canonical"))
_CONTENT_LANGUAGE = t.whole(t.name_hash("content-language"))

# More of `state`, behind the stack: spans of the page's own facts, and the number of links.
CANONICAL = t.whole(STATE_ROWS)
LANGUAGE = CANONICAL + 2
META_LANGUAGE = LANGUAGE + 2
LINKS = META_LANGUAGE + 2
NAMES_WANTED = LINKS + 1  # whether classes and ids are read, for main content
_STATE_ROWS = NAMES_WANTED + 1
_NO_FACT, _HREF, _REL = t.whole(0), t.whole(t.HREF), t.whole(t.REL)
_CLASS, _ID = t.whole(t.CLASS), t.whole(t.ID)


class Page(NamedTuple):
    """What the scanner writes for a page; reused from page to page of a batch."""

    out: U8
    state: I64
    blocks: I64
    link_ends: I64


def new_page(total: int, pages: int, *, links: bool, names: bool) -> Page:
    """Room for a batch of so many bytes and pages.

    Text grows only where a reference is shorter than its character: at worst six bytes for
    five. A block takes at least four bytes of source, a link eight.
    """
    state = np.zeros(_STATE_ROWS, np.int64)
    state[NAMES_WANTED] = names
    return Page(
        out=np.empty((3 if links else 2, total + total // 4 + 16), np.uint8),
        state=state,
        blocks=np.empty((total // 4 + pages + 2, 3), np.int64),
        link_ends=np.empty(total // 8 + 2 if links else 0, np.int64),
    )


@kernel
def _has_word(data: U8, row: Int, state: I64, key: Int) -> bool:
    """Whether one of the words of an attribute's value hashes to `key`, in lower case."""
    i, end = state[SPANS + 2 * row], state[SPANS + 2 * row + 1]
    while i < end:
        word = t.SEED
        while i < end and data[i] > 32:
            word = (word ^ np.uint64(data[i] | 32)) * t.PRIME
            i += 1
        if np.int64(word) == key:
            return True
        i += 1
    return False


@kernel
def _names(data: U8, row: Int, state: I64, tables: I64) -> Int:
    """Place bits that the words of an element's class or id give its content."""
    i, end = state[SPANS + 2 * row], state[SPANS + 2 * row + 1]
    bits = 0
    while i < end:
        word = t.SEED
        while i < end and BYTES[data[i]] == LETTER:
            word = (word ^ np.uint64(data[i] | 32)) * t.PRIME
            i += 1
        name = np.int64(word)
        slot = name & (t.NAME_SLOTS - 1)
        while tables[t.NAME_KEYS + slot] != 0:
            if tables[t.NAME_KEYS + slot] == name:
                bits |= tables[t.NAME_BITS + slot]
            slot = (slot + 1) & (t.NAME_SLOTS - 1)
        i += 1
    return bits


@kernel
def _note(data: U8, tag: Int, seen: Int, tables: I64, out: U8, state: I64, link_ends: I64) -> None:
    """Keep what a tag's attributes tell of the page: links, canonical link, language."""
    row, fact = _HREF, _NO_FACT
    if tag == t.LINK_TAG and seen >> t.REL & seen >> t.HREF & 1:
        if _has_word(data, _REL, state, _CANONICAL):
            fact = CANONICAL
    elif tag == t.HTML and (seen >> t.LANG | seen >> t.XML_LANG) & 1:
        row, fact = t.LANG if seen >> t.LANG & 1 else t.XML_LANG, LANGUAGE
    elif tag == t.META and seen >> t.CONTENT & 1:
        row = t.HTTP_EQUIV if seen >> t.HTTP_EQUIV & 1 else t.NAME
        if seen >> row & 1 and _has_word(data, row, state, _CONTENT_LANGUAGE):
            fact = META_LANGUAGE
        row = t.CONTENT
    start, stop = state[SPANS + 2 * row], state[SPANS + 2 * row + 1]
    if fact != _NO_FACT and state[fact + 1] == 0:
        state[fact], state[fact + 1] = start, stop
    if (tag == t.A or tag == t.AREA) and seen >> t.HREF & 1 and len(link_ends):
        o = state[LINK_TEXT * LANE + OUT]
        o = write_value(data, start, stop, tables, out, LINK_TEXT, o)
        state[LINK_TEXT * LANE + OUT] = link_ends[state[LINKS]] = o
        state[LINKS] += 1


@part
def _start_tag(
    data: U8,
    i: Int,
    end: Int,
    tag: Int,
    key: Int,
    seen: Int,
    closing: Int,
    tables: I64,
    out: U8,
    state: I64,
    blocks: I64,
) -> Int:
    """A start tag that ends before i; where to read on: behind content that is no markup."""
    kind = tables[t.KINDS + tag]
    place = tables[t.PLACES + tag]
    if tag == t.DIALOG and not seen >> t.OPEN & 1:
        place |= t.HIDDEN
    if kind & t.UNSEEN or seen >> t.HIDDEN_ATTRIBUTE & 1:
        place |= t.HIDDEN
    elif seen >> t.STYLE & 1:
        row = SPANS + 2 * t.STYLE
        if style_hides(data, state[row], state[row + 1]):
            place |= t.HIDDEN
    if state[NAMES_WANTED] and seen >> t.CLASS & 1:
        place |= _names(data, _CLASS, state, tables)
    if state[NAMES_WANTED] and seen >> t.ID & 1:
        place |= _names(data, _ID, state, tables)
    if not kind & (t.RAW | t.TEXTUAL) or state[HERE] & t.FOREIGN:
        open_element(tag, key, closing, place, state, tables)
        return i
    last = end if tag == t.PLAINTEXT else raw_end(data, i, end, tag, key, tables)
    lane, place = TEXT, place | state[HERE]
    if tag == t.TITLE:
        lane, place = TITLE_TEXT, 0
        if state[TITLE_TEXT * LANE + OUT] > state[TITLE_TEXT * LANE + BEGIN]:
            return last
    if not (kind & t.RAW or place & t.HIDDEN):
        write_text(data, i, last, tables, out, state, blocks, lane, place)
    return last


@part
def _tag(
    data: U8, i: Int, end: Int, tables: I64, out: U8, state: I64, blocks: I64, link_ends: I64
) -> Int:
    """A start or end tag whose name, or slash, stands at i; where to read on."""
    ending = data[i] == _SLASH
    after, key, tag = read_name(data, i + ending, end, tables)
    after, seen, closing = read_attributes(data, after, end, tables, state)
    if after < 0:
        return end
    kind = tables[t.KINDS + tag]
    if state[HERE] & t.HIDDEN:
        kind &= ~(t.BLOCK | t.SPACE)
    if kind & t.BLOCK:
        state[PENDING] = LINE
    elif kind & t.SPACE and state[PENDING] == NOTHING:
        state[PENDING] = WORD
    if ending:
        close_element(tag, key, state, tables)
        return after
    if seen:
        _note(data, tag, seen, tables, out, state, link_ends)
    return _start_tag(data, after, end, tag, key, seen, closing, tables, out, state, blocks)


@kernel
def scan_pages(
    data: U8, offsets: I64, tables: I64, out: U8, state: I64, blocks: I64, link_ends: I64, rows: I64
) -> None:
    """Read each page data[offsets[k]:offsets[k + 1]].

    Row k of `rows` gets where its text and title (bytes), links and blocks (numbers) end, then
    where its canonical link and its language start and end in `data`.
    """
    for k in range(len(offsets) - 1):
        for row in range(HERE, STACK):
            state[row] = 0
        for row in range(CANONICAL, LINKS):
            state[row] = 0
        for at in range(0, LINK_TEXT * LANE, LANE):
            state[at + BEGIN], state[at + PENDING] = state[at + OUT], NOTHING
        i, end = offsets[k], offsets[k + 1]
        while i < end:
            mark = find(data, i, end, _LT)
            c = np.int64(data[mark + 1]) if mark + 1 < end else 0
            after = c if c != _SLASH or mark + 2 >= end else np.int64(data[mark + 2])
            tag = BYTES[after] == LETTER
            declaration = (c == _SLASH) | (c == _BANG) | (c == _QUESTION)
            last = mark if tag or declaration or mark == end else mark + 1
            if last > i and not state[HERE] & t.HIDDEN:
                write_text(data, i, last, tables, out, state, blocks, TEXT, state[HERE])
            if tag:
                i = _tag(data, mark + 1, end, tables, out, state, blocks, link_ends)
            elif declaration:
                i = skip_declaration(data, mark, end, state[HERE] & t.FOREIGN != 0)
            else:
                i = last
        rows[k, 0], rows[k, 1] = state[TEXT * LANE + OUT], state[TITLE_TEXT * LANE + OUT]
        rows[k, 2], rows[k, 3] = state[LINKS], state[BLOCKS]
        row = LANGUAGE if state[LANGUAGE + 1] > state[LANGUAGE] else META_LANGUAGE
        rows[k, 4], rows[k, 5] = state[CANONICAL], state[CANONICAL + 1]
        rows[k, 6], rows[k, 7] = state[row], state[row + 1]
