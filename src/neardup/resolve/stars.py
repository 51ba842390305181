"""Stars: every removed document was itself compared with the one kept instead of it.

Down the order of keeping, a document is kept if no earlier neighbour is kept; otherwise it belongs
to its kept neighbour with the highest similarity (ties by the order). Neighbours are candidates
whose exact similarity reaches the threshold, so nothing chains through a document that is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from neardup.index.buckets import Candidates
from neardup.kernels import I64, U64, kernel
from neardup.pairs.overlap import similarity
from neardup.resolve.components import components

#: text read at once by one task; a larger component is decided in chunks, down the order
_CHUNK = 4 << 20

F64 = npt.NDArray[np.float64]
#: documents -> their sorted shingle sets (values, offsets)
Read = Callable[[I64], tuple[U64, I64]]


@dataclass
class Stars:
    """For each document the kept one it belongs to (itself when kept), and their similarity."""

    parents: I64
    similarity: F64
    edges: F64 = field(repr=False)  # similarity of each candidate pair, -1 where below or not asked
    verified: int = 0


@dataclass(frozen=True)
class _Graph:
    """Candidates of the documents that have any, as rows of earlier documents."""

    documents: I64
    starts: I64  # documents[i]'s earlier candidates are lefts[starts[i]:starts[i + 1]]
    lefts: I64
    anchored: int  # these first documents are kept whatever they resemble


def stars(
    found: Candidates,
    lengths: npt.NDArray[np.integer],
    read: Read,
    *,
    threshold: float,
    containment: bool = False,
    every: bool = False,
    anchored: int = 0,
    threads: int = 1,
    advance: Callable[[int], None] = lambda pairs: None,
) -> Stars:
    """Decide all documents (numbered in the order of keeping; `lengths` are their text sizes).

    Only pairs with a kept document are compared, unless `every` pair is asked for.
    """
    n = len(lengths)
    result = Stars(np.arange(n, dtype=np.int64), np.ones(n), np.full(len(found), -1.0))
    if not len(found):
        return result
    graph = _graph(found, n, anchored)
    m = len(graph.documents)
    parents, scores = np.arange(m, dtype=np.int64), np.ones(m)
    slots = np.empty(m, np.int64)

    def decide(chunks: list[I64]) -> int:
        count = 0
        for chunk in chunks:
            needed = _needed(graph, chunk, parents, every)
            slots[needed] = np.arange(len(needed))
            values, offsets = read(graph.documents[needed])
            count += _decide(
                values, offsets, slots, chunk, graph.starts, graph.lefts, graph.anchored,
                parents, scores, result.edges, threshold, containment, every,
            )  # fmt: skip
            advance(int((graph.starts[chunk + 1] - graph.starts[chunk]).sum()))
        return count

    tasks = _tasks(graph, lengths)
    with ThreadPoolExecutor(threads) as pool:
        result.verified = sum(pool.map(decide, tasks))
    result.parents[graph.documents] = graph.documents[parents]
    result.similarity[graph.documents] = scores
    return result


def _graph(found: Candidates, n: int, anchored: int) -> _Graph:
    involved = np.zeros(n, np.bool_)
    involved[found.left] = involved[found.right] = True
    documents = np.flatnonzero(involved)
    compact = np.cumsum(involved) - 1
    starts = np.zeros(len(documents) + 1, np.int64)
    np.cumsum(np.bincount(compact[found.right], minlength=len(documents)), out=starts[1:])
    return _Graph(documents, starts, compact[found.left], int(involved[:anchored].sum()))


def _needed(graph: _Graph, chunk: I64, parents: I64, every: bool) -> I64:
    """The chunk's documents and the earlier ones they must be compared with."""
    spans = [graph.lefts[graph.starts[j] : graph.starts[j + 1]] for j in chunk]
    earlier = np.unique(np.concatenate(spans)) if spans else np.empty(0, np.int64)
    if not every:  # an undecided document is still its own parent: it is in this chunk
        earlier = earlier[parents[earlier] == earlier]
    return np.union1d(earlier, chunk)


def _tasks(graph: _Graph, lengths: npt.NDArray[np.integer]) -> Iterator[list[I64]]:
    """Components packed into tasks of about a chunk; a large one is a task of several chunks."""
    m = len(graph.documents)
    rights = np.repeat(np.arange(m), np.diff(graph.starts))
    roots = components(m, graph.lefts, rights)
    order = np.argsort(roots, kind="stable")
    sizes = np.cumsum(lengths[graph.documents[order]], dtype=np.int64)
    bounds = np.append(np.flatnonzero(np.diff(roots[order], prepend=-1)), m)
    start = 0
    while start < m:
        base = sizes[start - 1] if start else 0
        limit = int(np.searchsorted(sizes, base + _CHUNK, side="right"))
        fitting = bounds[np.searchsorted(bounds, limit, side="right") - 1]
        if fitting > start:  # whole components that fit together
            yield [np.sort(order[start:fitting])]
            start = int(fitting)
        else:
            end = int(bounds[np.searchsorted(bounds, start, side="right")])
            parts = (sizes[start:end] - base) // _CHUNK
            cuts = np.flatnonzero(np.diff(parts)) + 1
            yield np.split(order[start:end], cuts)
            start = end


@kernel
def _decide(
    values: U64, offsets: I64, slots: I64, chunk: I64, starts: I64, lefts: I64, anchored: int,
    parents: I64, scores: F64, edges: F64, threshold: float, containment: bool, every: bool,
) -> int:  # fmt: skip
    """Decide the documents of a chunk down the order; how many pairs were compared."""
    compared = 0
    for j in chunk:
        best, parent = -1.0, j
        for edge in range(starts[j], starts[j + 1]):
            i = lefts[edge]
            kept = parents[i] == i
            if not (kept or every):
                continue
            compared += 1
            score = similarity(values, offsets, slots[i], slots[j], threshold, containment)
            edges[edge] = score
            if kept and score > best and j >= anchored:
                best, parent = score, i
        if parent != j:
            parents[j], scores[j] = parent, best
    return compared
