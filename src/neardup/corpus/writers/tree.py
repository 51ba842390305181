"""kept/: the files of HTML trees, copied under their path within the source."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from neardup.corpus.errors import CorpusError, brief, printable
from neardup.corpus.tree import TreePart
from neardup.corpus.writers.annotations import Annotations
from neardup.corpus.writers.decisions import Decisions
from neardup.corpus.writers.staging import Staging


def write_tree(
    parts: list[TreePart],
    decisions: Callable[[int], Decisions],
    staging: Staging,
    annotations: Annotations,
) -> None:
    """Copy every kept page; the folder was made by us, so no link in it leads elsewhere."""
    root = staging.path("kept")
    root.mkdir()
    for part in parts:
        for i, path in enumerate(part.paths):
            found = decisions(part.first + i)
            if not len(found.kept):
                continue
            annotations.add(part.label(i), printable(path), found, 0)
            if found.kept[0]:
                _copy(path, root / _inside(part.prefix + path[part.cut :]))
    os.sync()  # one for all: a tree may have a million files


def _inside(relative: str) -> str:
    """The path, if it stays below the folder it is put in."""
    steps = Path(relative).parts
    if not steps or ".." in steps or os.path.isabs(relative):
        raise CorpusError(f"{relative}: would be written outside the output folder")
    return relative


def _copy(path: str, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        shutil.copystat(path, target)  # its date is the page's date
    except OSError as error:
        raise CorpusError(f"{path}: cannot be copied: {brief(error)}") from None
