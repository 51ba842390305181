"""Resemblance and containment, exact over sets of 64-bit shingle hashes ([ye04] eq. 1, Broder).

    resemblance(A, B) = |S(A) n S(B)| / |S(A) u S(B)|
    containment(A, B) = |S(A) n S(B)| / |S(A)|

S(A) are the distinct features of a text. A text with fewer tokens than a shingle is one shingle of
all its tokens. Texts without tokens resemble nothing, not even each other: the value is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.features.phrases import phrases, without
from neardup.features.plan import plan
from neardup.features.specs import Features
from neardup.features.tokens import I32, MARKS, read_units, room
from neardup.kernels import I64, U8, U32, U64, kernel, strings, view

_BYTE = np.uint64(0xFF)


@kernel
def sort_hashes(values: U64, spare: U64, count: int) -> None:
    """Sort values[:count], evenly spread hashes: radix passes over the high bytes, then insertion.

    Two or three bytes order nearly everything; should many distinct values share them, all eight
    bytes are sorted instead.
    """
    passes = 0 if count < 16 else (2 if count <= 1 << 14 else (3 if count <= 1 << 22 else 4))
    _radix(values, spare, count, 8 - passes)
    moves = 8 * count + 256
    for i in range(1, count):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        moves -= i - j
        if moves < 0:
            _radix(values, spare, count, 0)
            return


@kernel
def _radix(values: U64, spare: U64, count: int, first: int) -> None:
    """Stable counting sorts of values[:count] by byte `first` up to the highest, lowest first."""
    places = np.empty(256, np.int64)
    for byte in range(first, 8):
        shift = np.uint64(8 * byte)
        places[:] = 0
        for i in range(count):
            places[(values[i] >> shift) & _BYTE] += 1
        total = 0
        for digit in range(256):
            here = places[digit]
            places[digit] = total
            total += here
        for i in range(count):
            digit = (values[i] >> shift) & _BYTE
            spare[places[digit]] = values[i]
            places[digit] += 1
        values[:count] = spare[:count]


@kernel
def _shingle_texts(
    data: U8, offsets: I64, table: I32, stop: U64, chars: bool, width: int,
    values: U64, ends: I64,
) -> None:  # fmt: skip
    """Write the sorted distinct shingles of text i to values[ends[i]:ends[i + 1]]."""
    space = room(offsets)
    units, found = np.empty(space, np.uint64), np.empty(space, np.uint64)
    marks = np.empty(MARKS, np.int64)
    end = 0
    for i in range(len(ends) - 1):
        count = read_units(data, offsets[i], offsets[i + 1], table, chars, units, marks)
        count = phrases(units, without(units, count, stop), width, found)
        sort_hashes(found, units, count)
        for j in range(count):
            if j == 0 or found[j] != found[j - 1]:
                values[end] = found[j]
                end += 1
        ends[i + 1] = end


@kernel
def _intersect(values: U64, offsets: I64, left: I64, right: I64, shared: U32) -> None:
    """Merge the two sorted rows of each pair and count what is in both."""
    for pair in range(len(left)):
        i, i_end = offsets[left[pair]], offsets[left[pair] + 1]
        j, j_end = offsets[right[pair]], offsets[right[pair] + 1]
        count = 0
        while i < i_end and j < j_end:
            a, b = values[i], values[j]
            count += a == b
            i += a <= b
            j += b <= a
        shared[pair] = count


def shingles(texts: Any, features: str | Features = "words:5") -> tuple[U64, I64]:
    """(values, offsets): the sorted distinct shingle hashes of all texts, row after row."""
    ready = plan(features)
    data, offsets = view(ready.prepare(strings(texts)))
    ends = np.zeros(len(offsets), np.int64)
    values = np.empty(int(offsets[-1] - offsets[0]) + len(offsets), np.uint64)
    _shingle_texts(data, offsets, *ready.arguments, values, ends)
    return values[: ends[-1]], ends


def intersections(values: U64, offsets: I64, left: I64, right: I64) -> U32:
    """|A n B| for the pairs of rows (left[i], right[i]) of what `shingles` gave."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    rows = len(offsets) - 1
    for side in (left, right):
        if len(side) and not (side.min() >= 0 and side.max() < rows):
            raise IndexError(f"a row outside 0 .. {rows - 1}")
    if len(left) != len(right):
        raise ValueError(f"{len(left)} left rows but {len(right)} right rows")
    shared = np.empty(len(left), np.uint32)
    _intersect(values, offsets, left, right, shared)
    return shared


def _overlap(a: str, b: str, features: str | Features) -> tuple[int, int, int]:
    """|S(A) n S(B)|, |S(A)|, |S(B)|."""
    values, offsets = shingles([a, b], features)
    both = intersections(values, offsets, np.array([0]), np.array([1]))
    return int(both[0]), int(offsets[1]), int(offsets[2] - offsets[1])


def resemblance(a: str, b: str, features: str | Features = "words:5") -> float:
    """The share of shingles that two texts have in common, of all in either."""
    both, in_a, in_b = _overlap(a, b, features)
    return both / (in_a + in_b - both) if both else 0.0


def containment(a: str, b: str, features: str | Features = "words:5") -> float:
    """The share of the shingles of `a` that are also in `b`."""
    both, in_a, _ = _overlap(a, b, features)
    return both / in_a if both else 0.0
