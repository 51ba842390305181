"""`open_corpus`: any source as a stream of PAGES batches, or as independent parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.corpus.batches import File
from neardup.corpus.delimited import csv_parts
from neardup.corpus.errors import CorpusError, Skipped, printable
from neardup.corpus.fields import URL, Fields, Wish
from neardup.corpus.jsonl import jsonl_parts
from neardup.corpus.limits import Limits
from neardup.corpus.memory import MEMORY, as_table, as_texts, memory_parts
from neardup.corpus.parquet import parquet_parts
from neardup.corpus.parts import LeftOut, Part
from neardup.corpus.sources import PAGE_FORMATS, Found, by_name, list_sources
from neardup.corpus.tree import CHUNK_FILES, TreePart
from neardup.corpus.warc import warc_parts

_READERS = {
    "csv": csv_parts,
    "jsonl": jsonl_parts,
    "parquet": parquet_parts,
    "warc": warc_parts,
    "wet": warc_parts,
}
_NO_COLUMNS = ("html", "text", "warc", "wet")
Path = str | os.PathLike[str]


class Corpus:
    """Files in order, and the parts they are read in. Iterating gives PAGES batches."""

    def __init__(self, wish: Wish, limits: Limits) -> None:
        self.wish = wish
        self.limits = limits
        self.files: list[str] = []
        self.parts: list[Part] = []
        self.skipped: list[Skipped] = []
        self.table: pa.Table | None = None
        self.data: dict[int, File] = {}

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """All pages, part after part; `skipped` holds what this pass left out."""
        self.skipped = []
        for part in self.parts:
            for batch, skipped in part.read():
                self.skipped.extend(skipped)
                if batch.num_rows:
                    yield batch

    def __repr__(self) -> str:
        return f"Corpus({len(self.files)} files, {len(self.parts)} parts)"

    def file(self, index: int) -> File:
        """What is known of a file: its path, label and format."""
        if index in self.data:
            return self.data[index]
        for part in self.parts:
            if isinstance(part, TreePart) and index in part.files:
                return part.member(index - part.first)
        raise IndexError(f"the corpus has no file number {index}")

    def own_ids(self, index: int) -> bool:
        """Whether an id stands for one page of this file: the user's id column, or a path.

        False where it is a URL that we made the id, which captures and files may share.
        """
        return index not in self._url_ids

    @cached_property
    def _url_ids(self) -> set[int]:
        files = {index for index, file in self.data.items() if file.format in ("warc", "wet")}
        for part in self.parts:
            fields = _fields_of(part)
            if fields and fields.id and not self.wish.id and fields.id.lower() in URL:
                files.update(part.files)
        return files

    @property
    def value_field(self) -> str | None:
        """The column that `value` holds, for keep rules."""
        return self.wish.value


def _fields_of(part: Part) -> Fields | None:
    return getattr(getattr(part, "shape", part), "fields", None)


def open_corpus(
    sources: Any,
    *,
    text_field: str | None = None,
    html_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    date_field: str | None = None,
    value_field: str | None = None,
    limits: Limits = Limits(),  # noqa: B008  (frozen)
) -> Corpus:
    """The corpus in files, globs, folders (one or a list of them), or in memory.

    In memory: a pyarrow table, record batch or array, a pandas frame or series, or a list of
    texts. In a list of str, a str that is neither a path nor looks like one makes it texts.
    """
    wish = Wish(text_field, html_field, id_field, url_field, date_field, value_field)
    corpus = Corpus(wish, limits)
    table = as_table(sources)
    if table is None and is_texts(sources):
        table = as_texts(sources)
    if table is not None:
        corpus.table, corpus.files, corpus.data = table, [MEMORY.name], {0: MEMORY}
        corpus.parts.extend(memory_parts(table, wish, limits))
    else:
        _open_files(corpus, [sources] if isinstance(sources, str | os.PathLike) else sources)
    return corpus


def _like_a_path(item: str) -> bool:
    return not item or any(mark in item for mark in "/\\.*?[") or os.path.lexists(item)


def is_texts(sources: Any) -> bool:
    """Whether a list holds texts: an item with white space in it that names no file."""
    if not isinstance(sources, list) or not all(isinstance(item, str | None) for item in sources):
        return False
    if None in sources or (len(sources) > 1 and not any(map(_like_a_path, sources))):
        return True
    return any(
        len(item.split(maxsplit=1)) != 1
        and by_name(item.rstrip())[0] == "unknown"
        and not os.path.lexists(item)
        for item in sources
    )


def _open_files(corpus: Corpus, sources: Iterable[Path]) -> None:
    try:
        listing = list_sources(sources)
    except TypeError:
        raise CorpusError(f"cannot read a corpus from {type(sources).__name__}") from None
    prefixes = listing.prefixes()
    left_out = listing.left_out
    first_error: CorpusError | None = None
    run: list[Found] = []
    for found in listing.files:
        index = len(corpus.files)
        if corpus.wish.value and found.format in _NO_COLUMNS:
            raise CorpusError(f"{found.path}: has no columns, so none named {corpus.wish.value!r}")
        if found.format in PAGE_FORMATS:
            if run and (run[0].source != found.source or len(run) == CHUNK_FILES):
                _close_run(corpus, run, prefixes)
            run.append(found)
            corpus.files.append(printable(found.path))
            continue
        _close_run(corpus, run, prefixes)
        file = _data_file(found, index, prefixes[found.source])
        try:
            parts = list(_READERS[found.format](file, corpus.wish, corpus.limits))
        except CorpusError as error:
            if found.named:
                raise
            first_error = first_error or error
            left_out.append(file.skip(0, "unreadable", str(error)))
            continue
        corpus.files.append(file.name)
        corpus.data[index] = file
        corpus.parts.extend(parts)
    _close_run(corpus, run, prefixes)
    if not corpus.files and first_error is not None:
        raise first_error
    if left_out:
        corpus.parts.insert(0, LeftOut(tuple(left_out), corpus.limits))


def _close_run(corpus: Corpus, run: list[Found], prefixes: Sequence[str]) -> None:
    """Make one part of the page files gathered so far."""
    if run:
        paths = tuple(found.path for found in run)
        first = len(corpus.files) - len(run)
        prefix = prefixes[run[0].source]
        corpus.parts.append(TreePart(first, paths, run[0].cut, prefix, corpus.limits))
        run.clear()


def _data_file(found: Found, index: int, prefix: str) -> File:
    try:
        info = os.stat(found.path)
    except OSError as error:
        raise CorpusError(f"{found.path}: cannot be read: {error.strerror}") from None
    label = printable(prefix + found.path[found.cut :]).replace(os.sep, "/")
    return File(
        index, found.path, label, found.format, found.compression, info.st_size, info.st_mtime_ns
    )
