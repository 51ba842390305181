"""MinHash of 128 values of word 5-shingles, from text, one thread; and how exact it is."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import corpus
from benchmarks.measure import side_by_side
from benchmarks.row import Check, Row, times
from benchmarks.tools.shingles import words5
from benchmarks.truth import resemblance

TOOLS = ("ours", "gaoya", "rensa", "fastsketchlsh", "datasketch")
#: resemblance, and the fewest and most shingles of the pair together
LEVELS = (
    *((level, 150, 1500) for level in (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)),
    *((level, 20, 100) for level in (0.5, 0.8)),
)
PAIRS = 1000
VALUES = 128


def run(size: str) -> Row:
    """Speed side by side, then error and bias of ours on pairs of known resemblance."""
    path = corpus.documents(size)
    records = side_by_side("minhash", TOOLS, path)
    checks = [times(records, peer, 12) for peer in ("gaoya", "rensa", "fastsketchlsh")]
    facts = []
    for level, least, most in LEVELS:
        spread, bias = exactness(*pairs(level, least, most, path))
        where = f"J = {level}" + (", short" if most < VALUES else "")
        room = 1 + 3 / math.sqrt(2 * PAIRS)  # three standard errors of a measured RMSE
        bound = f"RMSE / sqrt(J(1-J)/{VALUES}) at {where}"
        checks.append(Check(bound, f"<= 1 (+{room - 1:.2f})", f"{spread:.3f}", spread <= room))
        checks.append(Check(f"bias at {where}", "< 1 %", f"{bias:+.2%}", abs(bias) < 0.01))
    facts.append(
        f"Error and bias: {PAIRS} pairs of real words at every J, exact J by Python sets; "
        "short: 20 to 100 shingles."
    )
    return Row(
        "minhash",
        "MinHash of 128, word 5-shingles, from text, one thread",
        "MB/s",
        records,
        checks,
        facts,
    )


def exactness(left: list[str], right: list[str]) -> tuple[float, float]:
    """RMSE as a multiple of what 128 independent hashes give, and the mean error."""
    import neardup

    spec = neardup.MinHash(permutations=VALUES, features="words:5")
    estimates = (spec.batch(left) == spec.batch(right)).mean(axis=1)
    squares = bias = 0.0
    for a, b, estimate in zip(left, right, estimates.tolist(), strict=True):
        exact = resemblance(words5(a), words5(b))
        error = estimate - exact
        squares += error**2 / (exact * (1 - exact) / VALUES)
        bias += error
    return math.sqrt(squares / PAIRS), bias / PAIRS


def pairs(level: float, least: int, most: int, path: Path) -> tuple[list[str], list[str]]:
    """Pairs of real words in random order: a shared run and two runs of their own.

    n shared shingles and m of each side alone resemble each other n / (n + 2 m).
    """
    draw = random.Random(corpus.SEED + round(level * 100))
    texts = pq.read_table(path, columns=["text"])["text"].slice(0, 400).to_pylist()
    words = sorted(
        {word for text in texts for word in text.split() if word.isalpha() and word.isascii()}
    )
    left, right = [], []
    for _ in range(PAIRS):
        total = draw.randint(least, most)
        shared, own = round(total * level), round(total * (1 - level) / 2)
        same, a, b = (draw.choices(words, k=k) for k in (shared + 4, own, own))
        left.append(" ".join(same + a))
        right.append(" ".join(same + b))
    return left, right
