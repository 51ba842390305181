"""All pairs of documents at a threshold, exactly: what a verified result is measured against.

Prefix filtering loses nothing: order the shingles of every set alike, rarest first; two sets of
resemblance t or more must meet within the first |A| - ceil(t |A|) + 1 shingles of each (Chaudhuri,
Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). Every pair that meets is then compared whole.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from typing import Any

Pair = tuple[int, int]


def resemblance(a: Set[Any], b: Set[Any]) -> float:
    """The shared part of two sets."""
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


def all_pairs(sets: Sequence[Set[Any]], threshold: float) -> dict[Pair, float]:
    """Every pair (i < j) whose sets resemble each other at least `threshold`."""
    frequency = Counter(item for members in sets for item in members)
    buckets: dict[Any, list[int]] = defaultdict(list)
    found: dict[Pair, float] = {}
    for j, members in enumerate(sets):
        rare_first = sorted(members, key=lambda item: (frequency[item], item))
        prefix = len(members) - math.ceil(threshold * len(members) - 1e-9) + 1
        met: set[int] = set()
        for item in rare_first[:prefix]:
            met.update(buckets[item])
            buckets[item].append(j)
        for i in met:
            if threshold * max(len(sets[i]), len(members)) > min(len(sets[i]), len(members)) + 1e-9:
                continue
            value = resemblance(sets[i], members)
            if value >= threshold:
                found[i, j] = value
    return found
