"""The tokenizer: where tags, comments and raw text end (HTML standard, section 13.2.5).

Every kernel returns a position of at most `end`, and moves forward only: linear time.
"""

from __future__ import annotations

import numpy as np

from neardup.extract.tags import (
    ATTRIBUTE_KEYS,
    ATTRIBUTES,
    PRIME,
    SCRIPT,
    SEED,
    TAG_IDS,
    TAG_KEYS,
    TAG_SLOTS,
    name_hash,
    whole,
)
from neardup.kernels import I64, U8, kernel

_GT, _LT, _SEMICOLON = whole(62), whole(60), whole(59)
_SLASH, _EQUALS, _DASH, _BANG = 47, 61, 45, 33
_QUOTE, _APOSTROPHE = 34, 39
_OPEN_BRACKET, _CLOSE_BRACKET = 91, 93
_END_OF_NAME, _END_OF_ATTRIBUTE = 1, 2
_ROWS = len(ATTRIBUTES)
SPANS = 16  # where `state` keeps the start and end of each attribute's value
_DISPLAY, _NONE = name_hash("display"), name_hash("none")
_VISIBILITY, _HIDDEN = name_hash("visibility"), name_hash("hidden")


def _ends() -> U8:
    """Bytes that end a tag's name (1) or an attribute's name (1 or 2)."""
    table = np.zeros(256, np.uint8)
    for byte in b" \t\n\r\f/>":
        table[byte] = _END_OF_NAME
    table[_EQUALS] = _END_OF_ATTRIBUTE
    return table


_ENDS = _ends()


@kernel
def is_letter(data: U8, i: int, end: int) -> bool:
    return i < end and 97 <= data[i] | 32 <= 122


@kernel
def is_space(byte: np.uint8) -> bool:
    c = np.int64(byte)
    return c == 32 or c == 10 or c == 9 or c == 13 or c == 12


@kernel
def find(data: U8, i: int, end: int, byte: int) -> int:
    """The first place of a byte from i on, or `end`."""
    while i < end and data[i] != byte:
        i += 1
    return i


@kernel
def read_name(data: U8, i: int, end: int, tables: I64) -> tuple[int, int, int]:
    """The tag name at i: (its end, its hash in lower case, the element's number or 0)."""
    key = SEED
    while i < end and _ENDS[data[i]] != _END_OF_NAME:
        c = np.int64(data[i])
        if 65 <= c <= 90:
            c |= 32
        key = (key ^ c) * PRIME
        i += 1
    slot = key & (TAG_SLOTS - 1)
    while tables[TAG_KEYS + slot] != 0:
        if tables[TAG_KEYS + slot] == key:
            return i, key, tables[TAG_IDS + slot]
        slot = (slot + 1) & (TAG_SLOTS - 1)
    return i, key, 0


@kernel
def _value(data: U8, i: int, end: int) -> tuple[int, int, int]:
    """The attribute value that starts at i: (its start, its end, where to read on)."""
    while i < end and is_space(data[i]):
        i += 1
    if i < end and (data[i] == _QUOTE or data[i] == _APOSTROPHE):
        last = find(data, i + 1, end, np.int64(data[i]))
        return i + 1, last, min(last + 1, end)
    start = i
    while i < end and data[i] != _GT and not is_space(data[i]):
        i += 1
    return start, i, i


@kernel
def read_attributes(data: U8, i: int, end: int, tables: I64, state: I64) -> tuple[int, int, bool]:
    """All attributes of a tag: (after its `>`, bits of the attributes seen, self-closing).

    -1 instead of a position where the page ends inside the tag. A name's first value counts.
    """
    seen, closing = 0, False
    while i < end:
        c = data[i]
        if c == _GT:
            return i + 1, seen, closing
        if is_space(c) or c == _SLASH:
            closing = c == _SLASH
            i += 1
            continue
        closing = False
        key = (SEED ^ (np.int64(c) | 32)) * PRIME
        i += 1
        while i < end and _ENDS[data[i]] == 0:
            key = (key ^ (np.int64(data[i]) | 32)) * PRIME
            i += 1
        start = stop = i
        after = i
        while after < end and is_space(data[after]):
            after += 1
        if after < end and data[after] == _EQUALS:
            start, stop, i = _value(data, after + 1, end)
        for row in range(_ROWS):
            if key == tables[ATTRIBUTE_KEYS + row] and not seen >> row & 1:
                state[SPANS + 2 * row], state[SPANS + 2 * row + 1] = start, stop
                seen |= 1 << row
    return -1, seen, closing


@kernel
def opens_comment(data: U8, i: int, end: int) -> bool:
    """Whether the `<` at i opens a comment."""
    return i + 3 < end and data[i + 1] == _BANG and data[i + 2] == _DASH and data[i + 3] == _DASH


@kernel
def skip_declaration(data: U8, i: int, end: int, foreign: bool) -> int:
    """Behind a comment, doctype, CDATA section or bogus comment whose `<` stands at i."""
    if opens_comment(data, i, end):
        i += 4
        start = i
        if i < end and data[i] == _GT:
            return i + 1
        if i + 1 < end and data[i] == _DASH and data[i + 1] == _GT:
            return i + 2
        while True:
            i = find(data, i, end, _GT)
            if i >= end:
                return end
            dash = i - 2 if data[i - 1] == _BANG else i - 1
            if dash > start and data[dash] == _DASH and data[dash - 1] == _DASH:
                return i + 1
            i += 1
    if foreign and i + 2 < end and data[i + 1] == _BANG and data[i + 2] == _OPEN_BRACKET:
        while True:
            i = find(data, i + 1, end, _GT)
            if i >= end or (data[i - 1] == _CLOSE_BRACKET and data[i - 2] == _CLOSE_BRACKET):
                return min(i + 1, end)
    return min(find(data, i, end, _GT) + 1, end)


@kernel
def raw_end(data: U8, i: int, end: int, tag: int, key: int, tables: I64) -> int:
    """Where the end tag of a raw text element stands (its `<`), or `end`.

    A script may hold `<!-- <script> </script> -->`: the inner end tag does not end it.
    """
    escaped, doubly = False, False
    while True:
        i = find(data, i, end, _LT) if not escaped else _find_escaped(data, i, end)
        if i >= end:
            return end
        c = data[i + 1] if i + 1 < end else 0
        if data[i] == _GT:  # behind two dashes
            escaped = doubly = False
        elif c == _SLASH and is_letter(data, i + 2, end):
            after, name, _ = read_name(data, i + 2, end, tables)
            if name == key and after < end:
                if not doubly:
                    return i
                doubly = False
        elif tag == SCRIPT and escaped and not doubly and is_letter(data, i + 1, end):
            after, name, _ = read_name(data, i + 1, end, tables)
            doubly = name == key and after < end
        elif tag == SCRIPT and not escaped and opens_comment(data, i, end):
            escaped, i = True, i + 3
        i += 1


@kernel
def _find_escaped(data: U8, i: int, end: int) -> int:
    """Inside `<!--` of a script: the next `<`, or the `>` of the next `-->`."""
    while i < end:
        if data[i] == _LT or (data[i] == _GT and data[i - 1] == _DASH and data[i - 2] == _DASH):
            return i
        i += 1
    return i


@kernel
def style_hides(data: U8, i: int, end: int) -> bool:
    """Whether an inline style says `display: none` or `visibility: hidden`."""
    while i < end:
        name, colon, value = SEED, False, SEED
        while i < end and data[i] != _SEMICOLON:
            c = np.int64(data[i])
            i += 1
            if is_space(data[i - 1]):
                continue
            if c == 58 and not colon:
                colon = True
            elif c == _BANG:  # !important
                i = find(data, i, end, _SEMICOLON)
            elif colon:
                value = (value ^ (c | 32)) * PRIME
            else:
                name = (name ^ (c | 32)) * PRIME
        if (name == _DISPLAY and value == _NONE) or (name == _VISIBILITY and value == _HIDDEN):
            return True
        i += 1
    return False
