"""Growth: the whole job on ever more documents of the same kind."""

from __future__ import annotations

import math

from benchmarks import corpus
from benchmarks.measure import ROUNDS, better, once
from benchmarks.row import Check, Record, Row

#: a fitted exponent up to here counts as linear; n log n from 10 k to 1 M would be 1.09
LINEAR = 1.05


def run(size: str) -> Row:
    """Our own time and memory at every size, sizes taking turns."""
    counts = corpus.SIZES[size].growth
    best: dict[int, Record] = {}
    for _ in range(ROUNDS):
        for count in counts:
            if "error" not in best.get(count, {}):
                best[count] = better(
                    best.get(count), once("job", "ours", corpus.growth(count), threads=2)
                )
    row = Row("growth", "Time and memory as the corpus grows, two threads")
    row.records = [
        {"row": "growth", "tool": f"{n:,} documents", "unit": "MB/s", **best[n]} for n in counts
    ]
    if any("error" in record for record in row.records):
        row.checks = [Check("time ~ documents ^ x", f"x <= {LINEAR}", "not measured", None)]
        return row
    power = exponent([(n, best[n]["seconds"]) for n in counts])
    row.checks = [
        Check("time ~ documents ^ x", f"x <= {LINEAR}", f"x = {power:.3f}", power <= LINEAR)
    ]
    for n, record in best.items():
        row.facts.append(
            f"{n:,} documents: {record['seconds']:.2f} s, {1e6 * record['seconds'] / n:.1f} us and "
            f"{record['peak_bytes'] / n:,.0f} bytes of peak memory a document."
        )
    return row


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of log time over log size, by least squares."""
    xs = [math.log(n) for n, _ in points]
    ys = [math.log(seconds) for _, seconds in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    up = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True))
    return up / sum((x - mx) ** 2 for x in xs)
