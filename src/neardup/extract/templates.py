"""Blocks that repeat across the pages of one site, found from the corpus and left out.

`TemplateBuilder` takes the block hashes of all pages, `evidence` decides site by site, and the
`TemplateTable` that comes out names a template block by (site, value). It is part of what a
fingerprint means, so it is saved under its digest and every later run uses the same one.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.extract import blocks, evidence
from neardup.extract.blocks import block_hashes, newline, padded, scan, words
from neardup.kernels import (
    I64,
    U8,
    U32,
    U64,
    address,
    hash_strings,
    kernel,
    mix64,
    part,
    strings,
    view,
)
from neardup.specs import Spec, SpecError, parse

__all__ = [
    "TemplateBuilder",
    "TemplateError",
    "TemplateTable",
    "Templates",
    "block_hashes",
    "remove",
    "site_hashes",
]

_NEWLINE = np.uint8(10)
_NONE, _ONE = np.uint64(0), np.uint64(1)
_SITE = np.uint64(0xD6E8FEB86659FD93)
_EMPTY = np.empty(0, np.uint64)

#: One row a page in the spill; `row` counts the pairs (value, mark) before its own.
_PAGE = np.dtype(
    [
        ("site", "<u8"),
        ("page", "<u8"),
        ("signature", "<u8"),
        ("document", "<i8"),
        ("row", "<i8"),
        ("count", "<i8"),
    ]
)
_PAGES_AT_ONCE = 1 << 20
_ROWS_AT_ONCE = 1 << 20


class TemplateError(ValueError):
    """A template table that cannot be read; the message says what is wrong with the file."""


@dataclass(frozen=True)
class Templates(Spec):
    """When a block is template, and when removal would leave too little (see docs/templates.md).

    A site with fewer than `min_pages` distinct pages has no template.
    """

    min_pages: int = 10
    growth: float = 0.5
    copy: float = 0.95
    variant: float = 0.5
    most: float = 0.5
    agree: float = 0.25
    own_words: int = 10
    remain: float = 0.02
    remain_words: int = 10
    sample: int = 10_000
    max_blocks: int = 5_000

    def __post_init__(self) -> None:
        for name, least in (
            ("min_pages", 2),
            ("remain_words", 1),
            ("sample", 2),
            ("max_blocks", 1),
        ):
            value = getattr(self, name)
            if not (type(value) is int and least <= value <= 1 << 31):
                raise SpecError(f"Templates: {name} is a whole number of at least {least}")
        for name in ("growth", "copy", "variant", "most", "agree", "remain"):
            value = getattr(self, name)
            if not (type(value) in (int, float) and 0 <= value <= 1):
                raise SpecError(f"Templates: {name} is a number from 0 to 1")
        if self.most == 0 or self.copy == 0 or self.variant == 0:
            raise SpecError("Templates: most, copy and variant are above 0")


@part
def _key(site: np.uint64, value: np.uint64) -> np.uint64:
    """One name for (site, block); with value 0 the name of the site itself; never 0."""
    return max(mix64(site ^ mix64(value)), _ONE)


@part
def _find(slots: U64, key: np.uint64) -> np.int64:
    """Where the key stands in the table, or the free slot where it would."""
    mask = np.int64(len(slots) - 1)
    slot = np.int64(key & np.uint64(mask))
    while slots[slot] != _NONE and slots[slot] != key:
        slot = (slot + 1) & mask
    return slot


def _open(sites: U64, values: U64) -> U64:
    """An open-addressing table, at most half full, of all blocks and their sites."""
    keys = np.unique(
        np.maximum(
            np.concatenate(
                [_mixed(sites ^ _mixed(values)), _mixed(sites ^ _mixed(np.zeros_like(sites)))]
            ),
            _ONE,
        )
    )
    mask = np.uint64((2 << len(keys).bit_length()) - 1)
    slots, at = np.zeros(int(mask) + 1, np.uint64), keys & mask
    while len(keys):  # each round puts one key into every free slot that some are looking at
        free = np.flatnonzero(slots[at] == 0)
        settled = free[np.unique(at[free], return_index=True)[1]]
        slots[at[settled]] = keys[settled]
        left = np.ones(len(keys), bool)
        left[settled] = False
        keys, at = keys[left], (at[left] + _ONE) & mask
    return slots


def _mixed(array: U64) -> U64:
    """`mix64` of every number."""
    result: U64 = mix64.py_func(array)  # type: ignore[attr-defined]
    return result


@part
def _append(data: U8, start: int, stop: int, out: U8, at: int) -> int:
    """Copy data[start:stop] to `at`; returns where it ends (a loop LLVM turns into memcpy)."""
    for k in range(stop - start):
        out[at + k] = data[start + k]
    return at + stop - start


@kernel
def _remove(
    data: U8, offsets: I64, sites: U64, slots: U64, remain: float, least: int
) -> tuple[U8, I64, I64]:
    """The texts without the template blocks of their sites, their offsets, and how many blocks
    each lost: none where fewer than `least` words or the share `remain` of them would be left."""
    n, base = len(offsets) - 1, address(data)
    out, ends = np.empty(offsets[n] - offsets[0] + 1, np.uint8), np.zeros(n + 1, np.int64)
    removed = np.zeros(n, np.int64)
    for t in range(n):
        start, end, at = offsets[t], offsets[t + 1], ends[t]
        known = sites[t] != _NONE and slots[_find(slots, _key(sites[t], _NONE))] != _NONE
        total, left, i = np.int64(0), np.int64(0), start
        while known and i <= end:
            stop = newline(base + i, base + end) - base
            value, mark = scan(base + i, base + stop)
            total += words(mark)
            if value != _NONE and slots[_find(slots, _key(sites[t], value))] != _NONE:
                removed[t] += 1
            else:
                left += words(mark)
                at = _append(data, i, stop, out, at)
                out[at] = _NEWLINE
                at += 1
            i = stop + 1
        ends[t + 1] = at - 1  # the last newline joins nothing
        if removed[t] == 0 or left < max(least, remain * total):
            removed[t] = 0
            ends[t + 1] = _append(data, start, end, out, ends[t])
    return out, ends, removed


def remove(texts: Any, sites: U64, table: TemplateTable, spec: Templates) -> tuple[pa.Array, I64]:
    """The texts (`large_string`) with the template blocks of their sites left out, and how many
    blocks each text lost; a text of which too little would remain is untouched."""
    texts, sites = strings(texts), _u64(sites, "sites")
    if len(texts) != len(sites):
        raise ValueError(f"{len(texts)} texts with {len(sites)} sites")
    if not len(table) or not len(texts):
        return texts, np.zeros(len(texts), np.int64)
    data, offsets = padded(texts)
    out, ends, removed = _remove(
        data, offsets, sites, table.slots, float(spec.remain), spec.remain_words
    )
    if not removed.any():
        return texts, removed
    valid = None if not texts.null_count else texts.is_valid().buffers()[1]
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers), removed


#: scheme://user@www.HOST:port/ ; a host in brackets is an IPv6 address
_HOST = (
    r"^[A-Za-z][A-Za-z0-9+.\-]*://(?:[^/?#\\]*@)?(?:[wW][wW][wW]\.)?"
    r"(?P<host>\[[^/?#\\\]]*\]|[^/?#\\@:\s\[\]]+?)\.?(?::[0-9]*)?(?:[/?#\\]|$)"
)


def site_hashes(urls: Any) -> U64:
    """The site of every URL: a hash of its host, lower-cased, without user, port and a leading
    "www."; 0 for null and for what has no host."""
    hosts = pc.struct_field(pc.extract_regex(strings(urls), _HOST), "host")
    result: U64 = np.maximum(hash_strings(*view(pc.ascii_lower(hosts))), _ONE)
    result[np.asarray(pc.is_null(hosts))] = 0
    return result


class TemplateTable:
    """The template blocks of a corpus, immutable: sorted (site, value) with the number of
    distinct pages that hold each. `digest` names the content and the spec that found it."""

    VERSION = 1

    def __init__(self, spec: Templates, sites: U64, values: U64, pages: U32) -> None:
        order = np.lexsort((values, sites))
        self.spec = spec
        self.sites, self.values, self.pages = sites[order], values[order], pages[order]
        for column in (self.sites, self.values, self.pages):
            column.flags.writeable = False
        self.slots: U64 = _open(self.sites, self.values)
        digest = hashlib.blake2b(self._header().encode(), digest_size=8)
        for column in (self.sites, self.values, self.pages):
            digest.update(np.ascontiguousarray(column).view(np.uint8).data)
        self.digest = digest.hexdigest()

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<TemplateTable {self.digest}: {len(self)} blocks>"

    def union(self, other: TemplateTable) -> TemplateTable:
        """All blocks of both tables, under this one's spec: an earlier table stays valid."""
        sites = np.concatenate([self.sites, other.sites])
        values = np.concatenate([self.values, other.values])
        pages = np.concatenate([self.pages, other.pages])
        order = np.lexsort((~pages, values, sites))  # the larger number of pages first
        sites, values, pages = sites[order], values[order], pages[order]
        fresh = np.ones(len(sites), bool)
        fresh[1:] = (sites[1:] != sites[:-1]) | (values[1:] != values[:-1])
        return TemplateTable(self.spec, sites[fresh], values[fresh], pages[fresh])

    def _header(self) -> str:
        return f"neardup templates {self.VERSION}.{blocks.VERSION} {self.spec!r} {len(self)}"

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `templates-<digest>.arrow` into the folder, beside first and then renamed."""
        path = Path(folder) / f"templates-{self.digest}.arrow"
        header = {"neardup": self._header(), "spec": repr(self.spec), "digest": self.digest}
        schema = pa.schema(
            [pa.field(n, t, nullable=False) for n, t in _COLUMNS.items()], metadata=header
        )
        table = pa.table([self.sites, self.values, self.pages], schema=schema)
        beside = path.with_suffix(".partial")
        try:
            with pa.OSFile(str(beside), "wb") as file, pa.ipc.new_file(file, schema) as writer:
                writer.write_table(table)
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TemplateTable:
        """Read a saved table; everything in the file is checked, down to its digest."""
        content = Path(path).read_bytes()
        try:
            table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
            table.validate(full=True)
            header = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
            spec = parse(header.get("spec", ""), Templates)
        except (pa.ArrowException, OSError, SpecError, UnicodeDecodeError) as error:
            raise TemplateError(f"{path} is no template table: {error}") from None
        if dict(zip(table.column_names, table.schema.types, strict=True)) != _COLUMNS:
            raise TemplateError(f"{path} is no template table: other columns than {[*_COLUMNS]}")
        if any(column.null_count for column in table.columns):
            raise TemplateError(f"{path} is damaged: it has nulls")
        sites, values, pages = (np.array(column) for column in table.columns)
        again = sites[1:] == sites[:-1]
        if (sites[1:] < sites[:-1]).any() or (values[1:] <= values[:-1])[again].any():
            raise TemplateError(f"{path} is damaged: its rows are not in order")
        result = cls(spec, sites, values, pages)
        if header.get("neardup") != result._header() or header.get("digest") != result.digest:
            raise TemplateError(
                f"{path} is damaged or of another version: its content does not have its digest"
            )
        return result


_COLUMNS = {"site": pa.uint64(), "block": pa.uint64(), "pages": pa.uint32()}


def _signatures(marks: U64, offsets: I64) -> U64:
    """A sum of the hashed loose names of each page: equal where pages say the same."""
    sums = np.concatenate([[_NONE], np.cumsum(_mixed(_mixed(marks) ^ _SITE))])
    result: U64 = sums[offsets[1:]] - sums[offsets[:-1]]
    return result


class TemplateBuilder:
    """Takes the blocks of all pages, in any order and from several threads; `build` decides.

    The blocks wait in a file in the work folder (16 bytes each, 48 more a page), so memory does
    not grow with the corpus: at most about a million pages' headers and a million blocks of
    sites are held at a time. Use as a context manager, or call `close`, to delete the file.
    """

    def __init__(self, spec: Templates, folder: str | os.PathLike[str] | None = None) -> None:
        self.spec = spec
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="templates-", dir=folder)
        self._rows_path = Path(self._folder.name) / "blocks"
        self._pages_path = Path(self._folder.name) / "pages"
        self._rows = open(self._rows_path, "wb")  # noqa: SIM115 (closed by close)
        self._pages = open(self._pages_path, "wb")  # noqa: SIM115
        self._row_count = self._page_count = 0

    def __enter__(self) -> TemplateBuilder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delete the spill."""
        self._rows.close()
        self._pages.close()
        self._folder.cleanup()

    def add(
        self,
        sites: U64,
        documents: I64,
        values: U64,
        offsets: I64,
        marks: U64,
        pages: U64 | None = None,
    ) -> None:
        """One batch of pages: for each its site (0 = unknown, never template), its document
        number (its rank in the corpus' order) and its rows of `block_hashes`.

        `pages`, where given, names each page (a hash of its URL; 0 = unknown): captures of one
        page count once.
        """
        n = len(offsets) - 1
        sites, documents = _u64(sites, "sites"), np.ascontiguousarray(documents, np.int64)
        pages = np.zeros(n, np.uint64) if pages is None else _u64(pages, "pages")
        if not len(sites) == len(documents) == len(pages) == n or len(values) != len(marks):
            raise ValueError("sites, documents, pages and blocks are not of one batch")
        sizes = np.diff(offsets)
        if n and (offsets[0] != 0 or offsets[-1] != len(values) or (sizes < 0).any()):
            raise ValueError("offsets do not divide the blocks")
        wanted = np.repeat((sites != 0) & (sizes <= self.spec.max_blocks), sizes) & (values != 0)
        rows = np.stack([values[wanted], marks[wanted]], axis=1)
        ends = np.concatenate([[0], np.cumsum(wanted)])[offsets]
        header = np.empty(n, _PAGE)
        header["site"], header["page"], header["document"] = sites, pages, documents
        header["signature"] = _signatures(rows[:, 1], ends)
        header["row"], header["count"] = ends[:-1], np.diff(ends)
        header = header[header["count"] > 0]
        with self._lock:
            header["row"] += self._row_count
            self._rows.write(rows.tobytes())
            self._pages.write(header.tobytes())
            self._row_count += len(rows)
            self._page_count += len(header)

    def build(self) -> TemplateTable:
        """The template table of everything added, whatever the order and the threads; the spill
        is deleted."""
        with self._lock:
            self._rows.flush()
            self._pages.flush()
            found: list[tuple[U64, U64, U32]] = []
            passes = self._page_count // _PAGES_AT_ONCE + 1
            for number in range(passes if self._row_count else 0):
                pages = _choose(self._read(passes, number), self.spec)
                for part in _parts(pages):
                    found.append(self._decide(part))
        self.close()
        columns = zip(*found, strict=True) if found else ([], [], [])
        sites, values, counts = (np.concatenate([*column, _EMPTY]) for column in columns)
        return TemplateTable(self.spec, sites, values, counts.astype(np.uint32))

    def _read(self, passes: int, number: int) -> npt.NDArray[np.void]:
        """The pages of every `passes`-th site."""
        chosen = [np.empty(0, _PAGE)]
        with open(self._pages_path, "rb") as file:
            while chunk := file.read(_PAGE.itemsize << 16):
                pages = np.frombuffer(chunk, _PAGE)
                chosen.append(pages[pages["site"] % np.uint64(passes) == number])
        return np.concatenate(chosen)

    def _decide(self, pages: npt.NDArray[np.void]) -> tuple[U64, U64, U32]:
        """Template blocks of some whole sites, whose pages are in the order of the sites."""
        rows = np.memmap(self._rows_path, np.uint64, "r", shape=(self._row_count, 2))
        offsets = np.concatenate([[0], np.cumsum(pages["count"])])
        values, marks = rows[
            np.arange(offsets[-1]) + np.repeat(pages["row"] - offsets[:-1], pages["count"])
        ].T.copy()
        found, held = evidence.decide(values, marks, offsets, pages["site"], self.spec)
        site = pages["site"][np.searchsorted(offsets, found, side="right") - 1]
        return site, values[found], held.astype(np.uint32)


def _choose(pages: npt.NDArray[np.void], spec: Templates) -> npt.NDArray[np.void]:
    """Distinct pages by site and document: pages that say the same and captures of one page
    count once, the first document standing for them; of a large site an even sample, picked by
    what pages say and so the same whatever came first; no site with too few pages."""
    pages = pages[np.lexsort((pages["signature"], pages["document"]))]
    for name in ("signature", "page"):
        order = np.lexsort((pages[name], pages["site"]))  # stable: documents stay in order
        ordered = pages[order]
        first = np.ones(len(pages), bool)
        first[1:] = (ordered["site"][1:] != ordered["site"][:-1]) | (
            ordered[name][1:] != ordered[name][:-1]
        )
        pages = pages[np.sort(order[first | ((ordered[name] == 0) & (name == "page"))])]
    pages = pages[np.lexsort((pages["signature"], pages["site"]))]
    start = np.flatnonzero(np.diff(pages["site"], prepend=~pages["site"][:1]))
    size = np.diff(np.append(start, len(pages)))
    rank = np.arange(len(pages)) - np.repeat(start, size)
    before = np.cumsum(pages["count"]) - pages["count"]
    rows = before - np.repeat(before[start], size)
    keep = (np.repeat(size, size) >= spec.min_pages) & (rank < spec.sample) & (rows < _ROWS_AT_ONCE)
    pages = pages[keep]
    return pages[np.lexsort((pages["document"], pages["site"]))]


def _parts(pages: npt.NDArray[np.void]) -> Iterator[npt.NDArray[np.void]]:
    """Runs of whole sites with about a million blocks each."""
    stops = np.append(np.flatnonzero(np.diff(pages["site"])) + 1, len(pages))
    rows, start = np.cumsum(pages["count"]), 0
    while start < len(pages):
        done = rows[start - 1] if start else 0
        full = np.searchsorted(rows[stops - 1], done + _ROWS_AT_ONCE)
        stop = int(stops[min(full, len(stops) - 1)])
        yield pages[start:stop]
        start = stop


def _u64(array: Any, name: str) -> U64:
    result: U64 = np.ascontiguousarray(array)
    if result.dtype != np.uint64 or result.ndim != 1:
        raise ValueError(f"{name} are an array of uint64, one a page")
    return result
