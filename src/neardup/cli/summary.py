"""What a run found, in tables that fit 80 columns."""

from __future__ import annotations

from pathlib import Path

from neardup.runners.result import Summary
from neardup.views.terminal import clean, columns, markup


def show_summary(summary: Summary, out: Path) -> None:
    """Print what was found and where it is."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    share = f"{summary.share:.1%}"
    rows: list[tuple[str, int, str]] = [
        ("pages", summary.pages, f"{summary.text_bytes / 1e6:,.1f} MB of text"),
        ("kept", summary.kept, f"keep {summary.keep}"),
        ("removed", summary.removed, f"{share} are copies of a kept page"),
        ("  exact copies", summary.exact, "the same words"),
        ("  near-duplicates", summary.near, f"similarity {summary.threshold:g} or more"),
        ("  contained", summary.contained, f"{summary.threshold:g} or more of the smaller page"),
        ("clusters", summary.clusters, f"the largest has {summary.largest:,} pages"),
        ("too short", summary.too_short, "kept: matched only by equal words"),
        ("empty", summary.empty, "kept: no words to compare"),
        ("earlier pages", summary.earlier, "matched too, not written"),
        ("template blocks", summary.template_blocks, "left out of the comparison"),
        ("pairs cut", summary.cut, "candidates of over-full buckets, not compared"),
        *(("skipped", n, reason) for reason, n in sorted(summary.skipped.items())),
    ]
    always = {"pages", "kept", "removed", "clusters"}
    for name, value, note in rows:
        if value or name in always:
            table.add_row(name, f"{value:,}", f"[dim]{markup(note)}[/dim]")
    console = Console()
    console.print(table)
    rate = summary.pages / summary.seconds if summary.seconds else 0
    console.print(f"{summary.seconds:.1f} s, {rate:,.0f} pages/s, {summary.threads} threads")
    console.print(f"report: {markup(str(out / 'report.html'))}", soft_wrap=True)


def show_clusters(out: Path, count: int) -> None:
    """Print the largest clusters: the kept page, and each copy with its similarity."""
    if count < 1:
        return
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from rich.console import Console

    console = Console(highlight=False)
    width = console.width
    clusters = pq.read_table(out / "clusters.parquet")
    removed = clusters.filter(pc.invert(clusters["kept"]))
    sizes = removed.group_by("cluster", use_threads=False).aggregate([("id", "count")])
    largest = sizes.sort_by([("id_count", "descending"), ("cluster", "ascending")])
    for name in largest["cluster"].slice(0, count).to_pylist():
        console.print(f"[bold]{markup(name, width)}[/bold]", soft_wrap=True)
        for row in removed.filter(pc.equal(removed["cluster"], name)).to_pylist():
            score = f"{row['similarity']:.3f} {row['verdict']}"
            room = width - 3 - len(score)
            member = clean(row["id"], room)
            padding = " " * (room - columns(member))
            console.print(f"  {markup(member)}{padding} {score}", soft_wrap=True)
    console.print()
