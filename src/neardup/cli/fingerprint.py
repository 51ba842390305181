"""`neardup fingerprint`: the fingerprint of every page of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.options import field_options, fields


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--spec",
    default="Simhash()",
    show_default=True,
    help="Such as 'MinHash(permutations=128, features=\"words:5\")'.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="A Parquet file, instead of lines on stdout.",
)
@click.option(
    "--content",
    type=click.Choice(["visible", "main"]),
    default="visible",
    show_default=True,
    help="Which text of an HTML page.",
)
@field_options
def fingerprint(
    sources: tuple[str, ...], spec: str, out: Path | None, content: str, **options: Any
) -> None:
    """Print `id <tab> fingerprint` (hex) for every page of SOURCE, or save it with -o.

    Pages without words have no fingerprint: `-` on stdout, null in Parquet.
    """
    from neardup.corpus import open_corpus
    from neardup.extract import Extract
    from neardup.runners.fingerprints import fingerprints, save

    corpus = open_corpus(sources, **fields(options))
    table = fingerprints(corpus, spec, Extract(content=content))
    from neardup.views.terminal import clean

    if out:
        save(table, out)
        table = iter(())
    for batch in table:
        for name, value in zip(
            batch["id"].to_pylist(), batch["fingerprint"].to_pylist(), strict=True
        ):
            click.echo(f"{clean(name)}\t{value.hex() if value is not None else '-'}")
    for row in corpus.skipped[:10]:
        place = f"{row.file} at {row.offset}"
        click.echo(f"neardup: skipped: {clean(f'{place}: {row.reason}')}", err=True)
    if len(corpus.skipped) > 10:
        click.echo(f"neardup: and {len(corpus.skipped) - 10:,} more were skipped", err=True)
