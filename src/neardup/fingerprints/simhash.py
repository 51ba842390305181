"""Simhash: similar texts have fingerprints that differ in few bits ([manku07] §2, Charikar 2002).

Every feature has a hash of 64 bits and a weight w. Bit i of the fingerprint is set when the
weights of the features whose bit i is set exceed half of all weights; a tie gives 0.

    tf       w = the number of times the feature occurs
    log-tf   w = 1 + ln(tf)
    tf-idf   w = tf * ln((N + 1) / (df + 1)), from the document frequencies of `Statistics`

A text without features has the fingerprint 0 ([manku07] §4.2 saw many of them): `sketch` gives the
number of features as well, so that such texts are not taken for copies of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.features.reading import read
from neardup.features.shingles import sort_rows
from neardup.features.specs import Features
from neardup.features.statistics import Statistics, look_up
from neardup.kernels import I64, U32, U64, address, kernel, strings, tally_bits
from neardup.specs import Spec, SpecError

F64 = npt.NDArray[np.float64]
WEIGHTS = ("tf", "log-tf", "tf-idf")
_ZERO, _ONE = np.uint64(0), np.uint64(1)
#: so many values fit the byte counters
_MOST = 255


@kernel
def _by_count(values: U64, ends: I64, simhashes: U64) -> None:
    """Weights tf: bit i is set when more than half of a row's values, repeats counted, have it."""
    tallies, totals = np.empty(64, np.uint8), np.empty(64, np.int64)
    for row in range(len(simhashes)):
        totals[:] = 0
        for first in range(ends[row], ends[row + 1], _MOST):
            last = min(first + _MOST, ends[row + 1])
            tally_bits(address(values) + 8 * first, address(values) + 8 * last, address(tallies))
            for bit in range(64):
                totals[bit] += np.int64(tallies[bit])
        simhash = _ZERO
        for bit in range(64):
            if 2 * totals[bit] > ends[row + 1] - ends[row]:
                simhash |= _ONE << np.uint64(bit)
        simhashes[row] = simhash


@kernel
def _by_weight(values: U64, ends: I64, keys: U64, idf: F64, simhashes: U64) -> None:
    """A run of equal values in a sorted row weighs run * idf, or 1 + ln(run) without idf."""
    totals = np.empty(64, np.float64)
    for row in range(len(simhashes)):
        totals[:] = 0.0
        start = ends[row]
        for i in range(ends[row] + 1, ends[row + 1] + 1):
            if i < ends[row + 1] and values[i] == values[start]:
                continue
            run = np.float64(i - start)
            weight = run * idf[look_up(keys, values[start])] if len(idf) else 1.0 + np.log(run)
            for bit in range(64):
                totals[bit] += weight if (values[start] >> np.uint64(bit)) & _ONE else -weight
            start = i
        simhash = _ZERO
        for bit in range(64):
            if totals[bit] > 0.0:
                simhash |= _ONE << np.uint64(bit)
        simhashes[row] = simhash


@dataclass(frozen=True)
class Simhash(Spec):
    """A fingerprint of `bits` bits; `statistics` (for tf-idf) prints as the table's digest."""

    bits: int = 64
    features: str = "words:3"
    weights: str = "tf"
    statistics: Statistics | str | None = None

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not 1 <= self.bits <= 64:
            raise SpecError(f"bits={self.bits!r}: expected 1 to 64")
        if self.weights not in WEIGHTS:
            raise SpecError(f"weights={self.weights!r}: expected one of {', '.join(WEIGHTS)}")
        if self.statistics is not None and self.weights != "tf-idf":
            raise SpecError(f"statistics are for weights='tf-idf', not {self.weights!r}")
        object.__setattr__(self, "features", str(Features.of(self.features)))
        table = None
        if isinstance(self.statistics, Statistics):
            table = self._checked(self.statistics)
            object.__setattr__(self, "statistics", table.digest)
        object.__setattr__(self, "_table", table)

    def batch(self, texts: Any, statistics: Statistics | None = None) -> pa.UInt64Array:
        """One fingerprint a text; 0 for a text without features."""
        return pa.array(self.sketch(texts, statistics)[0])

    def sketch(self, texts: Any, statistics: Statistics | None = None) -> tuple[U64, U32]:
        """Fingerprints, and how many features (repeated ones counted) each was made from."""
        texts = strings(texts)
        simhashes, counts = np.empty(len(texts), np.uint64), np.empty(len(texts), np.uint32)
        keys, idf = self._idf(statistics)
        for block in read(texts, Features.of(self.features)):
            target = simhashes[block.first : block.last]
            counts[block.first : block.last] = np.diff(block.ends)
            if self.weights == "tf":
                _by_count(block.values, block.ends, target)
            else:
                sort_rows(block.values, block.ends)
                _by_weight(block.values, block.ends, keys, idf, target)
        if self.bits < 64:
            simhashes &= np.uint64((1 << self.bits) - 1)
        return simhashes, counts

    def _idf(self, statistics: Statistics | None) -> tuple[U64, F64]:
        if self.weights != "tf-idf":
            return np.empty(0, np.uint64), np.empty(0, np.float64)
        table = self._checked(statistics) if statistics is not None else self.__dict__["_table"]
        if table is None:
            raise SpecError("weights='tf-idf' needs statistics=Statistics.build(texts, ...)")
        return table.keys, table.idf()

    def _checked(self, statistics: Statistics) -> Statistics:
        """The statistics, if they are the ones this spec means."""
        if isinstance(self.statistics, str) and self.statistics != statistics.digest:
            raise SpecError(f"the spec wants statistics {self.statistics}, not {statistics.digest}")
        if statistics.features != self.features:
            raise SpecError(f"statistics of {statistics.features} cannot weigh {self.features}")
        return statistics
