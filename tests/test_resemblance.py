"""Shingles, resemblance and containment against sets in Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.features import shingles as module
from neardup.fingerprints.resemblance import intersections, shingles
from neardup.specs import SpecError
from tests import oracles_fingerprints as oracle

WORDS = st.lists(st.sampled_from(["a", "B", "c", "ÄÖ", "日本語", "x_1"]), max_size=60)
TEXTS = st.lists(WORDS.map(" ".join), max_size=6)


def sets(texts: list[str], width: int) -> list[set[int]]:
    return [set(oracle.phrases(oracle.units(text), width)) for text in texts]


@given(TEXTS, st.sampled_from([1, 2, 5]))
def test_shingles_are_sorted_distinct_and_those_of_the_oracle(texts: list[str], width: int) -> None:
    values, offsets = shingles(texts, f"words:{width}")
    assert values.dtype == np.uint64
    assert offsets.dtype == np.int64
    rows = [values[a:b].tolist() for a, b in pairwise(offsets)]
    assert rows == [sorted(row) for row in sets(texts, width)]


@given(TEXTS.filter(lambda texts: len(texts) >= 2), st.sampled_from([1, 3]))
def test_intersections_resemblance_and_containment(texts: list[str], width: int) -> None:
    features = f"words:{width}"
    values, offsets = shingles(texts, features)
    left, right = np.divmod(np.arange(len(texts) ** 2), len(texts))
    shared = intersections(values, offsets, left, right)
    rows = sets(texts, width)
    assert shared.tolist() == [len(a & b) for a in rows for b in rows]
    a, b = rows[0], rows[1]
    resemblance = len(a & b) / len(a | b) if a and b else 0.0
    assert neardup.resemblance(texts[0], texts[1], features) == resemblance
    containment = len(a & b) / len(a) if a and b else 0.0
    assert neardup.containment(texts[0], texts[1], features) == containment


def test_short_and_empty_texts() -> None:
    assert neardup.resemblance("Log in!", "log IN") == 1.0  # one shingle of all their tokens
    assert neardup.resemblance("Log in", "Log out") == 0.0
    assert neardup.resemblance("", "") == 0.0  # nothing to compare is not a match
    assert neardup.containment("", "a b c d e f") == 0.0
    assert neardup.containment("b c d e f", "a b c d e f g") == 1.0
    assert neardup.containment("a b c d e f g", "b c d e f") == pytest.approx(1 / 3)


@pytest.mark.parametrize("count", [0, 1, 2, 16, 17, 500, 1 << 14, (1 << 14) + 1, 60_000])
def test_sorting_of_even_uneven_and_hostile_hashes(count: int) -> None:
    rng = np.random.default_rng(count)
    even = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    few = rng.choice(even[:3], count) if count else even
    crowded = even & np.uint64(0xFFFFFF)  # all share their high bits
    for values in (even, few, crowded, crowded[::-1].copy(), np.sort(even)[::-1].copy()):
        wanted = np.sort(values)
        module.sort_hashes(values, np.empty(count, np.uint64))
        assert (values == wanted).all()


def test_many_blocks_of_texts_keep_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text number {i} of many " * (i % 7) for i in range(200)]
    values, offsets = shingles(texts)
    monkeypatch.setattr("neardup.features.reading._BLOCK", 64)
    again, ends = shingles(texts)
    assert (values == again).all()
    assert (offsets == ends).all()


def test_pairs_outside_the_rows_are_refused() -> None:
    values, offsets = shingles(["a", "b"])
    for left, right in (([2], [0]), ([0], [-1])):
        with pytest.raises(IndexError, match=r"outside 0 \.\. 1"):
            intersections(values, offsets, np.array(left), np.array(right))
    with pytest.raises(ValueError, match="2 left rows"):
        intersections(values, offsets, np.array([0, 1]), np.array([0]))
    assert len(intersections(values, offsets, np.array([], int), np.array([], int))) == 0
    with pytest.raises(SpecError, match="words:n"):
        neardup.resemblance("a", "b", features="words")


def test_the_kernels_have_one_signature() -> None:
    shingles(["a b c"])
    shingles([])
    assert len(module.sort_rows.signatures) == 1
    assert len(module._counting_sort.signatures) <= 1  # none when read from the cache
