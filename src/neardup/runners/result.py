"""What a run found: typed, and as Arrow tables made from the work folder when asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schemas
from neardup.corpus import Corpus, Skipped
from neardup.extract.templates import TemplateTable
from neardup.kernels import I64, strings
from neardup.recipe import Recipe
from neardup.runners.work import Work

#: what was decided of a document; the position is its code
VERDICTS = (
    "unique",
    "kept",
    "exact copy",
    "near-duplicate",
    "contained",
    "too short",
    "empty",
    "skipped",
)
UNIQUE, KEPT, EXACT, NEAR, CONTAINED, SHORT, EMPTY, SKIPPED = range(len(VERDICTS))


@dataclass
class Summary:
    """The run in numbers."""

    recipe: str
    digest: str
    keep: str
    threshold: float
    pages: int = 0
    kept: int = 0
    removed: int = 0
    clusters: int = 0  # with two pages or more
    largest: int = 0
    exact: int = 0
    near: int = 0
    contained: int = 0
    too_short: int = 0
    empty: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    earlier: int = 0  # pages of --against
    candidates: int = 0
    verified: int = 0
    cut: int = 0  # candidate pairs left out because a bucket was too large
    bands: str = ""
    templates: str | None = None  # digest of the template table
    template_blocks: int = 0
    text_bytes: int = 0
    threads: int = 1
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Share of the pages that are duplicates of a kept one."""
        return self.removed / self.pages if self.pages else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as in summary.json."""
        return {**dataclasses.asdict(self), "share": self.share}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Summary:
        """A summary from what `to_dict` gave; anything else in it is left out."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]


@dataclass
class Decisions:
    """One entry a row; rows count the documents of the run in the order of (file, position)."""

    parents: I64  # the kept row; its own when kept
    verdicts: npt.NDArray[np.uint8]
    similarity: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.uint32]  # members of the kept row's cluster


@dataclass(eq=False)
class Result:
    """Kept pages, clusters and skipped records of a run."""

    corpus: Corpus
    recipe: Recipe
    summary: Summary
    decisions: Decisions = field(repr=False)
    work: Work = field(repr=False)
    documents: Callable[[I64], pa.Array] = field(repr=False)  # rows -> the texts compared
    starts: I64 = field(repr=False)  # first row of each part, and the number of rows
    earlier: int = field(repr=False)  # the first parts are those of --against
    repeated: list[Skipped] = field(repr=False)
    templates: TemplateTable | None = field(default=None, repr=False)
    neighbours: tuple[I64, I64, npt.NDArray[np.float64]] | None = field(default=None, repr=False)
    renamed: dict[int, str] = field(default_factory=dict, repr=False)  # made-up ids that repeated

    @cached_property
    def ids(self) -> pa.Array:
        """The id of every row, those of --against included."""
        tables = [self.work.rows(part, ["id"]) for part in range(len(self.starts) - 1)]
        chunks = [strings(table["id"]) for table in tables]
        ids = pa.concat_arrays([pa.array([], pa.large_string()), *chunks])
        if not self.renamed:
            return ids
        changed = np.zeros(len(ids), np.bool_)
        changed[list(self.renamed)] = True
        names = [self.renamed[row] for row in sorted(self.renamed)]
        return pc.replace_with_mask(ids, pa.array(changed), pa.array(names, pa.large_string()))

    @property
    def kept(self) -> pa.Table:
        """The pages to keep: id, url, file, position, cluster_size."""
        return pa.Table.from_batches(self._kept(), _KEPT)

    @property
    def clusters(self) -> pa.Table:
        """Every page with its cluster, in the order read (`schemas.CLUSTERS`)."""
        return pa.Table.from_batches(self.cluster_batches(), schemas.CLUSTERS)

    def to_arrow(self) -> pa.Table:
        """The clusters as an Arrow table."""
        return self.clusters

    def to_pandas(self) -> Any:
        """The clusters as a pandas DataFrame."""
        return self.clusters.to_pandas()

    @property
    def pairs(self) -> pa.Table:
        """All verified pairs of neighbours: a, b, similarity (with `pairs=True`)."""
        if self.neighbours is None:
            raise ValueError("the pairs were not asked for: deduplicate(..., pairs=True)")
        left, right, scores = self.neighbours
        ids = [self.ids.take(pa.array(rows)).cast(pa.string()) for rows in (left, right)]
        return pa.table([*ids, pa.array(scores)], names=["a", "b", "similarity"])

    @property
    def skipped(self) -> pa.Table:
        """Every record left out, with its place and the reason (`schemas.SKIPPED`)."""
        rows = [row._asdict() for row in self.skips()]
        return pa.Table.from_pylist(rows, schemas.SKIPPED)

    def skips(self) -> Iterator[Skipped]:
        """The records left out, one by one."""
        for part in range(len(self.starts) - 1):
            yield from self.work.skipped(part)
        yield from self.repeated

    def parts(self) -> Iterator[tuple[int, I64]]:
        """The parts of the corpus (not of --against) with their rows."""
        for part in range(self.earlier, len(self.starts) - 1):
            yield part, np.arange(self.starts[part], self.starts[part + 1])

    def place(self, row: int) -> dict[str, Any]:
        """id and url of one row."""
        part = int(np.searchsorted(self.starts, row, side="right")) - 1
        url = self.work.rows(part, ["url"])["url"][row - int(self.starts[part])]
        return {"id": self.ids[row].as_py(), "url": url.as_py()}

    def cluster_batches(self) -> Iterator[pa.RecordBatch]:
        """The clusters table, part by part."""
        found_by = type(self.recipe.fingerprint).__name__.lower()
        names = [f"kept: {self.recipe.keep}" if v == "kept" else v for v in VERDICTS]
        kinds = pa.array([*names, *(f"{name} of an earlier page" for name in names)])
        methods = [None, None, "exact", found_by, found_by, None, None, None]
        first = self.starts[self.earlier]
        for _, rows in self.parts():
            rows = rows[self.decisions.verdicts[rows] != SKIPPED]
            verdicts = self.decisions.verdicts[rows]
            parents = self.decisions.parents[rows]
            own = parents == rows
            scores = pa.array(self.decisions.similarity[rows], mask=own)
            columns = [
                self.ids.take(pa.array(rows)).cast(pa.string()),
                self.ids.take(pa.array(parents)).cast(pa.string()),
                pa.array(own),
                scores,
                pa.array(methods, pa.string()).take(pa.array(verdicts)),
                kinds.take(pa.array(verdicts + len(names) * (parents < first))),
            ]
            yield pa.record_batch(columns, schema=schemas.CLUSTERS)

    def _kept(self) -> Iterator[pa.RecordBatch]:
        names = pa.array(self.corpus.files)
        for part, rows in self.parts():
            table = self.work.rows(part, ["url", "file", "position"])
            kept = self._is_kept(rows)
            table = table.filter(pa.array(kept)).combine_chunks()
            columns = [
                self.ids.take(pa.array(rows[kept])).cast(pa.string()),
                table["url"],
                names.take(table["file"]),
                table["position"],
                pa.array(self.decisions.sizes[rows[kept]].astype(np.int64)),
            ]
            yield from pa.table(columns, schema=_KEPT).to_batches()

    def _is_kept(self, rows: I64) -> npt.NDArray[np.bool_]:
        own = self.decisions.parents[rows] == rows
        kept: npt.NDArray[np.bool_] = own & (self.decisions.verdicts[rows] != SKIPPED)
        return kept

    def pages(self) -> Iterator[pa.RecordBatch]:
        """The kept pages themselves, read again from the sources (`schemas.PAGES`)."""
        for part, rows in self.parts():
            places = self.work.rows(part, ["file", "position"])
            kept = places.filter(pa.array(self._is_kept(rows)))
            wanted = set(zip(*(column.to_pylist() for column in kept.columns), strict=True))
            for batch, _ in self.corpus.parts[part - self.earlier].read():
                places_here = zip(
                    batch["file"].to_pylist(), batch["position"].to_pylist(), strict=True
                )
                yield batch.filter(pa.array([place in wanted for place in places_here]))


_KEPT = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("file", pa.string()),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("cluster_size", pa.int64(), nullable=False),
    ]
)
