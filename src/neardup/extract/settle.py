"""Text as it is shown: references decoded, whitespace settled, one line a block."""

from __future__ import annotations

import numpy as np

from neardup.extract.entities import decode
from neardup.extract.tags import LINK, Int, whole
from neardup.kernels import I64, U8, kernel

# Text, title and links are written side by side, as rows of `out`; the state of row L starts
# at `state[L * LANE]`.
TEXT, TITLE_TEXT, LINK_TEXT = whole(0), whole(1), whole(2)
LANE = 4
OUT, BEGIN, PENDING, BLOCKS = 0, 1, 2, 3
NOTHING, WORD, LINE = 0, 1, 2  # what separates the next character from the last one

# Columns of `blocks`: where a block starts in the output, its bytes inside links, its place.
BLOCK_START, BLOCK_LINKED, BLOCK_PLACE = 0, 1, 2

_IN_TEXT, _ATTRIBUTE = whole(0), whole(1)  # references end differently in attributes
_PLAIN, _SPACE, _DROP, _AMPERSAND, _MAYBE = 0, 1, 2, 3, 4


def _classes() -> U8:
    """Each byte: plain, white space, dropped (NUL), `&`, or the lead of a wide space."""
    table = np.zeros(256, np.uint8)
    table[1:33] = table[127] = _SPACE
    table[0], table[ord("&")] = _DROP, _AMPERSAND
    table[[0xC2, 0xE1, 0xE2, 0xE3]] = _MAYBE
    return table


_CLASS = _classes()


@kernel
def _new_block(out: U8, state: I64, blocks: I64, lane: Int, place: Int, o: Int) -> Int:
    """Begin a block at o, on a line of its own; where its first character goes."""
    if o > state[lane * LANE + BEGIN]:
        out[lane, o] = 10
        o += 1
    if lane == TEXT:
        row = state[BLOCKS]
        blocks[row, BLOCK_START] = o
        blocks[row, BLOCK_LINKED] = 0
        blocks[row, BLOCK_PLACE] = place
        state[BLOCKS] = row + 1
    return o


@kernel
def _character(data: U8, i: Int, end: Int, tables: I64) -> tuple[Int, Int, Int]:
    """The character at i that is not plain: (its class, bytes of source, packed if decoded).

    White space beyond ASCII: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F,
    U+205F, U+3000.
    """
    kind, packed, width = np.int64(_CLASS[data[i]]), 0, 1
    if kind == _AMPERSAND:
        packed, after = decode(data, i, end, tables, _IN_TEXT)
        if packed == 0:
            return _PLAIN, 1, 0
        a, b, c = packed & 255, packed >> 8 & 255, packed >> 16 & 255
        width, size = after - i, after - i
    elif kind == _MAYBE and i + 1 < end:
        a, b = np.int64(data[i]), np.int64(data[i + 1])
        c = np.int64(data[i + 2]) if i + 2 < end else 0
        size = 2 if a == 0xC2 else 3
    else:
        return _PLAIN if kind == _MAYBE else kind, 1, 0
    space = a <= 32 or (a == 0xC2 and (b == 0x85 or b == 0xA0))
    if a == 0xE2:
        space = b == 0x80 and (c <= 0x8A or c == 0xA8 or c == 0xA9 or c == 0xAF)
        space |= b == 0x81 and c == 0x9F
    elif c == 0x80:
        space |= (a == 0xE3 and b == 0x80) or (a == 0xE1 and b == 0x9A)
    return (_SPACE, size, packed) if space else (_PLAIN, width, packed)


@kernel
def write_text(
    data: U8, i: Int, end: Int, tables: I64, out: U8, state: I64, blocks: I64, lane: Int, place: Int
) -> None:
    """Append data[i:end], text without markup, that stands at `place`."""
    at = lane * LANE
    o = before = state[at + OUT]
    begin, pending = state[at + BEGIN], state[at + PENDING]
    while i < end:
        kind, width, packed = _PLAIN, 1, 0
        if _CLASS[data[i]] == _SPACE:
            pending = max(pending, WORD)
            i += 1
            continue
        if _CLASS[data[i]] != _PLAIN:
            kind, width, packed = _character(data, i, end, tables)
        if kind != _PLAIN:
            if kind == _SPACE:
                pending = max(pending, WORD)
            i += width
            continue
        if pending == WORD and o > begin:
            out[lane, o] = 32
            o += 1
        elif pending == LINE or o == begin:
            o = _new_block(out, state, blocks, lane, place, o)
        pending = NOTHING
        if packed:
            for byte in range(packed >> 48):
                out[lane, o + byte] = packed >> 8 * byte & 255
            o, i = o + (packed >> 48), i + width
        else:
            out[lane, o] = data[i]
            o, i = o + 1, i + 1
        while i < end and _CLASS[data[i]] == _PLAIN:
            out[lane, o] = data[i]
            o, i = o + 1, i + 1
    state[at + OUT], state[at + PENDING] = o, pending
    if place & LINK and o > before:
        blocks[state[BLOCKS] - 1, BLOCK_LINKED] += o - before


@kernel
def write_value(data: U8, i: Int, end: Int, tables: I64, out: U8, lane: Int, o: Int) -> Int:
    """Append an attribute's value, references decoded, trimmed; where the output then ends."""
    while i < end and data[i] <= 32:
        i += 1
    while end > i and data[end - 1] <= 32:
        end -= 1
    while i < end:
        packed, after = 0, i + 1
        if data[i] == 38:
            packed, after = decode(data, i, end, tables, _ATTRIBUTE)
        if packed:
            for byte in range(packed >> 48):
                out[lane, o + byte] = packed >> 8 * byte & 255
            o, i = o + (packed >> 48), after
            continue
        if data[i] != 0:
            out[lane, o] = data[i]
            o += 1
        i += 1
    return o
