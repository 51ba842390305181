"""Main content: which blocks of a page are its text, and which are furniture around it.

Shallow text features decide, as in Kohlschütter, Fankhauser and Nejdl, "Boilerplate Detection
using Shallow Text Features" (WSDM 2010): how much text outside links a block and its two
neighbours hold, and which elements it stands in. A block's score is a weighted sum; the mean
score of the blocks around it counts again, so that a short line inside an article stays and a
long one inside a list of links goes. Weights: logistic regression on half of the article pages
of `benchmarks/quality_extract.py`, divided by host, then rounded; see docs/extraction.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neardup.extract import tags as t
from neardup.extract.settle import BLOCK_LINKED, BLOCK_PLACE, BLOCK_START, TEXT
from neardup.kernels import I64, U8, kernel

F64 = npt.NDArray[np.float64]

_BASE = -4.4
_PLAIN = 0.2  # for each doubling of the bytes outside links: here, before and behind
_OUTSIDE = -0.5  # not in `main` or `article` though much of the page's text is
_MUCH = 0.3
_AROUND, _REACH, _MOST = 0.5, 3, 4.0  # weight, blocks on each side, bound of a score there
_BITS = np.array(
    [t.NAV, t.HEADER, t.FOOTER, t.ASIDE, t.ARTICLE, t.MAIN, t.ITEM, t.CELL, t.PARAGRAPH,
     t.CONTROL, t.QUOTE, t.FIGURE, t.GOOD_NAME, t.BAD_NAME]
)  # fmt: skip
_WEIGHTS = np.array(
    [-1.0, -0.25, -2.8, -1.1, 0.45, 0.35, 0.5, 2.9, 1.9, -1.3, 3.1, -1.7, 1.0, -1.1]
)


@kernel
def _scores(blocks: I64, first: t.Int, last: t.Int, end: t.Int, scores: F64) -> None:
    """Score of each block in rows first to last, whose text ends at `end`."""
    inside, total = 0, 0
    for b in range(first, last):
        stop = blocks[b + 1, BLOCK_START] - 1 if b + 1 < last else end
        plain = stop - blocks[b, BLOCK_START] - blocks[b, BLOCK_LINKED]
        total += plain
        if blocks[b, BLOCK_PLACE] & (t.MAIN | t.ARTICLE):
            inside += plain
        scores[b - first, 0] = _PLAIN * np.log2(1.0 + max(plain, 0))
    for b in range(last - first):
        place = blocks[first + b, BLOCK_PLACE]
        score = _BASE + scores[b, 0]
        if b > 0:
            score += scores[b - 1, 0]
        if b + 1 < last - first:
            score += scores[b + 1, 0]
        if inside > _MUCH * total and not place & (t.MAIN | t.ARTICLE):
            score += _OUTSIDE
        for bit in range(len(_BITS)):
            if place & _BITS[bit]:
                score += _WEIGHTS[bit]
        scores[b, 1] = min(max(score, -_MOST), _MOST)


@kernel
def keep_main(out: U8, ends: I64, blocks: I64, scores: F64) -> None:
    """Leave only main content in each page's text, in place; all of it where nothing scores.

    keep block b if s(b) + 0.5 mean(s(b-3..b+3) without b) > 0
    """
    first, written = np.int64(0), np.int64(0)
    for k in range(len(ends)):
        end, last = ends[k, 0], ends[k, 3]
        _scores(blocks, first, last, end, scores)
        count, begin = last - first, written
        for everything in range(2):
            for b in range(count):
                low, high = max(0, b - _REACH), min(count, b + _REACH + 1)
                around = -scores[b, 1]
                for neighbour in range(low, high):
                    around += scores[neighbour, 1]
                score = scores[b, 1] + _AROUND * around / max(1, high - low - 1)
                if score <= 0.0 and not everything:
                    continue
                stop = blocks[first + b + 1, BLOCK_START] - 1 if b + 1 < count else end
                if written > begin:
                    out[TEXT, written] = 10
                    written += 1
                for i in range(blocks[first + b, BLOCK_START], stop):
                    out[TEXT, written] = out[TEXT, i]
                    written += 1
            if written > begin:
                break
        ends[k, 0], first = written, last
