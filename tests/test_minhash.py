"""MinHash against its oracle, its error and bias, and the choice of bands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import specs
from neardup.fingerprints import minhash
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import EMPTY, MinHash, band_keys, sketch_and_digest
from neardup.kernels import strings
from tests import oracles_fingerprints as oracle

WORDS = st.lists(
    st.sampled_from(["alpha", "Beta", "gamma", "delta", "ÄÖ", "日本語", "x_1"]), max_size=40
)
TEXTS = st.lists(WORDS.map(" ".join), max_size=4)


@given(
    TEXTS, st.sampled_from([1, 2, 16, 33, 64]), st.sampled_from(["words:1", "words:5", "chars:4"])
)
def test_signatures_are_those_of_the_oracle(texts: list[str], size: int, features: str) -> None:
    spec = MinHash(size, features)
    signatures, counts = spec.sketch(strings(texts))
    unit, width = features.split(":")
    found = [oracle.phrases(oracle.units(text, unit), int(width)) for text in texts]
    assert signatures.tolist() == [oracle.minhash(row, size) for row in found]
    assert counts.tolist() == [len(row) for row in found]
    assert signatures.dtype == np.uint32
    assert (spec.batch(texts) == signatures).all()


@given(TEXTS)
def test_one_reading_gives_what_the_single_ones_give(texts: list[str]) -> None:
    spec = MinHash(32)
    signatures, digests, tokens, counts = sketch_and_digest(texts, spec)
    assert (signatures == spec.batch(texts)).all()
    assert (digests == Exact().batch(texts)).all()
    assert tokens.tolist() == [len(oracle.units(text)) for text in texts]
    assert counts.tolist() == [len(oracle.phrases(oracle.units(text), 5)) for text in texts]


def test_digests_and_token_counts_are_from_before_stop_words_and_stemming() -> None:
    texts = ["The foxes are running", "the fox is running"]
    for features in ("words:1,stop=en", "words:1,stem=en", "words:1,stop=en,stem=en"):
        signatures, digests, tokens, counts = sketch_and_digest(texts, MinHash(64, features))
        assert (digests == Exact().batch(texts)).all()
        assert tokens.tolist() == [4, 4]
        assert counts.tolist() == ([2, 2] if "stop" in features else [4, 4])
        assert (signatures[0] == signatures[1]).all() == (features == "words:1,stop=en,stem=en")


def sketch_sets(rows: list[np.ndarray], size: int) -> np.ndarray:
    """The signatures of sets of feature hashes."""
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    signatures = np.empty((len(rows), size), np.uint32)
    values = np.concatenate(rows)
    minhash._sketch_rows(values, ends, signatures, np.empty(len(rows), np.uint32))
    return signatures


def estimates(union: int, resemblance: float, size: int, pairs: int) -> tuple[float, np.ndarray]:
    rng = np.random.default_rng(union)
    shared = round(resemblance * union)
    half = (union - shared) // 2
    left, right = [], []
    for _ in range(pairs):
        values = rng.integers(0, 1 << 64, union, dtype=np.uint64)
        left.append(values[: shared + half])
        right.append(np.concatenate([values[:shared], values[shared + half :]]))
    estimate = MinHash(size).estimate(sketch_sets(left, size), sketch_sets(right, size))
    return shared / union, estimate


@pytest.mark.parametrize("union", [20, 120, 1000])
@pytest.mark.parametrize("resemblance", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_error_and_bias(union: int, resemblance: float) -> None:
    """No worse than sqrt(J(1-J)/t), and bias under 1 % of J, for short and long texts.

    Both as far as 2000 pairs can tell: where 1 % of J is less than 4 standard errors, those count.
    """
    pairs = 2000
    true, estimate = estimates(union, resemblance, 128, pairs)
    limit = np.sqrt(true * (1 - true) / 128)
    assert abs(estimate.mean() - true) < max(0.01 * true, 4 * limit / np.sqrt(pairs))
    assert np.sqrt(((estimate - true) ** 2).mean()) < 1.05 * limit  # 1.05: noise of 2000 pairs


@pytest.mark.parametrize("union", [30, 1000])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_bands_find_pairs_at_the_threshold(union: int, threshold: float) -> None:
    spec = MinHash(128)
    bands, rows = spec.bands(threshold, error=0.05)
    rng = np.random.default_rng(3)
    shared = round(threshold * union)
    half = (union - shared) // 2
    left, right = [], []
    for _ in range(1500):
        values = rng.integers(0, 1 << 64, union, dtype=np.uint64)
        left.append(values[: shared + half])
        right.append(np.concatenate([values[:shared], values[shared + half :]]))
    keys = [band_keys(sketch_sets(side, 128), bands, rows) for side in (left, right)]
    assert (keys[0] == keys[1]).any(axis=1).mean() > 0.93


def test_bands_are_the_largest_that_reach_the_recall() -> None:
    spec = MinHash(128)
    for threshold in (0.3, 0.5, 0.7, 0.8, 0.9, 1.0):
        bands, rows = spec.bands(threshold)
        assert bands * rows <= 128
        assert 1 - (1 - threshold**rows) ** bands >= 0.99
        if rows < 128:
            assert 1 - (1 - threshold ** (rows + 1)) ** (128 // (rows + 1)) < 0.99
    assert spec.bands(0.8) == (21, 6)
    assert spec.bands(0.01) == (128, 1)  # the best there is
    for bad in ((0, 0.1), (1.1, 0.1), (0.5, 0), (0.5, 1)):
        with pytest.raises(specs.SpecError, match="expected both"):
            spec.bands(*bad)


@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=2))
def test_signatures_merge_by_minimum(texts: list[str]) -> None:
    spec = MinHash(64, "words:1")
    left, right, both = spec.batch([*texts, " ".join(texts)])
    assert (np.minimum(left, right) == both).all()


def test_one_word_over_and_over() -> None:
    """Repeats are dropped once they leave bins free; the signature is the same."""
    once, often = MinHash(64, "words:2").batch(["a b a", "a b " * 5000])
    assert (once == often).all()


def test_texts_without_features_match_nothing() -> None:
    spec = MinHash(128)
    signatures, counts = spec.sketch(strings(["", "...", None, "a"]))
    assert counts.tolist() == [0, 0, 0, 1]
    assert (signatures[:3] == EMPTY).all()
    assert not (signatures[3] == EMPTY).any()
    assert spec.estimate(signatures[0], signatures[1]) == 0
    assert spec.estimate(signatures[3], signatures[3]) == 1


def test_band_keys_depend_on_the_band_and_its_rows() -> None:
    signatures = np.array([[1, 2, 1, 2], [2, 1, 1, 2]], np.uint32)
    keys = band_keys(signatures, 2, 2)
    assert keys.dtype == np.uint32
    assert len({keys[0, 0], keys[0, 1], keys[1, 0]}) == 3
    assert keys[0, 1] == keys[1, 1]
    with pytest.raises(ValueError, match="3 bands of 2 rows"):
        band_keys(signatures, 3, 2)


def test_the_spec_prints_parses_and_refuses() -> None:
    spec = neardup.MinHash(permutations=64, features="words: 5")
    assert str(spec) == 'MinHash(permutations=64, features="words:5")'
    assert specs.parse(str(spec), MinHash) == spec
    for bad in ({"permutations": 0}, {"permutations": 5000}, {"permutations": True}):
        with pytest.raises(specs.SpecError, match="permutations"):
            MinHash(**bad)
    with pytest.raises(specs.SpecError, match="words:n"):
        MinHash(features="word:5")


def test_the_kernels_have_one_signature() -> None:
    sketch_and_digest(["a b c"], MinHash(16))
    assert len(minhash._sketch_rows.signatures) == 1
