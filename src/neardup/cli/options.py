"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_FIELDS = ("text", "html", "id", "url", "date")


def field_options(command: F) -> F:
    """--text-field, --html-field, --id-field, --url-field, --date-field."""
    for name in reversed(_FIELDS):
        option = click.option(
            f"--{name}-field", metavar="NAME", help=f"Column or key that holds the {name}."
        )
        command = option(command)
    return command


def fields(options: dict[str, Any]) -> dict[str, Any]:
    """Take the field options out of a command's options."""
    return {f"{name}_field": options.pop(f"{name}_field") for name in _FIELDS}


threads_option = click.option(
    "--threads", type=click.IntRange(1, 1024), help="Threads to use (all cores unless told)."
)
