"""The small web of pages in examples/: it is described completely, and the job finds its copies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import neardup

EXAMPLES = Path(__file__).parent.parent / "examples"
WEB = EXAMPLES / "web"


@pytest.fixture(scope="module")
def expected() -> Any:
    return json.loads((EXAMPLES / "web.expected.json").read_text(encoding="utf-8"))


def test_every_page_is_described_once(expected: Any) -> None:
    described = Counter(page for cluster in expected["clusters"] for page in cluster["pages"])
    described.update(single["page"] for single in expected["singles"])
    files = {path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file()}
    assert set(described) == files
    assert set(described.values()) == {1}


def test_the_web_has_what_the_readme_says(expected: Any) -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    hosts = {folder.name for folder in WEB.iterdir()}
    assert len(hosts) == 6
    assert all(f"`{host}`" in readme for host in hosts)
    assert "57 pages" in readme
    assert sum(1 for _ in WEB.rglob("*.html")) == 57
    assert all(len(cluster["pages"]) >= 2 for cluster in expected["clusters"])
    template = "printed on recycled paper at the works on Rope Lane"
    articles = [
        single["page"]
        for single in expected["singles"]
        if template in (WEB / single["page"]).read_text(encoding="utf-8", errors="replace")
    ]
    assert len(articles) >= 10


def test_the_odd_pages_are_odd() -> None:
    attic = WEB / "attic.example"
    assert (attic / "empty.html").read_bytes() == b""
    assert (attic / "broken.html").read_bytes().count(b"<") > (
        attic / "broken.html"
    ).read_bytes().count(b">")
    with pytest.raises(UnicodeDecodeError):
        (attic / "bad-bytes.html").read_bytes().decode("utf-8")
    assert "часы" in (WEB / "worldvoices.example/ru/chasy-1251.html").read_text("windows-1251")
    assert "茶园" in (WEB / "worldvoices.example/zh/chayuan-gb.html").read_text("gb18030")


def clusters(recipe: str) -> set[frozenset[str]]:
    """The clusters of more than one page that a run finds."""
    result = neardup.deduplicate(neardup.open_corpus(WEB), recipe=recipe, threads=2)
    found: dict[str, set[str]] = {}
    for row in result.clusters.to_pylist():
        found.setdefault(row["cluster"], set()).add(row["id"])
    assert sum(map(len, found.values())) == 57
    return {frozenset(pages) for pages in found.values() if len(pages) > 1}


def test_the_job_finds_the_copies_and_nothing_else(expected: Any) -> None:
    assert clusters("web") == {frozenset(cluster["pages"]) for cluster in expected["clusters"]}


def test_without_template_removal_printer_friendly_copies_are_lost(expected: Any) -> None:
    found = set().union(*clusters("text"))
    lost = {page for c in expected["clusters"] for page in c["pages"]} - found
    assert {page for page in lost if "/print/" in page} == {
        f"www.harbour-gazette.example/print/{name}.html"
        for name in ("in-praise-of-queues", "night-ferry-timetable", "tide-mill-restored")
    }
