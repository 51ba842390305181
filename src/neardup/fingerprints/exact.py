"""Exact: a 128-bit digest of the normalised text, so equal digests mean equal token sequences.

Not cryptographic: the constants are public, so an adversary can make texts collide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.features.reading import read
from neardup.features.specs import Features
from neardup.kernels import U32, U64, strings
from neardup.specs import Spec


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
        texts = strings(texts)
        digests, counts = np.empty((len(texts), 2), np.uint64), np.empty(len(texts), np.uint32)
        for _ in read(texts, Features("words", 0), counts, digests):
            pass
        return digests, counts
