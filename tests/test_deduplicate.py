"""The corpus job in Python: what is kept, why, and that nothing depends on threads or batches."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.recipe import RECIPES, Recipe, RecipeError
from tests.prose import article, edited


def rows(result):
    return {row["id"]: row for row in result.clusters.to_pylist()}


def clusters(result):
    return {name: row["cluster"] for name, row in rows(result).items()}


def write_jsonl(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def mixed():
    """60 articles; some have an exact copy in other letters, some near copies."""
    records = []
    for n in range(60):
        text = article(n)
        records.append({"id": f"a{n}", "text": text})
        if n % 3 == 0:
            records.append({"id": f"exact{n}", "text": text.upper().replace(" ", " \n - ")})
        if n % 4 == 0:
            records.append({"id": f"near{n}", "text": edited(text, n, 2)})
    random.Random(5).shuffle(records)
    return records


def test_copies_are_removed_and_name_the_kept_page(mixed):
    result = neardup.deduplicate(pa.Table.from_pylist(mixed), "text")
    found = rows(result)
    assert len(found) == len(mixed)
    assert result.summary.pages == len(mixed)
    assert result.summary.kept == 60 == result.kept.num_rows
    assert result.summary.exact + result.summary.near == len(mixed) - 60
    order = [record["id"] for record in mixed]
    texts = {record["id"]: record["text"] for record in mixed}
    for name, row in found.items():
        number = name.strip("aexctnr")
        assert row["cluster"].strip("aexctnr") == number
        if not row["kept"]:
            assert found[row["cluster"]]["kept"]
            assert order.index(row["cluster"]) < order.index(name)
            exact = neardup.resemblance(texts[name], texts[row["cluster"]])
            assert row["similarity"] == exact >= 0.8
            assert row["found_by"] in ("exact", "minhash")
        else:
            assert row["cluster"] == name


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_result_does_not_depend_on_threads_or_files(tmp_path, mixed, threads):
    whole = neardup.deduplicate(pa.Table.from_pylist(mixed), "text", threads=1)
    for n in range(0, len(mixed), 7):
        pq.write_table(
            pa.Table.from_pylist(mixed[n : n + 7]), tmp_path / f"{n:03}.parquet", row_group_size=2
        )
    split = neardup.deduplicate(str(tmp_path), "text", threads=threads)
    assert clusters(split) == clusters(whole)
    assert split.clusters["id"].to_pylist() == whole.clusters["id"].to_pylist()


def test_keep_rules_choose_the_kept_page():
    text = article(1)
    table = pa.table(
        {
            "id": ["a", "b", "c"],
            "url": ["http://x.org/long/path", "http://x.org/p", "http://x.org/path"],
            "text": [text, text + " two more words here", text],
            "date": ["2021-05-01", "2020-01-01", "2023-01-01"],
            "score": [1.0, 2.0, None],
        }
    )
    expected = {
        "first": "a",
        "longest": "b",
        "oldest": "b",
        "newest": "c",
        "shortest-url": "b",
        "max:score": "b",
        "min:score": "a",
    }
    for rule, kept in expected.items():
        result = neardup.deduplicate(table, "text", keep=rule)
        assert result.kept["id"].to_pylist() == [kept], rule
        assert rows(result)[kept]["verdict"] == f"kept: {rule}"


def test_an_unknown_keep_rule_or_option_is_refused():
    with pytest.raises(ValueError, match="unknown keep rule 'best'"):
        neardup.deduplicate([article(1), article(2)], "text", keep="best")
    with pytest.raises(RecipeError, match="threshold"):
        neardup.deduplicate([article(1), article(2)], "text", threshold=1.5)
    with pytest.raises(RecipeError, match="unknown recipe 'wbe'"):
        neardup.deduplicate([article(1), article(2)], "wbe")


def test_empty_and_short_pages_never_match_through_nothing():
    table = pa.table(
        {
            "id": ["e1", "e2", "e3", "s1", "s2", "s3", "long"],
            "text": ["", " \n ", "!!! ...", "not found", "Not Found!", "log in", article(3)],
        }
    )
    result = neardup.deduplicate(table, "text")
    found = rows(result)
    assert [found[name]["verdict"] for name in ("e1", "e2", "e3")] == ["empty"] * 3
    assert found["s2"]["cluster"] == "s1"
    assert found["s2"]["verdict"] == "exact copy"
    assert found["s3"]["verdict"] == "too short"
    assert result.summary.removed == 1
    assert result.summary.empty == 3


def test_a_repeated_id_is_skipped_and_named(tmp_path):
    records = [{"id": "x", "text": article(1)}, {"id": "y", "text": article(2)}]
    path = write_jsonl(tmp_path / "c.jsonl", [*records, {"id": "x", "text": article(3)}])
    result = neardup.deduplicate(path, "text")
    assert result.clusters["id"].to_pylist() == ["x", "y"]
    (skipped,) = result.skipped.to_pylist()
    assert skipped["reason"] == "repeated id"
    assert skipped["id"] == "x"
    assert skipped["file"].endswith("c.jsonl")
    assert skipped["offset"] == sum(len(json.dumps(r)) + 1 for r in records)


def test_against_an_earlier_corpus_names_its_pages():
    old = pa.table({"id": ["old1", "old2"], "text": [article(1), article(1)]})
    new = pa.table(
        {
            "id": ["old1", "n2", "n3", "n4"],
            "text": [article(9), article(1), edited(article(1), 4), article(8)],
        }
    )
    result = neardup.deduplicate(new, "text", against=old)
    found = rows(result)
    assert set(found) == {"old1", "n2", "n3", "n4"}
    assert found["old1"]["kept"]  # the same id as an earlier page, but another text
    assert found["n4"]["kept"]
    assert found["n2"]["cluster"] == found["n3"]["cluster"] == "old1"
    assert not found["n2"]["kept"]
    assert result.kept["id"].to_pylist() == ["old1", "n4"]
    assert result.summary.earlier == 2


def test_containment_finds_a_text_inside_a_longer_one():
    inner = article(1, 60)
    table = pa.table(
        {
            "id": ["excerpt", "whole", "other"],
            "text": [inner, f"{article(2, 400)} {inner} {article(3, 400)}", article(4, 300)],
        }
    )
    assert neardup.deduplicate(table, "text").summary.removed == 0
    result = neardup.deduplicate(table, "text", by="containment")
    found = rows(result)
    assert found["excerpt"]["cluster"] == "whole"  # the longest is kept
    assert found["excerpt"]["verdict"] == "contained"
    assert found["excerpt"]["similarity"] == 1.0
    assert found["other"]["kept"]


def test_a_benchmark_is_found_inside_pages_by_containment():
    questions = [article(100 + n, 40) for n in range(20)]
    pages = [
        " ".join([article(n, 150), questions[n] if n < 5 else article(n + 50), article(n + 300)])
        for n in range(20)
    ]
    result = neardup.deduplicate(
        pa.table({"id": [f"p{n}" for n in range(20)], "text": pages}),
        "text",
        against=pa.table({"id": [f"q{n}" for n in range(20)], "text": questions}),
        by="containment",
    )
    assert clusters(result) == {f"p{n}": f"q{n}" if n < 5 else f"p{n}" for n in range(20)}


def test_components_join_what_stars_keep_apart():
    parts = [article(n, 40) for n in range(12)]
    texts = [" ".join(parts[n : n + 8]) for n in range(5)]  # each resembles only the next
    table = pa.table({"id": list("abcde"), "text": texts})
    stars = neardup.deduplicate(table, "text", threshold=0.7)
    joined = neardup.deduplicate(table, "text", threshold=0.7, clusters="components")
    assert clusters(joined) == dict.fromkeys("abcde", "a")
    assert clusters(stars)["c"] == "c"
    for name, row in rows(stars).items():
        assert (
            neardup.resemblance(texts["abcde".index(name)], texts["abcde".index(row["cluster"])])
            >= 0.7
        )


def test_all_pairs_are_verified_on_request_and_change_nothing(mixed):
    table = pa.Table.from_pylist(mixed)
    plain = neardup.deduplicate(table, "text")
    full = neardup.deduplicate(table, "text", pairs=True)
    assert clusters(plain) == clusters(full)
    texts = {record["id"]: record["text"] for record in mixed}
    pairs = full.pairs.to_pylist()
    assert pairs
    for pair in pairs:
        assert pair["similarity"] == neardup.resemblance(texts[pair["a"]], texts[pair["b"]]) >= 0.8
    with pytest.raises(ValueError, match="not asked for"):
        _ = plain.pairs


def test_exact_recipe_finds_only_equal_words(mixed):
    result = neardup.deduplicate(pa.Table.from_pylist(mixed), "exact")
    assert result.summary.removed == sum(record["id"].startswith("exact") for record in mixed)


def test_a_full_bucket_is_cut_and_counted():
    texts = [edited(article(7), n) for n in range(40)]
    recipe = Recipe.load("text").replace(bucket=2)
    result = neardup.deduplicate(texts, recipe)
    assert result.summary.cut > 0
    assert result.summary.kept == 1


def test_kept_pages_can_be_read_again(mixed):
    result = neardup.deduplicate(pa.Table.from_pylist(mixed), "text")
    pages = pa.Table.from_batches(result.pages())
    assert pages["id"].to_pylist() == result.kept["id"].to_pylist()
    assert set(pages["text"].to_pylist()) <= {record["text"] for record in mixed}


def test_results_turn_into_arrow_and_pandas(mixed):
    result = neardup.deduplicate(pa.Table.from_pylist(mixed), "text")
    assert result.to_arrow().equals(result.clusters)
    assert result.to_pandas()["cluster"].tolist() == result.clusters["cluster"].to_pylist()
    assert result.summary["kept"] == result.summary.kept
    comparison = neardup.compare(article(1), edited(article(1), 2))
    frame = comparison.to_pandas().set_index("signal")
    assert frame.loc["resemblance words:5", "value"] == comparison.similarity


def test_an_empty_corpus_is_an_empty_result():
    result = neardup.deduplicate(
        pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}), "text"
    )
    assert result.kept.num_rows == result.clusters.num_rows == result.skipped.num_rows == 0
    assert result.summary.share == 0.0


def test_chinese_copies_are_found():
    base = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(300))
    table = pa.table(
        {"id": ["a", "b", "c"], "text": [base, base[:150] + "廣告" + base[150:], base[::-1]]}
    )
    assert clusters(neardup.deduplicate(table, "text")) == {"a": "a", "b": "a", "c": "c"}


@pytest.mark.parametrize("name", list(RECIPES))
def test_recipes_read_back_from_toml(name):
    recipe = RECIPES[name]
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert Recipe.from_toml(recipe.to_toml()).digest == recipe.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("treshold = 0.5", "unknown option 'treshold'"),
        ("threshold = 'high'", "threshold cannot be 'high'"),
        ("threshold = true", "threshold cannot be True"),
        ("fingerprint = 'Simhash()'", "gives no candidates"),
        ("fingerprint = '__import__(\"os\")'", "unknown spec"),
        ("by = 'magic'", "by: 'magic'"),
        ("[", "recipe: "),
    ],
)
def test_a_broken_recipe_is_named(text, message):
    with pytest.raises(RecipeError, match=r".*" + message.replace("[", r"\[")):
        Recipe.from_toml(text)
