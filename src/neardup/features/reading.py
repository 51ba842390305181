"""Reading: texts -> the hashes of their features, a block of texts at a time.

Every fingerprint takes what is read here: the kernels are compiled once for all of them, and a
block's features are still in the processor's cache when they are used.
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
from neardup.features.words import characterise_texts, hash_words, tokenise_texts
from neardup.kernels import I64, U32, U64, address, kernel, view

#: texts are read in blocks of about so many bytes
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Block:
    """Texts `first` to `last - 1`: text first + i has the features values[ends[i]:ends[i + 1]].

    `values` is overwritten by the next block.
    """

    first: int
    last: int
    values: U64
    ends: I64


@kernel
def _join_units(
    units: U64, ends: I64, stop: U64, width: int, values: U64, tokens: U32, digests: U64
) -> None:
    """Turn the units of each text into features, in `values`, and `ends` into theirs.

    Units are counted in `tokens`, and digested unless `digests` is empty.
    """
    start, end = np.int64(0), address(values)
    for i in range(len(tokens)):
        row = units[start : ends[i + 1]]
        tokens[i] = len(row)
        if len(digests):
            digest_units(row, len(row), digests, i)
        end = phrases(address(row), without(row, len(row), stop), width, end)
        start = ends[i + 1]
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
    table, stop = character_table(), _stop_table("" if features.stem else features.stop)
    read_units = characterise_texts if features.chars else tokenise_texts
    tokens = np.empty(len(texts), np.uint32) if tokens is None else tokens
    digests = np.empty((0, 2), np.uint64) if digests is None else digests
    units = values = np.empty(0, np.uint64)
    for first, last in _cuts(offsets):
        room = int(offsets[last] - offsets[first])
        if len(values) < room:
            units, values = np.empty(room, np.uint64), np.empty(room, np.uint64)
        ends = np.zeros(last - first + 1, np.int64)
        here = slice(first, last)
        read_units(data, offsets[first : last + 1], table, units, ends)
        _join_units(units, ends, stop, features.width, values, tokens[here], digests[here])
        yield Block(first, last, values, ends)


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
