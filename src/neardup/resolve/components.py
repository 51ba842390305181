"""Connected components by union-find with path halving: the smallest member names a component."""

from __future__ import annotations

import numpy as np

from neardup.kernels import I64, kernel


def components(n: int, left: I64, right: I64) -> I64:
    """For each of n documents the first document of its component."""
    parents = np.arange(n, dtype=np.int64)
    _union(parents, left, right)
    return parents


@kernel
def _find(parents: I64, x: int) -> int:
    while parents[x] != x:
        parents[x] = parents[parents[x]]
        x = parents[x]
    return x


@kernel
def _union(parents: I64, left: I64, right: I64) -> None:
    """Join every pair under the smaller root, then point each document at its root."""
    for edge in range(left.size):
        a = _find(parents, left[edge])
        b = _find(parents, right[edge])
        if a < b:
            parents[b] = a
        else:
            parents[a] = b
    for x in range(parents.size):
        parents[x] = _find(parents, x)
