"""Candidate pairs from buckets: documents that agree in one band, or share one sampled shingle.

A bucket with more than `cap` documents gives only the pairs with its first `cap`, so one template
shared by a million pages costs a million times `cap` and not its square; what was cut is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.kernels import U64, kernel

#: pairs held before they are merged into the distinct ones: bounds the memory of many bands
_PENDING = 1_000_000
_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Candidates:
    """Distinct pairs of documents, `left` < `right`, sorted by (right, left)."""

    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]
    cut: int  # pairs left out by the cap, counted per bucket

    def __len__(self) -> int:
        return len(self.left)


def entries(keys: npt.NDArray[np.uint32], documents: npt.NDArray[np.uint32]) -> U64:
    """key << 32 | document: one vectorised sort orders both."""
    packed: U64 = (keys.astype(np.uint64) << _SHIFT) | documents
    return packed


def candidates(
    tables: Iterable[U64],
    cap: int,
    anchored: int = 0,
) -> Candidates:
    """Pairs that share a key in any table of entries (see `entries`), which are sorted in place.

    Documents are numbered in the order of keeping, so the first of a bucket are the first to be
    kept. The first `anchored` documents are never paired with each other.
    """
    found: U64 = np.empty(0, np.uint64)
    pending: list[U64] = []
    held = cut = 0
    for table in tables:
        table.sort()
        count, table_cut = _count_pairs(table, cap, anchored)
        cut += table_cut
        pairs = np.empty(count, np.uint64)
        _fill_pairs(table, cap, anchored, pairs)
        pending.append(pairs)
        held += count
        if held > max(_PENDING, len(found)):
            found, pending, held = _distinct([found, *pending]), [], 0
    found = _distinct([found, *pending])
    left = (found & _LOW).astype(np.uint32)
    right = (found >> _SHIFT).astype(np.uint32)
    return Candidates(left, right, cut)


def _distinct(parts: list[U64]) -> U64:
    pairs = np.concatenate(parts)
    pairs.sort()
    if not len(pairs):
        return pairs
    return pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]


@kernel
def _bucket_end(entries: U64, start: int) -> int:
    """One past the last entry (key << 32 | document) of the bucket that begins at `start`."""
    key = entries[start] >> _SHIFT
    end = start + 1
    while end < entries.size and entries[end] >> _SHIFT == key:
        end += 1
    return end


@kernel
def _count_pairs(entries: U64, cap: int, anchored: int) -> tuple[int, int]:
    """How many pairs the buckets give, and how many the cap leaves out."""
    count = cut = start = 0
    while start < entries.size:
        end = _bucket_end(entries, start)
        for row in range(start + 1, end):
            if np.int64(entries[row] & _LOW) >= anchored:
                given = min(row - start, cap)
                count += given
                cut += row - start - given
        start = end
    return count, cut


@kernel
def _fill_pairs(entries: U64, cap: int, anchored: int, pairs: U64) -> None:
    """Write (right << 32 | left) for the pairs counted by `_count_pairs`."""
    at = start = 0
    while start < entries.size:
        end = _bucket_end(entries, start)
        for row in range(start + 1, end):
            if np.int64(entries[row] & _LOW) >= anchored:
                right = (entries[row] & _LOW) << _SHIFT
                for other in range(start, min(row, start + cap)):
                    pairs[at] = right | (entries[other] & _LOW)
                    at += 1
        start = end
