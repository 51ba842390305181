"""Two documents -> every signal, a verdict and what they share: what `neardup.compare` gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.resemblance import containment, resemblance
from neardup.fingerprints.simhash import Simhash
from neardup.pairs.passages import Passages, passages, segments
from neardup.views import Pane, comparison

_WORD = re.compile(r"\w+")

_MEANINGS = {
    "resemblance words:5": "share of the runs of five words in either text that are in both",
    "resemblance words:1": "share of the distinct words of either text that are in both",
    "resemblance chars:5": "share of the runs of five characters that are in both",
    "containment a in b": "share of the first text's runs of five words that the second has",
    "containment b in a": "share of the second text's runs of five words that the first has",
    "simhash distance": "bits of 64 in which the simhashes differ (64 if a text has no words)",
    "minhash estimate": "resemblance as 128 permutations estimate it",
    "equal text": "the same words in the same order",
    "length ratio": "words of the shorter text per word of the longer",
    "same title": "both have a title, with the same words",
    "resemblance near query": "resemblance of the blocks that have a word of the query",
}


@dataclass(frozen=True)
class Document:
    """One side of a comparison: what to call it, its visible text, its title and URL if known."""

    name: str
    text: str = field(repr=False)
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Comparison:
    """What two documents have in common, and what follows from it at the threshold."""

    a: Document
    b: Document
    similarity: float
    verdict: str
    threshold: float
    signals: Mapping[str, float] = field(repr=False)

    @cached_property
    def passages(self) -> Passages:
        """The passages of at least five words that both have, and the spans of the rest."""
        return passages(self.a.text, self.b.text)

    def explain(self) -> list[dict[str, Any]]:
        """One record a signal: its name, its value and what that means."""
        return [
            {"signal": name, "value": value, "meaning": _MEANINGS.get(name, _resemblance(name))}
            for name, value in self.signals.items()
        ]

    def to_arrow(self) -> pa.Table:
        """The records of `explain` as an Arrow table (values as numbers)."""
        rows = [{**row, "value": float(row["value"])} for row in self.explain()]
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> Any:
        """The records of `explain` as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """All of it in values that JSON knows; spans count characters of the visible text."""
        a, b, found = self.a, self.b, self.passages
        return {
            "a": {"name": a.name, "title": a.title, "url": a.url, "characters": len(a.text)},
            "b": {"name": b.name, "title": b.title, "url": b.url, "characters": len(b.text)},
            "verdict": self.verdict,
            "similarity": self.similarity,
            "threshold": self.threshold,
            "signals": dict(self.signals),
            "shared": [
                {"a": [p.start_a, p.end_a], "b": [p.start_b, p.end_b],
                 "text": a.text[p.start_a : p.end_a]}
                for p in found.shared
            ],
            "only_a": [{"a": [s, e], "text": a.text[s:e]} for s, e in found.only_a],
            "only_b": [{"b": [s, e], "text": b.text[s:e]} for s, e in found.only_b],
        }  # fmt: skip

    def panes(self) -> tuple[Pane, Pane]:
        """Both texts cut into what is shared and what is not, as `views` shows them."""
        a, b, found = self.a, self.b, self.passages
        return (
            Pane(a.name, segments(a.text, found.only_a), a.url, a.title),
            Pane(b.name, segments(b.text, found.only_b), b.url, b.title),
        )

    def to_html(self) -> str:
        """A page of its own: the verdict, the signals and both texts side by side."""
        return comparison(self.verdict, self.similarity, self.explain(), self.panes())


def compare_documents(
    a: Document,
    b: Document,
    *,
    features: str = "words:5",
    threshold: float = 0.8,
    min_tokens: int = 10,
    query: str | None = None,
) -> Comparison:
    """Every signal of two documents, and the verdict that a dedup run would reach.

    Documents of fewer than `min_tokens` words are the same only if their words are.
    """
    texts = [a.text, b.text]
    digests, counts = Exact().digests(texts)
    shorter, longer = sorted(counts.tolist())
    equal = shorter > 0 and bool((digests[0] == digests[1]).all())
    signals: dict[str, float] = {f"resemblance {features}": resemblance(a.text, b.text, features)}
    for further in ("words:5", "words:1", "chars:5"):
        signals.setdefault(f"resemblance {further}", resemblance(a.text, b.text, further))
    signals |= {
        "containment a in b": containment(a.text, b.text),
        "containment b in a": containment(b.text, a.text),
        "simhash distance": _simhash_distance(texts),
        "minhash estimate": _minhash_estimate(texts),
        "equal text": equal,
        "length ratio": shorter / longer if longer else 0.0,
        "same title": bool(_words(a.title)) and _words(a.title) == _words(b.title),
    }
    if query is not None:
        signals["resemblance near query"] = resemblance(_near(a, query), _near(b, query))
    similarity = signals[f"resemblance {features}"]
    contained = max(signals["containment a in b"], signals["containment b in a"])
    verdict = _verdict(equal, similarity, contained, threshold, shorter >= min_tokens)
    return Comparison(a, b, similarity, verdict, threshold, signals)


def _verdict(
    equal: bool, similarity: float, contained: float, threshold: float, enough: bool
) -> str:
    if equal:
        return "duplicate"
    if enough and similarity >= threshold:
        return "near-duplicate"
    return "contained" if enough and contained >= threshold else "different"


def _simhash_distance(texts: list[str]) -> int:
    simhashes, counts = Simhash().sketch(texts)
    return int(simhashes[0] ^ simhashes[1]).bit_count() if counts.all() else 64


def _minhash_estimate(texts: list[str]) -> float:
    signatures = MinHash().batch(texts)
    return float(MinHash().estimate(signatures[0], signatures[1]))


def _resemblance(name: str) -> str:
    return f"share of the features {name.split()[-1]} of either text that are in both"


def _words(text: str | None) -> list[str]:
    return _WORD.findall((text or "").casefold())


def _near(document: Document, query: str) -> str:
    wanted = set(_words(query))
    lines = document.text.split("\n")
    return "\n".join(line for line in lines if wanted.intersection(_words(line)))
