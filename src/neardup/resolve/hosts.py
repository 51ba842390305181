"""Hosts that mirror each other, and how their paths map (Ye et al. §1; [manku07] §5.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup import schemas

#: fewer matched pages say nothing of two hosts
_MIN_PAGES = 2
#: matches per pair of hosts whose paths are looked at
_SAMPLE = 1000
_URL = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?P<host>[^/?#:]+)(?::[0-9]*)?(?P<path>[^#]*)"


def split_urls(urls: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Host (lower case, without www.) and path of each URL; null where it has none."""
    found = pc.extract_regex(urls.cast(pa.large_string()), _URL)
    hosts = pc.replace_substring_regex(pc.utf8_lower(pc.struct_field(found, "host")), r"^www\.", "")
    return hosts, pc.struct_field(found, "path")


class Mirrors:
    """Counts pages and matches, batch by batch; `table` is what they show."""

    def __init__(self) -> None:
        self.pages: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.matches: Counter[tuple[str, str]] = Counter()
        self.paths: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)

    def add_pages(self, urls: pa.Array, kept: pa.Array) -> None:
        """Count the pages of each host, and those of them that are kept."""
        hosts, _ = split_urls(urls)
        for counter, values in ((self.pages, hosts), (self.kept, hosts.filter(kept))):
            for row in pc.value_counts(values.drop_null()).to_pylist():
                counter[row["values"]] += row["counts"]

    def add_matches(self, kept: pa.Array, removed: pa.Array) -> None:
        """Count removed pages under the host of the page kept instead."""
        (kept_hosts, kept_paths), (hosts, paths) = split_urls(kept), split_urls(removed)
        differ = pc.fill_null(pc.not_equal(kept_hosts, hosts), False)
        columns = [c.filter(differ).to_pylist() for c in (kept_hosts, hosts, kept_paths, paths)]
        for a, b, path_a, path_b in zip(*columns, strict=True):
            if a > b:  # one name for a pair, whichever side was kept
                a, b, path_a, path_b = b, a, path_b, path_a
            self.matches[a, b] += 1
            if len(self.paths[a, b]) < _SAMPLE:
                self.paths[a, b].append((path_a, path_b))

    def table(self) -> pa.Table:
        """Pairs of hosts with at least two matched pages (`schemas.HOSTS`), largest share first."""
        rows: list[dict[str, Any]] = []
        for (a, b), count in self.matches.items():
            if count < _MIN_PAGES:
                continue
            (path_a, path_b), mapped = _mapping(self.paths[a, b])
            if self.kept[b] > self.kept[a]:
                a, b, path_a, path_b = b, a, path_b, path_a
            smaller = min(self.pages[a], self.pages[b])
            rows.append(
                {
                    "host": a,
                    "mirror": b,
                    "pages": count,
                    "host_pages": self.pages[a],
                    "mirror_pages": self.pages[b],
                    "share": min(1.0, count / smaller),
                    "host_path": path_a,
                    "mirror_path": path_b,
                    "mapped": mapped,
                }
            )
        rows.sort(key=lambda row: (-row["share"], -row["pages"], row["host"], row["mirror"]))
        return pa.Table.from_pylist(rows, schemas.HOSTS)


def _mapping(paths: list[tuple[str, str]]) -> tuple[tuple[str | None, str | None], float]:
    """The commonest pair of prefixes before an equal rest of the path, and its share."""
    prefixes = Counter(map(_prefixes, paths))
    prefixes.pop(None, None)
    if not prefixes:
        return (None, None), 0.0
    best, count = min(prefixes.items(), key=lambda item: (-item[1], item[0]))
    assert best is not None
    return best, count / len(paths)


def _prefixes(pair: tuple[str, str]) -> tuple[str, str] | None:
    """What stands before the longest equal run of last path segments; None without one."""
    a, b = (path.split("/") for path in pair)
    equal = 0
    while equal < min(len(a), len(b)) and a[-1 - equal] == b[-1 - equal]:
        equal += 1
    if not equal:
        return None
    return "/".join([*a[: len(a) - equal], ""]) or "/", "/".join([*b[: len(b) - equal], ""]) or "/"
