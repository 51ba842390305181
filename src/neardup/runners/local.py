"""The path on one machine: threads over the parts, a spill on disk, numbers in memory.

What is held of a document is its place in the spill, a digest of its words, its bucket keys and
its site: about 170 bytes with the default recipe, whatever the length of its text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.corpus import Corpus, Part, Skipped
from neardup.corpus.parts import FilePart
from neardup.extract import extract
from neardup.extract.templates import (
    TemplateBuilder,
    TemplateTable,
    block_hashes,
    remove,
    site_hashes,
)
from neardup.kernels import I64, U64, hash_strings, strings, view
from neardup.recipe import Recipe
from neardup.resolve.order import Keep, KeepError
from neardup.runners.decide import Held, Outcome, decide, repeats
from neardup.runners.earlier import Earlier
from neardup.runners.fingerprinting import Fingerprinter, Fingerprints, gather
from neardup.runners.pool import drain
from neardup.runners.result import (
    CONTAINED,
    EMPTY,
    EXACT,
    NEAR,
    SHORT,
    SKIPPED,
    Result,
    Summary,
)
from neardup.runners.work import Texts, Work

#: called with (stage, done, total, pages) as a run goes on, from any thread; done and total are
#: bytes while reading, then pages or pairs
Progress = Callable[[str, int, int, int], None]

#: part number -> its batches
Readers = list[tuple[int, Callable[[], Iterator[Any]]]]
#: stands for the site of HTML that has no URL
NAMELESS = "http://nameless/"

#: path of a mirrored tree, from the folder that is named like a host
_MIRRORED = r"(?:^|/)(?P<place>(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}/.*)$"

#: documents handled at once when the spill is read back
_ROWS, _BYTES = 4096, 4 << 20


def silent(stage: str, done: int, total: int, pages: int) -> None:
    """No progress."""


class LocalRun:
    """One run of a recipe over a corpus, and over an earlier one to match against."""

    def __init__(
        self,
        corpus: Corpus,
        earlier: Earlier,
        recipe: Recipe,
        work: Work,
        *,
        threads: int,
        progress: Progress,
        templates: TemplateTable | None,
    ) -> None:
        self.corpus, self.dropped = corpus, earlier.removed
        self.parts = [*earlier.parts, *corpus.parts]
        self.earlier = len(earlier.parts)
        self.recipe, self.keep = recipe, Keep.parse(recipe.keep)
        self.work, self.threads, self.progress = work, threads, progress
        self.templates = templates
        if recipe.templates is not None and earlier.templates is not None:
            self.templates = earlier.templates.union(templates) if templates else earlier.templates
        self.fingerprint = Fingerprinter(recipe)
        self.pieces: dict[tuple[int, int], Fingerprints] = {}
        self.stages: dict[str, float] = {}
        self.renamed: dict[int, str] = {}

    def run(self, *, pairs: bool) -> Result:
        """The whole path."""
        start = time.perf_counter()
        with self._stage("read"):
            self._read()
            self._load()
            pa.default_memory_pool().release_unused()  # what reading held is over
        with self._stage("templates"):
            self._find_templates()
        with self._stage("fingerprint"):
            self._fingerprint_spill()
        with self._stage("compare"):
            held, repeated = self._held()
            outcome = decide(
                self.recipe, held, self.texts.lengths, self.documents,
                pairs=pairs, threads=self.threads,
                advance=lambda done, total: self.progress("compare", done, total, 0),
            )  # fmt: skip
        result = Result(
            self.corpus, self.recipe, self._summary(outcome, repeated), outcome.decisions,
            self.work, self.documents, self.starts, self.earlier, repeated,
            self.templates, outcome.pairs, self.renamed,
        )  # fmt: skip
        result.summary.seconds = round(time.perf_counter() - start, 3)
        return result

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.stages[name] = round(time.perf_counter() - start, 3)

    def _read(self) -> None:
        """Read, extract and spill the parts; without templates, fingerprint on the way."""
        total = sum(part.size for part in self.parts)
        waiting = [(n, part) for n, part in enumerate(self.parts) if not self.work.whole(n)]
        done = total - sum(part.size for _, part in waiting)
        # what is known of earlier pages comes first: if they are in the spill, all waits for it
        spilled = any(self.work.whole(n) for n in range(self.earlier))
        fused = self.recipe.templates is None and not spilled
        self.progress("read", done, total, 0)

        def handle(part: int, batch: int, item: tuple[pa.RecordBatch, list[Skipped]]) -> None:
            pages, skipped = item
            writer = self.work.writer(part)
            writer.skip(skipped)
            if pages.num_rows:
                texts = strings(extract(pages, self.recipe.extract)["text"])
                writer.add(batch, self._columns(pages), texts)
                if fused:
                    self.pieces[part, batch] = self.fingerprint(texts, part < self.earlier)
            self.progress("read", 0, total, pages.num_rows)

        behind = dict.fromkeys((n for n, _ in waiting), 0)

        def reached(part: int, position: int) -> None:
            step = min(position, self.parts[part].size) - behind[part]
            if step > 0:
                behind[part] += step
                self.progress("read", step, total, 0)

        def finish(part: int) -> None:
            self.work.finish(part)
            reached(part, self.parts[part].size)

        def reader(n: int, part: Part) -> Callable[[], Iterator[Any]]:
            if isinstance(part, FilePart):
                part = replace(part, reached=partial(reached, n))
            return part.read

        readers = [(n, reader(n, part)) for n, part in waiting]
        for some in self._earlier_first(readers):
            drain(some, self.threads, handle, finish)

    def _earlier_first(self, readers: Readers) -> Iterator[Readers]:
        """Parts of --against, then, their fingerprints known, those of the corpus."""
        yield [reader for reader in readers if reader[0] < self.earlier]
        known = [self.pieces[key] for key in sorted(self.pieces) if key[0] < self.earlier]
        self.fingerprint.expect(known)
        yield [reader for reader in readers if reader[0] >= self.earlier]

    def _columns(self, pages: pa.RecordBatch) -> dict[str, Any]:
        urls = effective_urls(pages)
        keys = self.keep.keys(pages, urls)
        return {
            **{name: pages[name] for name in ("id", "url", "file", "position")},
            "key": np.full(pages.num_rows, np.nan) if keys is None else keys,
            "site": site_hashes(sites(pages, urls)),
            "page": hash_strings(*view(pc.coalesce(urls, strings(pages["id"])))),
        }

    def _load(self) -> None:
        """The numbers held of every row; ids and URLs stay in the work folder."""
        types: dict[str, Any] = {"offset": np.int64, "length": np.uint32}
        if self.recipe.templates is not None:
            types |= {"site": np.uint64, "page": np.uint64}
        if self.keep.rule not in ("first", "longest"):
            types |= {"key": np.float64}
        loaded = {name: [np.empty(0, kind)] for name, kind in types.items()}
        hashes, counts = [np.empty(0, np.uint64)], [0]
        for part in range(len(self.parts)):
            rows = self.work.rows(part, [*types, "id"])
            counts.append(rows.num_rows)
            for name in types:
                loaded[name].append(rows[name].to_numpy())
            hashes.append(hash_strings(*view(strings(rows["id"]))))
        self.starts: I64 = np.cumsum(np.array(counts, np.int64))
        held = {name: np.concatenate(loaded.pop(name)) for name in types}
        self.texts = Texts(self.work.folder, self.starts, held["offset"], held["length"])
        self.sites: U64 | None = held.get("site")
        self.pages: U64 | None = held.get("page")
        self.keys: npt.NDArray[np.float64] | None = held.get("key")
        self.id_hashes: U64 = np.concatenate(hashes)
        first = int(self.starts[self.earlier])
        if self.keys is not None and len(self.keys) > first and np.isnan(self.keys[first:]).all():
            raise KeepError(f"keep {self.keep}: no page has {self.keep.needs}")

    def _spill(self, name: str, parts: list[int], handle: Callable[[int, int, I64], None]) -> None:
        """Read parts of the spill back, a batch of rows at a time."""
        total = int(sum(self.starts[n + 1] - self.starts[n] for n in parts))

        def counted(part: int, batch: int, rows: I64) -> None:
            handle(part, batch, rows)
            self.progress(name, len(rows), total, len(rows))

        readers: Readers = [(n, partial(self._spans, n)) for n in parts]
        for some in self._earlier_first(readers):
            drain(some, self.threads, counted)

    def _spans(self, part: int) -> Iterator[I64]:
        start, end = int(self.starts[part]), int(self.starts[part + 1])
        while start < end:
            sizes = np.cumsum(self.texts.lengths[start : min(end, start + _ROWS)], dtype=np.int64)
            stop = start + max(1, int(np.searchsorted(sizes, _BYTES)))
            yield np.arange(start, min(stop, end))
            start = stop

    def _find_templates(self) -> None:
        """Blocks that repeat across different pages of a site; an earlier table stays valid."""
        if self.recipe.templates is None or self.sites is None or self.pages is None:
            return
        sites, pages = self.sites, self.pages
        known = self.templates
        with TemplateBuilder(self.recipe.templates, self.work.folder) as builder:

            def add(part: int, batch: int, rows: I64) -> None:
                found = block_hashes(self.texts.read(rows))
                builder.add(sites[rows], rows, *found, pages=pages[rows])

            self._spill("templates", list(range(len(self.parts))), add)
            self.templates = _without_nameless(builder.build(), sites)
        self.pages = None
        if known is not None:
            self.templates = self.templates.union(known)

    def documents(self, rows: I64) -> pa.Array:
        """The texts that are fingerprinted: without template blocks."""
        texts = self.texts.read(rows)
        if self.templates is None or self.recipe.templates is None or self.sites is None:
            return texts
        return remove(texts, self.sites[rows], self.templates, self.recipe.templates)[0]

    def _fingerprint_spill(self) -> None:
        """Fingerprint the parts that were not fingerprinted while they were read."""
        fresh = {part for part, _ in self.pieces}

        def fingerprint(part: int, batch: int, rows: I64) -> None:
            texts = self.documents(rows)
            self.pieces[part, batch] = self.fingerprint(texts, part < self.earlier)

        late = [n for n in range(len(self.parts)) if n not in fresh]
        self._spill("fingerprint", late, fingerprint)

    def _held(self) -> tuple[Held, list[Skipped]]:
        left_out, repeated = self._repeated_ids()
        earlier = int(self.starts[self.earlier])
        left_out[:earlier] = np.isin(self.id_hashes[:earlier], self.dropped)
        del self.id_hashes
        pieces = [self.pieces[key] for key in sorted(self.pieces)]
        self.pieces.clear()
        digests, tokens = gather(pieces)
        return Held(pieces, digests, tokens, self.keys, left_out, earlier), repeated

    def _repeated_ids(self) -> tuple[npt.NDArray[np.bool_], list[Skipped]]:
        """Rows whose id an earlier row of the corpus has; equal hashes are checked by string.

        An id that we made (the URL of a capture) is made longer by its place; one that the user
        gave is a broken record.
        """
        left_out = np.zeros(len(self.id_hashes), np.bool_)
        start = int(self.starts[self.earlier])
        rows = np.flatnonzero(repeats(self.id_hashes[start:])) + start
        repeated: list[Skipped] = []
        seen: set[str] = set()
        parts = np.searchsorted(self.starts, rows, side="right") - 1
        for part in np.unique(parts).tolist():
            chosen = rows[parts == part]
            table = self.work.rows(part, ["id", "file", "position"])
            records = table.take(pa.array(chosen - self.starts[part])).to_pylist()
            for row, record in zip(chosen.tolist(), records, strict=True):
                name = self.corpus.files[record["file"]]
                if record["id"] in seen and not self.corpus.own_ids(record["file"]):
                    record["id"] += f"@{os.path.basename(name)}:{record['position']}"
                    self.renamed[row] = record["id"]
                elif record["id"] in seen:
                    left_out[row] = True
                    place = (name, record["position"], record["id"])
                    repeated.append(Skipped(*place, "repeated id", "the first one stays"))
                seen.add(record["id"])
        return left_out, repeated

    def _summary(self, outcome: Outcome, repeated: list[Skipped]) -> Summary:
        first = int(self.starts[self.earlier])
        decisions = outcome.decisions
        counts = np.bincount(decisions.verdicts[first:], minlength=SKIPPED + 1).tolist()
        own = decisions.parents[first:] == np.arange(first, len(decisions.parents))
        removed = counts[EXACT] + counts[NEAR] + counts[CONTAINED]
        pages = len(own) - counts[SKIPPED]
        heads = np.unique(decisions.parents[first:][decisions.sizes[first:] > 1])
        skipped: dict[str, int] = {}
        for part in range(len(self.parts)):
            for row in self.work.skipped(part):
                skipped[row.reason] = skipped.get(row.reason, 0) + 1
        if repeated:
            skipped["repeated id"] = len(repeated)
        return Summary(
            recipe=self.recipe.name,
            digest=self.recipe.digest,
            keep=self.recipe.keep,
            threshold=self.recipe.threshold,
            pages=pages,
            kept=pages - removed,
            removed=removed,
            clusters=len(heads),
            largest=int(decisions.sizes[first:].max(initial=0)),
            exact=counts[EXACT],
            near=counts[NEAR],
            contained=counts[CONTAINED],
            too_short=counts[SHORT],
            empty=counts[EMPTY],
            skipped=skipped,
            earlier=first,
            candidates=outcome.candidates,
            verified=outcome.verified,
            cut=outcome.cut,
            bands=self.fingerprint.describe(),
            templates=self.templates.digest if self.templates is not None else None,
            template_blocks=len(self.templates) if self.templates is not None else 0,
            text_bytes=int(self.texts.lengths[first:].sum(dtype=np.int64)),
            threads=self.threads,
            stages=self.stages,
        )


def sites(pages: pa.RecordBatch, urls: pa.Array) -> pa.Array:
    """The URL that names each page's site: other HTML without a URL is taken as pages of one
    nameless site, and text without a URL as of no site."""
    if not urls.null_count:
        return urls
    nowhere = pa.scalar(None, pa.large_string())
    nameless = pa.scalar(NAMELESS, pa.large_string())
    return pc.coalesce(urls, pc.if_else(pages["html"].is_valid(), nameless, nowhere))


def effective_urls(pages: pa.RecordBatch) -> pa.Array:
    """Each page's URL; without one, the id of a mirrored tree speaks from its host on."""
    urls, ids = strings(pages["url"]), strings(pages["id"])
    if not urls.null_count:
        return urls
    places = pc.struct_field(pc.extract_regex(ids, _MIRRORED), "place")
    scheme, slash = (pa.scalar(text, pa.large_string()) for text in ("http:/", "/"))
    return pc.coalesce(urls, pc.binary_join_element_wise(scheme, places, slash))


def _without_nameless(table: TemplateTable, sites: U64) -> TemplateTable:
    """Pages of the nameless site may come from anywhere: a block is their template only when at
    least half of them hold it."""
    nameless = site_hashes([NAMELESS])[0]
    pages = min(int((sites == nameless).sum()), table.spec.sample)
    stays = (table.sites != nameless) | (table.pages >= pages / 2)
    return TemplateTable(table.spec, table.sites[stays], table.values[stays], table.pages[stays])
