"""How the default recipe judges labelled pairs: `python -m benchmarks.quality_dedup`.

Takes the data from NEARDUP_DATA, else ../shared/data; without it, says so and ends.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import neardup
from neardup.extract import extract
from neardup.fingerprints.resemblance import intersections, shingles
from neardup.kernels import strings
from neardup.schemas import PAGES


def folder() -> Path | None:
    """The labelled data, if it is there."""
    path = Path(os.environ.get("NEARDUP_DATA", "../shared/data"))
    return path if path.is_dir() else None


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a JSONL.gz or TSV file."""
    if path.suffix == ".tsv":
        with path.open(newline="") as lines:
            yield from csv.DictReader(lines, delimiter="\t")
    else:
        with gzip.open(path, "rt") as lines:
            yield from map(json.loads, lines)


def visible(records: list[dict[str, Any]], content: str) -> dict[str, str]:
    """id -> text of each page."""
    texts: dict[str, str] = {}
    for start in range(0, len(records), 100):
        some = records[start : start + 100]
        pages = pa.record_batch(
            [
                pa.array([r["id"] for r in some]),
                pa.nulls(len(some), pa.string()),
                pa.array([0] * len(some), pa.int32()),
                pa.array(range(len(some)), pa.int64()),
                pa.array([r["html"].encode() for r in some], pa.binary()),
                pa.array(["utf-8"] * len(some)),
                *(pa.nulls(len(some), PAGES.field(n).type) for n in ("text", "date", "value")),
            ],
            schema=PAGES,
        )
        documents = extract(pages, neardup.Extract(content=content))
        texts |= zip([r["id"] for r in some], documents["text"].to_pylist(), strict=True)
    return texts


def resemblances(texts: dict[str, str], pairs: list[tuple[str, str]]) -> np.ndarray:
    """Exact five-word resemblance of each pair."""
    names = {name: n for n, name in enumerate(texts)}
    values, offsets = shingles(strings(list(texts.values())))
    left = np.array([names[a] for a, _ in pairs])
    right = np.array([names[b] for _, b in pairs])
    shared = intersections(values, offsets, left, right).astype(float)
    sizes = np.diff(offsets)
    return shared / np.maximum(sizes[left] + sizes[right] - shared, 1)


def judge(name: str, scores: np.ndarray, truth: np.ndarray) -> None:
    """Precision, recall and F1 at the recipe's threshold, and the best threshold beside it."""

    def measure(threshold: float) -> tuple[float, float, float]:
        said = scores >= threshold
        hits = float((said & truth).sum())
        precision, recall = hits / max(said.sum(), 1), hits / max(truth.sum(), 1)
        return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)

    best = max((measure(t)[2], t) for t in np.arange(0.3, 1.0, 0.01))
    p, r, f = measure(0.8)
    print(
        f"{name:<38}{int(truth.sum()):>6}{int((~truth).sum()):>6}{p:>9.3f}{r:>8.3f}{f:>8.3f}"
        f"   {best[0]:.3f} at {best[1]:.2f}"
    )


def main() -> None:
    """Print one line a data set."""
    data = folder()
    if data is None:
        print("no labelled data: set NEARDUP_DATA; skipped")
        return
    print(f"{'pairs':<38}{'dup':>6}{'not':>6}{'precis.':>9}{'recall':>8}{'F1':>8}   best F1")
    pages = list(rows(data / "terms_history/pages.jsonl.gz"))
    pairs = [
        row
        for row in rows(data / "terms_history/pairs.tsv")
        if float(row["min_containment"]) >= 0.9
        and (row["relation"] == "same_version" or float(row["version_jaccard5"]) < 0.9)
    ]
    truth = np.array([row["relation"] == "same_version" for row in pairs])
    articles = list(rows(data / "main_content/template_pages.jsonl.gz"))
    kinds = [
        row
        for row in rows(data / "main_content/template_pairs.tsv")
        if not 0.1 <= float(row["gold_jaccard5"]) < 0.5
    ]
    real = np.array([float(row["gold_jaccard5"]) >= 0.5 for row in kinds])
    for content in ("visible", "main"):
        texts = visible(pages, content)
        scores = resemblances(texts, [(row["page_a"], row["page_b"]) for row in pairs])
        judge(f"terms_history, {content} text", scores, truth)
        texts = visible(articles, content)
        scores = resemblances(texts, [(row["a"], row["b"]) for row in kinds])
        judge(f"template pairs, {content} text", scores, real)
    copies = [r for r in rows(data / "copycat_pairs/pairs.jsonl.gz") if r["label"] is not None]
    texts = {f"{n}{side}": r[f"stem_{side}"] for n, r in enumerate(copies) for side in "ab"}
    scores = resemblances(texts, [(f"{n}a", f"{n}b") for n in range(len(copies))])
    for grade in (1, 2, 3):
        labels = np.array([float(r["label"]) >= grade for r in copies])
        judge(f"copycat_pairs, grade {grade} and up", scores, labels)


if __name__ == "__main__":
    main()
