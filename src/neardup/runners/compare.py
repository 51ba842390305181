"""`neardup.compare`: two texts, HTML strings or files, through the same rooms as a dedup run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa

from neardup.corpus.limits import Limits
from neardup.corpus.tree import HTML_ENDINGS, looks_like_html
from neardup.extract import extract
from neardup.pairs.compare import Comparison, Document, compare_documents
from neardup.recipe import Recipe
from neardup.schemas import PAGES

_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^\s<>]+\.(?:x?html?|xht|shtml|txt)", re.IGNORECASE)
_LONGEST_PATH = 4096


class CompareError(ValueError):
    """Something that cannot be compared; the message is one line for a person."""


def compare(
    a: str | Path, b: str | Path, *, query: str | None = None, recipe: str | Recipe = "web"
) -> Comparison:
    """What two pages share, how alike they are by every measure, and what differs.

    `a` and `b` are texts, HTML (a string that starts like a page), a `Path`, or a string that
    names an existing file. The template of a site cannot be known from two pages: all of the
    visible text is compared. With a query, the parts about it are compared as well.
    """
    settings = Recipe.load(recipe)
    one, two = (_document(source, name, settings) for source, name in ((a, "a"), (b, "b")))
    return compare_documents(
        one,
        two,
        features=settings.features,
        threshold=settings.threshold,
        min_tokens=settings.min_tokens,
        query=query,
    )


def _document(source: str | Path, name: str, recipe: Recipe) -> Document:
    if isinstance(source, Path):
        return _file(source, recipe)
    if not isinstance(source, str):
        raise CompareError(f"cannot compare a {type(source).__name__}: expected text or a path")
    if _URL.fullmatch(source):
        raise CompareError(f"{source[:200]}: URLs cannot be fetched yet; save the page to a file")
    if _names_a_file(source):
        return _file(Path(source), recipe)
    if len(source) < _LONGEST_PATH and "\0" not in source and os.path.isdir(source):
        raise CompareError(f"{source}: is a folder")
    if _FILE_NAME.fullmatch(source):
        raise CompareError(f"{source}: no such file")
    data = source.encode("utf-8", "replace")
    if source.lstrip("\ufeff \t\r\n").startswith("<") and looks_like_html(data):
        return _page(data, "utf-8", name, recipe)
    return Document(name, data.decode())


def _names_a_file(text: str) -> bool:
    if not 0 < len(text) <= _LONGEST_PATH or not text.isprintable():
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a text too long for a file name
        return False


def _file(path: Path, recipe: Recipe) -> Document:
    limit = Limits().max_page
    try:
        if not path.is_file():  # a FIFO or device would block
            reason = "not a file" if path.exists() else "no such file"
            raise CompareError(f"{path}: {reason}")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise CompareError(f"{path}: {error.strerror or error}") from None
    if len(data) > limit:
        raise CompareError(f"{path}: larger than {limit >> 20} MB")
    if path.suffix.lower() in HTML_ENDINGS or looks_like_html(data):
        return _page(data, None, str(path), recipe)
    try:
        return Document(str(path), data.removeprefix(b"\xef\xbb\xbf").decode())
    except UnicodeDecodeError:
        raise CompareError(f"{path}: neither HTML nor text in UTF-8") from None


def _page(data: bytes, charset: str | None, name: str, recipe: Recipe) -> Document:
    row = dict.fromkeys(PAGES.names) | {
        "id": name, "file": 0, "position": 0, "html": data, "charset": charset,
    }  # fmt: skip
    documents = extract(pa.RecordBatch.from_pylist([row], schema=PAGES), recipe.extract)
    document = documents.to_pylist()[0]
    return Document(name, document["text"], document["title"], document["canonical"])
