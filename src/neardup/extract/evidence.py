"""Which blocks of a site are template: the evidence its own pages give.

The pages of one or more sites come as ragged rows of blocks (value and mark, see `blocks`), site
by site and in the order of their documents, no two pages of a site saying the same. In five steps:

1. Copies count once: a page whose blocks resemble those of an earlier page at `copy` or more
   (by weight, blocks compared loosely) is left out.
2. A block is shared when `need` of the remaining pages hold it or an edited form of it;
   `need = max(min_pages, pages ** growth)`.
3. What is not shared is a page's own text; `own` is its share of the page's weight.
4. Pages whose own text resembles at `variant` or more are one page in several dresses.
5. Each page vouches for its blocks with `min(1, own / most) ** 2`. A block is template when
   `need` pages hold it, they vouch for `min_pages` in sum, and the share `agree` of them have own
   text of a weight of `own_words` or more.

A block weighs its words less eight, at least one: menus and headlines say little about whether
two pages are the same, paragraphs say much.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from neardup.kernels import I64, U64, kernel, mix64, part

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
    def agree(self) -> float: ...
    @property
    def own_words(self) -> int: ...


# The kernels write into arrays that `decide` makes: every way to make an array costs them a
# third of a second of compilation.


@kernel
def _number(keys: U64, table: I32, first: I32, numbers: I32) -> int:
    """Equal keys get equal numbers 0, 1, 2 ... in order of appearance; returns how many there
    are. `table` (all -1, its size a power of two) is the hash table, `first` a row of each."""
    count, mask = 0, len(table) - 1
    for row in range(len(keys)):
        slot = np.int64(mix64(keys[row]) & np.uint64(mask))
        while table[slot] >= 0 and keys[first[table[slot]]] != keys[row]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot], first[count] = count, row
            count += 1
        numbers[row] = table[slot]
    return count


def _dense(keys: U64) -> tuple[I32, I32]:
    """The number of each key, and the first row with each number."""
    table = np.full(2 << len(keys).bit_length(), -1, np.int32)
    first, numbers = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    return numbers, first[: _number(keys, table, first, numbers)]


@kernel
def _add(
    blocks: I32, offsets: I64, order: I64, groups: I64, worth: F64,
    total: F64, counted: F64, last: I64,
) -> None:  # fmt: skip
    """Add the worth of every page in `order` to the total of each block it holds, and mark the
    row that counted. The pages come group by group; of a group, only the first page that holds
    a block counts for it. `last` is all -1 before."""
    for p in order:
        for row in range(offsets[p], offsets[p + 1]):
            if last[blocks[row]] != groups[p]:
                last[blocks[row]] = groups[p]
                total[blocks[row]] += worth[p]
                counted[row] = 1.0


@part
def _pick(blocks: I32, scores: F64, start: int, stop: int, picks: I32, best: F64) -> None:
    """The up to eight blocks of a page with the smallest scores; -1 where there are fewer."""
    for k in range(_PICKS):
        picks[k], best[k] = -1, np.inf
    for row in range(start, stop):
        score, block = scores[row], blocks[row]
        for k in range(_PICKS):
            if score < best[k]:
                score, best[k] = best[k], score
                block, picks[k] = picks[k], block


@part
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
def _lead(
    blocks: I32, weights: F64, scores: F64, offsets: I64, leaders: I64, least: float,
    rooms: I32, held: F64, picks: I32, best: F64,
) -> None:  # fmt: skip
    """Every page that leads itself gets as leader the first earlier one it resembles among
    those its picked blocks lead to, at most 32; where there is none, they lead to it."""
    for p in range(len(offsets) - 1):
        if leaders[p] != p:
            continue
        start, stop = offsets[p], offsets[p + 1]
        _pick(blocks, scores, start, stop, picks, best)
        for row in range(start, stop):
            held[blocks[row]] += weights[row]
        for k in range(_PICKS * _ROOM):
            room = picks[k // _ROOM] * _ROOM + k % _ROOM
            q = rooms[room] if room >= 0 and leaders[p] == p else -1
            if q >= 0 and _alike(p, q, blocks, weights, held, offsets, least):
                leaders[p] = q
        for row in range(start, stop):
            held[blocks[row]] = 0.0
        for k in range(_PICKS):
            room, end = picks[k] * _ROOM, (picks[k] + 1) * _ROOM
            while room >= 0 and room < end and rooms[room] >= 0:
                room += 1
            if leaders[p] == p and room >= 0 and room < end:
                rooms[room] = p


def _collapse(
    keys: U64, blocks: I32, weights: F64, rarity: F64, offsets: I64, leaders: I64, least: float
) -> I64:
    """The leader of every page: itself, or an earlier page it resembles at `least`.

    Pages are led to each other by the blocks with the smallest -ln(u) / (weight * rarity), u a
    hash of the block in (0, 1): order sampling (Rosén 1997), so pages like each other pick the
    same ones. Near-linear in the number of blocks.
    """
    u = (mix64.py_func(keys) >> _S11).astype(np.float64)  # type: ignore[attr-defined]
    with np.errstate(divide="ignore"):
        scores = -np.log((u + 0.5) * 2.0**-53) / (weights * rarity)
    result = leaders.copy()
    rooms = np.full(len(blocks) * _ROOM, -1, np.int32)
    _lead(
        blocks, weights, scores, offsets, result, least,
        rooms, np.zeros(len(blocks)), np.empty(_PICKS, np.int32), np.empty(_PICKS),
    )  # fmt: skip
    return result


def _total(
    blocks: I32, first: I32, offsets: I64, order: I64, groups: I64, worth: F64
) -> tuple[F64, F64]:
    """The summed worth of the pages (of one a group) that hold each block, and 1 for the rows
    that counted, one for each block and group."""
    total, counted = np.zeros(len(first)), np.zeros(len(blocks))
    _add(blocks, offsets, order, groups, worth, total, counted, np.full(len(first), -1))
    return total, counted


def decide(values: U64, marks: U64, offsets: I64, sites: U64, spec: Limits) -> tuple[I64, I64]:
    """Of pages and the site of each (all pages of a site together): one
    row of every template block, and the number of distinct pages that hold it."""
    number = np.cumsum(np.diff(sites, prepend=sites[:1]) != 0)  # sites as 0, 1, 2 ...
    sizes, everyone, one = np.diff(offsets), np.arange(len(sites)), np.ones(len(sites))
    of_row, page = np.repeat(number, sizes), np.repeat(everyone, sizes)
    prefix = of_row.astype(np.uint64) << _S26  # a block of another site is another block
    keys = prefix | (marks >> _S38)
    blocks, first = _dense(keys)
    others, other_first = _dense(prefix | ((marks >> _S12) & _LANE))

    weights: F64 = np.maximum((marks & _WORDS).astype(np.float64) - _LIGHT, 1.0)
    spread, once = _total(blocks, first, offsets, everyone, everyone, one)
    weights *= once
    rarity = np.log1p(np.bincount(number)[of_row] / spread[blocks])
    leaders = _collapse(keys, blocks, weights, rarity, offsets, everyone, float(spec.copy))

    order = np.flatnonzero(leaders == everyone)
    distinct = np.bincount(number[order])
    need = np.maximum(spec.min_pages, np.ceil(distinct**spec.growth))
    need = np.where(distinct < spec.min_pages, np.inf, need)[of_row]
    spread, _ = _total(blocks, first, offsets, order, everyone, one)
    other_spread, _ = _total(others, other_first, offsets, order, everyone, one)
    shared = (spread[blocks] >= need) | (other_spread[others] >= need)
    private = np.where(shared, 0.0, weights)
    own = np.bincount(page, private, len(sites))
    share = own / np.bincount(page, weights, len(sites))

    groups = _collapse(keys, blocks, private, rarity, offsets, leaders, float(spec.variant))
    order = order[np.argsort(groups[order], kind="stable")]
    named, rows = _dense(_within(values, of_row))
    vouch = np.minimum(1.0, share / spec.most) ** 2
    agree = (own >= spec.own_words).astype(np.float64)
    vouched, agreed, pages = (
        _total(named, rows, offsets, order, groups, worth)[0] for worth in (vouch, agree, one)
    )
    found = (pages >= need[rows]) & (vouched >= spec.min_pages) & (agreed >= spec.agree * pages)
    return rows[found].astype(np.int64), pages[found].astype(np.int64)


def _within(values: U64, sites: I64) -> U64:
    """Values that differ from site to site."""
    return values ^ (sites.astype(np.uint64) * _SITE)
