"""trafilatura: main text of a page (lxml), and a simhash of long words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from trafilatura import bare_extraction
from trafilatura.deduplication import Simhash

PACKAGE = "trafilatura"
NOTES = {
    "simhash": "single words longer than four letters: it has no shingles",
    "html": "main content only, one core",
}


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits of its own sample of words."""
    strings = texts.to_pylist()
    return lambda: [Simhash(text).hash for text in strings]


def html(pages: pa.Array, threads: int) -> Callable[[], Any]:
    """Text, title and links in one call."""
    found = pages.to_pylist()
    return lambda: [bare_extraction(page, include_links=True) for page in found]
