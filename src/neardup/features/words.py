"""Words: UTF-8 -> 64-bit hashes of case-folded Unicode words, straight from Arrow's buffers.

A token is a maximal run of letters, marks, numbers and underscore, case folded one code point to
one. Runs of a script that is written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) are
overlapping pairs of characters; a lone one is a token. A token's hash is that of its folded UTF-8
bytes, taken 16 at a time as two little-endian numbers: h <- fold_multiply(low ^ h, high ^ B).

Speed: 64 bytes at a time become a bit mask of "word" bytes (ASCII word characters and everything
that is not ASCII), whose changes are the ends of stretches. An ASCII stretch of at most 16 bytes
is a word and is hashed from two loads; every other stretch is decoded with the character table.

Texts and buffers are addresses here (see `kernels.Address`); `reading` owns the arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.features.characters import IGNORED, SEPARATOR, SHORT, UNSPACED, WORD, character_table
from neardup.kernels import (
    I64,
    U8,
    U64,
    Address,
    Int,
    address,
    count_ones,
    fold_multiply,
    kernel,
    load8,
    load32,
    load64,
    part,
    store64,
    strings,
    trailing_zeros,
    view,
    word_mask,
)
from neardup.specs import SpecError

I32 = npt.NDArray[np.int32]

_A = np.uint64(0x1D8E4E27C47D124F)  # its high byte is in no word: low ^ A is never zero
_B = np.uint64(0x0B51B5A3F6B7C3E9)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOWER = np.uint64(0x2020202020202020)
_NOT_ASCII = np.uint64(0x8080808080808080)
_32, _63 = np.uint64(32), np.uint64(63)
_SPACE = np.uint64(0x20)
_LONE = np.uint64(0x1FFFFF)
#: load64 at 16 - n keeps the first n of eight bytes, at 24 - n those after the first eight
_RULER = np.array([255] * 16 + [0] * 16, np.uint8)
_CHUNK = 4096
#: room for the ends of the stretches of one chunk, one carried over, and eight written at a time
MARKS = _CHUNK + 10


@part
def tokenise(
    start: Address, end: Address, limit: Address, table: Address, tokens: Address, marks: Address
) -> Address:
    """Write the hashes of the tokens of [start, end) at `tokens`; the address after the last.

    There are at least 64 bytes of memory before `limit`, and room for half as many tokens as
    bytes, rounded up. The ends of stretches are found for a chunk at a time; a stretch still open
    at the end of a chunk is carried into the next.
    """
    ruler = address(_RULER)
    found = np.int64(0)
    inside = _ZERO
    position = start
    while position < end:
        stop = min(end, position + _CHUNK)
        while position < stop:
            mask = _mask(position, end, limit)
            changes = mask ^ ((mask << _ONE) | inside)
            inside = mask >> _63
            at, found = marks + 8 * found, found + count_ones(changes)
            while at < marks + 8 * found:  # eight at a time: fewer branches to guess
                for _ in range(8):
                    at = store64(at, np.uint64(position + trailing_zeros(changes)))
                    changes &= changes - _ONE
            position += 64
        if position >= end and found & 1:
            store64(marks + 8 * found, np.uint64(end))
            found += 1
        tokens = _hash_stretches(marks, found >> 1, limit - 16, table, tokens, ruler)
        if found & 1:
            store64(marks, load64(marks + 8 * found - 8))
        found &= 1
    return tokens


@part
def _mask(position: Address, end: Address, limit: Address) -> Any:
    """The word mask of 64 bytes, without reading past `limit` or counting past `end`."""
    place = min(position, limit - 64)
    mask = word_mask(place) >> np.uint64(position - place)
    if end - position < 64:
        mask &= (_ONE << np.uint64(end - position)) - _ONE
    return mask


@part
def _hash_stretches(
    marks: Address, count: Int, last: Address, table: Address, tokens: Address, ruler: Address
) -> Address:
    """Hash the stretches whose starts and ends are at `marks`; 16 bytes can be read at `last`."""
    for i in range(count):
        start = np.int64(load64(marks + 16 * i))
        end = np.int64(load64(marks + 16 * i + 8))
        size = end - start
        if size <= 16 and start <= last:
            keep_low = load64(ruler + 16 - size)
            keep_high = load64(ruler + 24 - size)
            low = load64(start)
            high = load64(start + 8)
            if ((low & keep_low) | (high & keep_high)) & _NOT_ASCII == _ZERO:
                low = (low | _LOWER) & keep_low
                high = (high | _LOWER) & keep_high
                tokens = store64(tokens, fold_multiply(low ^ _A, high ^ _B))
                continue
        tokens = _hash_any(start, end, table, tokens)
    return tokens


@part
def _decode(position: Address, end: Address) -> tuple[Any, int]:
    """The code point of two or more bytes at `position`, and how many; (-1, 1) for none.

    A branch for each length, which the processor guesses: it need not wait for the length.
    """
    first = load8(position)
    if 0xC2 <= first < 0xE0 and position + 2 <= end:
        tail = load8(position + 1)
        if tail & 0xC0 == 0x80:
            return (first & 0x1F) << 6 | (tail & 0x3F), 2
    elif 0xE0 <= first < 0xF0 and position + 3 <= end:
        tail = load8(position + 1) << 8 | load8(position + 2)
        if tail & 0xC0C0 == 0x8080:
            return (first & 0x0F) << 12 | (tail >> 2 & 0xFC0) | (tail & 0x3F), 3
    elif 0xF0 <= first < 0xF5 and position + 4 <= end:
        tail = load8(position + 1) << 16 | load8(position + 2) << 8 | load8(position + 3)
        code = (first & 7) << 18 | (tail >> 4 & 0x3F000) | (tail >> 2 & 0xFC0) | (tail & 0x3F)
        if tail & 0xC0C0C0 == 0x808080 and code < 0x110000:
            return code, 4
    return -1, 1


@part
def _entry(code: int, table: Address) -> Any:
    """4 * (fold(c) - c) + kind(c); see `characters.character_table`."""
    if code < 0:
        return SEPARATOR
    block = load32(table + 4 * (code >> 7))
    return load32(table + 4 * (block + (code & 127)))


@part
def _encode(code: int) -> Any:
    """The UTF-8 bytes of a code point, the first one lowest, and how many bits they are."""
    if code < 0x80:
        return np.uint64(code), 8
    if code < 0x800:
        return np.uint64(0x80C0 | code >> 6 | (code & 0x3F) << 8), 16
    low = (code >> 6 & 0x3F) << 8 | (code & 0x3F) << 16
    if code < 0x10000:
        return np.uint64(0x8080E0 | code >> 12 | low), 24
    return np.uint64(0x808080F0 | code >> 18 | (code >> 12 & 0x3F) << 8 | low << 8), 32


@kernel
def _hash_any(start: Address, end: Address, table: Address, tokens: Address) -> Address:
    """Hash the tokens of a stretch of any bytes, character by character.

    `low` and `high` collect sixteen bytes of a word, `fill` bits of them so far.
    """
    h, low, high, fill = _A, _ZERO, _ZERO, np.int64(0)
    before, run = _LONE, 0
    while start < end:
        if run == 0:
            start, h, low, high, fill = _letters(start, end, table, h, low, high, fill)
        else:
            start, tokens, before, run = _pairs(start, end, table, tokens, before, run)
        if start == end:
            break
        code = load8(start)
        size, kind = 1, WORD
        bits, width = np.uint64(code | 0x20), np.int64(8)
        if code >= 0x80:
            code, size = _decode(start, end)
            entry = _entry(code, table)
            kind = entry & 3
            code += entry >> 2
            if kind == WORD:
                bits, width = _encode(code)
        start += size
        if kind == WORD:
            if run == 1:
                tokens = store64(tokens, _pair(_LONE, before))
            run = 0
            h, low, high, fill = _append(bits, width, h, low, high, fill)
        elif kind != IGNORED:
            if fill > 0 or h != _A:
                tokens = store64(tokens, fold_multiply(low ^ h, high ^ _B) if fill > 0 else h)
                h, low, high, fill = _A, _ZERO, _ZERO, np.int64(0)
            if kind == UNSPACED:
                if run > 0:
                    tokens = store64(tokens, _pair(before, np.uint64(code)))
                before = np.uint64(code)
                run += 1
            else:
                if run == 1:
                    tokens = store64(tokens, _pair(_LONE, before))
                run = 0
    if run == 1:
        tokens = store64(tokens, _pair(_LONE, before))
    if fill > 0 or h != _A:
        tokens = store64(tokens, fold_multiply(low ^ h, high ^ _B) if fill > 0 else h)
    return tokens


@part
def _letters(
    start: Address, end: Address, table: Address, h: Any, low: Any, high: Any, fill: Any
) -> Any:
    """Append the letters of two bytes at `start` to a word: where they end, and its state.

    In a loop of their own the processor knows its next step before it has seen the letter.
    """
    while start + 2 <= end:
        first, tail = load8(start), load8(start + 1)
        entry = load32(table + 4 * (SHORT + ((first & 0x1F) << 6 | (tail & 0x3F))))
        if first < 0xC2 or first >= 0xE0 or tail & 0xC0 != 0x80 or entry >> 28 != WORD:
            break
        bits, width = np.uint64(entry & 0xFFFFFF), entry >> 21 & 0x78
        h, low, high, fill = _append(bits, width, h, low, high, fill)
        start += 2
    return start, h, low, high, fill


@part
def _pairs(
    start: Address, end: Address, table: Address, tokens: Address, before: Any, run: Any
) -> Any:
    """Hash the unspaced characters of three bytes at `start` that follow another one."""
    while start + 3 <= end:
        first, tail = load8(start), load8(start + 1) << 8 | load8(start + 2)
        code = (first & 0x0F) << 12 | (tail >> 2 & 0xFC0) | (tail & 0x3F)
        entry = _entry(code, table)
        if first & 0xF0 != 0xE0 or tail & 0xC0C0 != 0x8080 or entry & 3 != UNSPACED:
            break
        after = np.uint64(code + (entry >> 2))
        tokens = store64(tokens, _pair(before, after))
        before = after
        run += 1
        start += 3
    return start, tokens, before, run


@part
def _append(bits: Any, width: Any, h: Any, low: Any, high: Any, fill: Any) -> Any:
    """The state of a word's hash after `width` more bits; every 128 are mixed into h."""
    shift = np.uint64(fill & 63)
    here, after = bits << shift, (bits >> _ONE) >> (_63 - shift)
    low |= here if fill < 64 else _ZERO
    high |= after if fill < 64 else here
    fill += width
    if fill >= 128:
        h, high, fill = fold_multiply(low ^ h, high ^ _B), _ZERO, fill - 128
        low = bits >> np.uint64(width - fill)
    return h, low, high, fill


@part
def _pair(before: Any, code: Any) -> Any:
    """The hash of two characters of an unspaced script; no word has the same bytes."""
    return fold_multiply(before << _32 ^ code ^ _A, _B)


@part
def characterise(start: Address, end: Address, table: Address, units: Address) -> Address:
    """Write the hashes of the folded characters of [start, end); the address after the last.

    Separators between words count as one space. There is room for as many units as bytes.
    """
    first = units
    gap = False
    while start < end:
        code, size = load8(start), 1
        if code >= 0x80:
            code, size = _decode(start, end)
        start += size
        entry = _entry(code, table)
        kind = entry & 3
        if kind == SEPARATOR:
            gap = bool(units > first)
        elif kind != IGNORED:
            if gap:
                units = store64(units, fold_multiply(_A ^ _SPACE, _B))
                gap = False
            units = store64(units, fold_multiply(_A ^ np.uint64(code + (entry >> 2)), _B))
    return units


@kernel
def tokenise_texts(data: U8, offsets: I64, table: I32, units: U64, ends: I64) -> None:
    """Write the token hashes of text i to units[ends[i]:ends[i + 1]]; from arrays to addresses."""
    marks = np.empty(MARKS, np.int64)
    text, limit, end = address(data), address(data) + len(data), address(units)
    for i in range(len(offsets) - 1):
        start, stop = text + offsets[i], text + offsets[i + 1]
        end = tokenise(start, stop, limit, address(table), end, address(marks))
        ends[i + 1] = (end - address(units)) >> 3


@kernel
def characterise_texts(data: U8, offsets: I64, table: I32, units: U64, ends: I64) -> None:
    """The same for `chars:n`: the hashes of the characters of each text."""
    text, end = address(data), address(units)
    for i in range(len(offsets) - 1):
        end = characterise(text + offsets[i], text + offsets[i + 1], address(table), end)
        ends[i + 1] = (end - address(units)) >> 3


def hash_words(words: Iterable[str]) -> U64:
    """The hash of each word, as it is found in a text; each must be exactly one token."""
    texts = strings(list(words))
    data, offsets = view(texts)
    units, ends = np.empty(len(data), np.uint64), np.zeros(len(offsets), np.int64)
    tokenise_texts(data, offsets, character_table(), units, ends)
    for word, count in zip(texts.to_pylist(), np.diff(ends).tolist(), strict=True):
        if count != 1:
            raise SpecError(f"{word!r} is not one word")
    return units[: len(texts)]
