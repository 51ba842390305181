"""`neardup compare`: two pages side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from neardup.pairs.compare import Comparison


@click.command()
@click.argument("a", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("b", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--recipe", default="web", show_default=True, help="web, text, exact or a .toml file."
)
@click.option("--query", help="Also compare the passages about these words.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to look at."
)
def compare(
    a: Path, b: Path, recipe: str, query: str | None, as_json: bool, html: Path | None
) -> None:
    """Show how alike the files A and B are: every similarity, what they share, what differs."""
    from neardup.runners.compare import compare as library_compare
    from neardup.views.page import write

    comparison = library_compare(a, b, query=query, recipe=recipe)
    if html:
        write(html, comparison.to_html())
    if as_json:
        import json

        json.dump(comparison.to_dict(), sys.stdout, indent=2)
        print()
    else:
        _show(comparison)


def _show(comparison: Comparison) -> None:
    """Signals as a table, then the longest shared and differing passages."""
    from rich.console import Console
    from rich.table import Table

    from neardup.views.terminal import markup

    console = Console(highlight=False)
    wide = console.width
    console.print(f"[bold]{comparison.verdict}[/bold], similarity {comparison.similarity:.4f} ")
    table = Table(box=None, show_header=False, pad_edge=False)
    for row in comparison.explain():
        value = row["value"]
        shown = f"{value:.4f}" if isinstance(value, float) else str(value)
        table.add_row(row["signal"], shown, f"[dim]{markup(row['meaning'])}[/dim]")
    console.print(table)
    a, b, found = comparison.a, comparison.b, comparison.passages
    passages = [
        ("shared", [a.text[p.start_a : p.end_a] for p in found.shared]),
        (f"only in {a.name}", [a.text[start:end] for start, end in found.only_a]),
        (f"only in {b.name}", [b.text[start:end] for start, end in found.only_b]),
    ]
    for title, texts in passages:
        size = sum(map(len, texts))
        console.print(f"\n[bold]{markup(title, wide - 24)}[/bold]: {size:,} characters")
        for text in sorted(texts, key=len, reverse=True)[:5]:
            console.print(f"  {markup(text, wide - 2)}", soft_wrap=True)
        if len(texts) > 5:
            console.print(f"  [dim]and {len(texts) - 5:,} shorter ones[/dim]")
