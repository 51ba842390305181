"""Documents -> what is held of each: digest, token count, bucket keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import MinHash, band_keys, sketch_and_digest
from neardup.fingerprints.mod_p import ModP
from neardup.index.buckets import entries
from neardup.kernels import I64, U32, U64
from neardup.recipe import Recipe

#: the number of a document that takes no part in candidates
ABSENT = np.uint32(0xFFFFFFFF)
_SLICES = 32


@dataclass
class Fingerprints:
    """Of some documents in their order; `keys` has a row a document, or is ragged with `ends`."""

    digests: U64  # (n, 2)
    tokens: U32
    keys: U32
    ends: I64 | None = None


class Fingerprinter:
    """The pure stage of a recipe: texts in, fingerprints out."""

    def __init__(self, recipe: Recipe) -> None:
        self.spec = recipe.fingerprint
        self.bands = self.rows = 0
        self.expected = np.empty(0, np.uint32)
        if isinstance(self.spec, MinHash):
            self.bands, self.rows = self.spec.bands(recipe.threshold, recipe.error)

    def describe(self) -> str:
        """How candidates are found."""
        if isinstance(self.spec, MinHash):
            return f"{self.bands} bands of {self.rows}"
        return f"1 shingle in {self.spec.p}" if isinstance(self.spec, ModP) else "none"

    def expect(self, earlier: list[Fingerprints]) -> None:
        """Know the shingles of earlier pages: a corpus keeps all that it shares with them."""
        if isinstance(self.spec, ModP) and earlier:
            self.expected = np.unique(np.concatenate([piece.keys for piece in earlier]))

    def __call__(self, texts: pa.Array, earlier: bool = False) -> Fingerprints:
        """Fingerprint the texts of a batch."""
        if isinstance(self.spec, MinHash):
            signatures, digests, tokens, _ = sketch_and_digest(texts, self.spec)
            return Fingerprints(digests, tokens, band_keys(signatures, self.bands, self.rows))
        exact = self.spec if isinstance(self.spec, Exact) else Exact()
        digests, tokens = exact.digests(texts)
        if isinstance(self.spec, ModP):
            keys, offsets = self.spec.sample(texts, every=earlier, also=self.expected)
            return Fingerprints(digests, tokens, keys, offsets[1:])
        return Fingerprints(digests, tokens, np.empty((len(texts), 0), np.uint32))


def gather(pieces: list[Fingerprints]) -> tuple[U64, U32]:
    """Digests and token counts of all pieces, taken out of them: each is held once."""
    digests = np.concatenate([np.empty((0, 2), np.uint64), *(piece.digests for piece in pieces)])
    tokens = np.concatenate([np.empty(0, np.uint32), *(piece.tokens for piece in pieces)])
    for piece in pieces:
        piece.digests, piece.tokens = digests[:0], tokens[:0]
    return digests, tokens


def tables(pieces: list[Fingerprints], numbers: npt.NDArray[np.uint32]) -> Iterator[U64]:
    """The bucket keys of the documents that have a number (others are ABSENT), table by table."""
    ends = [piece.ends for piece in pieces if piece.ends is not None]
    if ends:
        counts = np.concatenate([np.diff(each, prepend=0) for each in ends])
        members = np.repeat(numbers, counts)
        keys = np.concatenate([piece.keys for piece in pieces])
        for part in range(_SLICES):  # a page has many buckets: their pairs are merged as they come
            chosen = (members != ABSENT) & (keys % _SLICES == part)
            yield entries(keys[chosen], members[chosen])
        return
    count = int((numbers != ABSENT).sum())
    for band in range(pieces[0].keys.shape[1] if pieces else 0):
        table, row, at = np.empty(count, np.uint64), 0, 0
        for piece in pieces:
            members = numbers[row : row + len(piece.keys)]
            some = entries(piece.keys[:, band], members)[members != ABSENT]
            table[at : at + len(some)] = some
            row, at = row + len(members), at + len(some)
        yield table
