"""What a run is matched against: outputs of earlier runs, or any corpora."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.corpus import Corpus, CorpusError, Part, open_corpus
from neardup.corpus.opening import is_texts
from neardup.extract.templates import TemplateTable
from neardup.kernels import U64, hash_strings, strings, view

SUMMARY = "summary.json"
_CLUSTERS = "clusters.parquet"


@dataclass(frozen=True)
class Earlier:
    """Pages that are matched too and always stay."""

    corpora: list[Corpus] = field(default_factory=list)
    templates: TemplateTable | None = None
    #: hashes of the ids that an annotated output holds although it did not keep them
    removed: U64 = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def parts(self) -> list[Part]:
        return [part for corpus in self.corpora for part in corpus.parts]


def open_earlier(against: Any, like: Corpus) -> Earlier:
    """Open each source on its own, so that its pages keep their ids, with the fields of `like`."""
    if against is None:
        return Earlier()
    if isinstance(against, str | os.PathLike):
        against = [against]
    paths = isinstance(against, list | tuple) and all(map(_is_path, against))
    if not paths or is_texts(against):
        return Earlier([against if isinstance(against, Corpus) else open_corpus(against)])
    corpora, tables, removed = [], [], [np.empty(0, np.uint64)]
    for source in against:
        folder = Path(source)
        corpora.append(_open(folder, like))
        if not is_output(folder):
            continue
        tables += [TemplateTable.load(path) for path in sorted(folder.glob("templates-*.arrow"))]
        if json.loads((folder / SUMMARY).read_text("utf-8")).get("annotate"):
            clusters = pq.read_table(folder / _CLUSTERS, columns=["id", "kept"])
            ids = clusters["id"].filter(pc.invert(clusters["kept"]))
            removed.append(hash_strings(*view(strings(ids))))
    table = tables[0] if tables else None
    for other in tables[1:]:
        assert table is not None
        table = table.union(other)
    return Earlier(corpora, table, np.concatenate(removed))


def is_output(folder: Path) -> bool:
    """Whether a folder is the output of a run."""
    return (folder / SUMMARY).is_file() and (folder / _CLUSTERS).is_file()


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _open(source: Path, like: Corpus) -> Corpus:
    """With the same columns as the corpus where they are there, else with the usual ones."""
    names = {f"{name}_field": value for name, value in dataclasses.asdict(like.wish).items()}
    names["value_field"] = None
    try:
        return open_corpus(source, **names, limits=like.limits)
    except CorpusError as first:
        try:
            return open_corpus(source, limits=like.limits)
        except CorpusError:
            raise first from None
