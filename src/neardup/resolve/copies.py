"""Pairs of distinct documents -> pairs of all documents: exact copies stand for each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neardup.kernels import I64

F64 = npt.NDArray[np.float64]
Pairs = tuple[I64, I64, F64]


def with_copies(pairs: Pairs, heads: I64, rows: I64, cap: int) -> Pairs:
    """The pairs of every copy of both sides, and of copies with each other (similarity 1).

    `heads[row]` is the first of the row's exact copies; of `rows`, only the first `cap` copies of
    a document count on either side, as in any other bucket.
    """
    members = rows[np.argsort(heads[rows], kind="stable")]
    firsts, starts, sizes = np.unique(heads[members], return_index=True, return_counts=True)
    left, right, scores = pairs
    a, b = np.searchsorted(firsts, left), np.searchsorted(firsts, right)
    width = np.minimum(sizes[b], cap)
    which, step = _spread(np.minimum(sizes[a], cap) * width)
    near_left = members[starts[a[which]] + step // width[which]]
    near_right = members[starts[b[which]] + step % width[which]]

    place = np.arange(len(members)) - np.repeat(starts, sizes)  # among the copies of its head
    which_copy, earlier = _spread(np.minimum(place, cap))
    return (
        np.concatenate([near_left, members[which_copy - place[which_copy] + earlier]]),
        np.concatenate([near_right, members[which_copy]]),
        np.concatenate([scores[which], np.ones(len(which_copy))]),
    )


def _spread(counts: I64) -> tuple[I64, I64]:
    """For counts (2, 0, 3): the numbers 0 0 2 2 2, and 0 1 0 1 2 within each."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
