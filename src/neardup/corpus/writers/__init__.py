"""What is kept, written back in the format it came in, records byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from neardup.corpus.batches import File
from neardup.corpus.opening import Corpus
from neardup.corpus.tree import TreePart
from neardup.corpus.writers.annotations import Annotations
from neardup.corpus.writers.decisions import Decisions
from neardup.corpus.writers.lines import write_csv, write_jsonl
from neardup.corpus.writers.parquet import write_parquet, write_table
from neardup.corpus.writers.staging import Staging
from neardup.corpus.writers.tree import write_tree
from neardup.corpus.writers.warc import write_warc

Rows = Callable[[int], pa.Table]
_WRITERS = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "warc": write_warc,
    "wet": write_warc,
    "parquet": write_parquet,
}


def write_kept(
    corpus: Corpus, out: Path, rows: Rows, *, annotate: bool = False, threads: int = 1
) -> list[Path]:
    """Write OUT/kept.* for every format of the corpus, and return the paths.

    `rows(file)` has the columns position (rising) and kept, with `annotate` also cluster and
    cluster_size; records that are not in it were skipped. With `annotate`, Parquet, JSONL and
    CSV keep every row and get three columns; for WARC and HTML `annotations.parquet` tells.
    Files appear only when all of them are complete.
    """
    read = {file for part in corpus.parts for file in part.files}

    def decisions(file: int) -> Decisions:
        return Decisions(rows(file) if file in read else None, annotate)

    by_format: dict[tuple[str, str], list[File]] = {}
    for file in corpus.data.values():
        by_format.setdefault((file.format, file.compression), []).append(file)
    with Staging(Path(out)) as staging, Annotations(staging, annotate) as annotations:
        if corpus.table is not None:
            write_table(corpus.table, decisions(0), staging)
        for (format, compression), files in by_format.items():
            if format in _WRITERS:
                writer = _WRITERS[format]
                writer(corpus, files, compression, decisions, staging, annotations, threads)
        trees = [part for part in corpus.parts if isinstance(part, TreePart)]
        if trees:
            write_tree(trees, decisions, staging, annotations)
    return staging.written
