"""Template removal: what repeats across different pages goes, what copies share stays."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.extract import blocks, evidence
from neardup.extract.templates import (
    TemplateBuilder,
    TemplateError,
    Templates,
    TemplateTable,
    block_hashes,
    remove,
    site_hashes,
)
from neardup.specs import SpecError, parse
from tests import oracles_templates as oracle

SITE = 77
VOCABULARY = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprstaeiou"]


def prose(seed: object, words: int) -> str:
    """Random words, the same for the same seed."""
    return " ".join(random.Random(str(seed)).choices(VOCABULARY, k=words))


def template(name: object, links: int = 30, footers: int = 2) -> tuple[list[str], list[str]]:
    """What stands above and below the articles of a site."""
    above = [prose((name, "link", i), 2) for i in range(links)]
    return above, [prose((name, "footer", i), 30) for i in range(footers)]


def site(count: int, words: int = 120, **shape: int) -> tuple[list[str], list[str]]:
    """Different articles in one template: the pages, and the articles alone."""
    above, below = template("site", **shape)
    bodies = [[prose((n, "title"), 8), prose((n, "text"), words)] for n in range(count)]
    whole = ["\n".join([*above, *body, *below]) for body in bodies]
    return whole, ["\n".join(body) for body in bodies]


def table_of(texts: list[str], spec: Templates | None = None, **named: list[int]) -> TemplateTable:
    sites = np.full(len(texts), SITE, np.uint64)
    pages = np.array(named["pages"], np.uint64) if "pages" in named else None
    builder = TemplateBuilder(spec or Templates())
    builder.add(sites, np.arange(len(texts)), *block_hashes(texts), pages=pages)
    return builder.build()


def without(texts: list[str], table: TemplateTable) -> list[str]:
    sites = np.full(len(texts), SITE, np.uint64)
    result: list[str] = remove(texts, sites, table, table.spec)[0].to_pylist()
    return result


# What is template


def test_a_thousand_articles_lose_their_template_and_nothing_else() -> None:
    texts, articles = site(1000)
    assert without(texts, table_of(texts)) == articles


def test_a_thousand_short_articles_in_a_template_of_nine_tenths() -> None:
    """Their resemblance is above .8 with the template."""
    texts, articles = site(1000, 40, links=60, footers=12)
    assert without(texts, table_of(texts)) == articles


@pytest.mark.parametrize("share", [0.3, 0.6, 0.75, 0.85])
def test_light_and_heavy_templates_are_found(share: float) -> None:
    """All of the template is prose here, the hardest kind."""
    links, words = 4, 120
    footers = round((128 * share / (1 - share) - 2 * links) / 30)
    texts, articles = site(300, words, links=links, footers=footers)
    assert without(texts, table_of(texts)) == articles


def test_thirty_printer_copies_keep_their_text() -> None:
    above, below = template("site")
    body = [prose(("body", i), 50) for i in range(4)]
    texts = []
    for i in range(30):
        stamp, advert = f"Printed on 2024-03-{i:02} by user {i}", prose(("advert", i), 20)
        texts.append("\n".join([*above, stamp, *body, advert, *below]))
    table = table_of(texts)
    assert len(table) == 0
    assert without(texts, table) == texts


@pytest.mark.parametrize("noise", [0.01, 0.03, 0.05, 0.1])
def test_copies_with_changed_words_do_not_erase_each_other(noise: float) -> None:
    """Every block of every copy is a little different somewhere, as after OCR."""
    page = [prose(("block", i), 15) for i in range(40)]
    draw, texts = random.Random(1), []
    for _ in range(60):
        copy = [
            " ".join(w if draw.random() > noise else draw.choice(VOCABULARY) for w in b.split())
            for b in page
        ]
        texts.append("\n".join(copy))
    assert len(table_of(texts)) == 0


def test_versions_that_drift_apart_keep_what_they_share() -> None:
    """A page of 40 paragraphs, two of them rewritten from each version to the next."""
    page, texts = [prose(("paragraph", i), 40) for i in range(40)], []
    for version in range(30):
        for k in range(2):
            page[(7 * version + k) % 30] = prose((version, k), 40)
        texts.append("\n".join(page))
    assert len(table_of(texts)) == 0


def test_too_few_distinct_pages_have_no_template() -> None:
    texts, _ = site(9)
    assert len(table_of(texts)) == 0
    assert len(table_of(texts * 20)) == 0
    texts, articles = site(12)
    assert without(texts, table_of(texts)) == articles


def test_every_article_in_two_dresses_counts_once() -> None:
    """Nine articles on the site, each also under another template: still nine pages."""
    texts, articles = site(9, 300)
    above, below = template("printer")
    dressed = ["\n".join([*above, article, *below]) for article in articles]
    assert len(table_of([*texts, *dressed])) == 0
    texts, articles = site(40, 300)
    dressed = ["\n".join([*above, article, *below]) for article in articles]
    both = [*texts, *dressed]
    assert without(both, table_of(both)) == [*articles, *articles]


def test_captures_of_one_url_count_once() -> None:
    texts, articles = site(40)
    assert len(table_of(texts, pages=[5] * 40)) == 0
    assert without(texts, table_of(texts, pages=list(range(40)))) == articles  # 0 is unknown


def test_a_page_that_is_only_template_keeps_its_text() -> None:
    texts, articles = site(50)
    login = "\n".join([*template("site")[0], *template("site")[1]])
    table = table_of([*texts, login, login])
    assert without([login, texts[0]], table) == [login, articles[0]]


def test_a_paragraph_of_some_pages_only_is_theirs() -> None:
    """A disclaimer on 5 of 100 pages is no template; on 60 of them it is."""
    texts, articles = site(100)
    notice = prose("notice", 25)
    few = [f"{t}\n{notice}" if n < 5 else t for n, t in enumerate(texts)]
    assert without(few, table_of(few))[0] == f"{articles[0]}\n{notice}"
    many = [f"{t}\n{notice}" if n < 60 else t for n, t in enumerate(texts)]
    assert without(many, table_of(many)) == articles


def test_sites_do_not_share_templates() -> None:
    texts, _ = site(40)
    table = table_of(texts)
    others = np.array([SITE, SITE + 1, 0], np.uint64)
    out, lost = remove(texts[:3], others, table, table.spec)
    assert lost.tolist() == [32, 0, 0]
    assert out.to_pylist()[1:] == texts[1:3]
    builder = TemplateBuilder(Templates())
    builder.add(np.zeros(40, np.uint64), np.arange(40), *block_hashes(texts))
    assert len(builder.build()) == 0  # no site is known


def test_a_large_site_is_sampled() -> None:
    texts, articles = site(400)
    table = table_of(texts, Templates(sample=100))
    assert without(texts, table) == articles
    assert table.pages.max() <= 100


# It does not depend on how the pages came


def build_in(order: list[int], texts: list[str], sites: list[int], threads: int) -> TemplateTable:
    with TemplateBuilder(Templates(min_pages=3)) as builder, ThreadPoolExecutor(threads) as pool:

        def add(n: int) -> None:
            rows = block_hashes([texts[n]])
            builder.add(np.array([sites[n]], np.uint64), np.array([n]), *rows)

        list(pool.map(add, order))
        return builder.build()


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_threads_and_repetition_change_nothing(draw: random.Random, threads: int) -> None:
    texts, _ = site(24, 40)
    sites = [n % 2 + 1 for n in range(24)]
    expected = build_in(list(range(24)), texts, sites, 1)
    order = list(range(24)) + draw.choices(range(24), k=20)
    draw.shuffle(order)
    assert len(expected) > 0
    assert build_in(order, texts, sites, threads).digest == expected.digest


def test_sites_in_several_passes_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, _ = site(60, 40)
    sites = [n % 4 + 1 for n in range(60)]
    expected = build_in(list(range(60)), texts, sites, 1)
    monkeypatch.setattr("neardup.extract.templates._PAGES_AT_ONCE", 7)
    monkeypatch.setattr("neardup.extract.templates._ROWS_AT_ONCE", 10_000)
    assert build_in(list(range(60)), texts, sites, 1).digest == expected.digest


# Kernels against the slow way

TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab Z9_,\n\n  \t\0\x7f"), st.sampled_from("éЖ中文กខမ’"), st.characters()
    ),
    max_size=300,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=6), st.integers(0, 2))
def test_block_hashes_against_the_oracle(texts: list[str], skip: int) -> None:
    texts = [t.encode("utf-8", "replace").decode() for t in texts]
    values, offsets, marks = block_hashes(pa.array(texts, pa.string())[skip:])
    rows = [
        [oracle.block_row(b.encode()) for b in t.split("\n")] if t else [] for t in texts[skip:]
    ]
    assert np.diff(offsets).tolist() == [len(r) for r in rows]
    assert list(zip(values.tolist(), marks.tolist(), strict=True)) == [
        row for text in rows for row in text
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.floats(0, 1), st.integers(1, 20), st.data())
def test_remove_against_the_oracle(
    texts: list[str], remain: float, least: int, data: st.DataObject
) -> None:
    texts = [t.encode("utf-8", "replace").decode() for t in texts]
    known = sorted({v for t in texts for v, _ in map(oracle.block_row, t.encode().split(b"\n"))})
    chosen = set(data.draw(st.lists(st.sampled_from(known)))) - {0}
    spec = Templates(remain=remain, remain_words=least)
    values = np.array(sorted(chosen), np.uint64)
    table = TemplateTable(spec, np.full_like(values, SITE), values, np.ones(len(values), np.uint32))
    out, lost = remove(texts, np.full(len(texts), SITE, np.uint64), table, spec)
    out.validate(full=True)
    expected = [oracle.removed(t, chosen, remain, least) for t in texts]
    assert list(zip(out.to_pylist(), lost.tolist(), strict=True)) == expected


def test_golden_values() -> None:
    """A stored template table must go on meaning the same blocks."""
    values, _, marks = block_hashes(["Home\nRead more about printing, today", "今天天气很好"])
    assert [hex(v) for v in values] == GOLDEN_VALUES
    assert [hex(m) for m in marks] == GOLDEN_MARKS


GOLDEN_VALUES = ["0xd8bc6ab4076a89b0", "0xd5c2fc86a183c8fa", "0xf5569f20cab0e674"]
GOLDEN_MARKS = ["0xc4df783137de0001", "0x502bcb672273d005", "0x58c1cfeacff60003"]


def test_what_a_value_and_a_mark_name() -> None:
    def value(text: str) -> int:
        return int(block_hashes([text])[0][0])

    def mark(text: str) -> int:
        return int(block_hashes([text])[2][0])

    assert value("Read  more!") == value(" read MORE ") != value("read mores")
    assert value("Page 3 of 10") != value("Page 4 of 10")
    assert mark("Page 3 of 10") == mark("Page 4 of 10")
    assert mark("word3 is here") != mark("word4 is here")
    assert mark("one two three") & 4095 == 3
    assert mark("今天天气很好") & 4095 == 3
    assert value(", . \0 |") == 0


def test_kernels_have_one_signature() -> None:
    test_a_page_that_is_only_template_keeps_its_text()
    made = [blocks._hash, blocks.scan, evidence._number, evidence._add, evidence._lead]
    for kernel in made:
        assert len(kernel.signatures) <= 1  # none where the caller came compiled from the cache


# Hostile input


def test_extreme_pages() -> None:
    texts, articles = site(30)
    above = template("site")[0]
    many = "\n".join(above + [f"line {n} of very many" for n in range(300_000)])
    long = "x" * 3_000_000 + "\n" + "中" * 700_000 + "\n" + "a " * 700_000
    odd = ["", "\n", "\n\n\n", "\0", "\0\n\0 \0", " \t\r\n", "\x7f", "١٢٣"]
    table = table_of([*texts, many, long, *odd])
    out = without([*texts, many, long, *odd], table)
    assert out[:30] == articles
    assert out[30] == many.split("\n", 30)[30]
    assert out[31:] == [long, *odd]


def test_nulls_and_slices() -> None:
    texts, articles = site(30)
    table = table_of(texts)
    array = pa.array(["first", *texts[:3], None, ""], pa.string())[1:]
    out, lost = remove(array, np.full(5, SITE, np.uint64), table, table.spec)
    assert out.to_pylist() == [*articles[:3], None, ""]
    assert lost.tolist() == [32, 32, 32, 0, 0]


def test_wrong_arguments_are_refused() -> None:
    builder = TemplateBuilder(Templates())
    values, offsets, marks = block_hashes(["a", "b"])
    one, two = np.ones(1, np.uint64), np.ones(2, np.uint64)
    for bad in (
        (one, [0], values, offsets, marks),
        (two, [0, 1], values, offsets + 1, marks),
        (two, [0, 1], values, offsets[::-1], marks),
        (two, [0, 1], values[:1], offsets, marks),
        (two.astype(np.int64), [0, 1], values, offsets, marks),
    ):
        with pytest.raises(ValueError):
            builder.add(*bad)  # type: ignore[arg-type]
    builder.close()
    with pytest.raises(ValueError, match="2 texts with 1 sites"):
        remove(["a", "b"], one, table_of(["a"]), Templates())


# The spec and the saved table


def test_the_spec_prints_and_parses() -> None:
    spec = Templates(min_pages=20, agree=0.2)
    assert parse(str(spec), Templates) == spec
    for bad in (
        {"min_pages": 1},
        {"agree": 2.0},
        {"most": 0.0},
        {"sample": "many"},
        {"copy": True},
    ):
        with pytest.raises(SpecError):
            Templates(**bad)  # type: ignore[arg-type]


def test_save_and_load(tmp_path: Path) -> None:
    texts, _ = site(30)
    for table in (table_of(texts), table_of([])):
        path = table.save(tmp_path)
        assert path.name == f"templates-{table.digest}.arrow"
        again = TemplateTable.load(path)
        assert (again.digest, again.spec, len(again)) == (table.digest, table.spec, len(table))
        assert (again.values == table.values).all()
        assert without(texts, again) == without(texts, table)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    table = table_of(site(30)[0])
    path = table.save(tmp_path)
    sound = path.read_bytes()
    draw, refused = random.Random(3), 0
    for _ in range(400):
        damaged = bytearray(sound)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:  # a byte that only pads the file says nothing
            assert TemplateTable.load(path).digest == table.digest
        except TemplateError:
            refused += 1
    assert refused > 200
    for cut in range(0, len(sound), 97):
        path.write_bytes(sound[:cut])
        with pytest.raises(TemplateError):
            TemplateTable.load(path)


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    table = pa.table({"site": [1]}).replace_schema_metadata({"spec": str(Templates())})
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as w,
    ):
        w.write_table(table)
    with pytest.raises(TemplateError, match="other columns"):
        TemplateTable.load(tmp_path / "t.arrow")


def test_union_has_the_blocks_of_both() -> None:
    one, two = site(30)[0], site(30, footers=3)[0]
    a, b = table_of(one), table_of(two)
    assert len(a) < len(b)
    assert a.union(b).digest == b.union(a).digest == b.digest


# Sites


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Example.com", "example.com"),
        ("https://www.example.com/a?b#c", "example.com"),
        ("https://WWW.example.com.:8080/", "example.com"),
        ("http://user:p@ss@example.com:80/x@y", "example.com"),
        ("http://example.com?q=1", "example.com"),
        ("http://example.com\\evil.org", "example.com"),
        ("http://[::1]:80/", "[::1]"),
        ("http://例え.jp/", "例え.jp"),
        ("http://www.com/", "www.com"),
        ("file:///home/x", None),
        ("example.com/a", None),
        ("/a/b", None),
        ("http://", None),
        ("http:///x", None),
        ("", None),
        (None, None),
    ],
)
def test_site_of_a_url(url: str | None, host: str | None) -> None:
    expected = site_hashes([f"x://{host}/"])[0] if host else 0
    assert site_hashes([url])[0] == expected
    assert host is None or expected != 0


@given(st.lists(st.one_of(st.none(), st.text(max_size=40), st.from_regex(r"https?://[^/]*"))))
def test_any_url_has_a_site_or_none(urls: list[str | None]) -> None:
    urls = [u if u is None else u.encode("utf-8", "replace").decode() for u in urls]
    assert len(site_hashes(pa.array(urls, pa.string()))) == len(urls)
