"""The web recipe on whole sites of HTML: templates never merge articles, copies are all found."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from tests.prose import article, edited

MENU = "".join(f"<li><a href=/{n}>{article(5000 + n, 4)}</a></li>" for n in range(20))
FOOT = "".join(f"<p>{article(6000 + n, 30)}</p>" for n in range(10))


def page(body: str, stamp: int) -> str:
    return (
        f"<html><head><title>t{stamp}</title></head><body><nav><ul>{MENU}</ul></nav>"
        f"<main>{body}</main><footer>{FOOT}<p>made at {stamp}</p></footer></body></html>"
    )


def site(bodies: list[str], host: str | None = "news.example") -> pa.Table:
    rows = {
        "id": [f"p{n}" for n in range(len(bodies))],
        "html": [page(body, n) for n, body in enumerate(bodies)],
    }
    if host:
        rows["url"] = [f"http://{host}/{n}" for n in range(len(bodies))]
    return pa.table(rows)


@pytest.mark.parametrize("host", ["news.example", None])
def test_a_thousand_articles_in_one_heavy_template_are_not_merged(host):
    table = site([f"<p>{article(n, 40)}</p>" for n in range(1000)], host)
    without = neardup.deduplicate(table, "text")
    assert without.summary.removed > 900  # the template is nine tenths of every page
    result = neardup.deduplicate(table, "web")
    assert result.summary.removed == 0
    assert result.summary.template_blocks >= 30


def test_thirty_printer_copies_of_one_page_are_all_found():
    text = "".join(f"<p>{article(n, 80)}</p>" for n in range(6))
    result = neardup.deduplicate(site([text] * 30), "web")
    assert result.summary.template_blocks == 0
    assert set(result.clusters["cluster"].to_pylist()) == {"p0"}


def test_copies_within_a_large_site_are_found_through_its_template():
    bodies = [f"<p>{article(n, 60)}</p>" for n in range(200)]
    bodies += [f"<p>{edited(article(n, 60), n)}</p>" for n in range(20)]
    result = neardup.deduplicate(site(bodies), "web", threads=2)
    found = {row["id"]: row["cluster"] for row in result.clusters.to_pylist() if not row["kept"]}
    assert found == {f"p{200 + n}": f"p{n}" for n in range(20)}


def test_one_article_in_two_layouts_is_one_article():
    story = "".join(f"<p>{article(900 + n, 60)}</p>" for n in range(5))
    one = site([f"<p>{article(n, 60)}</p>" for n in range(300)] + [story])
    other = "".join(f"<p>{article(8000 + n, 40)}</p>" for n in range(8))
    rows = one.to_pylist()
    for n in range(300):
        body = story if n == 30 else f"<p>{article(2000 + n, 60)}</p>"
        html = f"<body><div>{other}</div>{body}</body>"
        rows.append({"id": f"q{n}", "html": html, "url": f"http://other.example/{n}"})
    result = neardup.deduplicate(pa.Table.from_pylist(rows), "web")
    removed = [row for row in result.clusters.to_pylist() if not row["kept"]]
    assert [(row["id"], row["cluster"]) for row in removed] == [("q30", "p300")]
