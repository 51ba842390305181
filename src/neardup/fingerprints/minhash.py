"""MinHash: signatures whose share of equal values estimates the resemblance of two texts.

Not `permutations` hashes of every feature, but the fast similarity sketch of Dahlgaard, Knudsen
and Thorup (FOCS 2017): about n + t log t steps for n features and t values instead of n * t, the
same expectation, and no more variance. Signatures merge by element-wise minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.features.reading import read
from neardup.features.shingles import sort_hashes
from neardup.features.specs import Features
from neardup.kernels import I64, U32, U64, Int, fold_multiply, kernel, part, strings
from neardup.specs import Spec, SpecError

#: every value of the signature of a text without features; no other text has it anywhere
EMPTY = np.uint32(0xFFFFFFFF)
_LAST = np.uint32(0xFFFFFFFE)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xE7037ED1A0B428DB)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@part
def sketch_features(features: U64, signature: U32) -> None:
    """Fill the t values of one signature from its features (repeated ones do no harm).

    Round r < t sends every feature to a random bin with the value r + a random fraction, round
    r = t + b sends all of them to bin b; each bin keeps its smallest value. Rounds end when every
    bin has one, as later values are larger. A value is the round in the high bits that 2 t needs
    and the fraction below. Many features that leave bins free after two rounds are repeats, and
    are dropped, so that a page of one word over and over costs no more than another.
    """
    bins = len(signature)
    signature[:] = EMPTY
    shift = 32
    while 1 << (32 - shift) < 2 * bins:
        shift -= 1
    free: Int = bins if len(features) else 0
    turn = np.int64(0)
    count: Int = np.int64(len(features))
    while free > 0:
        if turn == 2 and count > 4 * bins:
            count = _distinct(features)
        if turn < bins:
            free -= _scatter(features, count, turn, shift, signature)
        elif signature[turn - bins] == EMPTY:
            signature[turn - bins] = _smallest(features, count, turn, shift)
            free -= 1
        turn += 1


@kernel
def _distinct(features: U64) -> Int:
    """Move one of each feature to the front; how many there are."""
    sort_hashes(features, np.empty(len(features), np.uint64))
    count = np.int64(1)
    for i in range(1, len(features)):
        if features[i] != features[count - 1]:
            features[count] = features[i]
            count += 1
    return count


@part
def _scatter(features: U64, count: Int, turn: Int, shift: Int, signature: U32) -> Int:
    """One round over random bins; how many of them were free before."""
    bins, base, drop = np.uint64(len(signature)), np.uint32(turn << shift), np.uint64(32 - shift)
    salt = _STEP * np.uint64(turn)
    filled = 0
    for i in range(count):
        h = features[i] if turn == 0 else fold_multiply(features[i] ^ salt, _FACTOR)
        place = ((h >> _32) * bins) >> _32
        value = np.uint32(base | np.uint32((h & _LOW) >> drop))
        before = signature[place]
        filled += before == EMPTY
        signature[place] = min(before, value)
    return filled


@part
def _smallest(features: U64, count: Int, turn: Int, shift: Int) -> np.uint32:
    """The smallest value of one of the last rounds, all of whose features share a bin."""
    base, drop = np.uint32(turn << shift), np.uint64(32 - shift)
    salt = _STEP * np.uint64(turn)
    smallest = _LAST
    for i in range(count):
        h = fold_multiply(features[i] ^ salt, _FACTOR)
        smallest = min(smallest, np.uint32(base | np.uint32((h & _LOW) >> drop)))
    return smallest


@kernel
def _sketch_rows(values: U64, ends: I64, signatures: U32, counts: U32) -> None:
    """A signature for each row values[ends[i]:ends[i + 1]]."""
    for i in range(len(signatures)):
        row = values[ends[i] : ends[i + 1]]
        counts[i] = len(row)
        sketch_features(row, signatures[i])


@kernel
def _hash_bands(signatures: U32, bands: int, rows: int, keys: U32) -> None:
    for i in range(len(signatures)):
        for band in range(bands):
            key = np.uint64(band)
            for row in range(band * rows, band * rows + rows):
                key = fold_multiply(key ^ np.uint64(signatures[i, row]) ^ _STEP, _FACTOR)
            keys[i, band] = key >> _32


@dataclass(frozen=True)
class MinHash(Spec):
    """t = `permutations` values of 32 bits; Pr[value equal] = resemblance of the feature sets."""

    permutations: int = 128
    features: str = "words:5"

    def __post_init__(self) -> None:
        if type(self.permutations) is not int or not 1 <= self.permutations <= 4096:
            raise SpecError(f"permutations={self.permutations!r}: expected 1 to 4096")
        object.__setattr__(self, "features", str(Features.of(self.features)))

    def batch(self, texts: Any) -> U32:
        """(n, permutations) signatures; all values of a text without features are EMPTY."""
        return self.sketch(strings(texts))[0]

    def sketch(self, texts: pa.Array) -> tuple[U32, U32]:
        """Signatures, and how many features (repeated ones counted) each was made from."""
        return self._sketch(texts)

    def _sketch(
        self, texts: pa.Array, tokens: U32 | None = None, digests: U64 | None = None
    ) -> tuple[U32, U32]:
        signatures = np.empty((len(texts), self.permutations), np.uint32)
        counts = np.empty(len(texts), np.uint32)
        for block in read(texts, Features.of(self.features), tokens, digests):
            here = slice(block.first, block.last)
            _sketch_rows(block.values, block.ends, signatures[here], counts[here])
        return signatures, counts

    def estimate(self, left: U32, right: U32) -> npt.NDArray[np.float64]:
        """The estimated resemblance of signatures, row by row; 0 where either is EMPTY."""
        equal = (left == right) & (left != EMPTY)
        return np.asarray(equal.mean(axis=-1), np.float64)

    def bands(self, threshold: float, error: float = 0.01) -> tuple[int, int]:
        """(bands, rows): the most rows that still find pairs at the threshold.

        A pair of resemblance s shares a band with probability 1 - (1 - s^rows)^bands; at the
        threshold that is at least 1 - error. More rows mean fewer false candidates.
        """
        if not 0 < threshold <= 1 or not 0 < error < 1:
            raise SpecError(f"threshold={threshold}, error={error}: expected both in (0, 1)")
        for rows in range(self.permutations, 1, -1):
            bands = self.permutations // rows
            if (1 - threshold**rows) ** bands <= error:
                return bands, rows
        return self.permutations, 1


def band_keys(signatures: U32, bands: int, rows: int) -> U32:
    """(n, bands) keys of 32 bits: two texts are candidates when they share one in the same column.

    Texts without features all share their keys: leave them out by their feature count.
    """
    if bands < 1 or rows < 1 or bands * rows > signatures.shape[1]:
        raise ValueError(
            f"{bands} bands of {rows} rows need more than {signatures.shape[1]} values"
        )
    keys = np.empty((len(signatures), bands), np.uint32)
    _hash_bands(signatures, bands, rows, keys)
    return keys


def sketch_and_digest(texts: Any, spec: MinHash) -> tuple[U32, U64, U32, U32]:
    """Signatures (n, t), exact digests (n, 2), token counts and feature counts, read once.

    The digest is `Exact`'s, of all tokens before stop words and stemming (of the characters, for
    `chars:n`), so that texts with equal digests are copies.
    """
    texts = strings(texts)
    tokens, digests = np.empty(len(texts), np.uint32), np.empty((len(texts), 2), np.uint64)
    signatures, counts = spec._sketch(texts, tokens, digests)
    return signatures, digests, tokens, counts
