"""Blocks of a text as numbers: what a block says exactly, what it says loosely, how long it is.

A block is a line of a document's text. `value` names its words (ASCII case and the amount of
white space do not matter); `mark` holds two loose 26-bit names that survive small edits and
changed numbers, and the number of words. Removal goes by `value`, since pages that differ only
in their numbers are different pages; copies are recognised by the loose names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.kernels import I64, U8, U64, kernel, mix64, strings, view

#: raised when the same bytes come to have another value or mark
VERSION = 1

_SEED = np.uint64(0x9E3779B97F4A7C15)
_WORD = np.uint64(0xD6E8FEB86659FD93)
_BLOCK = np.uint64(0xA0761D6478BD642F)
_GRAM_1 = np.uint64(0xE7037ED1A0B428DB)
_GRAM_2 = np.uint64(0xA47B07BC5CD74259)
_GRAM_3 = np.uint64(0x9E6C63D0876A9A47)
_NUMBER = np.uint64(0x8EBC6AF09C88C6E3)  # every word with a digit in it, loosely
_NONE, _ONE = np.uint64(0), np.uint64(1)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_S8, _S29, _S56 = np.uint64(8), np.uint64(29), np.uint64(56)
_LANE, _SECOND = np.uint64(38), np.uint64(12)  # 26 + 26 + 12 bits
_LONGEST = 4095
_A, _Z, _CASE = np.uint8(65), np.uint8(26), np.uint64(32)
_ZERO, _TEN = np.uint8(48), np.uint8(10)
_NEWLINE, _SPACE, _THREE = np.uint8(10), np.uint8(32), np.uint8(0xE0)


@kernel
def _unspaced(lead: int, second: int) -> bool:
    """Whether a three-byte character is of a script without spaces: Han, Kana, Thai, Lao,
    Khmer, Burmese. Such a character is a word of its own here and counts as half a word."""
    return (
        (lead >= 0xE3 and lead <= 0xE9)
        or (lead == 0xE0 and second >= 0xB8 and second <= 0xBB)
        or (lead == 0xE1 and (second == 0x80 or second == 0x81 or second == 0x9E))
    )


@kernel
def _word(data: U8, i: int, end: int) -> tuple[int, np.uint64, bool, int]:
    """The word at i: where it ends, its hash, whether it has a digit, its length in halves.

    h <- (h xor x) * C, folded, over the lower-cased word as little-endian 8-byte numbers x.
    """
    if data[i] >= _THREE and i + 2 < end and _unspaced(data[i], data[i + 1]):
        char = np.uint64(data[i]) << _S8 ^ np.uint64(data[i + 1])
        return i + 3, mix64(char << _S8 ^ np.uint64(data[i + 2])), False, 1
    h, x, shift, digits = _SEED, _NONE, _NONE, 0
    while i < end and data[i] > _SPACE:
        byte = data[i]
        if byte >= _THREE and i + 2 < end and _unspaced(byte, data[i + 1]):
            break
        upper = np.uint8(byte - _A) < _Z
        x |= (np.uint64(byte) | (_CASE if upper else _NONE)) << shift
        digits += np.uint8(byte - _ZERO) < _TEN
        shift += _S8
        if shift > _S56:
            h = (h ^ x) * _WORD
            h, x, shift = h ^ (h >> _S29), _NONE, _NONE
        i += 1
    h = (h ^ x) * _WORD
    return i, h ^ (h >> _S29), digits > 0, 2


@kernel
def scan(data: U8, i: int, end: int) -> tuple[int, np.uint64, np.uint64]:
    """The block from i to the next newline or `end`: where it stops, its value and its mark.

    The loose names are the smallest and the largest hash of its four-word shingles (all words
    together where there are fewer), so two blocks share each with a probability of about
    their resemblance (Broder's min-wise sampling). A block without words has value 0, mark 0.
    """
    block, low, high, gram = _SEED, _FULL, _NONE, _NONE
    a, b, c, d = _NONE, _NONE, _NONE, _NONE
    count, halves = 0, 0
    while i < end and data[i] != _NEWLINE:
        if data[i] <= _SPACE:
            i += 1
            continue
        i, word, digit, length = _word(data, i, end)
        block = (block ^ word) * _BLOCK
        block ^= block >> _S29
        a, b, c, d = b, c, d, (_NUMBER if digit else word)
        gram = mix64(a * _GRAM_3 + b * _GRAM_2 + c * _GRAM_1 + d)
        count += 1
        halves += length
        if count >= 4:
            low, high = min(low, gram), max(high, gram)
    if count == 0:
        return i, _NONE, _NONE
    if count < 4:
        low = high = gram
    words = np.uint64(min((halves + 1) // 2, _LONGEST))
    lanes = (mix64(low) >> _LANE) << _LANE | (mix64(high) >> _LANE) << _SECOND
    return i, max(mix64(block), _ONE), lanes | words


@kernel
def _hash(data: U8, offsets: I64) -> tuple[U64, I64, U64]:
    """Values, the n + 1 offsets of each text's blocks, and marks."""
    n = len(offsets) - 1
    starts = np.zeros(n + 1, np.int64)
    for t in range(n):
        lines = 1 if offsets[t + 1] > offsets[t] else 0
        for i in range(offsets[t], offsets[t + 1]):
            lines += data[i] == _NEWLINE
        starts[t + 1] = starts[t] + lines
    values, marks = np.empty(starts[n], np.uint64), np.empty(starts[n], np.uint64)
    for t in range(n):
        i = offsets[t]
        for row in range(starts[t], starts[t + 1]):
            i, values[row], marks[row] = scan(data, i, offsets[t + 1])
            i += 1
    return values, starts, marks


def block_hashes(texts: Any) -> tuple[U64, I64, U64]:
    """One row a block of each text, in order: values, n + 1 offsets into them, and marks.

    An empty text has no blocks; every other has one more than it has newlines.
    """
    values, offsets, marks = _hash(*view(strings(texts)))
    return values, offsets, marks


@kernel
def words(mark: np.uint64) -> np.int64:
    """The number of words of a block, up to 4,095; scripts without spaces count two characters
    as a word."""
    return np.int64(mark & np.uint64(_LONGEST))
