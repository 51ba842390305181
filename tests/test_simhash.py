"""Simhash and Exact against their oracles, and df statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import specs
from neardup.features.statistics import Statistics
from neardup.fingerprints import simhash
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.simhash import Simhash
from tests import oracles_fingerprints as oracle

WORDS = st.lists(
    st.sampled_from(["a", "B", "c", "ÄÖ", "日本語", "x_1", "lorem", "ipsum"]), max_size=60
)
TEXTS = st.lists(WORDS.map(" ".join), max_size=5)


def features(text: str, spec: str) -> list[int]:
    unit, width = spec.split(":")
    return oracle.phrases(oracle.units(text, unit), int(width))


@given(TEXTS, st.sampled_from(["words:1", "words:3", "chars:4"]), st.sampled_from(["tf", "log-tf"]))
def test_simhash_is_that_of_the_oracle(texts: list[str], spec: str, weights: str) -> None:
    found = Simhash(features=spec, weights=weights).batch(texts)
    assert found.type == pa.uint64()
    assert found.to_pylist() == [oracle.simhash(features(t, spec), weights) for t in texts]


def test_long_texts_and_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"w{i * i % 701}" for i in range(3000))
    wanted = oracle.simhash(features(text, "words:3"))
    assert Simhash().batch([text, "", text]).to_pylist() == [wanted, 0, wanted]
    monkeypatch.setattr("neardup.features.reading._BLOCK", 1)
    assert Simhash().batch([text, "", text]).to_pylist() == [wanted, 0, wanted]


@given(TEXTS.filter(len))
def test_tf_idf_weighs_by_document_frequency(texts: list[str]) -> None:
    statistics = Statistics.build(texts, features="words:2")
    rows = [features(t, "words:2") for t in texts]
    df = {f: sum(f in row for row in rows) for row in rows for f in row}
    assert dict(zip(statistics.keys.tolist(), statistics.df.tolist(), strict=True)) == df
    idf = {f: float(np.log((len(texts) + 1) / (n + 1))) for f, n in df.items()}
    spec = Simhash(features="words:2", weights="tf-idf", statistics=statistics)
    assert spec.batch(texts).to_pylist() == [oracle.simhash(row, "tf-idf", idf) for row in rows]


def test_empty_texts_are_seen_by_their_feature_count() -> None:
    hashes, counts = Simhash().sketch(["", "?!", "one", "one two three four"])
    assert hashes[:2].tolist() == [0, 0]
    assert counts.tolist() == [0, 0, 1, 2]


def test_similar_texts_have_near_fingerprints() -> None:
    words = [f"word{i}" for i in range(400)]
    changed = [*words[:200], "another", *words[201:]]
    a, b, c = (
        Simhash().batch([" ".join(words), " ".join(changed), " ".join(words[::-1])]).to_pylist()
    )
    assert (a ^ b).bit_count() <= 6
    assert (a ^ c).bit_count() > 16


def test_fewer_bits_are_the_lower_ones() -> None:
    [wide], [narrow] = (Simhash(bits=bits).batch(["a b c d e"]).to_pylist() for bits in (64, 20))
    assert narrow == wide & 0xFFFFF


def test_the_spec_prints_parses_and_refuses() -> None:
    statistics = Statistics.build(["a b", "b c"], features="words:3")
    spec = Simhash(weights="tf-idf", statistics=statistics)
    assert statistics.digest in str(spec)
    again = specs.parse(str(spec), Simhash)
    assert again == spec
    assert again.digest == spec.digest
    with pytest.raises(specs.SpecError, match="needs statistics"):
        again.batch(["a b c"])
    assert again.batch(["a b c"], statistics) == spec.batch(["a b c"])
    other = Statistics.build(["x"], features="words:3")
    with pytest.raises(specs.SpecError, match="wants statistics"):
        again.batch(["a"], other)
    with pytest.raises(specs.SpecError, match="cannot weigh words:2"):
        Simhash(features="words:2", weights="tf-idf", statistics=statistics)
    for bad in ({"bits": 65}, {"weights": "idf"}, {"features": "words:0"}, {"statistics": "x"}):
        with pytest.raises(specs.SpecError):
            Simhash(**bad)


def test_features_print_and_parse() -> None:
    for text in ("words:3", "chars:5", "words:2,stop=en", "words:1,stop=+foo+bär,stem=de"):
        assert str(neardup.Simhash(features=text).features) == text
    bad = ("words", "words:64", "words:3,stop", "chars:3,stop=en", "words:3,stem=en,stop=en", 3)
    for text in bad:
        with pytest.raises(specs.SpecError):
            Simhash(features=text)  # type: ignore[arg-type]


def test_stop_words_and_stems() -> None:
    def same(features: str, a: str, b: str) -> bool:
        return neardup.resemblance(a, b, features) == 1.0

    assert same("words:2,stop=en", "The end of THE story", "end story")
    assert same("words:2,stop=+end+story", "the end of the story", "the of the")
    assert same("words:1,stem=en", "running dogs", "run dog")
    assert same("words:2,stop=de,stem=de", "Die Häuser und der Garten", "haus garten")
    assert Simhash(features="words:2,stop=en").batch(["the of and"]).to_pylist() == [0]
    for unknown in ("words:1,stop=xx", "words:1,stem=xx"):
        with pytest.raises(specs.SpecError, match="xx"):
            Simhash(features=unknown).batch(["a"])


def test_statistics_save_load_and_merge(tmp_path: Path) -> None:
    texts = ["a b c", "a b", "", "ä ö a"]
    whole = Statistics.build(texts, features="words:1")
    assert whole.documents == 4
    batches = Statistics.build((pa.array([t]) for t in texts), features="words:1")
    merged = Statistics.build(texts[:1], "words:1").merge(Statistics.build(texts[1:], "words:1"))
    assert whole.digest == batches.digest == merged.digest
    whole.save(tmp_path / "df.arrow")
    loaded = Statistics.load(tmp_path / "df.arrow")
    assert loaded.digest == whole.digest
    assert (loaded.keys == whole.keys).all()
    assert [path.name for path in tmp_path.iterdir()] == ["df.arrow"]
    with pytest.raises(specs.SpecError, match=r"words:1 and words:2"):
        whole.merge(Statistics.build(texts, "words:2"))


def test_statistics_refuse_files_that_lie(tmp_path: Path) -> None:
    good = Statistics.build(["a b c", "a"], features="words:1")
    lies = {
        "unsorted": Statistics("words:1", 2, good.keys[::-1].copy(), good.df),
        "outside": Statistics("words:1", 1, good.keys, good.df),
        "features": Statistics("nonsense", 2, good.keys, good.df),
    }
    for name, lie in lies.items():
        lie.save(tmp_path / name)
        with pytest.raises(specs.SpecError, match="cannot read statistics"):
            Statistics.load(tmp_path / name)
    (tmp_path / "junk").write_bytes(b"ARROW1\0\0junk")
    with pytest.raises(specs.SpecError, match="cannot read statistics"):
        Statistics.load(tmp_path / "junk")


@given(TEXTS)
def test_exact_is_that_of_the_oracle(texts: list[str]) -> None:
    digests, counts = Exact().digests(texts)
    assert digests.tolist() == [list(oracle.digest(oracle.units(text))) for text in texts]
    assert counts.tolist() == [len(oracle.units(text)) for text in texts]


def test_exact_sees_order_and_number_but_not_case_and_punctuation() -> None:
    texts = ["a b b", "A, b. B!", "b a b", "a b", "ab b"]
    digests = [tuple(row) for row in Exact().batch(texts).tolist()]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_the_kernels_have_one_signature() -> None:
    for weights in ("tf", "log-tf"):
        Simhash(weights=weights).batch(["a"])
    statistics = Statistics.build(["a"], "words:3")
    Simhash(weights="tf-idf", statistics=statistics).batch(["a"])
    for kernel in (simhash._by_count, simhash._by_weight):
        assert len(kernel.signatures) == 1
