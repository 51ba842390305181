"""Golden vectors: what every fingerprint gives for a few texts, for good."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from neardup.features.statistics import Statistics
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import MinHash, band_keys
from neardup.fingerprints.mod_p import ModP
from neardup.fingerprints.simhash import Simhash
from neardup.kernels import strings
from tests import oracles_fingerprints as oracle

GOLDEN = Path(__file__).parent / "golden" / "fingerprints.json"
WANTED: dict[str, dict[str, object]] = json.loads(GOLDEN.read_text("utf-8"))
SIMHASHES = {
    "simhash": Simhash(),
    "simhash log-tf": Simhash(weights="log-tf"),
    "simhash chars:5": Simhash(features="chars:5"),
    "simhash 24 bits": Simhash(bits=24),
}


def hexes(values: Iterable[int], digits: int = 8) -> str:
    return " ".join(f"{value:0{digits}x}" for value in values)


def fingerprints(texts: list[str]) -> dict[str, dict[str, object]]:
    """Every fingerprint of the texts, computed now."""
    array = strings(texts)
    exact = Exact().batch(array)
    simhashes = {name: spec.batch(array) for name, spec in SIMHASHES.items()}
    # the frequencies are those of the texts themselves
    statistics = Statistics.build(array, features="words:1")
    tf_idf = Simhash(features="words:1", weights="tf-idf", statistics=statistics)
    simhashes["simhash words:1 tf-idf"] = tf_idf.batch(array)
    few, usual = MinHash(16).batch(array), MinHash().batch(array)
    keys = band_keys(usual, *MinHash().bands(0.8))
    samples = {f"mod {p}": ModP(p=p).sample(array) for p in (2, 8)}
    return {
        text: {
            "exact": [f"{half:016x}" for half in exact[i].tolist()],
            **{name: f"{found[i].as_py():016x}" for name, found in simhashes.items()},
            "minhash 16": hexes(few[i].tolist()),
            "minhash 128": hexes(usual[i].tolist()),
            "band keys at 0.8": hexes(keys[i].tolist()),
            **{
                name: hexes(values[ends[i] : ends[i + 1]].tolist())
                for name, (values, ends) in samples.items()
            },
        }
        for i, text in enumerate(texts)
    }


def test_golden_vectors() -> None:
    """A change here changes the meaning of stored fingerprints: raise `version` of the spec."""
    assert fingerprints(list(WANTED)) == WANTED
    assert Simhash.version == Exact.version == MinHash.version == ModP.version == 1
    assert MinHash().bands(0.8) == (21, 6)
    statistics = Statistics.build(strings(list(WANTED)), features="words:1")
    assert statistics.digest == "182d91f6722ae252"


def test_golden_vectors_are_those_of_the_oracle() -> None:
    """The file was written by the kernels; plain Python integers give the same."""
    for text, wanted in WANTED.items():
        shingles = oracle.phrases(oracle.units(text), 5)
        assert wanted["minhash 128"] == hexes(oracle.minhash(shingles, 128))
        for p in (2, 8):
            kept = sorted(value for value in set(shingles) if value % p == 0)
            assert wanted[f"mod {p}"] == hexes(value >> 32 for value in kept)
        threes = oracle.phrases(oracle.units(text), 3)
        assert wanted["simhash"] == hexes([oracle.simhash(threes)], 16)
