"""The small web of pages in examples/: it is described completely, and the job finds its copies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

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
