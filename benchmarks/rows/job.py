"""Parquet to verified clusters, the whole job on two threads: speed, memory, and rightness."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks import corpus
from benchmarks.measure import once, side_by_side
from benchmarks.row import Check, Record, Row, at_least, at_most, find, times
from benchmarks.truth import Pair, all_pairs

TOOLS = ("ours", "gaoya", "datasketch", "text_dedup", "datatrove")
SAMPLE = 5000
THRESHOLD = 0.8
_WORD = re.compile(r"\w+")


def run(size: str) -> Row:
    """Every tool on the same file, then ours on two sizes, then ours against brute force."""
    records = side_by_side("job", TOOLS, corpus.documents(size), threads=2)
    checks = [times(records, peer, least) for peer, least in
              (("gaoya", 6), ("datasketch", 8), ("text_dedup", 25))]  # fmt: skip
    checks.append(memory(records))
    checks.append(per_document(size))
    found, facts = rightness(corpus.documents(size))
    return Row(
        "job",
        "Parquet to verified clusters, whole job, two threads",
        "MB/s",
        records,
        checks + found,
        facts,
    )


def memory(records: list[Record]) -> Check:
    """Our peak against gaoya's."""
    ours, gaoya = find(records, "ours"), find(records, "gaoya")
    if ours is None or gaoya is None:
        return Check("peak memory against gaoya", "<= 40 %", "not measured", None)
    share = ours["peak_bytes"] / gaoya["peak_bytes"]
    seen = f"{share:.0%} ({ours['peak_bytes'] / 1e6:.0f} of {gaoya['peak_bytes'] / 1e6:.0f} MB)"
    return Check("peak memory against gaoya", "<= 40 %", seen, share <= 0.4)


def per_document(size: str) -> Check:
    """How much the peak rises with every further document of a longer corpus."""
    counts = corpus.SIZES[size].growth[-2:]
    peaks = []
    for count in counts:
        runs = [once("job", "ours", corpus.growth(count), threads=2) for _ in range(2)]
        if any("error" in run for run in runs):
            return Check("bytes per further document", "<= 300", "not measured", None)
        peaks.append(min(run["peak_bytes"] for run in runs))
    value = (peaks[1] - peaks[0]) / (counts[1] - counts[0])
    what = f"memory per further document, {counts[0]:,} to {counts[1]:,}"
    return at_most(what, value, 300, "bytes", 0)


def rightness(path: Path) -> tuple[list[Check], list[str]]:
    """Verified pairs and clusters of a sample against all pairs by brute force."""
    import neardup
    from neardup.features.shingles import shingles

    part = sample(path)
    table = pq.read_table(part)
    values, offsets = shingles(table["text"].combine_chunks(), "words:5")
    bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    sets = [frozenset(values[a:b].tolist()) for a, b in bounds]
    place = {name: number for number, name in enumerate(table["id"].to_pylist())}
    truth = all_pairs(sets, THRESHOLD)
    result = neardup.deduplicate(
        neardup.open_corpus(part), recipe="text", threads=2, pairs=True, threshold=THRESHOLD
    )
    clusters = result.clusters.to_pylist()
    found = zip(result.pairs["a"].to_pylist(), result.pairs["b"].to_pylist(), strict=True)
    given = {ordered(place[a], place[b]) for a, b in found}
    removed = [(place[r["id"]], place[r["cluster"]]) for r in clusters if not r["kept"]]
    low = [pair for pair in removed if truth.get(ordered(*pair), 0.0) < THRESHOLD]
    kept = {place[r["id"]] for r in clusters if r["kept"]}
    late = {j for i, j in truth if i in kept and j in kept}
    checks = [
        at_least(
            "precision of verified pairs", len(given & truth.keys()) / max(len(given), 1), 0.99
        ),
        at_least("recall of verified pairs", len(given & truth.keys()) / max(len(truth), 1), 0.99),
        Check("removed pages below the threshold", "0", str(len(low)), not low),
        at_most("kept pages with an earlier kept neighbour", 100 * len(late) / len(kept), 1, "%"),
    ]
    scores = np.array(list(truth.values()))
    facts = [
        f"Rightness on {len(sets):,} documents: {len(truth):,} pairs at {THRESHOLD} by brute "
        f"force ({int((scores < 0.9).sum()):,} of them below 0.9), {len(given):,} found; "
        f"{len(removed):,} documents removed."
    ]
    return checks, facts


def ordered(a: int, b: int) -> Pair:
    """A pair with the earlier document first."""
    return (a, b) if a < b else (b, a)


def sample(path: Path) -> Path:
    """5,000 documents, each of 20 words or more, so that no rule for short texts is involved."""
    part = path.with_name(f"{path.stem}-sample-{SAMPLE}.parquet")
    if not part.exists():
        texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        long = [text for text in texts if len(_WORD.findall(text)) >= 20]
        corpus.write_documents(part, long[:SAMPLE])
    return part
