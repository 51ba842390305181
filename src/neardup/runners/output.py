"""The output folder: written beside in OUT/.work and moved into place at the end."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

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
from neardup.runners.overview import overview, survey
from neardup.runners.result import SKIPPED, Result, Summary
from neardup.views.report import report

_WORK = ".work"
_REPLACED = "replaced.json"


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
    whole = _prepare(out, [*corpus.files, *against], resume, overwrite)
    run_name = _name(recipe, corpus, against)
    if whole is not None:
        if whole.get("run") == run_name:
            return Summary.from_dict(whole)
        raise OutputError(f"{out} holds an output of another run; choose another folder")
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
    summary = {**result.summary.to_dict(), "source": source, "annotate": annotate, "run": run_name}
    summary["files"] = sorted([*os.listdir(staged), SUMMARY])
    (staged / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    result.work.close()
    _publish(staged, out)
    return result.summary


def _prepare(
    out: Path, sources: Sequence[str], resume: bool, overwrite: bool
) -> dict[str, Any] | None:
    """Make sure that nothing is lost in OUT; the summary of a whole output that is resumed."""
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file, not a folder")
    inside = out.resolve()
    for source in sources:
        path = Path(source).resolve()
        if path == inside or (inside in path.parents and _ours(path.relative_to(inside).parts[0])):
            raise OutputError(f"{source} would be replaced by the output in {out}")
    whole = _read_summary(out / SUMMARY)
    if whole is not None and resume:
        shutil.rmtree(out / _WORK, ignore_errors=True)
        return whole
    if whole is not None and not overwrite:
        raise OutputError(f"{out} holds an earlier output; choose another folder or --overwrite")
    written = {*(whole or {}).get("files", ()), *_replaced(out)}
    names = os.listdir(out) if out.exists() else []
    foreign = sorted(name for name in names if _ours(name) and name not in written)
    if foreign:
        raise OutputError(f"{out / foreign[0]} is in the way: no output of neardup wrote it")
    out.mkdir(parents=True, exist_ok=True)
    return None


def _read_summary(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, UnicodeDecodeError):
        raise OutputError(f"{path} is in the way: it is no summary of neardup") from None
    return found if isinstance(found, dict) else {}


def _replaced(out: Path) -> list[str]:
    """Files of an output that an interrupted run was about to replace."""
    try:
        names: list[str] = json.loads((out / _WORK / _REPLACED).read_text("utf-8"))
        return names
    except (OSError, ValueError):
        return []


def _name(recipe: Recipe, corpus: Corpus, against: Sequence[str]) -> str:
    """Names what is run over what: the same command over the same files has the same name."""
    parts = [recipe.digest, *against, *(part.identity for part in corpus.parts)]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


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
    hosts, sites = survey(result)
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
    report(overview(result, hosts, sites, source), folder / "report.html")


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


def _publish(staged: Path, out: Path) -> None:
    """Move everything into place, the summary last: a folder with a summary is whole."""
    old = (_read_summary(out / SUMMARY) or {}).get("files", [])
    replaced = sorted({*old, *_replaced(out)})
    if replaced:  # noted first: if this is interrupted, the next run knows them for ours
        (out / _WORK / _REPLACED).write_text(json.dumps(replaced), "utf-8")
    for name in sorted(replaced, key=lambda name: name != SUMMARY):
        path = out / name
        if _ours(name) and path.is_dir():
            shutil.rmtree(path)
        elif _ours(name):
            path.unlink(missing_ok=True)
    for name in sorted(os.listdir(staged), key=lambda name: (name == SUMMARY, name)):
        os.replace(staged / name, out / name)
    shutil.rmtree(out / _WORK)


def _ours(name: str) -> bool:
    """Whether an output has, or may have, a file of this name."""
    fixed = {
        SUMMARY, "clusters.parquet", "hosts.parquet", "pairs.parquet", "skipped.jsonl",
        "report.html", "recipe.toml", "kept", "annotations.parquet",
    }  # fmt: skip
    return name in fixed or name.startswith(("kept.", "kept-", "templates-"))
