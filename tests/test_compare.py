"""`neardup.compare`: texts, HTML and files, every signal, the verdict and what differs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup.runners.compare import CompareError

WEB = Path(__file__).parent.parent / "examples" / "web"
MIRROR = "mirrors.polytech.example/pub/gardens"
POEM = (
    "The lamp is lit before the tide has turned. Nobody rows across the bay by night.\n"
    "A rope, a bell and seven coils of wire hang from the beam beside the kitchen door."
)
PAGE = "<!DOCTYPE html><title>The lamp</title><script>x()</script><p>{}</p>"


def test_texts() -> None:
    found = neardup.compare(POEM, POEM.replace("seven", "eight"))
    assert found.verdict == "contained"  # one word of 33 is in 5 of the 29 runs of five
    assert found.similarity == found.signals["resemblance words:5"] == pytest.approx(24 / 34)
    assert found.signals["containment a in b"] == pytest.approx(24 / 29)
    assert found.signals["resemblance words:1"] > 0.9
    assert found.signals["length ratio"] == 1
    assert found.signals["equal text"] is False
    a, b = found.a.text, found.b.text
    assert [a[s:e] for s, e in found.passages.only_a] == ["seven"]
    assert [b[s:e] for s, e in found.passages.only_b] == ["eight"]


def test_html_is_compared_by_its_visible_text() -> None:
    found = neardup.compare(PAGE.format(POEM), PAGE.format(POEM.upper()) + "<!-- later -->")
    assert found.verdict == "duplicate"
    assert found.signals["same title"] is True
    assert found.signals["simhash distance"] == 0
    assert found.signals["minhash estimate"] == 1
    assert found.a.title == "The lamp"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("gardenwiki.example/wiki/bees", f"{MIRROR}/bees", "near-duplicate"),
        ("worldvoices.example/zh/chayuan", "worldvoices.example/zh/chayuan-gb", "near-duplicate"),
        ("worldvoices.example/ru/chasy", "worldvoices.example/ru/chasy-1251", "duplicate"),
        ("digest.example/stories/oyster-reef", "digest.example/letters/spring", "contained"),
        ("digest.example/stories/oyster-reef", "gardenwiki.example/wiki/bees", "different"),
        ("attic.example/empty", "attic.example/blank", "different"),
    ],
)  # fmt: skip
def test_files(a: str, b: str, verdict: str) -> None:
    one, two = (WEB / f"{name}.html" for name in (a, b))
    found = neardup.compare(one, str(two))
    assert found.verdict == verdict
    assert neardup.compare(two, one).verdict == verdict
    assert neardup.compare(two, one).similarity == found.similarity


def test_short_texts_are_the_same_only_if_equal() -> None:
    assert neardup.compare("Sign in!", "sign in").verdict == "duplicate"
    assert neardup.compare("Sign in now", "sign in").verdict == "different"
    assert neardup.compare("", "").verdict == "different"
    assert neardup.compare("", "").signals["simhash distance"] == 64


def test_the_recipe_sets_the_threshold() -> None:
    longer = POEM * 4 + " And a cat."
    assert neardup.compare(POEM * 4, longer).verdict == "near-duplicate"
    found = neardup.compare(POEM * 4, longer, recipe="exact")
    assert found.threshold == 1
    assert found.verdict == "contained"


def test_a_query_adds_the_parts_about_it() -> None:
    a, b = POEM, POEM.replace("lamp", "candle")
    assert "resemblance near query" not in neardup.compare(a, b).signals
    assert neardup.compare(a, b, query="Kitchen rope").signals["resemblance near query"] == 1
    assert neardup.compare(a, b, query="tide").signals["resemblance near query"] < 1


def test_explain_and_json_and_html() -> None:
    found = neardup.compare(PAGE.format(POEM), POEM + " <script>alert(1)</script>")
    records = found.explain()
    assert [record["signal"] for record in records] == list(found.signals)
    assert all(record["meaning"] for record in records)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["signals"] == dict(found.signals)
    assert plain["shared"][0]["text"].startswith("The lamp is lit")
    assert plain["only_b"][0]["text"] == "script>alert(1)</script"
    document = found.to_html()
    assert "<script" not in document
    assert "&lt;<span>script&gt;alert(1)" in document.replace("</mark>", "")
    assert "simhash distance" in document


def test_what_cannot_be_compared_is_one_line(tmp_path: Path) -> None:
    binary, pipe = tmp_path / "a.bin", tmp_path / "pipe"
    binary.write_bytes(b"\x00\xff\xfe\x81" * 9)
    os.mkfifo(pipe)
    for bad, reason in [
        ("https://a.example/x", "URLs cannot be fetched yet"),
        (tmp_path / "missing.html", "no such file"),
        ("no/such/page.html", "no such file"),
        (tmp_path, "not a file"),
        (pipe, "not a file"),
        (binary, "neither HTML nor text"),
        (7, "cannot compare a int"),
    ]:
        with pytest.raises(CompareError, match=reason) as caught:
            neardup.compare(bad, POEM)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


@settings(max_examples=50, deadline=None)
@given(st.text(), st.text())
def test_any_two_texts(a: str, b: str) -> None:
    found = neardup.compare("<p>" + a, b + " ")
    assert 0 <= found.similarity <= 1
    json.dumps(found.to_dict()).encode()
    found.to_html().encode()
