"""The report of a dedup run: what was read, what was left out, and why one may believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neardup.views import charts, page
from neardup.views.charts import percent
from neardup.views.escape import escape, isolated, link, shortened
from neardup.views.panes import Pane, side_by_side

_SHOWN_CLUSTERS, _SHOWN_ROWS, _SHOWN_EXAMPLES = 20, 100, 5
_PANE_CHARACTERS = 2000


@dataclass(frozen=True)
class Cluster:
    """A kept page and its copies; `panes` are the kept page and the copy least like it."""

    id: str
    size: int
    lowest: float
    highest: float
    url: str | None = None
    title: str | None = None
    panes: tuple[Pane, Pane] | None = None


@dataclass(frozen=True)
class Site:
    """The pages of one host, and how many blocks of its pages were taken for template."""

    site: str
    pages: int
    kept: int
    template_blocks: int


@dataclass(frozen=True)
class Mirror:
    """Two hosts with the same pages: how many, what share of the smaller, and the path mapping."""

    a: str
    b: str
    pages: int
    share: float
    path_a: str
    path_b: str


@dataclass(frozen=True)
class Skip:
    """Records left out for one reason, with the first few as examples."""

    reason: str
    count: int
    examples: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """Everything the report shows, in plain values. Missing parts are left out of the page."""

    source: str
    recipe: str
    keep: str
    threshold: float
    pages: int
    kept: int
    exact: int  # removed because their normalised text is equal to that of the kept page
    near: int  # removed because they resemble the kept page
    contained: int  # removed because the kept page contains them
    short: int  # kept: too few features to be compared other than exactly
    empty: int  # kept: no features at all
    candidates: int  # pairs that shared a bucket
    verified: int  # of these, compared exactly
    pairs_cut: int  # pairs that were not compared because their bucket was too full
    seconds: float
    by: str = "resemblance"
    version: str = ""
    sizes: Mapping[int, int] = field(default_factory=dict)  # cluster size -> number of clusters
    similarities: Sequence[tuple[float, float, int]] = ()  # from, to, number of removed pages
    clusters: Sequence[Cluster] = ()
    sites: Sequence[Site] = ()
    mirrors: Sequence[Mirror] = ()
    skips: Sequence[Skip] = ()

    @property
    def removed(self) -> int:
        """Pages that have a kept page in their stead."""
        return self.pages - self.kept

    @property
    def skipped(self) -> int:
        """Records that never became pages."""
        return sum(skip.count for skip in self.skips)


def report(data: Report, path: Path | str) -> None:
    """Write the report as one HTML file that opens without network."""
    page.write(Path(path), render(data))


def render(data: Report) -> str:
    """The report as an HTML document."""
    parts = [
        _headline(data),
        _distributions(data),
        _clusters(data),
        _sites(data),
        _mirrors(data),
        _settings(data),
        _skips(data),
    ]
    return page.page(f"neardup: {data.source}", "\n".join(filter(None, parts)))


def _headline(data: Report) -> str:
    rate = data.pages / data.seconds if data.seconds > 0 else 0.0
    shares = [
        ("kept", data.kept),
        ("exact copies", data.exact),
        ("near-duplicates", data.near),
        ("contained", data.contained),
    ]
    return (
        f"<header><h1>{data.removed:,} of {data.pages:,} pages are copies</h1>"
        f'<p class="muted">Source: {isolated(shortened(data.source, 400))}</p></header>'
        + page.numbers(
            [
                ("Pages read", f"{data.pages:,}"),
                ("Kept", f"{data.kept:,}"),
                ("Removed", f"{data.removed:,}"),
                ("Share of duplicates", percent(data.removed, data.pages)),
                ("Skipped records", f"{data.skipped:,}"),
                ("Pages a second", f"{rate:,.0f}"),
            ]
        )
        + charts.stack(
            [part for part in shares if part[1]], "Share of pages kept, and removed by reason"
        )
    )


def _settings(data: Report) -> str:
    rows = [
        ("Recipe", data.recipe, "the settings of every step; neardup recipes shows them"),
        ("Threshold", f"{data.threshold:g}", f"least {data.by} of a removed page to its kept page"),
        ("Kept of a cluster", data.keep, "the rule that orders the pages"),
        ("Exact copies", f"{data.exact:,}", "removed: the normalised text is the same"),
        ("Near-duplicates", f"{data.near:,}", "removed: resemblance reaches the threshold"),
        ("Contained", f"{data.contained:,}", "removed: the kept page contains them"),
        ("Too short", f"{data.short:,}", "too few features to compare: removed only if exact"),
        ("Empty", f"{data.empty:,}", "no text: never taken for copies of each other"),
        ("Candidate pairs", f"{data.candidates:,}", "pages that shared a bucket of the index"),
        ("Verified pairs", f"{data.verified:,}", "compared exactly before anything was removed"),
        ("Pairs cut", f"{data.pairs_cut:,}", "not compared: their bucket was too full"),
        ("Time", f"{data.seconds:,.1f} s", "from the first page to the last verdict"),
    ]
    if data.version:
        rows.append(("Version", data.version, "of neardup"))
    cells = (
        (escape(n), isolated(v), f'<span class="muted">{escape(m)}</span>') for n, v, m in rows
    )
    return "<h2>How it was done</h2>" + page.table(
        "Settings and counts of this run", ("what", "value", "meaning"), cells
    )


def _distributions(data: Report) -> str:
    figures = []
    if data.sizes:
        rows = _size_classes(data.sizes)
        counts = [count for _, count in rows if count]
        log = max(counts) > 50 * min(counts)
        note = "Clusters by number of pages" + (", bar lengths logarithmic" if log else "")
        figures.append((note, charts.bars(rows, note, log=log)))
    if any(count for _, _, count in data.similarities):
        rows = [
            (f"{low:.2f}" if low == high else f"{low:.2f}–{high:.2f}", count)
            for low, high, count in data.similarities
        ]
        counts = [count for _, count in rows if count]
        log = max(counts) > 50 * min(counts)
        note = f"Removed pages by {data.by} to their kept page"
        note += ", bar lengths logarithmic" if log else ""
        figures.append((note, charts.bars(rows, note, log=log)))
    if not figures:
        return ""
    drawn = (
        f"<figure><figcaption>{escape(note)}</figcaption>{chart}</figure>"
        for note, chart in figures
    )
    return f'<h2>Clusters and similarity</h2><div class="charts">{"".join(drawn)}</div>'


def _size_classes(sizes: Mapping[int, int]) -> list[tuple[str, int]]:
    """2, 3, 4, then classes that double: 5-8, 9-16, ...; empty ones in between are shown."""
    classes: list[tuple[str, int]] = []
    low, high = 2, 2
    while low <= max(sizes):
        count = sum(n for size, n in sizes.items() if low <= size <= high)
        classes.append((f"{low}" if low == high else f"{low}–{high}", count))
        low, high = high + 1, (high + 1 if high < 4 else 2 * high)
    return classes


def _clusters(data: Report) -> str:
    if not data.clusters:
        return ""
    shown = data.clusters[:_SHOWN_CLUSTERS]
    total = sum(data.sizes.values()) or len(data.clusters)
    titled = any(cluster.title for cluster in shown)
    rows = (
        [
            link(c.url, c.id),
            *([isolated(shortened(c.title or "", 120))] if titled else []),
            f"{c.size:,}",
            _range(c),
        ]
        for c in shown
    )
    parts = [
        "<h2>Largest clusters</h2>",
        page.table(
            f"The {len(shown):,} largest of {total:,} clusters, by the page that was kept",
            ("kept page", *(["title"] if titled else []), "#pages", "#similarity"),
            rows,
        ),
        "<p><mark>Text on both sides</mark> is marked; <span class='text'><span>text on one side"
        "</span></span> is what differs; … stands for text left out.</p>",
    ]
    for at, cluster in enumerate(shown, 1):
        if cluster.panes:
            parts.append(
                f"<section><h3>{at}. {isolated(shortened(cluster.title or cluster.id, 160))}"
                f'<span class="muted"> · {cluster.size:,} pages, similarity {_range(cluster)}'
                f"</span></h3>{side_by_side(cluster.panes, _PANE_CHARACTERS)}</section>"
            )
    return "".join(parts)


def _range(cluster: Cluster) -> str:
    low, high = f"{cluster.lowest:.2f}", f"{cluster.highest:.2f}"
    return low if low == high else f"{low}–{high}"


def _sites(data: Report) -> str:
    if not data.sites:
        return ""
    rows = (
        (
            isolated(site.site),
            f"{site.pages:,}",
            f"{site.kept:,}",
            f"{site.pages - site.kept:,}",
            percent(site.pages - site.kept, site.pages),
            f"{site.template_blocks:,}",
        )
        for site in data.sites[:_SHOWN_ROWS]
    )
    columns = ("site", "#pages", "#kept", "#removed", "#share", "#template blocks")
    caption = _caption("Pages of each site", len(data.sites))
    return "<h2>Sites</h2>" + page.table(caption, columns, rows)


def _mirrors(data: Report) -> str:
    if not data.mirrors:
        return ""
    rows = (
        (isolated(m.a), isolated(m.b), f"{m.pages:,}", percent(m.share, 1), _mapping(m))
        for m in data.mirrors[:_SHOWN_ROWS]
    )
    columns = ("host", "mirrored by", "#pages", "#share", "paths")
    caption = _caption("Hosts that hold the same pages", len(data.mirrors))
    return "<h2>Mirrored hosts</h2>" + page.table(caption, columns, rows)


def _mapping(mirror: Mirror) -> str:
    return f"{isolated(mirror.path_a)} → {isolated(mirror.path_b)}"


def _skips(data: Report) -> str:
    if not data.skips:
        return ""
    rows = (
        (
            escape(skip.reason),
            f"{skip.count:,}",
            "<br>".join(isolated(shortened(e, 200)) for e in skip.examples[:_SHOWN_EXAMPLES]),
        )
        for skip in data.skips[:_SHOWN_ROWS]
    )
    caption = "Records that were left out; each has a row in skipped.jsonl"
    return "<h2>Skipped records</h2>" + page.table(
        caption, ("reason", "#records", "first of them"), rows
    )


def _caption(text: str, count: int) -> str:
    return text if count <= _SHOWN_ROWS else f"{text} (the first {_SHOWN_ROWS} of {count:,})"
