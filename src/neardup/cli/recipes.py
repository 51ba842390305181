"""`neardup recipes`: what ships, and how to make one's own."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def recipes(name: str | None) -> None:
    """List the recipes, or print NAME as a TOML file to change and pass to --recipe."""
    from neardup.recipe import RECIPES, Recipe

    if name:
        click.echo(Recipe.load(name).to_toml(), nl=False)
        return
    for recipe in RECIPES.values():
        click.echo(f"{recipe.name:<8}{recipe.about}")
        click.echo(f"{'':<8}{recipe.fingerprint}, threshold {recipe.threshold:g}")
