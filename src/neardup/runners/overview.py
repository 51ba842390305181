"""What the report shows of a run: the largest clusters, sites, mirrors, skipped records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

from neardup import __version__
from neardup.extract.templates import site_hashes
from neardup.kernels import I64
from neardup.pairs.passages import passages, segments
from neardup.resolve.hosts import Mirrors
from neardup.runners.local import effective_urls
from neardup.runners.result import CONTAINED, EXACT, NEAR, SKIPPED, Result
from neardup.views.panes import Pane
from neardup.views.report import Cluster, Mirror, Report, Site, Skip

_CLUSTERS, _SITES, _EXAMPLES = 20, 100, 5
#: characters of a page that are aligned for the report
_ALIGNED = 50_000
_BINS = 10


def survey(result: Result) -> tuple[pa.Table, list[Site]]:
    """Pairs of hosts with the same pages (`schemas.HOSTS`), and the largest sites of the corpus."""
    found = Mirrors()
    decisions = result.decisions
    urls = _urls(result)
    for _, rows in result.parts():
        rows = rows[decisions.verdicts[rows] != SKIPPED]
        parents = decisions.parents[rows]
        own = urls.take(pa.array(rows))
        found.add_pages(own, pa.array(parents == rows))
        removed = pa.array(parents != rows)
        found.add_matches(urls.take(pa.array(parents)).filter(removed), own.filter(removed))
    sites = _sites(result, found)
    earlier = np.arange(result.starts[result.earlier])
    found.add_pages(urls.take(pa.array(earlier)), pa.array(np.ones(len(earlier), np.bool_)))
    return found.table(), sites


def overview(result: Result, hosts: pa.Table, sites: list[Site], source: str) -> Report:
    """The report's data."""
    summary, decisions = result.summary, result.decisions
    first = int(result.starts[result.earlier])
    rows = np.arange(first, len(decisions.parents))
    removed = np.isin(decisions.verdicts[rows], (EXACT, NEAR, CONTAINED))
    heads, members = np.unique(decisions.parents[rows[removed]], return_counts=True)
    counts, edges = np.histogram(
        decisions.similarity[rows[removed]], _BINS, (min(summary.threshold, 0.95), 1.0)
    )
    bins = zip(edges.tolist(), edges[1:].tolist(), counts.tolist(), strict=False)
    largest = heads[np.argsort(-members, kind="stable")[:_CLUSTERS]]
    return Report(
        source=source,
        recipe=summary.recipe,
        keep=summary.keep,
        threshold=summary.threshold,
        pages=summary.pages,
        kept=summary.kept,
        exact=summary.exact,
        near=summary.near,
        contained=summary.contained,
        short=summary.too_short,
        empty=summary.empty,
        candidates=summary.candidates,
        verified=summary.verified,
        pairs_cut=summary.cut,
        seconds=summary.seconds,
        by=result.recipe.by,
        version=__version__,
        sizes=dict(sorted(Counter((members + 1).tolist()).items())),
        similarities=list(bins),
        clusters=[_cluster(result, head, rows) for head in largest.tolist()],
        sites=sites,
        mirrors=[
            Mirror(r["host"], r["mirror"], r["pages"], r["share"], r["host_path"] or "?",
                   r["mirror_path"] or "?")
            for r in hosts.to_pylist()
        ],
        skips=_skips(result),
    )  # fmt: skip


def _urls(result: Result) -> pa.Array:
    """The URL of every row, or what stands for it."""
    tables = [result.work.rows(part, ["id", "url"]) for part in range(len(result.starts) - 1)]
    columns = [effective_urls(batch) for table in tables for batch in table.to_batches()]
    return pa.concat_arrays([pa.array([], pa.large_string()), *columns])


def _cluster(result: Result, head: int, rows: I64) -> Cluster:
    """A kept page, and of its copies the one least like it, side by side."""
    decisions = result.decisions
    members = rows[(decisions.parents[rows] == head) & (rows != head)]
    scores = decisions.similarity[members]
    other = int(members[np.argmin(scores)])
    texts = result.documents(np.array([head, other])).to_pylist()
    a, b = (text[:_ALIGNED] for text in texts)
    shared = passages(a, b)
    places = [result.place(row) for row in (head, other)]
    panes = [
        Pane(place["id"], segments(text, only), place["url"])
        for place, text, only in zip(places, (a, b), (shared.only_a, shared.only_b), strict=True)
    ]
    size = len(members) + 1
    url = places[0]["url"]
    low, high = float(scores.min()), float(scores.max())
    return Cluster(places[0]["id"], size, low, high, url, panes=(panes[0], panes[1]))


def _sites(result: Result, found: Mirrors) -> list[Site]:
    """The largest sites with what was kept of them."""
    table = result.templates
    blocks: Counter[int] = Counter(table.sites.tolist() if table is not None else [])
    names = [name for name, _ in found.pages.most_common(_SITES)]
    hashes = site_hashes([f"http://{name}/" for name in names]).tolist()
    return [
        Site(name, found.pages[name], found.kept[name], blocks[site])
        for name, site in zip(names, hashes, strict=True)
    ]


def _skips(result: Result) -> list[Skip]:
    examples: dict[str, list[str]] = {}
    for row in result.skips():
        shown = examples.setdefault(row.reason, [])
        if len(shown) < _EXAMPLES:
            detail = f": {row.detail}" if row.detail else ""
            shown.append(f"{row.id or row.file} at {row.offset}{detail}")
    counts = result.summary.skipped.items()
    return [Skip(reason, n, examples.get(reason, [])) for reason, n in sorted(counts)]
