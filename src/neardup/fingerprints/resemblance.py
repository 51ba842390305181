"""Resemblance and containment, exact over sets of 64-bit shingle hashes ([ye04] eq. 1, Broder).

    resemblance(A, B) = |S(A) n S(B)| / |S(A) u S(B)|
    containment(A, B) = |S(A) n S(B)| / |S(A)|

S(A) are the distinct features of a text. A text with fewer tokens than a shingle is one shingle of
all its tokens. Texts without tokens resemble nothing, not even each other: the value is 0.
"""

from __future__ import annotations

import numpy as np

from neardup.features.shingles import shingles
from neardup.features.specs import Features
from neardup.kernels import I64, U32, U64, kernel

__all__ = ["containment", "intersections", "resemblance", "shingles"]


@kernel
def count_shared(values: U64, offsets: I64, a: int, b: int, needed: float) -> int:
    """|A n B| by walking both sorted rows; gives up (with what it has) when `needed` is out of
    reach."""
    i, end_i, j, end_j = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    shared = 0
    while i < end_i and j < end_j:
        x, y = values[i], values[j]
        shared += x == y
        i += x <= y
        j += y <= x
        if shared + (end_i - i) < needed:
            break
    return shared


@kernel
def _intersect(values: U64, offsets: I64, left: I64, right: I64, shared: U32) -> None:
    """What the two rows of each pair share, counted to the end."""
    for pair in range(len(left)):
        shared[pair] = count_shared(values, offsets, left[pair], right[pair], 0.0)


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
