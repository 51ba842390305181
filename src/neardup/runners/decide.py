"""From fingerprints to decisions: the order of keeping, exact copies, candidates, clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.fingerprints.resemblance import shingles
from neardup.index.buckets import Candidates, candidates
from neardup.kernels import I64, U32, U64
from neardup.recipe import Recipe
from neardup.resolve.components import components
from neardup.resolve.copies import with_copies
from neardup.resolve.order import keep_order
from neardup.resolve.stars import Stars, stars
from neardup.runners.fingerprinting import ABSENT, Fingerprints, tables
from neardup.runners.result import (
    CONTAINED,
    EMPTY,
    EXACT,
    KEPT,
    NEAR,
    SHORT,
    SKIPPED,
    UNIQUE,
    Decisions,
)


@dataclass
class Held:
    """What is held of every row; the first `earlier` rows are those of --against."""

    pieces: list[Fingerprints]
    digests: U64
    tokens: U32
    keys: npt.NDArray[np.float64] | None
    left_out: npt.NDArray[np.bool_]
    earlier: int


@dataclass
class Outcome:
    """Decisions, and what it took to reach them."""

    decisions: Decisions
    candidates: int
    verified: int
    cut: int
    pairs: tuple[I64, I64, npt.NDArray[np.float64]] | None


def decide(
    recipe: Recipe,
    held: Held,
    lengths: U32,
    documents: Callable[[I64], pa.Array],
    *,
    pairs: bool = False,
    threads: int = 1,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Decide every row; `documents` gives the texts of rows, `lengths` their sizes."""
    n = len(held.tokens)
    order = _order(recipe, held)
    parents = _exact(held.digests, order, n)
    held.digests = held.digests[:0].copy()
    distinct = order[(parents[order] == order) & (held.tokens[order] >= recipe.min_tokens)]
    heads = parents.copy() if pairs else parents
    parents[: held.earlier] = np.arange(held.earlier)  # pages of an earlier run always stay
    scores = np.ones(n)

    numbers = np.full(n, ABSENT)
    numbers[distinct] = np.arange(len(distinct), dtype=np.uint32)
    anchored = int((distinct < held.earlier).sum())
    found = candidates(tables(held.pieces, numbers), recipe.bucket, anchored)
    held.pieces.clear()

    every = pairs or recipe.clusters == "components"
    total = len(found)
    resolved = stars(
        found,
        lengths[distinct],
        lambda chosen: shingles(documents(distinct[chosen]), recipe.features),
        threshold=recipe.threshold,
        containment=recipe.by == "containment",
        every=every,
        anchored=anchored,
        threads=threads,
        advance=lambda done: advance(done, total),
    )
    if recipe.clusters == "components":
        _join(found, resolved, anchored)
    near = resolved.parents != np.arange(len(distinct))
    parents[distinct] = distinct[resolved.parents]
    scores[distinct] = resolved.similarity
    first = parents.copy()
    followed = first[parents] != parents  # exact copies of a page that was removed
    scores[followed] = scores[parents[followed]]
    parents[followed] = first[parents[followed]]

    removed_near = np.zeros(n, np.bool_)
    removed_near[distinct[near]] = True
    removed_near[followed] = True
    decisions = _decisions(recipe, held, parents, scores, removed_near)
    kept_pairs = None
    if pairs:
        reached = resolved.edges >= 0
        near_pairs = (
            distinct[found.left[reached]],
            distinct[found.right[reached]],
            resolved.edges[reached],
        )
        left, right, similarity = with_copies(near_pairs, heads, order, recipe.bucket)
        new = np.maximum(left, right) >= held.earlier
        kept_pairs = (left[new], right[new], similarity[new])
    return Outcome(decisions, total, resolved.verified, found.cut, kept_pairs)


def _order(recipe: Recipe, held: Held) -> I64:
    """All rows that have words, earlier pages first, then by the keep rule and the place."""
    rows = np.flatnonzero((held.tokens > 0) & ~held.left_out)
    keys = held.keys
    if recipe.keep == "longest":
        keys = -held.tokens.astype(np.float64)
    return np.concatenate([rows[rows < held.earlier], keep_order(rows[rows >= held.earlier], keys)])


def _exact(digests: U64, order: I64, n: int) -> I64:
    """For each row the first row in the order with the same words; itself for all others."""
    parents = np.arange(n, dtype=np.int64)
    order = order[np.flatnonzero(repeats(digests[order, 0]))]  # only these can be copies
    if not len(order):
        return parents
    ordered = digests[order]
    by_digest = np.lexsort((ordered[:, 1], ordered[:, 0]))  # stable: the first stays first
    ordered = ordered[by_digest]
    new = np.ones(len(order), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    heads = by_digest[np.flatnonzero(new)][np.cumsum(new) - 1]
    parents[order[by_digest]] = order[heads]
    return parents


def repeats(values: U64) -> npt.NDArray[np.bool_]:
    """Which values occur more than once; a sort and a search, lighter than np.unique's."""
    ordered = np.sort(values)
    again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if not len(again):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(again, values), len(again) - 1)
    found: npt.NDArray[np.bool_] = again[places] == values
    return found


def _join(found: Candidates, resolved: Stars, anchored: int) -> None:
    """Connected components instead of stars; the similarity is that of the closest neighbour."""
    reached = resolved.edges >= 0
    left, right = found.left[reached].astype(np.int64), found.right[reached].astype(np.int64)
    n = len(resolved.parents)
    parents = components(n, left, right)
    best = np.zeros(n)
    for ends in (left, right):
        np.maximum.at(best, ends, resolved.edges[reached])
    own = np.arange(n)
    parents[:anchored] = own[:anchored]
    resolved.similarity[:] = np.where(parents == own, 1.0, best)
    resolved.parents[:] = parents


def _decisions(
    recipe: Recipe,
    held: Held,
    parents: I64,
    scores: npt.NDArray[np.float64],
    near: npt.NDArray[np.bool_],
) -> Decisions:
    n = len(parents)
    own = np.arange(n)
    sizes = np.bincount(parents[~held.left_out], minlength=n).astype(np.uint32)[parents]
    verdicts = np.full(n, UNIQUE, np.uint8)
    verdicts[(parents == own) & (held.tokens < recipe.min_tokens)] = SHORT
    verdicts[held.tokens == 0] = EMPTY
    verdicts[(parents == own) & (sizes > 1)] = KEPT
    verdicts[parents != own] = EXACT
    verdicts[near] = CONTAINED if recipe.by == "containment" else NEAR
    verdicts[held.left_out] = SKIPPED
    return Decisions(parents, verdicts, scores, sizes)
