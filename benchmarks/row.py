"""What a row of the benchmark gives back, and how its peers are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

Record = dict[str, Any]
#: how tools are called in tables and plots
TITLES = {
    "ours": "neardup",
    "c_loop": "plain C loop",
    "simhash_1e0ng": "1e0ng/simhash",
    "text_dedup": "text-dedup",
    "fastsketchlsh": "FastSketchLSH",
}


@dataclass
class Check:
    """One thing that must be reached; `reached` is None where it could not be measured."""

    what: str
    target: str
    measured: str
    reached: bool | None


@dataclass
class Row:
    """One line of the issue's table, measured."""

    name: str
    title: str
    unit: str = "MB/s"
    records: list[Record] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def to_dict(self) -> Record:
        """Plain values for results.json."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Record) -> Row:
        """The row that `to_dict` wrote."""
        checks = [Check(**check) for check in values["checks"]]
        return cls(**{**values, "checks": checks})


def title(tool: str) -> str:
    """A tool's name as its authors write it."""
    return TITLES.get(tool, tool)


def find(records: Iterable[Record], tool: str) -> Record | None:
    """The record of a tool, if it ran."""
    return next((r for r in records if r["tool"] == tool and "error" not in r), None)


def times(records: list[Record], peer: str, least: float, of: str = "ours") -> Check:
    """Check that we are at least `least` times as fast as a peer."""
    ours, theirs = find(records, of), find(records, peer)
    what, target = f"speed against {title(peer)}", f">= {least:g} x"
    if ours is None or theirs is None:
        return Check(what, target, "not measured", None)
    ratio = ours["value"] / theirs["value"]
    return Check(what, target, f"{ratio:.2f} x", ratio >= least)


def at_most(what: str, value: float, most: float, unit: str, digits: int = 2) -> Check:
    """Check that a number stays within its limit."""
    return Check(what, f"<= {most:g} {unit}", f"{value:.{digits}f} {unit}", value <= most)


def at_least(what: str, value: float, least: float, digits: int = 4) -> Check:
    """Check that a number reaches its floor."""
    return Check(what, f">= {least:g}", f"{value:.{digits}f}", value >= least)
