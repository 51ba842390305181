"""How well minhash estimates resemblance on real texts: python -m benchmarks.quality_minhash

Pairs are Reuters stories and edited copies of them (words replaced at a rate that sets the
resemblance). For each range of exact resemblance it prints the bias, the error over the limit
sqrt(J(1 - J)/t), and how many pairs the bands chosen for 0.8 find.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np

from neardup.fingerprints.minhash import MinHash, band_keys
from neardup.fingerprints.resemblance import intersections, shingles

RATES = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)


def edited(text: str, rate: float, rng: np.random.Generator) -> str:
    """The text with each word replaced by a new one at this rate."""
    words = text.split()
    for place in np.flatnonzero(rng.random(len(words)) < rate):
        words[place] = f"edit{rng.integers(1 << 40)}"
    return " ".join(words)


def main() -> None:
    folder = Path(os.environ.get("NEARDUP_DATA", "../shared/data"))
    stories = folder / "reuters21578" / "stories.jsonl.gz"
    if not stories.exists():
        print(f"skipped: no {stories} (set NEARDUP_DATA)")
        return
    with gzip.open(stories, "rt", encoding="utf-8") as lines:
        texts = [text for line in lines if (text := json.loads(line)["text"])][:8000]
    rng = np.random.default_rng(1)
    copies = [edited(text, RATES[i % len(RATES)], rng) for i, text in enumerate(texts)]
    spec = MinHash()
    values, ends = shingles(texts + copies)
    rows = np.arange(len(texts))
    both = intersections(values, ends, rows, rows + len(texts)).astype(float)
    sizes = np.diff(ends)
    true = both / (sizes[rows] + sizes[rows + len(texts)] - both)
    left, right = spec.batch(texts), spec.batch(copies)
    estimate = spec.estimate(left, right)
    bands = spec.bands(0.8)
    found = (band_keys(left, *bands) == band_keys(right, *bands)).any(axis=1)
    print(f"{len(texts)} pairs, {spec}, bands and rows for 0.8: {bands}")
    print("resemblance   pairs      bias  error/limit  found by bands")
    for low, high in ((0.05, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.999)):
        pick = (low <= true) & (true < high)
        limit = np.sqrt(np.mean(true[pick] * (1 - true[pick]) / spec.permutations))
        error = np.sqrt(np.mean((estimate[pick] - true[pick]) ** 2))
        bias = np.mean(estimate[pick] - true[pick])
        print(
            f"{low:.2f} - {high:.2f} {pick.sum():7d}  {bias:+.5f}  {error / limit:11.3f}"
            f"  {found[pick].mean():14.4f}"
        )


if __name__ == "__main__":
    main()
