"""Exact similarity of two sorted shingle sets ([broder97]; Ye et al. eq. 1).

resemblance(A, B) = |A ∩ B| / |A ∪ B|; containment is the share of the smaller set that is found
in the other, |A ∩ B| / min(|A|, |B|).
"""

from __future__ import annotations

from neardup.fingerprints.resemblance import count_shared
from neardup.kernels import I64, U64, kernel

#: past this ratio of sizes a binary search per element beats walking the longer set
_LOPSIDED = 24


@kernel
def similarity(
    values: U64, offsets: I64, a: int, b: int, threshold: float, containment: bool
) -> float:
    """Similarity of rows a and b, or -1.0 as soon as it cannot reach the threshold."""
    size_a = offsets[a + 1] - offsets[a]
    size_b = offsets[b + 1] - offsets[b]
    if size_a > size_b:
        a, b, size_a, size_b = b, a, size_b, size_a
    if size_a == 0:
        return -1.0
    if containment:
        needed = threshold * size_a
    else:
        needed = threshold * (size_a + size_b) / (1.0 + threshold)
    if needed > size_a + 1:  # one to spare: rounding must never reject
        return -1.0
    if size_b > _LOPSIDED * size_a:
        shared = _shared_by_search(values, offsets, a, b)
    else:
        shared = count_shared(values, offsets, a, b, needed - 1.0)
    union = size_a if containment else size_a + size_b - shared
    score = shared / union
    return score if score >= threshold else -1.0


@kernel
def _shared_by_search(values: U64, offsets: I64, a: int, b: int) -> int:
    """|A ∩ B| by a binary search in the much longer B for each element of A."""
    low, end = offsets[b], offsets[b + 1]
    shared = 0
    for i in range(offsets[a], offsets[a + 1]):
        x = values[i]
        high = end
        while low < high:
            middle = (low + high) >> 1
            if values[middle] < x:
                low = middle + 1
            else:
                high = middle
        if low < end and values[low] == x:
            shared += 1
    return shared
