"""Reading: texts -> the hashes of their features, a block of texts at a time.

The one kernel that reads text is here, and every fingerprint takes what it wrote: it is compiled
once, and a block's features are still in the processor's cache when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from neardup.features.characters import character_table
from neardup.features.digests import digest_units
from neardup.features.phrases import phrases, without
from neardup.features.specs import Features
from neardup.features.stemming import stemmed
from neardup.features.stopwords import stop_words
from neardup.features.words import I32, MARKS, hash_words, read_units
from neardup.kernels import I64, U8, U32, U64, address, kernel, view

#: texts are read in blocks of about so many bytes
_BLOCK = 1 << 19


@dataclass(frozen=True)
class Block:
    """Texts `first` to `last - 1`: text first + i has the features values[ends[i]:ends[i + 1]].

    `values` and `ends` are overwritten by the next block.
    """

    first: int
    last: int
    values: U64
    ends: I64


@kernel
def _read_texts(
    data: U8, offsets: I64, table: I32, stop: U64, chars: bool, width: int,
    values: U64, ends: I64, tokens: U32, digests: U64,
) -> None:  # fmt: skip
    """Features, token counts and (unless `digests` is empty) digests of the texts of a block."""
    longest = 0
    for i in range(len(tokens)):
        longest = max(longest, offsets[i + 1] - offsets[i])
    units, marks = np.empty(longest + 2, np.uint64), np.empty(MARKS, np.int64)
    end = address(values)
    for i in range(len(tokens)):
        count = read_units(data, offsets[i], offsets[i + 1], table, chars, units, marks)
        tokens[i] = count
        if len(digests):
            digest_units(units, count, digests, i)
        end = phrases(address(units), without(units, count, stop), width, end)
        ends[i + 1] = (end - address(values)) >> 3


def read(
    texts: pa.Array, features: Features, tokens: U32 | None = None, digests: U64 | None = None
) -> Iterator[Block]:
    """Read the texts block by block, filling `tokens` (counts) and `digests` where given.

    Both are of all units, before stop words and stemming.
    """
    if features.stem:
        if tokens is not None or digests is not None:
            for _ in read(texts, Features(features.unit, 0), tokens, digests):
                pass
        tokens = digests = None
        texts = stemmed(texts, features.stem, features.stop)
    data, offsets = view(texts)
    tables = character_table(), _stop_table("" if features.stem else features.stop)
    tokens = np.empty(len(texts), np.uint32) if tokens is None else tokens
    digests = np.empty((0, 2), np.uint64) if digests is None else digests
    values, ends = np.empty(0, np.uint64), np.zeros(1, np.int64)
    for first, last in _cuts(offsets):
        room = int(offsets[last] - offsets[first]) + 1
        if len(values) < room or len(ends) <= last - first:
            values, ends = np.empty(room, np.uint64), np.zeros(last - first + 1, np.int64)
        _read_texts(
            data, offsets[first : last + 1], *tables, features.chars, features.width,
            values, ends, tokens[first:last], digests[first:last],
        )  # fmt: skip
        yield Block(first, last, values, ends[: last - first + 1])


def _cuts(offsets: I64) -> Iterator[tuple[int, int]]:
    """Rows [first, last) of about a block of bytes; a longer text is a block of its own."""
    first, rows = 0, len(offsets) - 1
    while first < rows:
        last = int(np.searchsorted(offsets, offsets[first] + _BLOCK, "right")) - 1
        last = min(max(last, first + 1), rows, first + _BLOCK)
        yield first, last
        first = last


@cache
def _stop_table(names: str) -> U64:
    """The stop words in a hash table for `without`, at most a quarter full; empty for none."""
    words = sorted(stop_words(names)) if names else []
    hashes = hash_words(words).tolist()
    table = np.zeros(1 << (4 * len(words)).bit_length() if words else 0, np.uint64)
    for value in hashes:
        slot = value & (len(table) - 1)
        while table[slot] not in (0, value):
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = value
    return table
