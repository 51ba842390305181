"""What was decided about the records of one file, looked up by position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.kernels import I64

#: The columns that annotation adds, in this order.
ADDED = ("cluster", "cluster_size", "kept")
_TYPES = {"cluster": pa.string(), "cluster_size": pa.int64(), "kept": pa.bool_()}


class Decisions:
    """The table given for a file; without one, every record of the file was skipped."""

    def __init__(self, table: pa.Table | None, annotate: bool) -> None:
        self.annotate = annotate
        self.table = table
        names = ADDED if annotate else ("kept",)
        if table is None:
            self.positions = np.empty(0, np.int64)
            self.columns = {name: pa.array([], _TYPES[name]) for name in names}
        else:
            self.positions = table["position"].to_numpy().astype(np.int64, copy=False)
            self.columns = {n: table[n].combine_chunks().cast(_TYPES[n]) for n in names}
        self.kept: npt.NDArray[np.bool_] = np.asarray(
            self.columns["kept"].to_numpy(zero_copy_only=False), bool
        )

    def places(self, positions: I64) -> I64:
        """For each position its row in the table, -1 for a record that was skipped."""
        if not len(self.positions):
            return np.full(len(positions), -1, np.int64)
        at = np.searchsorted(self.positions, positions)
        at[at == len(self.positions)] = 0
        return np.where(self.positions[at] == positions, at, -1).astype(np.int64)

    def wanted(self, positions: I64) -> npt.NDArray[np.bool_]:
        """Whether each position holds a record that is kept."""
        at = self.places(positions)
        if not len(self.kept):
            return np.zeros(len(positions), bool)
        return self.kept[at] & (at >= 0)

    def kept_in(self, start: int, stop: int) -> int:
        """How many records of [start, stop) are kept."""
        first, last = np.searchsorted(self.positions, (start, stop))
        return int(self.kept[first:last].sum())

    def annotations(self, positions: I64) -> list[pa.Array]:
        """The three columns for these positions; null for records that were skipped."""
        at = self.places(positions)
        indices = pa.array(at, mask=at < 0)
        return [pc.take(self.columns[name], indices) for name in ADDED]


def free_names(taken: set[str]) -> tuple[str, ...]:
    """The names of the added columns: all with `neardup_` before them if one is taken."""
    prefix = ""
    while any(prefix + name in taken for name in ADDED):
        prefix += "neardup_"
    return tuple(prefix + name for name in ADDED)
