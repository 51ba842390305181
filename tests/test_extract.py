"""HTML pages to documents: what is text, what is hidden, and that nothing hostile hurts."""

from __future__ import annotations

import importlib
import re
import threading
import time
from html.entities import html5

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lexbor_walk import visible_text
from neardup import schemas, specs
from neardup.extract import Extract, extract, links, scan
from neardup.extract.tags import ATTRIBUTES, NAMES, name_hash

MODULES = [importlib.import_module(f"neardup.extract.{name}") for name in
           ("content", "entities", "markup", "scan", "settle", "tree")]  # fmt: skip


def pages(*htmls: bytes | None, texts: list[str | None] | None = None,
          charset: str | None = "utf-8") -> pa.RecordBatch:  # fmt: skip
    count = len(htmls)
    columns = {
        "id": pa.array([str(i) for i in range(count)]),
        "file": pa.array([0] * count, pa.int32()),
        "position": pa.array(range(count), pa.int64()),
        "html": pa.array(htmls, pa.binary()),
        "charset": pa.array([charset] * count, pa.string()),
        "text": pa.array(texts or [None] * count, pa.string()),
    }
    arrays = [columns.get(f.name, pa.nulls(count, f.type)) for f in schemas.PAGES]
    return pa.RecordBatch.from_arrays(arrays, schema=schemas.PAGES)


def text(html: str | bytes, content: str = "visible") -> str:
    raw = html.encode() if isinstance(html, str) else html
    return extract(pages(raw), Extract(content=content)).column("text")[0].as_py()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("one<b>two</b> <i>three</i>", "onetwo three"),
        ("a<br>b<hr>c", "a\nb\nc"),
        ("<td>a</td>", "a"),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", "a\nb\nc\nd"),
        ("  a \n\t b&nbsp;c\u3000d\u2028e ", "a b c d e"),
        ("<pre>a\n  b</pre>", "a b"),
        ("a<img alt=no>b", "a b"),
        ("a\x00b\x01c", "ab c"),
        ("1 < 2 <3 a<b", "1 < 2 <3 a"),
        ("x</>y</ z>w<?php echo 1 ?>v", "xywv"),
        ("<textarea><b>&lt;x</textarea>", "<b><x"),
        ("a<select><option>x<option>y</select>b", "a b"),
        ("<button>go</button><button>stop</button>", "go stop"),
        ("<xmp><b></xmp>c", "<b>\nc"),
        ("<plaintext><p>&amp;</plaintext>", "<p>&</plaintext>"),
    ],
)
def test_text_is_settled_into_blocks(html: str, expected: str) -> None:
    assert text(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<script>if (a<b) '</p>'</script>", "<style>p>a{}</style>", "<!-- a --><!-->", "<!--a--!>",
        "<!-- > -- > -->", "<noscript><p>enable it</noscript>", "<template><p>t</template>",
        "<p hidden>h</p>", "<div style='color:red; DISPLAY : none !important'>h<p>i</div>",
        "<div style=visibility:hidden><div>h</div>h</div>", "<input type=hidden value=h>",
        "<svg><title>h</title><text>h</text></svg>", "<video>h</video>", "<datalist>h</datalist>",
        "<dialog>h</dialog>", "<iframe>h</iframe>", "<head><title>h</title></head>",
        "<script><!-- <script> </script> --></script>", "<script><!-- </script>",
        "<math><annotation>h</annotation></math>", "<form hidden><p>h</form>", "<!doctype h>",
        "<ul hidden><li>h<li>h</ul>", "<p hidden>h<div>", "<table><tr hidden><td>h</table>",
        "<svg><style>h</style><![CDATA[ > h ]]></svg>", "<div hidden><b>h</div>",
        "<svg><foreignObject><div>h</div></foreignObject>h</svg>", "<p a='>' hidden b=\">\">h</p>",
    ],
)  # fmt: skip
def test_hidden_parts_are_left_out_and_end_where_they_end(html: str) -> None:
    assert text(f"<div>a</div>{html}<div>z</div>") == "a\nz"


def test_what_stays_visible() -> None:
    for html in (
        "<body style='display:none'><p>a", "<p aria-hidden=true>a", "<details>a</details>",
        "<dialog open>a</dialog>", "<p style='content-visibility:hidden'>a", "<p data-hidden>a",
        "<p style='--display:none'>a", "<math><mi>a</mi></math>", "<svg><div>a",
        "<textarea>a</textarea>", "<div hidden></div>a", "<p style='display:none;'></p>a",
    ):  # fmt: skip
        assert text(html) == "a", html


@pytest.mark.parametrize("name", sorted(html5))
def test_every_named_reference(name: str) -> None:
    expected = " ".join(f"x{html5[name]}y".split())
    assert text(f"x&{name}y" if name.endswith(";") else f"x&{name} y") in (
        expected, " ".join(f"x{html5[name]} y".split()))  # fmt: skip


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("&#8364;&#x20AC;&#128;&#x80", "€€€€"), ("&#0;&#xD800;&#x110000;&#99999999999999;", "����"),
        ("&#x1F600;", "😀"), ("&notit;&notin;", "¬it;∉"),
        ("&bogus; & &; &# &#x &#xg;", "&bogus; & &; &# &#x &#xg;"),
        ("a&#32;&#160;&Tab;b", "a b"), ("&AMPx&ampx", "&x&x"), ("&nGt;", "≫⃒"),
    ],
)  # fmt: skip
def test_references(html: str, expected: str) -> None:
    assert text(html) == expected


def test_title_language_canonical_and_links() -> None:
    page = (
        b"<!doctype html><html lang=EN-us><title> A &amp;\n B<i></title><title>no</title>"
        b"<link rel='x Canonical' href=' http://h/?a=1&amp;b=2 '><link rel=canonical href=no>"
        b"<a href='?x&amp;y&copy=1&copy;'>l</a><area href=/m><a name=n>k</a>"
    )
    batch = pages(page, b"<meta http-equiv=Content-Language content='de, en'>", b"<p>x", None,
                  texts=[None, None, None, "as\n  is"])  # fmt: skip
    result = scan(batch, Extract())
    result.documents.validate(full=True)
    assert result.documents.schema == schemas.DOCUMENTS
    first, second, third, fourth = result.documents.to_pylist()
    assert first == {"title": "A & B<i>", "text": "lk", "language": "en-us",
                     "canonical": "http://h/?a=1&b=2"}  # fmt: skip
    assert second["language"] == "de"
    assert third == {"title": None, "text": "x", "language": None, "canonical": None}
    assert fourth["text"] == "as\n  is"
    assert result.links.to_pylist() == [["?x&y&copy=1©", "/m"], [], [], []]
    assert links(batch).equals(result.links)


def test_a_slice_reads_like_its_rows() -> None:
    batch = pages(b"<p>a", b"<title>t</title><p>b<a href=x>", b"\xe9", b"<p>d")
    documents = extract(batch, Extract()).slice(1, 2)
    assert extract(batch.slice(1, 2), Extract()).equals(documents)
    assert extract(batch.slice(0, 0), Extract()).num_rows == 0


def test_main_content_leaves_navigation_out() -> None:
    menu = "<nav><ul>" + "<li><a href=/x>Menu entry</a>" * 9 + "</ul></nav>"
    body = "<article>" + "<p>The council met on Tuesday to decide on the new bridge, as planned."
    page = f"{menu}{body * 6}</article><footer><p>All rights reserved by us</footer>"
    found = text(page, "main")
    assert "bridge" in found
    assert "Menu" not in found
    assert "rights" not in found
    assert text("<a href=x>only a link</a>", "main") == "only a link"


def test_spec_reads_back_and_refuses() -> None:
    spec = Extract(content="main")
    assert specs.parse(str(spec), Extract) == spec
    with pytest.raises(specs.SpecError, match="visible or main"):
        Extract(content="all")


def test_threads_agree() -> None:
    batch = pages(*[f"<title>{i}</title><p>page {i} &eacute;".encode() * 50 for i in range(40)])
    expected = extract(batch, Extract())
    results: list[pa.RecordBatch] = []
    threads = [
        threading.Thread(target=lambda: results.append(extract(batch, Extract()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.equals(expected) for result in results)


HOSTILE = [
    b"<", b"&", b"&a", b"&#", b"<a", b"</", b"<!--", b"<div>", b"<p><span>", b"<b><div></b>",
    b"<a href='", b"<p x=y ", b"<svg><div>", b"<table><tr>", b"</b>", b"<script><!--<script>",
    b"<style", b"<title>", b"<li>", b"&notanentityatall", b"<select><p>", b"\x00", b"\xff", b"-->",
    b"<p><object><span></p>", b"<![CDATA[", b"<form><div>", b"\xe2\x80", b"<br>x", b"&nGt;",
    b"<a href=x>",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_floods_take_linear_time(unit: bytes) -> None:
    scan(pages(unit * 10), Extract())
    start = time.process_time()
    result = scan(pages(unit * (1_000_000 // len(unit))), Extract())
    assert time.process_time() - start < 2.0
    result.documents.validate(full=True)


FRAGMENTS = st.sampled_from(
    [b"<p>", b"</p>", b"<div>", b"</div>", b"<div hidden>", b"<b>", b"</b>", b"<li>", b"<ul>",
     b"</ul>", b"<h1>", b"</h2>", b"<a href=x>", b"</a>", b"<span style=display:none>", b"</span>",
     b"<dl><dt>", b"<dd>", b"<button>", b"</button>", b"<section>", b"</section>", b"<br/>",
     b"</br>",
     b"<!-- x -->", b"<script>x</script>", b"one", b" two ", b"&amp;", b"<textarea>q</textarea>",
     b"<custom-tag>", b"</custom-tag>", b"<object>", b"</object>", b"<pre>", b"</pre>", b"<x:y>",
     b"<select><option>o</select>", b"<svg><path/></svg>", b"<template>t</template>", b"<!x>"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENTS, max_size=12))
def test_tag_soup_reads_as_in_lexbor(parts: list[bytes]) -> None:
    page = b"<!doctype html><body>" + b"".join(parts)
    words = re.findall(r"\w+", text(page))
    assert words == re.findall(r"\w+", visible_text(page))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | st.lists(st.sampled_from(HOSTILE) | FRAGMENTS).map(b"".join))
def test_any_bytes_give_valid_settled_text(raw: bytes) -> None:
    for spec in (Extract(), Extract(content="main")):
        result = scan(pages(raw, b"<p>next", charset=None), spec)
        result.documents.validate(full=True)
        result.links.validate(full=True)
        first, second = result.documents.column("text").to_pylist()
        assert second == "next"
        for block in first.split("\n"):
            assert block == " ".join(block.split())


def test_tables_have_no_collisions() -> None:
    for names in (list(html5), list(NAMES), list(ATTRIBUTES)):
        assert len({name_hash(name) for name in names}) == len(names)


def test_each_kernel_has_one_signature() -> None:
    text("<p>a &amp; &#65; <a href=x id=y style=a>b", "main")
    for module in MODULES:
        for name, kernel in vars(module).items():
            assert len(getattr(kernel, "signatures", [])) <= 1, name
