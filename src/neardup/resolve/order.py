"""The order of keeping: documents sorted by the keep rule, then source file and position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.kernels import I64

RULES = ("first", "longest", "oldest", "newest", "shortest-url", "max:COLUMN", "min:COLUMN")


class KeepError(ValueError):
    """A keep rule that does not exist."""


@dataclass(frozen=True)
class Keep:
    """Which page of a cluster stays: the one with the smallest key, then the earliest place."""

    rule: str
    column: str | None = None

    @classmethod
    def parse(cls, text: str) -> Keep:
        """`first`, `longest`, `oldest`, `newest`, `shortest-url`, `max:COLUMN`, `min:COLUMN`."""
        rule, colon, column = text.partition(":")
        if rule in ("max", "min") and column:
            return cls(rule, column)
        if text in RULES and not colon:
            return cls(rule)
        raise KeepError(f"unknown keep rule {text!r}; it is one of {', '.join(RULES)}")

    def __str__(self) -> str:
        return f"{self.rule}:{self.column}" if self.column else self.rule

    @property
    def needs(self) -> str:
        """What a page must have for the rule to say anything of it."""
        if self.column:
            return f"a number in {self.column!r}"
        return {"shortest-url": "a URL", "oldest": "a date", "newest": "a date"}.get(self.rule, "")

    def keys(self, pages: pa.RecordBatch, urls: pa.Array) -> npt.NDArray[np.float64] | None:
        """The key of each page, smallest first; NaN (no date, no URL, no value) comes last."""
        if self.rule in ("oldest", "newest"):
            keys = pages["date"].cast(pa.int64())
        elif self.rule == "shortest-url":
            keys = pc.utf8_length(urls)
        elif self.column:
            keys = pages["value"]
        else:
            return None
        values: npt.NDArray[np.float64] = keys.cast(pa.float64(), safe=False).to_numpy(
            zero_copy_only=False
        )
        return -values if self.rule in ("newest", "max") else values


def keep_order(rows: I64, keys: npt.NDArray[np.float64] | None) -> I64:
    """The rows, which rise by (file, position), in the order of keeping."""
    if keys is None:
        return rows
    return rows[np.argsort(keys[rows], kind="stable")]  # NaN sorts last
