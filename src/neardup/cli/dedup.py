"""`neardup dedup`: the corpus job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.options import field_options, fields, threads_option

_RESUME = "nothing was changed, and the same command with --resume goes on from here"


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="Output folder.")
@click.option(
    "--recipe", default="web", show_default=True, help="web, text, exact or a .toml file."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Similarity from which two pages are duplicates.",
)
@click.option(
    "--by", type=click.Choice(["resemblance", "containment"]), help="What similarity means."
)
@click.option(
    "--keep",
    metavar="RULE",
    help="first, longest, oldest, newest, shortest-url, max:COLUMN or min:COLUMN.",
)
@click.option(
    "--clusters",
    type=click.Choice(["stars", "components"]),
    help="How duplicates are grouped (stars).",
)
@click.option(
    "--against",
    multiple=True,
    metavar="EARLIER",
    help="An earlier output, or any corpus, to match too; may be repeated.",
)
@click.option(
    "--templates",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A templates-*.arrow of an earlier output to go on from.",
)
@click.option(
    "--annotate", is_flag=True, help="Write every row with cluster, cluster_size and kept."
)
@click.option(
    "--pairs", is_flag=True, help="Verify and write all pairs of neighbours (pairs.parquet)."
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier output in OUT.")
@threads_option
@field_options
@click.option(
    "--show", type=click.IntRange(0), default=0, metavar="N", help="Print the N largest clusters."
)
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def dedup(
    sources: tuple[str, ...], out: Path, recipe: str, show: int, quiet: bool, **options: Any
) -> None:
    """Find the copies among the pages of SOURCE and keep one of each.

    SOURCE is a file, a glob or a folder: HTML trees, WARC, WET, JSONL, Parquet, CSV, compressed
    or not. OUT gets the kept pages in the format of the source, clusters.parquet, hosts.parquet,
    skipped.jsonl, summary.json and report.html.
    """
    from neardup.cli.progress import Bars
    from neardup.corpus import open_corpus
    from neardup.kernels import cache_is_writable
    from neardup.recipe import Recipe
    from neardup.resolve.order import Keep
    from neardup.runners import warming
    from neardup.runners.output import run

    changes = {name: options.pop(name) for name in ("threshold", "by", "keep", "clusters")}
    chosen = Recipe.load(recipe).replace(**changes)
    corpus = open_corpus(sources, value_field=Keep.parse(chosen.keep).column, **fields(options))
    if cache_is_writable() and warming.is_cold():
        warming.warm()
        if not quiet:
            click.echo("neardup: compiling kernels, once on this machine", err=True)
    with Bars(quiet) as bars:
        try:
            summary = run(
                corpus, out, chosen, source=" ".join(sources),
                progress=bars.advance, **options,
            )  # fmt: skip
        except KeyboardInterrupt:
            click.echo(f"neardup: interrupted; {_RESUME}", err=True)
            raise click.exceptions.Exit(130) from None
        except OSError as error:
            raise click.ClickException(f"{error.strerror or error}: {out}; {_RESUME}") from None
    if not quiet:
        from neardup.cli.summary import show_clusters, show_summary

        show_clusters(out, show)
        show_summary(summary, out)
