"""A features spec made ready for the kernels: the tables they take, and the slow rewriting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from neardup.features.characters import character_table
from neardup.features.specs import Features
from neardup.features.stemming import stemmed
from neardup.features.stopwords import stop_words
from neardup.features.tokens import I32, hash_words
from neardup.kernels import U64


@dataclass(frozen=True, eq=False)
class Plan:
    """What every feature kernel takes after the text: (table, stop, chars, width)."""

    features: Features
    table: I32
    stop: U64

    @property
    def arguments(self) -> tuple[I32, U64, bool, int]:
        return self.table, self.stop, self.features.chars, self.features.width

    def prepare(self, texts: pa.Array) -> pa.Array:
        """The texts that the kernels read: stemmed ones when the spec asks for stemming."""
        if not self.features.stem:
            return texts
        return stemmed(texts, self.features.stem, self.features.stop)


@cache
def plan(features: str | Features) -> Plan:
    """The plan of a features spec; made once."""
    spec = Features.of(features)
    words = stop_words(spec.stop) if spec.stop and not spec.stem else frozenset()
    return Plan(spec, character_table(), _open_addressing(hash_words(sorted(words))))


def _open_addressing(hashes: U64) -> U64:
    """A hash table, at most a quarter full, for `phrases.without`; nothing for no words."""
    if not len(hashes):
        return np.zeros(0, np.uint64)
    table = np.zeros(1 << (4 * len(hashes) - 1).bit_length(), np.uint64)
    for value in hashes.tolist():
        slot = value & (len(table) - 1)
        while table[slot] not in (0, value):
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = value
    return table
