"""resiliparse (Cython over lexbor): plain text, title and links on one core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree

PACKAGE = "Resiliparse"
NOTES = {"html": "one core: it holds the interpreter lock"}


def _page(data: bytes) -> tuple[str, str, list[str]]:
    tree = HTMLTree.parse_from_bytes(data, detect_encoding(data))
    links = [a["href"] for a in tree.document.get_elements_by_tag_name("a") if "href" in a.attrs]
    return extract_plain_text(tree, main_content=False, preserve_formatting=True), tree.title, links


def html(pages: pa.Array, threads: int) -> Callable[[], Any]:
    """Every page once."""
    found = pages.to_pylist()
    return lambda: [_page(page) for page in found]
