"""The output folder: written beside in OUT/.work and moved into place at the end."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import schemas
from neardup.corpus import Corpus
from neardup.corpus.writers import write_kept
from neardup.extract.templates import TemplateTable
from neardup.recipe import Recipe
from neardup.runners.deduplicate import deduplicate
from neardup.runners.earlier import SUMMARY
from neardup.runners.local import Progress, silent
from neardup.runners.overview import mirrors, overview
from neardup.runners.result import SKIPPED, Result, Summary
from neardup.views.report import report

_WORK = ".work"


class OutputError(ValueError):
    """An output folder that cannot be written or read."""


def run(
    corpus: Corpus,
    out: Path,
    recipe: Recipe,
    *,
    source: str,
    threads: int | None = None,
    against: Sequence[str] = (),
    templates: Path | None = None,
    annotate: bool = False,
    pairs: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Summary:
    """Deduplicate a corpus into an output folder. An interrupted run can be resumed."""
    _prepare(out, overwrite)
    table = TemplateTable.load(templates) if templates else None
    result = deduplicate(
        corpus, recipe, threads=threads, against=list(against) or None, pairs=pairs,
        templates=table, work=out / _WORK, resume=resume, progress=progress,
    )  # fmt: skip
    if not result.summary.pages:
        _refuse_empty(result, source)
    staged = out / _WORK / "out"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir()
    progress("write", 0, 0, 0)
    _write(result, staged, source, annotate)
    result.work.close()
    _publish(staged, out, overwrite)
    return result.summary


def _prepare(out: Path, overwrite: bool) -> None:
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file, not a folder")
    if (out / SUMMARY).exists() and not overwrite:
        raise OutputError(f"{out} holds an earlier output; choose another folder or --overwrite")
    out.mkdir(parents=True, exist_ok=True)


def _refuse_empty(result: Result, source: str) -> None:
    """A corpus without pages is a mistake: say what was there instead."""
    skipped = [f"{row.reason} in {row.file} at {row.offset}" for row in islice(result.skips(), 1)]
    count = sum(result.summary.skipped.values())
    why = f"; {count} records were skipped, the first: {skipped[0]}" if skipped else ""
    raise OutputError(f"no pages in {source}{why}")


def _write(result: Result, folder: Path, source: str, annotate: bool) -> None:
    stamp = {"neardup.schema": str(schemas.VERSION), "neardup.recipe": result.recipe.digest}
    threads = result.summary.threads
    write_kept(result.corpus, folder, _rows(result, annotate), annotate=annotate, threads=threads)
    schema = schemas.CLUSTERS.with_metadata(stamp)
    with pq.ParquetWriter(folder / "clusters.parquet", schema) as writer:
        for batch in result.cluster_batches():
            writer.write_batch(batch.replace_schema_metadata(stamp))
    hosts = mirrors(result)
    pq.write_table(hosts.replace_schema_metadata(stamp), folder / "hosts.parquet")
    if result.neighbours is not None:
        pairs = result.pairs.replace_schema_metadata(stamp)
        pq.write_table(pairs, folder / "pairs.parquet")
    with open(folder / "skipped.jsonl", "w", encoding="ascii") as lines:
        for row in result.skips():
            lines.write(json.dumps(row._asdict()) + "\n")
    if result.templates is not None:
        result.templates.save(folder)
    (folder / "recipe.toml").write_text(result.recipe.to_toml(), "utf-8")
    report(overview(result, hosts, source), folder / "report.html")
    summary = {**result.summary.to_dict(), "source": source, "annotate": annotate}
    (folder / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", "utf-8")


def _rows(result: Result, annotate: bool) -> Callable[[int], pa.Table]:
    """The decisions of one file's documents, for the writers."""
    parts_of: dict[int, list[int]] = defaultdict(list)
    for number, part in enumerate(result.corpus.parts, result.earlier):
        for file in part.files:
            parts_of[file].append(number)

    @lru_cache(2)
    def places(part: int) -> pa.Table:
        rows = np.arange(result.starts[part], result.starts[part + 1])
        table = result.work.rows(part, ["file", "position"])
        table = table.append_column("row", pa.array(rows))
        return table.filter(pa.array(result.decisions.verdicts[rows] != SKIPPED))

    def rows(file: int) -> pa.Table:
        found = [places(part) for part in parts_of[file]]
        table = pa.concat_tables([t.filter(pc.equal(t["file"], file)) for t in found])
        number = table["row"].to_numpy()
        parents = result.decisions.parents[number]
        columns = {"position": table["position"], "kept": pa.array(parents == number)}
        if annotate:
            columns["cluster"] = result.ids.take(pa.array(parents)).cast(pa.string())
            columns["cluster_size"] = pa.array(result.decisions.sizes[number].astype(np.int64))
        return pa.table(columns).sort_by("position")

    return rows


def _publish(staged: Path, out: Path, overwrite: bool) -> None:
    """Move everything into place, the summary last: a folder with a summary is whole."""
    names = sorted(os.listdir(staged), key=lambda name: (name == SUMMARY, name))
    if overwrite and (out / SUMMARY).exists():
        (out / SUMMARY).unlink()
        for old in out.iterdir():
            if old.name != _WORK and _ours(old.name):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name in names:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        os.replace(staged / name, out / name)
    shutil.rmtree(out / _WORK)


def _ours(name: str) -> bool:
    fixed = {"clusters.parquet", "hosts.parquet", "pairs.parquet", "skipped.jsonl", "report.html"}
    return name in fixed or name.startswith(("kept", "templates-", "annotations"))
