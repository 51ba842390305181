"""selectolax (lexbor): visible text, title and links on one core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from selectolax.lexbor import LexborHTMLParser

PACKAGE = "selectolax"
HIDDEN = ["script", "style", "noscript", "template"]


def _page(data: bytes) -> tuple[str, str, list[str | None]]:
    tree = LexborHTMLParser(data)
    title = tree.css_first("title")
    links = [a.attributes.get("href") for a in tree.css("a[href]")]
    tree.strip_tags(HIDDEN)
    body = tree.body
    text = body.text(separator=" ") if body is not None else ""
    return text, title.text() if title is not None else "", links


def html(pages: pa.Array, threads: int) -> Callable[[], Any]:
    """Every page once."""
    found = pages.to_pylist()
    return lambda: [_page(page) for page in found]
