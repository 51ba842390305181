"""Mod-p shingles ([broder97] §3.1; [manku07] §5.4): keep the shingles whose hash is 0 mod p.

Both documents keep the same shingles of a shared passage, whatever surrounds it, so one shared
sample makes a candidate for containment: a passage of s shingles is missed with probability
(1 - 1/p)^s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.fingerprints.resemblance import shingles
from neardup.kernels import I64, U32
from neardup.specs import Spec, SpecError


@dataclass(frozen=True)
class ModP(Spec):
    """One shingle in p, by hash."""

    p: int = 4
    features: str = "words:5"

    def __post_init__(self) -> None:
        if not (isinstance(self.p, int) and 1 <= self.p <= 1 << 16):
            raise SpecError(f"ModP: p is a whole number from 1 to 65536, not {self.p!r}")

    def sample(
        self, texts: pa.Array, *, every: bool = False, also: U32 | None = None
    ) -> tuple[U32, I64]:
        """The upper 32 bits of each kept shingle, and the offsets of each text's share.

        `every` keeps all shingles; those in `also` (sorted) are kept besides the sample.
        """
        values, offsets = shingles(texts, self.features)
        keys = (values >> np.uint64(32)).astype(np.uint32)
        kept = values % np.uint64(1 if every else self.p) == 0
        if also is not None and len(also):
            kept |= also[np.minimum(np.searchsorted(also, keys), len(also) - 1)] == keys
        counts = np.concatenate(([0], np.cumsum(kept)))
        return keys[kept], counts[offsets].astype(np.int64)
