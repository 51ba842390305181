"""Shingles: the set of distinct features of every text, as sorted 64-bit hashes."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.features.reading import read
from neardup.features.specs import Features
from neardup.kernels import I64, U64, Int, kernel, strings

#: up to here two bytes tell nearly all hashes of a text apart
_SMALL = 1 << 14
_BYTE = np.int64(8)


@kernel
def sort_hashes(values: U64, spare: U64) -> None:
    """Sort evenly spread hashes: two counting sorts by their high bits, then insertion.

    The high bits order nearly everything; where many distinct values share them (the text is a
    hostile one), the values are sorted by all of their bytes instead.
    """
    if len(values) > 16:
        bits = np.int64(8 if len(values) <= _SMALL else 11)
        _counting_sort(values, spare, len(values), 64 - 2 * bits, bits)
        _counting_sort(spare, values, len(values), 64 - bits, bits)
    moves = 8 * len(values) + 256
    for i in range(1, len(values)):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
        moves -= i - j
        if moves < 0:
            break
    if moves < 0:
        for shift in range(0, 64, 16):
            _counting_sort(values, spare, len(values), shift, _BYTE)
            _counting_sort(spare, values, len(values), shift + 8, _BYTE)


@kernel
def _counting_sort(values: U64, target: U64, count: Int, shift: Int, bits: Int) -> None:
    """Write values[:count] to `target` in the order of `bits` bits from `shift` on, stably."""
    places = np.zeros(1 << bits, np.int64)
    last = np.uint64((1 << bits) - 1)
    down = np.uint64(shift)
    for i in range(count):
        places[(values[i] >> down) & last] += 1
    total = 0
    for digit in range(len(places)):
        here = places[digit]
        places[digit] = total
        total += here
    for i in range(count):
        place = (values[i] >> down) & last
        target[places[place]] = values[i]
        places[place] += 1


@kernel
def sort_rows(values: U64, ends: I64) -> None:
    """Sort each row values[ends[i]:ends[i + 1]]."""
    longest = 0
    for i in range(len(ends) - 1):
        longest = max(longest, ends[i + 1] - ends[i])
    spare = np.empty(longest, np.uint64)
    for i in range(len(ends) - 1):
        sort_hashes(values[ends[i] : ends[i + 1]], spare)


@kernel
def _drop_repeats(values: U64, ends: I64) -> None:
    """Keep one of each in the sorted rows, close the gaps, and move `ends` accordingly."""
    end = start = np.int64(0)
    for i in range(1, len(ends)):
        for j in range(start, ends[i]):
            if j == start or values[j] != values[j - 1]:
                values[end] = values[j]
                end += 1
        start = ends[i]
        ends[i] = end


def shingles(texts: Any, features: str | Features = "words:5") -> tuple[U64, I64]:
    """(values, offsets): the sorted distinct shingle hashes of all texts, row after row."""
    texts = strings(texts)
    offsets = np.zeros(len(texts) + 1, np.int64)
    parts = [np.empty(0, np.uint64)]
    for block in read(texts, Features.of(features)):
        sort_rows(block.values, block.ends)
        _drop_repeats(block.values, block.ends)
        parts.append(block.values[: block.ends[-1]].copy())
        offsets[block.first + 1 : block.last + 1] = block.ends[1:] + offsets[block.first]
    return (parts[1] if len(parts) == 2 else np.concatenate(parts)), offsets
