"""Blocks of a text as numbers: what a block says exactly, what it says loosely, how long it is.

A block is a line of a document's text. Its `value` names its words: runs of letters, digits and
underscores (cut after 64 bytes), whatever their ASCII case and what stands between them; each
character of a script without spaces is a word of its own. Its `mark` holds two loose 26-bit
names, which small edits and changed numbers mostly leave alone, and the number of words. Removal
goes by `value`, since pages that differ only in their numbers are different pages; copies are
known by their marks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.kernels import (
    I64,
    U8,
    U64,
    Address,
    address,
    fold_multiply,
    kernel,
    load8,
    load64,
    mix64,
    part,
    strings,
    trailing_zeros,
    view,
    word_mask,
)

#: raised when the same bytes come to have another value or mark
VERSION = 1

_SEED = np.uint64(0x9E3779B97F4A7C15)
_WORD = np.uint64(0xD6E8FEB86659FD93)
_GRAM_1 = np.uint64(0xE7037ED1A0B428DB)
_GRAM_2 = np.uint64(0xA47B07BC5CD74259)
_GRAM_3 = np.uint64(0x9E6C63D0876A9A47)
_NUMBER = np.uint64(0x8EBC6AF09C88C6E3)  # all numbers, loosely
_NONE, _ONE, _FULL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_S2, _S12, _S29, _S38 = np.uint64(2), np.uint64(12), np.uint64(29), np.uint64(38)
_LONGEST = 4095
_SPARE = 64
_NEWLINE = np.uint8(10)
# one value in each of the eight bytes of a number
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_FROM_A = np.uint64(0x3F3F3F3F3F3F3F3F)  # 0x80 - "A"
_PAST_Z = np.uint64(0x2525252525252525)  # 0x7F - "Z"
_ONES = np.uint64(0x0101010101010101)
_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
_ZEROS = np.uint64(0x3030303030303030)
_PAST_9 = np.uint64(0x7676767676767676)  # 0x80 - 10


@part
def _mask(i: Address, end: Address) -> np.uint64:
    """Bit k is set when byte i + k is part of a word, for the up to 64 bytes before `end`."""
    spare = np.uint64(64 - min(end - i, 64))
    mask: np.uint64 = word_mask(i) << spare >> spare
    return mask


@part
def _eight(i: Address, stop: Address) -> np.uint64:
    """The up to eight bytes from i on and before `stop`, lower-cased (ASCII), as one number."""
    spare = np.uint64(64 - 8 * min(stop - i, 8))
    x: np.uint64 = load64(i) << spare >> spare
    seven = x & _LOW
    upper = ((seven + _FROM_A) ^ (seven + _PAST_Z)) & ~x & _HIGH
    return x | (upper >> _S2)


@part
def _unspaced(lead: int, second: int) -> bool:
    """Whether a three-byte character is of a script without spaces: Han, Kana, Thai, Lao,
    Khmer, Burmese. Such a character is a word of its own here and counts as half a word."""
    return (
        (lead >= 0xE3 and lead <= 0xE9)
        or (lead == 0xE0 and second >= 0xB8 and second <= 0xBB)
        or (lead == 0xE1 and (second == 0x80 or second == 0x81 or second == 0x9E))
    )


@kernel
def _cut(i: Address, stop: Address) -> tuple[Address, int]:
    """Where the word at i ends in a run of letters that is not all ASCII; its half words."""
    for k in range(i, stop - 2):
        if _unspaced(load8(k), load8(k + 1)):
            return (k, 2) if k > i else (k + 3, 1)
    return stop, 2


@part
def _fold(h: np.uint64, x: np.uint64) -> np.uint64:
    """One step of the hash of a word or a block."""
    h = (h ^ x) * _WORD
    return h ^ (h >> _S29)


@part
def _word(i: Address, stop: Address) -> tuple[np.uint64, np.uint64, bool]:
    """The hash of a word, its loose hash (one for all that begin with eight digits, or are
    shorter and all digits), and whether some of its bytes are not ASCII."""
    x = _eight(i, stop)
    spare = np.uint64(64 - 8 * min(stop - i, 8))
    digits = x ^ (_ZEROS << spare >> spare)
    h, k = _fold(_SEED, x), i + 8
    while k < stop:
        y = _eight(k, stop)
        h, x, k = _fold(h, y), x | y, k + 8
    number = ((digits + _PAST_9) | digits) & _HIGH == _NONE
    return h, (_NUMBER if number else h), x & _HIGH != _NONE


@kernel
def scan(i: Address, end: Address) -> tuple[np.uint64, np.uint64]:
    """The value and the mark of the block from i to `end`; without words both are 0. There are
    64 bytes to read behind `end`.

    The loose names are the smallest and the largest hash of its four-word shingles (all words
    together where there are fewer), so two blocks share each with a probability of about their
    resemblance (Broder's min-wise sampling).
    """
    value, low, high, gram = _SEED, _FULL, _NONE, _NONE
    a, b, c, d = _NONE, _NONE, _NONE, _NONE
    count, halves, mask = 0, 0, _NONE
    while i < end:
        mask = _mask(i, end)
        start = i
        i += 64
        while mask:
            at = start + trailing_zeros(mask)
            stop = at + trailing_zeros(~(mask >> np.uint64(at - start)))
            if stop >= start + 64:
                stop = at + trailing_zeros(~_mask(at, end))
            length, word, loose, again = 0, _NONE, _NONE, True
            while again:  # once more where the word turns out to be shorter than its run
                word, loose, foreign = _word(at, stop)
                again = foreign and length == 0
                if again:
                    stop, length = _cut(at, stop)
            length = length or 2
            value = _fold(value, word)
            a, b, c, d = b, c, d, loose
            gram = fold_multiply(a * _GRAM_3 + b * _GRAM_2 + c * _GRAM_1 + d, _SEED)
            count += 1
            halves += length
            if count >= 4:
                low, high = min(low, gram), max(high, gram)
            if stop >= start + 64:
                i = stop
                break
            mask &= _FULL << np.uint64(stop - start)
    if count == 0:
        return _NONE, _NONE
    if count < 4:
        low = high = gram
    words = np.uint64(min((halves + 1) // 2, _LONGEST))
    lanes = (mix64(low) >> _S38) << _S38 | (mix64(high) >> _S38) << _S12
    return max(mix64(value), _ONE), lanes | words


@kernel
def newline(i: Address, end: Address) -> Address:
    """The first newline from i on, or `end`; there are 64 bytes to read behind it."""
    while i < end:
        x = load64(i) ^ _NEWLINES
        zeros = (x - _ONES) & ~x & _HIGH
        if zeros:
            found: Address = min(i + (trailing_zeros(zeros) >> 3), end)
            return found
        i += 8
    return end


@kernel
def _hash(data: U8, offsets: I64) -> tuple[U64, I64, U64]:
    """Values, the n + 1 offsets of each text's blocks, and marks."""
    n, base = len(offsets) - 1, address(data)
    starts = np.zeros(n + 1, np.int64)
    for t in range(n):
        lines = 1 if offsets[t + 1] > offsets[t] else 0
        for k in range(offsets[t], offsets[t + 1]):
            lines += data[k] == _NEWLINE
        starts[t + 1] = starts[t] + lines
    values, marks = np.empty(starts[n], np.uint64), np.empty(starts[n], np.uint64)
    for t in range(n):
        i, end = base + offsets[t], base + offsets[t + 1]
        for row in range(starts[t], starts[t + 1]):
            stop = newline(i, end)
            values[row], marks[row] = scan(i, stop)
            i = stop + 1
    return values, starts, marks


def block_hashes(texts: Any) -> tuple[U64, I64, U64]:
    """One row a block of each text, in order: values, n + 1 offsets into them, and marks.

    An empty text has no blocks; every other has one more than it has newlines.
    """
    values, offsets, marks = _hash(*padded(strings(texts)))
    return values, offsets, marks


def padded(texts: pa.Array) -> tuple[U8, I64]:
    """`kernels.view` with 64 bytes to spare behind the last text, which `scan` may read."""
    data, offsets = view(texts)
    if offsets[-1] + _SPARE > len(data):
        start, end = offsets[0], offsets[-1]
        whole = np.zeros(end - start + _SPARE, np.uint8)
        whole[: end - start] = data[start:end]
        data, offsets = whole, offsets - start
        data.flags.writeable = offsets.flags.writeable = False
    return data, offsets


@part
def words(mark: np.uint64) -> np.int64:
    """The number of words of a block, up to 4,095; two characters of a script without spaces
    make one."""
    return np.int64(mark & np.uint64(_LONGEST))
