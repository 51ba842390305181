"""Stars, components and candidate buckets against slow, obvious oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.index.buckets import candidates, entries
from neardup.resolve import stars as stars_module
from neardup.resolve.components import components
from neardup.resolve.copies import with_copies
from neardup.resolve.stars import stars

SETS = st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=14)


def oracle_pairs(tables, cap, anchored):
    pairs, cut = set(), 0
    for keys, documents in tables:
        for key in set(keys.tolist()):
            bucket = sorted(
                d for k, d in zip(keys.tolist(), documents.tolist(), strict=True) if k == key
            )
            for at, right in enumerate(bucket):
                if right >= anchored:
                    pairs.update((left, right) for left in bucket[: min(at, cap)])
                    cut += max(0, at - cap)
    return pairs, cut


def oracle_similarity(a, b, containment):
    return len(a & b) / (min(len(a), len(b)) if containment else len(a | b))


def oracle_stars(sets, pairs, threshold, containment, anchored):
    kept, parents, scores = [], [], []
    for j in range(len(sets)):
        near = [
            (oracle_similarity(sets[i], sets[j], containment), -i)
            for i in kept
            if (i, j) in pairs and j >= anchored
        ]
        near = [pair for pair in near if pair[0] >= threshold]
        if near:
            score, i = max(near)
            parents.append(-i)
            scores.append(score)
        else:
            kept.append(j)
            parents.append(j)
            scores.append(1.0)
    return parents, scores


def ragged(sets):
    def read(documents):
        rows = [np.array(sorted(sets[d]), np.uint64) for d in documents]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return np.concatenate(rows), offsets

    return read


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=30), min_size=1, max_size=3),
    st.integers(1, 5),
    st.integers(0, 5),
)
def test_candidates_are_the_pairs_of_each_bucket(columns, cap, anchored):
    tables = [
        (np.array(keys, np.uint32), np.arange(len(keys), dtype=np.uint32)) for keys in columns
    ]
    found = candidates([entries(*table) for table in tables], cap, anchored)
    pairs, cut = oracle_pairs(tables, cap, anchored)
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs
    assert len(found) == len(pairs)
    assert found.cut == cut
    order = list(zip(found.right.tolist(), found.left.tolist(), strict=True))
    assert order == sorted(order)


@settings(deadline=None, max_examples=300)
@given(
    SETS,
    st.sampled_from([0.3, 0.5, 2 / 3, 0.8, 1.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 4),
    st.sampled_from([1, 30, 1000]),
    st.integers(1, 3),
)
def test_stars_equal_their_definition(
    sets, threshold, containment, every, anchored, chunk, threads
):
    keys = [
        np.array([min(s) for s in sets], np.uint32),
        np.array([max(s) for s in sets], np.uint32),
    ]
    numbers = np.arange(len(sets), dtype=np.uint32)
    tables = [(column, numbers) for column in keys]
    found = candidates([entries(*table) for table in tables], 64, anchored)
    pairs = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    lengths = np.array([10 * len(s) for s in sets])
    before, stars_module._CHUNK = stars_module._CHUNK, chunk
    try:
        got = stars(
            found, lengths, ragged(sets), threshold=threshold, containment=containment,
            every=every, anchored=anchored, threads=threads,
        )  # fmt: skip
    finally:
        stars_module._CHUNK = before
    parents, scores = oracle_stars(sets, pairs, threshold, containment, anchored)
    assert got.parents.tolist() == parents
    assert got.similarity.tolist() == scores
    if every:
        assert got.verified == len(pairs)
        for left, right, edge in zip(found.left, found.right, got.edges, strict=True):
            score = oracle_similarity(sets[left], sets[right], containment)
            assert edge == (score if score >= threshold else -1.0)


def test_a_chain_of_neighbours_is_not_one_star():
    sets = [set(range(i, i + 10)) for i in range(40)]  # each resembles only the next ones
    numbers = np.arange(40, dtype=np.uint32)
    found = candidates([entries(np.zeros(40, np.uint32), numbers)], 64)
    got = stars(found, np.full(40, 100), ragged(sets), threshold=0.8)
    for child, parent in enumerate(got.parents):
        assert oracle_similarity(sets[child], sets[parent], False) >= 0.8
    assert len(set(got.parents.tolist())) > 10


@pytest.mark.parametrize("size", [24, 2000])
def test_lopsided_sets_are_searched_not_walked(size):
    sets = [set(range(0, size * 7, 7)), {7, 14, 21, 22}]
    found = candidates([entries(np.zeros(2, np.uint32), np.arange(2, dtype=np.uint32))], 64)
    got = stars(found, np.full(2, 100), ragged(sets), threshold=0.7, containment=True)
    assert got.parents.tolist() == [0, 0]
    assert got.similarity[1] == 0.75


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=12),
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6),
    st.integers(1, 9),
)
def test_pairs_are_spread_over_exact_copies(kinds, near, cap):
    first = {kind: kinds.index(kind) for kind in kinds}
    heads = np.array([first[kind] for kind in kinds])
    near = sorted((first[a], first[b]) for a, b in near if a in first and b in first and a < b)
    pairs = (
        np.array([a for a, _ in near], int),
        np.array([b for _, b in near], int),
        np.full(len(near), 0.9),
    )
    left, right, scores = with_copies(pairs, heads, np.arange(len(kinds)), cap)
    copies = {
        head: [row for row in range(len(kinds)) if heads[row] == head]
        for head in set(heads.tolist())
    }
    expected = [(a, b, 0.9) for x, y in near for a in copies[x][:cap] for b in copies[y][:cap]]
    expected += [
        (a, b, 1.0)
        for rows in copies.values()
        for n, b in enumerate(rows)
        for a in rows[: min(n, cap)]
    ]
    assert sorted(zip(left.tolist(), right.tolist(), scores.tolist(), strict=True)) == sorted(
        expected
    )


@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40))
def test_components_name_their_first_member(n, edges):
    edges = [(a % n, b % n) for a, b in edges]
    left = np.array([a for a, _ in edges], np.int64)
    right = np.array([b for _, b in edges], np.int64)
    expected = list(range(n))
    for _ in range(n):
        for a, b in edges:
            expected[a] = expected[b] = min(expected[a], expected[b])
    assert components(n, left, right).tolist() == expected
