"""The tokenizer: where tags, comments and raw text end (HTML standard, section 13.2.5).

Every kernel returns a position of at most `end`, and moves forward only: linear time.
"""

from __future__ import annotations

import numpy as np

from neardup.extract.tags import (
    ATTRIBUTE_KEYS,
    ATTRIBUTE_ROWS,
    ATTRIBUTE_SLOTS,
    PRIME,
    SCRIPT,
    SEED,
    TAG_IDS,
    TAG_KEYS,
    TAG_SLOTS,
    Int,
    name_hash,
    whole,
)
from neardup.kernels import I64, U8, kernel

_GT, _LT, _SEMICOLON = whole(62), whole(60), whole(59)
_SLASH, _EQUALS, _DASH, _BANG, _COLON = 47, 61, 45, 33, 58
_QUOTE, _APOSTROPHE, _OPEN_BRACKET, _CLOSE_BRACKET = 34, 39, 91, 93
_DISPLAY, _NONE = whole(name_hash("display")), whole(name_hash("none"))
_VISIBILITY, _HIDDEN = whole(name_hash("visibility")), whole(name_hash("hidden"))
SPANS = 16  # where `state` keeps the start and end of each attribute's value

_PART_OF_NAME, _BLANK, _END, _ASSIGN, LETTER = 0, 1, 2, 3, 4


def _bytes() -> U8:
    """What each byte is in a tag: a blank, `/` or `>`, `=`, a letter, or another part of a name."""
    table = np.zeros(256, np.uint8)
    for kind, members in ((_BLANK, b" \t\n\r\f"), (_END, b"/>"), (_ASSIGN, b"=")):
        table[list(members)] = kind
    table[65:91] = table[97:123] = LETTER
    return table


BYTES = _bytes()


@kernel
def find(data: U8, i: Int, end: Int, byte: Int) -> Int:
    """The first place of a byte from i on, or `end`."""
    while i < end and data[i] != byte:
        i += 1
    return i


@kernel
def read_name(data: U8, i: Int, end: Int, tables: I64) -> tuple[Int, Int, Int]:
    """The tag name at i: (its end, its hash in lower case, the element's number or 0)."""
    name = SEED
    while i < end:
        c = np.int64(data[i])
        kind = BYTES[data[i]]
        if _BLANK <= kind <= _END:
            break
        name = (name ^ np.uint64(c | 32 if kind == LETTER else c)) * PRIME
        i += 1
    key = np.int64(name)
    slot = key & (TAG_SLOTS - 1)
    while tables[TAG_KEYS + slot] != 0:
        if tables[TAG_KEYS + slot] == key:
            return i, key, tables[TAG_IDS + slot]
        slot = (slot + 1) & (TAG_SLOTS - 1)
    return i, key, 0


@kernel
def read_attributes(data: U8, i: Int, end: Int, tables: I64, state: I64) -> tuple[Int, Int, Int]:
    """All attributes of a tag: (after its `>`, bits of the attributes seen, self-closing).

    -1 instead of a position where the page ends inside the tag. A name's first value counts.
    """
    seen, closing = 0, 0
    while i < end:
        c = np.int64(data[i])
        if c == _GT:
            return i + 1, seen, closing
        closing = 1 if c == _SLASH else 0
        if c == _SLASH or BYTES[data[i]] == _BLANK:
            i += 1
            continue
        name = (SEED ^ np.uint64(c | 32)) * PRIME
        i += 1
        while i < end and (BYTES[data[i]] == LETTER or BYTES[data[i]] == _PART_OF_NAME):
            name = (name ^ np.uint64(data[i] | 32)) * PRIME
            i += 1
        key = np.int64(name)
        start = stop = i
        while i < end and BYTES[data[i]] == _BLANK:
            i += 1
        if i < end and data[i] == _EQUALS:
            i += 1
            while i < end and BYTES[data[i]] == _BLANK:
                i += 1
            start = i
            if i < end and (data[i] == _QUOTE or data[i] == _APOSTROPHE):
                start = i + 1
                stop = find(data, start, end, np.int64(data[i]))
                i = min(stop + 1, end)
            else:
                while i < end and data[i] != _GT and BYTES[data[i]] != _BLANK:
                    i += 1
                stop = i
        slot = key & (ATTRIBUTE_SLOTS - 1)
        while tables[ATTRIBUTE_KEYS + slot] != 0:
            row = tables[ATTRIBUTE_ROWS + slot]
            if tables[ATTRIBUTE_KEYS + slot] == key and not seen >> row & 1:
                state[SPANS + 2 * row], state[SPANS + 2 * row + 1] = start, stop
                seen |= 1 << row
            slot = (slot + 1) & (ATTRIBUTE_SLOTS - 1)
    return -1, seen, closing


@kernel
def skip_declaration(data: U8, i: Int, end: Int, foreign: bool) -> Int:
    """Behind a comment, doctype, CDATA section or bogus comment whose `<` stands at i."""
    start = i + 4
    bang = i + 3 < end and data[i + 1] == _BANG
    comment = bang and data[i + 2] == _DASH and data[i + 3] == _DASH
    section = bang and foreign and data[i + 2] == _OPEN_BRACKET
    if comment and start < end and data[start] == _GT:
        return start + 1
    if comment and start + 1 < end and data[start] == _DASH and data[start + 1] == _GT:
        return start + 2
    i = start if comment else i
    while True:
        i = find(data, i, end, _GT) + 1
        if i > end:
            return end
        if comment:
            dash = i - 3 if data[i - 2] == _BANG else i - 2
            if dash > start and data[dash] == _DASH and data[dash - 1] == _DASH:
                return i
        elif not section or (data[i - 2] == _CLOSE_BRACKET and data[i - 3] == _CLOSE_BRACKET):
            return i


@kernel
def raw_end(data: U8, i: Int, end: Int, tag: Int, key: Int, tables: I64) -> Int:
    """Where the end tag of a raw text element stands (its `<`), or `end`.

    A script may hold `<!-- <script> </script> -->`: the inner end tag does not end it.
    """
    escaped, doubly = False, False
    while i < end:
        c = data[i]
        if escaped and c == _GT and data[i - 1] == _DASH and data[i - 2] == _DASH:
            escaped = doubly = False
        elif c == _LT and i + 3 < end:
            c = data[i + 1]
            if c == _SLASH and BYTES[data[i + 2]] == LETTER:
                after, name, _ = read_name(data, i + 2, end, tables)
                if name == key and after < end:
                    if not doubly:
                        return i
                    doubly = False
            elif tag == SCRIPT and escaped and not doubly and BYTES[c] == LETTER:
                after, name, _ = read_name(data, i + 1, end, tables)
                doubly = name == key and after < end
            elif tag == SCRIPT and c == _BANG and data[i + 2] == _DASH and data[i + 3] == _DASH:
                escaped = True
                i += 3
        i += 1
        if not escaped:
            i = find(data, i, end, _LT)
    return end


@kernel
def style_hides(data: U8, i: Int, end: Int) -> bool:
    """Whether an inline style says `display: none` or `visibility: hidden`."""
    while i < end:
        name, colon, value = SEED, False, SEED
        while i < end and data[i] != _SEMICOLON:
            c = np.int64(data[i])
            i += 1
            if BYTES[c] == _BLANK:
                continue
            if c == _COLON and not colon:
                colon = True
            elif c == _BANG:  # !important
                i = find(data, i, end, _SEMICOLON)
            elif colon:
                value = (value ^ np.uint64(c | 32)) * PRIME
            else:
                name = (name ^ np.uint64(c | 32)) * PRIME
        key, said = np.int64(name), np.int64(value)
        if (key == _DISPLAY and said == _NONE) or (key == _VISIBILITY and said == _HIDDEN):
            return True
        i += 1
    return False
