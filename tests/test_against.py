"""Matching against earlier outputs and corpora, in Python and through the output folder."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.corpus import open_corpus
from neardup.recipe import Recipe
from neardup.runners.output import OutputError, run
from tests.prose import article, edited


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def job(source, out, recipe="text", *, fields=None, changes=None, **options):
    corpus = open_corpus(source, **(fields or {}))
    return run(corpus, out, Recipe.load(recipe).replace(**(changes or {})), source="s", **options)


@pytest.fixture
def old(tmp_path):
    rows = [{"id": f"o{n}", "url": f"http://old.example/{n}", "text": article(n)} for n in range(5)]
    rows.append({"id": "copy", "url": "http://old.example/copy", "text": edited(article(0), 1)})
    return jsonl(tmp_path / "old.jsonl", rows)


@pytest.fixture
def new(tmp_path):
    rows = [
        {"id": f"n{n}", "url": f"http://new.example/{n}", "text": edited(article(n), n + 9)}
        for n in range(5)
    ]
    return jsonl(tmp_path / "new.jsonl", rows)


def test_a_host_of_the_earlier_corpus_counts_as_a_mirror(old, new, tmp_path):
    job(new, tmp_path / "out", against=[old])
    (mirror,) = pq.read_table(tmp_path / "out/hosts.parquet").to_pylist()
    assert (mirror["host"], mirror["mirror"], mirror["pages"]) == ("old.example", "new.example", 5)
    assert (mirror["host_pages"], mirror["mirror_pages"]) == (6, 5)


@pytest.mark.parametrize("annotate", [False, True])
def test_an_earlier_output_matches_only_what_it_kept(old, new, tmp_path, annotate):
    job(old, tmp_path / "one", annotate=annotate)
    result = neardup.deduplicate(new, "text", against=tmp_path / "one")
    clusters = {row["id"]: row["cluster"] for row in result.clusters.to_pylist()}
    assert clusters == {f"n{n}": f"o{n}" for n in range(5)}
    assert set(result.clusters["verdict"].to_pylist()) == {"near-duplicate of an earlier page"}
    assert result.summary.removed == 5


def test_earlier_sources_keep_their_own_ids_and_columns(old, new, tmp_path):
    mapped = jsonl(tmp_path / "m.jsonl", [{"key": "m1", "body_text": article(77)}])
    pages = jsonl(
        tmp_path / "p.jsonl",
        [
            {"key": "p1", "body_text": edited(article(77), 1)},
            {"key": "p2", "body_text": article(3)},
        ],
    )
    fields = {"text_field": "body_text", "id_field": "key"}
    job(pages, tmp_path / "out", fields=fields, against=[mapped, old])
    rows = pq.read_table(tmp_path / "out/clusters.parquet").to_pylist()
    assert [(row["id"], row["cluster"]) for row in rows] == [("p1", "m1"), ("p2", "o3")]


def test_broken_records_of_the_earlier_corpus_are_named(new, tmp_path):
    broken = tmp_path / "bad.jsonl"
    broken.write_text('{"id": "a", "text": "' + article(1) + '"}\n{nope\n')
    summary = job(new, tmp_path / "out", against=[str(broken)])
    (row,) = map(json.loads, (tmp_path / "out/skipped.jsonl").read_text().splitlines())
    assert row["file"].endswith("bad.jsonl")
    assert summary.skipped == {"bad json": 1}


def test_all_pairs_against_copies_in_the_earlier_corpus():
    old = pa.table({"id": ["o1", "o2", "o3"], "text": [article(1), article(2), article(2)]})
    new = pa.table({"id": ["n1", "n2"], "text": [edited(article(2), 1), article(2)]})
    result = neardup.deduplicate(new, "text", against=old, pairs=True)
    found = {tuple(sorted((row["a"], row["b"]))) for row in result.pairs.to_pylist()}
    assert found == {
        (a, b) for a, b in [("n1", "n2"), ("n1", "o2"), ("n1", "o3"), ("n2", "o2"), ("n2", "o3")]
    }
    assert len(result.pairs) == len(found)


@pytest.mark.parametrize("length", [12, 20, 50])
def test_short_items_are_found_inside_texts(length):
    items = [article(1000 + n, length) for n in range(100)]
    texts = [f"{article(n, 200)} {items[n]} {article(n + 500, 200)}" for n in range(100)]
    result = neardup.deduplicate(
        pa.table({"id": [f"t{n}" for n in range(100)], "text": texts}),
        "text",
        against=pa.table({"id": [f"q{n}" for n in range(100)], "text": items}),
        by="containment",
    )
    assert result.summary.contained == 100


def test_templates_of_an_earlier_output_are_used(tmp_path):
    menu = "home news sport weather travel culture opinion jobs about contact help " * 6
    site = [
        {
            "id": f"a{n}",
            "url": f"http://s.example/{n}",
            "html": f"<p>{menu}</p><p>{article(n, 40)}</p>",
        }
        for n in range(30)
    ]
    job(jsonl(tmp_path / "site.jsonl", site), tmp_path / "one", "web")
    assert list((tmp_path / "one").glob("templates-*.arrow"))
    two = [
        {**row, "id": "x" + row["id"], "html": row["html"].replace("</p><p>", "</p><p>now ")}
        for row in site[:2]
    ]
    two[1]["html"] = f"<p>{menu}</p><p>{article(900, 40)}</p>"
    source = jsonl(tmp_path / "two.jsonl", two)
    job(source, tmp_path / "out", "web", against=[str(tmp_path / "one")])
    rows = pq.read_table(tmp_path / "out/clusters.parquet").to_pylist()
    assert [(row["id"], row["cluster"]) for row in rows] == [("xa0", "a0"), ("xa1", "xa1")]
    (table,) = (tmp_path / "one").glob("templates-*.arrow")
    summary = job(source, tmp_path / "alone", "web", templates=table)
    assert summary.template_blocks > 0


def test_an_empty_corpus_says_what_was_there(tmp_path):
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("{broken\n\n")
    with pytest.raises(OutputError, match=r"no pages in s; 1 records were skipped, the first: bad"):
        job(str(nothing), tmp_path / "out")
    assert not (tmp_path / "out/summary.json").exists()


@pytest.mark.parametrize(
    ("rule", "needs"),
    [("oldest", "a date"), ("shortest-url", "a URL"), ("max:word", "a number in 'word'")],
)
def test_a_keep_rule_that_says_nothing_of_any_page_is_refused(rule, needs):
    table = pa.table({"id": ["a", "b"], "text": [article(1), article(1)], "word": ["x", "y"]})
    with pytest.raises(ValueError, match=f"no page has {needs}"):
        neardup.deduplicate(table, "text", keep=rule)


def test_the_exact_recipe_has_no_threshold():
    with pytest.raises(ValueError, match="no threshold"):
        neardup.deduplicate([article(1), article(2)], "exact", threshold=0.5)


def test_artefacts_carry_the_recipe(old, tmp_path):
    job(old, tmp_path / "out", pairs=True)
    digest = json.loads((tmp_path / "out/summary.json").read_text())["digest"]
    for name in ("clusters", "hosts", "pairs"):
        metadata = pq.read_schema(tmp_path / f"out/{name}.parquet").metadata
        assert metadata[b"neardup.recipe"].decode() == digest
        assert metadata[b"neardup.schema"] == b"1"


def test_hosts_are_found_anywhere_in_the_path_of_a_tree(tmp_path):
    for n in range(4):
        for host, path in (("a.example", "x"), ("www.b.example", "mirror/x")):
            page = tmp_path / "crawl/deep" / host / path / f"{n}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"<p>{article(n)}</p><p>{host}</p>")
    (tmp_path / "other.jsonl").write_text(json.dumps({"id": "t", "text": article(99)}) + "\n")
    corpus = [str(tmp_path / "crawl"), str(tmp_path / "other.jsonl")]
    job(corpus, tmp_path / "out")
    (mirror,) = pq.read_table(tmp_path / "out/hosts.parquet").to_pylist()
    assert (mirror["host"], mirror["mirror"]) == ("a.example", "b.example")
    assert (mirror["host_path"], mirror["mirror_path"]) == ("/", "/mirror/")


def test_pages_without_a_site_lose_only_what_most_of_them_share():
    menu = "skip to the main content of this page and then come back again for more"
    rows = [
        {
            "id": f"p{n}",
            "html": f"<p>{menu if n % 3 == 0 else article(n + 700, 12)}</p><p>{article(n)}</p>",
        }
        for n in range(60)
    ]
    assert neardup.deduplicate(pa.Table.from_pylist(rows), "web").summary.template_blocks == 0
    rows = [{**row, "html": f"<p>{menu}</p>{row['html']}"} for row in rows]
    assert neardup.deduplicate(pa.Table.from_pylist(rows), "web").summary.template_blocks == 1
