"""Words: UTF-8 -> 64-bit hashes of case-folded Unicode words, straight from Arrow's buffers.

A token is a maximal run of letters, marks, numbers and underscore, case folded one code point to
one. Runs of a script that is written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) are
overlapping pairs of characters; a lone one is a token. A token's hash is that of its folded UTF-8
bytes, taken 16 at a time as two little-endian numbers: h <- fold_multiply(low ^ h, high ^ B).

Speed: 64 bytes at a time become a bit mask of "word" bytes (ASCII word characters and everything
that is not ASCII), whose changes are the ends of stretches. An ASCII stretch of at most 16 bytes
is a word and is hashed from two loads; every other stretch is decoded with the character table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.features.characters import IGNORED, SEPARATOR, UNSPACED, WORD, character_table
from neardup.kernels import (
    I64,
    U8,
    U64,
    Int,
    fold_multiply,
    kernel,
    load64,
    strings,
    trailing_zeros,
    view,
    word_mask,
)
from neardup.specs import SpecError

I32 = npt.NDArray[np.int32]

_A = np.uint64(0x1D8E4E27C47D124F)  # its high byte is in no word: low ^ A is never zero
_B = np.uint64(0x0B51B5A3F6B7C3E9)
_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_LOWER = np.uint64(0x2020202020202020)
_NOT_ASCII = np.uint64(0x8080808080808080)
_32, _63 = np.uint64(32), np.uint64(63)
_SPACE = np.uint64(0x20)
_LONE = np.uint64(0x1FFFFF)
_CHUNK = 4096
#: room for the ends of the stretches of one chunk
MARKS = _CHUNK + 2


@kernel
def tokenise(data: U8, start: Int, end: Int, table: I32, tokens: U64, marks: I64) -> Int:
    """Write the hashes of the tokens of data[start:end] and return how many there are.

    `tokens` needs room for (end - start) // 2 + 1. The ends of stretches are found for a chunk
    of blocks at a time; a stretch still open at the end of a chunk is carried into the next.
    """
    count: Int = np.int64(0)  # not 0: Numba would compile the callee for a literal, too
    found: Int = np.int64(0)
    inside = _ZERO
    position = start
    while position < end:
        stop = min(end, position + _CHUNK)
        while position < stop:
            mask = _mask(data, position, end)
            changes = mask ^ ((mask << _ONE) | inside)
            inside = mask >> _63
            while changes != _ZERO:
                marks[found] = position + trailing_zeros(changes)
                changes &= changes - _ONE
                found += 1
            position += 64
        if position >= end and found & 1:
            marks[found] = end
            found += 1
        count = _hash_stretches(data, marks, found, table, tokens, count)
        if found & 1:
            marks[0] = marks[found - 1]
        found &= 1
    return count


@kernel
def _mask(data: U8, position: Int, end: Int) -> Any:
    """The word mask of 64 bytes, without reading past the data or counting past `end`."""
    place = min(position, len(data) - 64)
    mask = word_mask(data, place) >> np.uint64(position - place)
    if end - position < 64:
        mask &= (_ONE << np.uint64(end - position)) - _ONE
    return mask


@kernel
def _hash_stretches(data: U8, marks: I64, found: Int, table: I32, tokens: U64, count: Int) -> Int:
    """Hash the stretches [marks[0], marks[1]), [marks[2], marks[3]) ... into `tokens`."""
    last = len(data) - 16
    for i in range(0, found - 1, 2):
        start = marks[i]
        size = marks[i + 1] - start
        if size <= 16 and start <= last:
            keep_low = _ALL >> np.uint64(64 - 8 * min(size, 8))
            keep_high = (_ALL >> np.uint64(128 - 8 * max(size, 9))) if size > 8 else _ZERO
            low = load64(data, start) & keep_low
            high = load64(data, start + 8) & keep_high
            if (low | high) & _NOT_ASCII == _ZERO:
                low |= _LOWER & keep_low
                high |= _LOWER & keep_high
                tokens[count] = fold_multiply(low ^ _A, high ^ _B)
                count += 1
                continue
        count = _hash_any(data, start, start + size, table, tokens, count)
    return count


@kernel
def _decode(data: U8, position: Int, end: Int) -> tuple[Any, int]:
    """The code point at `position` and its length; (-1, 1) for a byte that begins none."""
    first = np.int64(data[position])
    if first < 0x80:
        return first, 1
    size = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    if first < 0xC2 or first > 0xF4 or position + size > end:
        return -1, 1
    code = first & (0x7F >> size)
    for i in range(position + 1, position + size):
        if data[i] & 0xC0 != 0x80:
            return -1, 1
        code = (code << 6) | np.int64(data[i] & 0x3F)
    return (code, size) if code < 0x110000 else (-1, 1)


@kernel
def _encode(code: Int) -> tuple[np.uint64, int]:
    """The UTF-8 bytes of a code point, the first one lowest, and how many they are."""
    if code < 0x80:
        return np.uint64(code), 1
    if code < 0x800:
        return np.uint64(0x80C0 | code >> 6 | (code & 0x3F) << 8), 2
    if code < 0x10000:
        low = 0x8080E0 | code >> 12 | (code >> 6 & 0x3F) << 8 | (code & 0x3F) << 16
        return np.uint64(low), 3
    low = 0x808080F0 | code >> 18 | (code >> 12 & 0x3F) << 8
    return np.uint64(low | (code >> 6 & 0x3F) << 16 | (code & 0x3F) << 24), 4


@kernel
def _hash_any(data: U8, start: Int, end: Int, table: I32, tokens: U64, count: Int) -> Int:
    """Hash the tokens of a stretch of any bytes, character by character."""
    h, low, high, fill = _A, _ZERO, _ZERO, 0
    before, run = _LONE, 0
    while start < end:
        code, size = _decode(data, start, end)
        start += size
        entry = table[table[code >> 7] + (code & 127)] if code >= 0 else 0
        kind = entry & 3
        if kind == IGNORED:
            continue
        if kind != WORD and (fill > 0 or h != _A):
            tokens[count] = fold_multiply(low ^ h, high ^ _B) if fill > 0 else h
            count += 1
            h, low, high, fill = _A, _ZERO, _ZERO, 0
        if kind != UNSPACED and run > 0:
            if run == 1:
                tokens[count] = fold_multiply(_LONE << _32 ^ before ^ _A, _B)
                count += 1
            run = 0
        code += entry >> 2
        if kind == UNSPACED:
            if run > 0:
                tokens[count] = fold_multiply(before << _32 ^ np.uint64(code) ^ _A, _B)
                count += 1
            before = np.uint64(code)
            run += 1
        elif kind == WORD:
            bits, size = _encode(code)
            if fill < 8:
                low |= bits << np.uint64(8 * fill)
                if fill > 4:
                    high |= bits >> np.uint64(64 - 8 * fill)
            else:
                high |= bits << np.uint64(8 * (fill - 8))
            fill += size
            if fill >= 16:
                fill -= 16
                h = fold_multiply(low ^ h, high ^ _B)
                low, high = bits >> np.uint64(8 * (size - fill)), _ZERO
    if fill > 0 or h != _A:
        tokens[count] = fold_multiply(low ^ h, high ^ _B) if fill > 0 else h
        count += 1
    if run == 1:
        tokens[count] = fold_multiply(_LONE << _32 ^ before ^ _A, _B)
        count += 1
    return count


@kernel
def characterise(data: U8, start: Int, end: Int, table: I32, units: U64) -> Int:
    """Write the hashes of the folded characters of data[start:end] and return how many.

    Separators between words count as one space. `units` needs room for end - start.
    """
    count = 0
    gap = False
    while start < end:
        code, size = _decode(data, start, end)
        start += size
        entry = table[table[code >> 7] + (code & 127)] if code >= 0 else 0
        kind = entry & 3
        if kind == SEPARATOR:
            gap = count > 0
        elif kind != IGNORED:
            if gap:
                units[count] = fold_multiply(_A ^ _SPACE, _B)
                count += 1
                gap = False
            units[count] = fold_multiply(_A ^ np.uint64(code + (entry >> 2)), _B)
            count += 1
    return count


@kernel
def read_units(
    data: U8, start: Int, end: Int, table: I32, chars: bool, units: U64, marks: I64
) -> Int:
    """Tokens for `words:n`, characters for `chars:n`."""
    if chars:
        return characterise(data, start, end, table, units)
    return tokenise(data, start, end, table, units, marks)


def hash_words(words: Iterable[str]) -> U64:
    """The hash of each word, as it is found in a text; each must be exactly one token."""
    texts = strings(list(words))
    data, offsets = view(texts)
    hashes, spare = np.zeros(len(texts), np.uint64), np.empty(MARKS, np.uint64)
    for i in range(len(texts)):
        start, end = int(offsets[i]), int(offsets[i + 1])
        marks = np.empty(MARKS, np.int64)
        if read_units(data, start, end, character_table(), False, spare, marks) != 1:
            raise SpecError(f"{texts[i].as_py()!r} is not one word")
        hashes[i] = spare[0]
    return hashes
