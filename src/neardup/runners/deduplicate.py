"""The corpus job in one call."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from neardup.corpus import Corpus, CorpusError, open_corpus
from neardup.extract.templates import TemplateTable
from neardup.recipe import Recipe
from neardup.resolve.order import Keep
from neardup.runners.earlier import open_earlier
from neardup.runners.local import LocalRun, Progress, silent
from neardup.runners.result import Result
from neardup.runners.work import Work


def deduplicate(
    corpus: Any,
    recipe: str | Path | Recipe = "web",
    *,
    threads: int | None = None,
    against: Any = None,
    pairs: bool = False,
    templates: TemplateTable | None = None,
    work: Path | None = None,
    resume: bool = False,
    progress: Progress = silent,
    **changes: Any,
) -> Result:
    """Find the duplicates of a corpus, and which page to keep of each cluster.

    `corpus` is what `open_corpus` gives or takes; `changes` replace options of the recipe
    (threshold, by, keep, clusters, ...). `against` is the output folder of an earlier run, any
    corpus, or a list of them: their pages are matched too and always stay. `templates` is a table
    of an earlier run to go on from. `pairs=True` also verifies and returns every pair of
    neighbours. `work` is the folder for the spill (a temporary one unless given), which `resume`
    continues.
    """
    chosen = Recipe.load(recipe).replace(**changes)
    keep = Keep.parse(chosen.keep)
    corpus = _opened(corpus, keep)
    earlier = open_earlier(against, corpus)
    threads = len(os.sched_getaffinity(0)) if threads is None else threads
    if threads < 1:
        raise CorpusError(f"threads: {threads} is not 1 or more")
    temporary = work is None
    folder = Path(tempfile.mkdtemp(prefix="neardup-")) if work is None else work
    sources = [part.identity for part in [*earlier.parts, *corpus.parts]]
    identity = {"recipe": chosen.digest, "sources": sources}
    store = Work(folder, identity, resume)
    try:
        run = LocalRun(
            corpus, earlier, chosen, store, threads=threads, progress=progress, templates=templates
        )
        result = run.run(pairs=pairs)
    except BaseException:
        _release(store, temporary)
        raise
    weakref.finalize(result, _release, store, temporary)  # the result reads from the folder
    return result


def _release(store: Work, temporary: bool) -> None:
    store.close()
    if temporary:
        shutil.rmtree(store.folder, ignore_errors=True)


def _opened(source: Any, keep: Keep) -> Corpus:
    """The corpus, opened with the column that the keep rule asks for."""
    if not isinstance(source, Corpus):
        return open_corpus(source, value_field=keep.column)
    if keep.column and source.wish.value != keep.column:
        raise CorpusError(f"keep {keep} needs open_corpus(..., value_field={keep.column!r})")
    return source
