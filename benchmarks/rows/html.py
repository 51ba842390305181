"""HTML pages to visible text, title and links: ours on two cores, lexbor on one."""

from __future__ import annotations

from benchmarks import corpus
from benchmarks.measure import ROUNDS, better, once
from benchmarks.row import Record, Row, times

#: threads each tool is given: the peers hold the interpreter lock
TOOLS = {"ours": 2, "selectolax": 1, "resiliparse": 1, "trafilatura": 1}


def run(size: str) -> Row:
    """All tools on the same pages, taking turns."""
    path = corpus.pages(size)
    best: dict[str, Record] = {}
    for _ in range(ROUNDS):
        for tool, threads in TOOLS.items():
            if "error" not in best.get(tool, {}):
                best[tool] = better(best.get(tool), once("html", tool, path, threads))
    records = [{"row": "html", "tool": tool, "unit": "MB/s", **best[tool]} for tool in TOOLS]
    for record in records:
        if "error" not in record:
            record["pages_per_second"] = record["rows"] / record["seconds"]
    checks = [times(records, "selectolax", 1.5), times(records, "selectolax", 3)]
    checks[1].what += ", scanner adopted"
    return Row(
        "html", "HTML pages to visible text, title and links, two cores", "MB/s", records, checks
    )
