"""Simhash of text held in Arrow, words:3, one thread."""

from __future__ import annotations

from benchmarks import corpus
from benchmarks.measure import side_by_side
from benchmarks.row import Row, times

TOOLS = ("ours", "c_loop", "gaoya", "simhash_1e0ng", "trafilatura", "text_dedup")


def run(size: str) -> Row:
    """All tools on the same documents; slow ones on the first part of them."""
    records = side_by_side("simhash", TOOLS, corpus.documents(size))
    checks = [times(records, "gaoya", 6), times(records, "c_loop", 0.7)]
    return Row(
        "simhash", "Simhash, 64 bits, of text held in Arrow, one thread", "MB/s", records, checks
    )
