"""Shared passages: the runs of equal words of two texts, wherever they stand, and what is left.

Runs of n words that occur in both texts are paired up; pairs that continue each other (on one
diagonal) join into runs, and the longest runs are taken first, each word at most once, as in
greedy string tiling (Wise 1993). A passage that was moved is therefore found, and work stays
near-linear: of a run of words that is frequent in both texts only the k-th occurrences are paired
with each other, and at most `_RUNS` runs are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.features.characters import IGNORED, UNSPACED, WORD, character_table
from neardup.features.specs import Features
from neardup.kernels import I64
from neardup.specs import SpecError

_Flags = npt.NDArray[np.bool_]

#: one character of a script without spaces says less than a word: 8 of them pass for 5 words
_CHARACTER = 0.625
#: occurrences of one run of words in a, times those in b, up to which all are paired
_CROSS = 64
#: runs looked at, the longest first
_RUNS = 8_000
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Passage(NamedTuple):
    """text_a[start_a:end_a] and text_b[start_b:end_b] are the same words."""

    start_a: int
    end_a: int
    start_b: int
    end_b: int


@dataclass(frozen=True)
class Passages:
    """What two texts share, in the order of a, and the character spans that only one has."""

    shared: tuple[Passage, ...]
    only_a: tuple[tuple[int, int], ...]
    only_b: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Tokens:
    """The tokens of one text: which word, where it stands, what it weighs, whether it is taken."""

    words: I64
    starts: I64
    ends: I64
    weights: npt.NDArray[np.float64]
    taken: _Flags


def passages(a: str, b: str, features: str | Features = "words:5") -> Passages:
    """The shared passages of at least n words (`features="words:n"`), and what differs."""
    wanted = Features.of(features)
    if wanted.chars or wanted.stop or wanted.stem:
        raise SpecError(f"shared passages are runs of words: expected words:n, got {wanted}")
    numbers: dict[str, int] = {}
    one, two = _tokens(a, numbers), _tokens(b, numbers)
    found = []
    if min(len(one.words), len(two.words)) < wanted.width:
        if len(one.words) and np.array_equal(one.words, two.words):
            found.append(_take(one, two, 0, 0, len(one.words)))
    else:
        for i, j, length in _runs(one, two, wanted.width):
            found.extend(_claim(one, two, i, j, length, wanted.width))
    return Passages(tuple(sorted(found)), _left(one), _left(two))


def segments(text: str, only: tuple[tuple[int, int], ...]) -> list[tuple[str, bool]]:
    """The text cut at `only` (what the other text has not): pieces, and whether they are shared."""
    pieces, at = [], 0
    for start, end in only:
        pieces += [(text[at:start], True), (text[start:end], False)]
        at = end
    return [piece for piece in [*pieces, (text[at:], True)] if piece[0]]


def _tokens(text: str, numbers: dict[str, int]) -> _Tokens:
    """The words of the house's tokeniser, but single characters where that has pairs of them."""
    table = character_table()
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
    entries = table[table[codes >> 7] + (codes & 127)].astype(np.int64)
    places = np.flatnonzero(entries & 3 != IGNORED)
    kinds = entries[places] & 3
    folded = (codes[places] + (entries[places] >> 2)).astype("<u4")
    word, lone = kinds == WORD, kinds == UNSPACED
    first = np.flatnonzero(lone | (word & ~np.concatenate([[False], word[:-1]])))
    last = np.flatnonzero(lone | (word & ~np.concatenate([word[1:], [False]])))
    letters = folded.tobytes().decode("utf-32-le", "surrogatepass")
    words = [
        numbers.setdefault(letters[start:end], len(numbers))
        for start, end in zip(first.tolist(), (last + 1).tolist(), strict=True)
    ]
    return _Tokens(
        words=np.array(words, np.int64),
        starts=places[first],
        ends=places[last] + 1,
        weights=np.where(lone[first], _CHARACTER, 1.0),
        taken=np.zeros(len(words), np.bool_),
    )


def _grams(words: I64, n: int) -> npt.NDArray[np.uint64]:
    """A hash of every n words in a row; words are compared later, so collisions do no harm."""
    mixed = (words.astype(np.uint64) + np.uint64(1)) * _SPREAD
    mixed ^= mixed >> np.uint64(29)
    sums = np.zeros(len(words) - n + 1, np.uint64)
    for k in range(n):
        sums = sums * _SPREAD + mixed[k : k + len(sums)]
    return sums


def _pairs(one: _Tokens, two: _Tokens, n: int) -> tuple[I64, I64]:
    """Places (i, j) where the same n words begin in both texts."""
    grams = np.concatenate([_grams(one.words, n), _grams(two.words, n)])
    size = len(one.words) - n + 1
    order = np.argsort(grams, kind="stable")  # within a gram: places in a, then in b, rising
    new = np.concatenate([[True], np.diff(grams[order]) != 0])
    begin = np.flatnonzero(new)
    in_a = np.add.reduceat((order < size).astype(np.int64), begin)
    in_b = np.diff(np.append(begin, len(order))) - in_a
    every = (in_a * in_b <= _CROSS) & (in_a > 0) & (in_b > 0)
    count = np.where(every, in_a * in_b, np.minimum(in_a, in_b))
    group = np.repeat(np.arange(len(begin)), count)
    k = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    k_a = np.where(every[group], k // np.maximum(in_b[group], 1), k)
    k_b = np.where(every[group], k % np.maximum(in_b[group], 1), k)
    return order[begin[group] + k_a], order[begin[group] + in_a[group] + k_b] - size


def _runs(one: _Tokens, two: _Tokens, n: int) -> list[tuple[int, int, int]]:
    """Runs (place in a, place in b, words) of pairs that continue each other, the longest first."""
    i, j = _pairs(one, two, n)
    if not len(i):
        return []
    order = np.lexsort((i, j - i))
    i, j = i[order], j[order]
    new = np.concatenate([[True], (np.diff(i) != 1) | (np.diff(j) != 1)])
    begin = np.flatnonzero(new)
    lengths = np.diff(np.append(begin, len(i))) + n - 1
    best = np.lexsort((j[begin], i[begin], -lengths))[:_RUNS]
    rows = zip(i[begin[best]], j[begin[best]], lengths[best], strict=True)
    return [(int(x), int(y), int(length)) for x, y, length in rows]


def _claim(one: _Tokens, two: _Tokens, i: int, j: int, length: int, n: int) -> list[Passage]:
    """Take the stretches of a run that no longer run has taken, lengthened as far as they go."""
    free = ~(one.taken[i : i + length] | two.taken[j : j + length])
    if not free.any():
        return []
    free &= one.words[i : i + length] == two.words[j : j + length]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]])))
    found = []
    for start, end in edges.reshape(-1, 2).tolist():
        if one.taken[i + start]:
            continue  # the stretch before was lengthened over this one
        before = _reach(one, two, i + start - 1, j + start - 1, -1)
        after = _reach(one, two, i + end, j + end, 1)
        x, y, size = i + start - before, j + start - before, before + end - start + after
        if one.weights[x : x + size].sum() >= n:
            found.append(_take(one, two, x, y, size))
    return found


def _reach(one: _Tokens, two: _Tokens, i: int, j: int, step: int) -> int:
    """How many words from (i, j) onwards, in the direction of `step`, are equal and not taken."""
    limit = min(len(one.words) - i, len(two.words) - j) if step > 0 else min(i, j) + 1
    total, chunk = 0, 8
    while total < limit:
        size = min(chunk, limit - total)
        x, y = i + step * total, j + step * total
        ahead_a = slice(x, x + size) if step > 0 else slice(x - size + 1, x + 1)
        ahead_b = slice(y, y + size) if step > 0 else slice(y - size + 1, y + 1)
        same = one.words[ahead_a] == two.words[ahead_b]
        same &= ~(one.taken[ahead_a] | two.taken[ahead_b])
        stops = np.flatnonzero(~same[::step])
        if len(stops):
            return total + int(stops[0])
        total, chunk = total + size, chunk * 4
    return total


def _take(one: _Tokens, two: _Tokens, i: int, j: int, length: int) -> Passage:
    one.taken[i : i + length] = two.taken[j : j + length] = True
    i_end, j_end = i + length - 1, j + length - 1
    return Passage(
        int(one.starts[i]), int(one.ends[i_end]), int(two.starts[j]), int(two.ends[j_end])
    )


def _left(tokens: _Tokens) -> tuple[tuple[int, int], ...]:
    """The character spans of the stretches that were not taken."""
    free = np.concatenate([[False], ~tokens.taken, [False]])
    edges = np.flatnonzero(np.diff(free)).reshape(-1, 2)
    starts, ends = tokens.starts[edges[:, 0]].tolist(), tokens.ends[edges[:, 1] - 1].tolist()
    return tuple(zip(starts, ends, strict=True))
