"""Which blocks of a site are template: the evidence its own pages give.

The pages of one or more sites come as ragged rows of blocks (value and mark, see `blocks`), site
by site and in the order of their documents, no two pages of a site saying the same. In five steps:

1. Copies count once: a page whose blocks resemble those of an earlier page at `copy` or more
   (by weight, blocks compared loosely) is left out.
2. A block is shared when `need` of the remaining pages hold it or an edited form of it;
   `need = max(min_pages, pages ** growth)`.
3. What is not shared is a page's own text; `own` is its share of the page's weight.
4. Pages whose own text resembles at `variant` or more are one page in several dresses.
5. Each page vouches for its blocks with `min(1, own / most) ** 2`. A block is template when the
   pages that hold it vouch for `need` in sum and have the share `own` of own text on average.

A block weighs its words less eight, at least one: menus and headlines say little about whether
two pages are the same, paragraphs say much.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from neardup.kernels import I64, U64, kernel, mix64

I32 = npt.NDArray[np.int32]
F64 = npt.NDArray[np.float64]

_S12, _S26, _S38 = np.uint64(12), np.uint64(26), np.uint64(38)
_LANE, _WORDS = np.uint64((1 << 26) - 1), np.uint64((1 << 12) - 1)
_S11 = np.uint64(11)
_SITE = np.uint64(0x9E3779B97F4A7C15)
_LIGHT = 8  # words of a block that weigh nothing
_PICKS = 8  # blocks of a page that lead to pages like it
_ROOM = 4  # pages each of these blocks leads to


class Limits(Protocol):
    """The part of the spec `Templates` that decides."""

    @property
    def min_pages(self) -> int: ...
    @property
    def growth(self) -> float: ...
    @property
    def copy(self) -> float: ...
    @property
    def variant(self) -> float: ...
    @property
    def most(self) -> float: ...
    @property
    def own(self) -> float: ...


@kernel
def _dense(keys: U64) -> tuple[I32, int]:
    """Equal keys get equal numbers 0, 1, 2 ... in order of appearance; and how many there are."""
    size = 4
    while size < 2 * len(keys):
        size *= 2
    table, first = np.full(size, -1, np.int32), np.empty(len(keys), np.int32)
    numbers, count = np.empty(len(keys), np.int32), 0
    for row in range(len(keys)):
        slot = np.int64(mix64(keys[row]) & np.uint64(size - 1))
        while table[slot] >= 0 and keys[first[table[slot]]] != keys[row]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], first[count] = count, row
            count += 1
        numbers[row] = table[slot]
    return numbers, count


@kernel
def _pick(keys: U64, blocks: I32, weights: F64, rarity: F64, start: int, stop: int) -> I32:
    """Up to eight blocks of a page, the same ones in pages like it: -ln(u) / (weight * rarity)
    is smallest, u a hash of the block in (0, 1) (order sampling, Rosén 1997)."""
    picks, scores = np.full(_PICKS, -1, np.int32), np.full(_PICKS, np.inf, np.float64)
    for row in range(start, stop):
        if weights[row] > 0.0:
            u = (float(mix64(keys[row]) >> _S11) + 0.5) * 2.0**-53
            score, block = -math.log(u) / (weights[row] * rarity[row]), blocks[row]
            for k in range(_PICKS):
                if score < scores[k]:
                    score, scores[k] = scores[k], score
                    block, picks[k] = picks[k], block
    return picks


@kernel
def _alike(
    p: int, q: int, blocks: I32, weights: F64, held: F64, offsets: I64, least: float
) -> bool:
    """Whether pages p and q resemble each other at `least`: sum of min over sum of max of the
    weights of their blocks; `held` has those of p."""
    shared, total = 0.0, 0.0
    for row in range(offsets[p], offsets[p + 1]):
        total += weights[row]
    for row in range(offsets[q], offsets[q + 1]):
        shared += min(weights[row], held[blocks[row]])
        total += weights[row]
    return shared >= least * (total - shared)


@kernel
def _collapse(
    keys: U64, blocks: I32, weights: F64, rarity: F64, offsets: I64, leaders: I64, least: float
) -> I64:
    """For every page that leads itself, the first earlier leader it resembles among those its
    rare and heavy blocks lead to; else itself. Near-linear: at most 32 are compared with it."""
    result = leaders.copy()
    rooms = np.full((len(blocks) + 1) * _ROOM, -1, np.int32)
    held = np.zeros(len(blocks), np.float64)
    for p in range(len(offsets) - 1):
        if leaders[p] != p:
            continue
        picks = _pick(keys, blocks, weights, rarity, offsets[p], offsets[p + 1])
        for row in range(offsets[p], offsets[p + 1]):
            held[blocks[row]] += weights[row]
        for k in range(_PICKS * _ROOM):
            q = rooms[picks[k // _ROOM] * _ROOM + k % _ROOM] if picks[k // _ROOM] >= 0 else -1
            if q >= 0 and _alike(p, q, blocks, weights, held, offsets, least):
                result[p] = q
                break
        for row in range(offsets[p], offsets[p + 1]):
            held[blocks[row]] = 0.0
        if result[p] == p:
            _settle(rooms, picks, p)
    return result


@kernel
def _settle(rooms: I32, picks: I32, page: int) -> None:
    """Let the picked blocks lead to this page, where they have room."""
    for block in picks:
        for room in range(block * _ROOM, (block + 1) * _ROOM):
            if block >= 0 and rooms[room] < 0:
                rooms[room] = page
                break


@kernel
def _tally(
    blocks: I32, count: int, offsets: I64, order: I64, groups: I64, own: F64, most: float
) -> tuple[F64, F64, I64, F64]:
    """For every block what the pages that hold it vouch for it in sum, the sum of their own
    shares, and how many they are; for every row 1 where it is the one that counted, else 0.

    `order` has the pages that count, group by group; of a group, the first page that holds a
    block speaks for it.
    """
    vouch, owned = np.zeros(count, np.float64), np.zeros(count, np.float64)
    pages, last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    counted = np.zeros(len(blocks), np.float64)
    for p in order:
        for row in range(offsets[p], offsets[p + 1]):
            block = blocks[row]
            if last[block] != groups[p]:
                last[block] = groups[p]
                vouch[block] += min(1.0, own[p] / most) ** 2
                owned[block] += own[p]
                pages[block] += 1
                counted[row] = 1.0
    return vouch, owned, pages, counted


def decide(values: U64, marks: U64, offsets: I64, sites: U64, spec: Limits) -> tuple[I64, I64]:
    """Of pages and the site of each (all pages of a site together): one
    row of every template block, and the number of distinct pages that hold it."""
    number = np.cumsum(np.diff(sites, prepend=sites[:1]) != 0)  # sites as 0, 1, 2 ...
    sizes, everyone, unknown = np.diff(offsets), np.arange(len(sites)), np.zeros(len(sites))
    of_row, page = np.repeat(number, sizes), np.repeat(everyone, sizes)
    prefix = of_row.astype(np.uint64) << _S26  # a block of another site is another block
    first, second = prefix | (marks >> _S38), prefix | ((marks >> _S12) & _LANE)
    blocks, count = _dense(first)
    others, other_count = _dense(second)

    _, _, spread, once = _tally(blocks, count, offsets, everyone, everyone, unknown, 1.0)
    weights: F64 = np.maximum((marks & _WORDS).astype(np.float64) - _LIGHT, 1.0) * once
    rarity = np.log1p(np.bincount(number)[of_row] / spread[blocks])
    leaders = _collapse(first, blocks, weights, rarity, offsets, everyone, float(spec.copy))

    order = np.flatnonzero(leaders == everyone)
    distinct = np.bincount(number[order])
    need = np.where(
        distinct < spec.min_pages,
        np.inf,
        np.maximum(spec.min_pages, np.ceil(distinct**spec.growth)),
    )[of_row]
    shared = _tally(blocks, count, offsets, order, everyone, unknown, 1.0)[2][blocks] >= need
    other_spread = _tally(others, other_count, offsets, order, everyone, unknown, 1.0)[2]
    shared |= other_spread[others] >= need
    private = np.where(shared, 0.0, weights)
    own = np.bincount(page, private, len(sites)) / np.bincount(page, weights, len(sites))

    groups = _collapse(first, blocks, private, rarity, offsets, leaders, float(spec.variant))
    order = order[np.argsort(groups[order], kind="stable")]
    named, count = _dense(_within(values, of_row))
    vouch, owned, pages, _ = _tally(named, count, offsets, order, groups, own, float(spec.most))
    rows = np.empty(count, np.int64)
    rows[named[::-1]] = np.arange(len(named))[::-1]  # the first row of every block
    found = (vouch >= need[rows]) & (owned >= spec.own * pages)
    return rows[found], pages[found]


def _within(values: U64, sites: I64) -> U64:
    """Values that differ from site to site."""
    return values ^ (sites.astype(np.uint64) * _SITE)
