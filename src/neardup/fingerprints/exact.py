"""Exact: a 128-bit digest of the normalised text, so equal digests mean equal token sequences.

Not cryptographic: the constants are public, so an adversary can make texts collide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.features.characters import character_table
from neardup.features.tokens import I32, MARKS, room, tokenise
from neardup.kernels import I64, U8, U32, U64, fold_multiply, kernel, mix64, strings, view
from neardup.specs import Spec

_STEP = np.uint64(0x9E3779B97F4A7C15)
_LEFT, _RIGHT = np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
_ZERO = np.uint64(0)


@kernel
def digest_units(units: U64, count: int, digest: U64) -> None:
    """digest_k = mix64(count + sum over i of fold_multiply(u_i ^ (i + 1) STEP, C_k)), k = 0, 1.

    The place of each unit is mixed in with it, so the terms do not wait for each other.
    """
    left, right, place = np.uint64(count), np.uint64(count), _ZERO
    for i in range(count):
        place += _STEP
        left += fold_multiply(units[i] ^ place, _LEFT)
        right += fold_multiply(units[i] ^ place, _RIGHT)
    digest[0], digest[1] = mix64(left), mix64(right)


@kernel
def _digest_texts(data: U8, offsets: I64, table: I32, digests: U64, counts: U32) -> None:
    tokens = np.empty(room(offsets), np.uint64)
    marks = np.empty(MARKS, np.int64)
    for i in range(len(digests)):
        count = tokenise(data, offsets[i], offsets[i + 1], table, tokens, marks)
        counts[i] = count
        digest_units(tokens, count, digests[i])


@dataclass(frozen=True)
class Exact(Spec):
    """The digest of a text's tokens: case, punctuation and white space do not count.

    A text without tokens has the digest of no tokens: set it apart by its token count.
    """

    def batch(self, texts: Any) -> U64:
        """(n, 2) digests, one row a text."""
        return self.digests(texts)[0]

    def digests(self, texts: Any) -> tuple[U64, U32]:
        """(n, 2) digests, and how many tokens each was made from."""
        data, offsets = view(strings(texts))
        digests, counts = (
            np.empty((len(offsets) - 1, 2), np.uint64),
            np.empty(len(offsets) - 1, np.uint32),
        )
        _digest_texts(data, offsets, character_table(), digests, counts)
        return digests, counts
