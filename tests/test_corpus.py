"""Reading: every format gives the pages it holds, and a broken record costs one row."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import schemas
from neardup.corpus import REASONS, Corpus, CorpusError, Limits, open_corpus

SMALL = Limits(max_page=1 << 16, max_line=1 << 17, max_record=1 << 17, ratio_from=1 << 12)


def pages(corpus: Corpus) -> list[dict[str, Any]]:
    """All rows, after checking what every batch must be."""
    rows: list[dict[str, Any]] = []
    for batch in corpus:
        assert batch.schema == schemas.PAGES
        batch.validate(full=True)
        rows += batch.to_pylist()
    for row in rows:
        assert (row["text"] is None) != (row["html"] is None)
    places = [(row["file"], row["position"]) for row in rows]
    assert places == sorted(set(places))
    for skipped in corpus.skipped:
        assert skipped.reason in REASONS
    pa.Table.from_pylist([s._asdict() for s in corpus.skipped], schemas.SKIPPED)
    return rows


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def write(path: Path, data: bytes | str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


# --- sources ---------------------------------------------------------------------------------


def test_a_tree_gives_its_pages_by_relative_path(tmp_path: Path) -> None:
    write(tmp_path / "web/a/x.html", b"<p>\xff")
    write(tmp_path / "web/b.HTM", "<p>b")
    write(tmp_path / "web/page", "<html>no ending")
    write(tmp_path / "web/show.php?id=1", "<!DOCTYPE html>one")
    write(tmp_path / "web/notes.txt", "plain")
    write(tmp_path / "web/README", "not a page")
    write(tmp_path / "web/style.css", "p {}")
    write(tmp_path / "web/.git/config", "<html>")
    corpus = open_corpus(tmp_path / "web")
    rows = pages(corpus)
    assert column(rows, "id") == ["a/x.html", "b.HTM", "notes.txt", "page", "show.php?id=1"]
    assert column(rows, "text") == [None, None, "plain", None, None]
    assert rows[0]["html"] == b"<p>\xff"
    assert rows[0]["url"] is None
    assert isinstance(rows[0]["date"], datetime.datetime)
    assert {(Path(s.file).name, s.reason) for s in corpus.skipped} == {
        ("README", "not a page"),
        ("style.css", "not a page"),
        (".git", "not a page"),
    }
    assert corpus.files[0] == str(tmp_path / "web/README")


def test_two_trees_never_share_an_id(tmp_path: Path) -> None:
    a = write(tmp_path / "one/a.html", "<p>")
    write(tmp_path / "two/a.html", "<p>")
    corpus = open_corpus([tmp_path / "two", tmp_path / "one", a])
    assert column(pages(corpus), "id") == ["two/a.html", "one/a.html"]


def test_links_fifos_and_odd_names_do_no_harm(tmp_path: Path) -> None:
    root = tmp_path / "web"
    write(root / "a.html", "<p>a")
    write(tmp_path / "secret.html", "<p>secret")
    (root / "loop").symlink_to(root)
    (root / "out.html").symlink_to(tmp_path / "secret.html")
    (root / "up").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.html")
    with open(os.path.join(os.fsencode(root), b"bad\xff\n.html"), "wb") as file:
        file.write(b"<p>b")
    corpus = open_corpus(root)
    assert column(pages(corpus), "id") == ["a.html", "bad\\xff\\x0a.html"]
    reasons = {Path(s.file).name: s.reason for s in corpus.skipped}
    assert reasons == {
        "out.html": "link out of the tree",
        "up": "link out of the tree",
        "pipe.html": "not a file",
    }


def test_a_file_that_vanishes_or_is_too_large_is_told(tmp_path: Path) -> None:
    gone = write(tmp_path / "a.html", "<p>")
    write(tmp_path / "b.html", "<p>" + "x" * (1 << 16))
    write(tmp_path / "c.txt", b"\xff\xfe")
    corpus = open_corpus(tmp_path, limits=SMALL)
    os.unlink(gone)
    assert pages(corpus) == []
    assert [s.reason for s in corpus.skipped] == ["unreadable", "too large", "undecodable"]


def test_an_output_folder_is_what_it_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out / "summary.json", "{}")
    for name in ("clusters", "hosts", "annotations"):
        pq.write_table(pa.table({"text": ["no page"], "url": ["u"]}), out / f"{name}.parquet")
    write(out / "report.html", "<p>a report")
    write(out / "skipped.jsonl", '{"text": "no page"}\n')
    write(out / "templates-ab.arrow", "<html>")
    write(out / "kept/a/x.html", "<p>x")
    write(out / "kept/b.txt", "b")
    write(out / "kept.jsonl", '{"id": "j", "text": "j"}\n')
    pq.write_table(pa.table({"id": ["p"], "text": ["p"]}), out / "kept-2.parquet")
    corpus = open_corpus(out)
    assert sorted(column(pages(corpus), "id")) == ["a/x.html", "b.txt", "j", "p"]
    assert not corpus.skipped
    other = write(tmp_path / "other/b.txt", "b")
    rows = pages(open_corpus([out, os.path.dirname(other)]))
    assert {"out/a/x.html", "out/b.txt", "other/b.txt"} <= set(column(rows, "id"))
    corpus = open_corpus(tmp_path)  # below another folder it is not read again
    assert column(pages(corpus), "id") == ["other/b.txt"]
    assert [(row.reason, row.detail) for row in corpus.skipped] == [
        ("not a page", "an output of neardup")
    ]
    (out / "clusters.parquet").unlink()
    assert "report.html" in column(pages(open_corpus(out)), "id")


def test_whose_ids_they_are(tmp_path: Path) -> None:
    """An id that is a URL may come again; an id column and a path may not."""
    record = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    files = {
        "a.warc": record,
        "b.jsonl": b'{"url": "u", "text": "x"}\n',
        "c.jsonl": b'{"id": 1, "url": "u", "text": "x"}\n',
        "d.csv": b"URL,text\nu,x\n",
        "e.csv": b"text\nx\n",
        "f.html": b"<p>",
        "g.wet": record,
    }
    for name, data in files.items():
        write(tmp_path / name, data)
    pq.write_table(pa.table({"uri": ["u"], "text": ["x"]}), tmp_path / "h.parquet")
    corpus = open_corpus(tmp_path)
    own = {Path(name).name[0]: corpus.own_ids(i) for i, name in enumerate(corpus.files)}
    wanted = {"a": 0, "b": 0, "c": 1, "d": 0, "e": 1, "f": 1, "g": 0, "h": 0}
    assert own == {name: bool(value) for name, value in wanted.items()}
    assert open_corpus(tmp_path / "b.jsonl", id_field="url").own_ids(0)
    assert not open_corpus(pa.table({"url": ["u"], "text": ["x"]})).own_ids(0)
    assert open_corpus(["a b", "c d"]).own_ids(0)


def test_globs_are_sorted_and_files_count_once(tmp_path: Path) -> None:
    for name in "cab":
        write(tmp_path / f"{name}.jsonl", f'{{"text": "{name}"}}\n')
    corpus = open_corpus([tmp_path / "b.jsonl", f"{tmp_path}/*.jsonl"])
    assert column(pages(corpus), "text") == ["b", "a", "c"]
    assert column(pages(corpus), "id") == ["b.jsonl:0", "a.jsonl:0", "c.jsonl:0"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("nothing.jsonl", None, "no such file"),
        ("nothing*.jsonl", None, "matches no files"),
        ("a.xyz", b"\x00\x01", "unknown format"),
        ("a.parquet", b"PAR1 not really", "cannot be read as Parquet"),
        ("a.jsonl", b'{"title": "x", "n": 1}\n', "'title', 'n'"),
        ("a.csv", b"title,n\nx,1\n", "'title', 'n'"),
        ("a.jsonl", b'{"text": 1}\n', "does not hold strings"),
    ],
)
def test_user_errors_are_one_clear_line(
    tmp_path: Path, name: str, data: bytes | None, message: str
) -> None:
    if data is not None:
        write(tmp_path / name, data)
    with pytest.raises(CorpusError, match=message) as caught:
        open_corpus(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_an_empty_folder_and_a_wrong_column_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no pages found"):
        open_corpus(tmp_path)
    path = write(tmp_path / "a.jsonl", '{"text": "x"}\n')
    with pytest.raises(CorpusError, match="no column 'body'"):
        open_corpus(path, text_field="body")
    with pytest.raises(CorpusError, match="not both"):
        open_corpus(path, text_field="text", html_field="text")
    page = write(tmp_path / "a.html", "<p>")
    with pytest.raises(CorpusError, match="no columns, so none named 'score'"):
        open_corpus(page, value_field="score")
    with pytest.raises(CorpusError, match="from int"):
        open_corpus(5)


def test_formats_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    a = write(tmp_path / "lines", '{"text": "a"}\n')
    b = write(tmp_path / "packed", gzip.compress(b'{"text": "b"}\n'))
    c = write(tmp_path / "page", "<html>c")
    rows = pages(open_corpus([a, b, c]))
    assert column(rows, "text") == ["a", "b", None]


def test_parts_are_what_iteration_gives(tmp_path: Path) -> None:
    write(tmp_path / "a.html", "<p>")
    write(tmp_path / "b.jsonl", '{"text": "b"}\nbad\n')
    corpus = open_corpus(tmp_path)
    rows = [row for p in corpus.parts for batch, _ in p.read() for row in batch.to_pylist()]
    assert rows == pages(corpus)
    assert len({part.identity for part in corpus.parts}) == len(corpus.parts)
    assert all(part.name and part.size >= 0 for part in corpus.parts)
    assert sorted(i for part in corpus.parts for i in part.files) == [0, 1]
    for part in corpus.parts:
        assert pickle.loads(pickle.dumps(part)).identity == part.identity


def test_a_change_of_the_file_changes_the_identity(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "b"}\n')
    before = open_corpus(path).parts[0].identity
    write(tmp_path / "a.jsonl", '{"text": "bc"}\n')
    assert open_corpus(path).parts[0].identity != before


# --- in memory -------------------------------------------------------------------------------


def test_texts_in_memory(tmp_path: Path) -> None:
    import pandas as pd

    texts = ["one text", "two"]
    sources: list[Any] = [
        texts,
        pa.array(texts),
        pa.chunked_array([texts]),
        pa.array(texts, pa.string_view()),
        pa.table({"text": texts}),
        pa.record_batch({"text": texts}),
        pd.Series(texts),
        pd.DataFrame({"text": texts}),
        pa.table({"text": pa.array(texts).dictionary_encode()}),
    ]
    for source in sources:
        rows = pages(open_corpus(source))
        assert column(rows, "text") == texts
        assert column(rows, "id") == ["0", "1"]
    rows = pages(
        open_corpus(pa.table({"body": ["<p>x"], "key": [7]}), html_field="body", id_field="key")
    )
    assert rows[0]["html"] == b"<p>x"
    assert rows[0]["id"] == "7"


def test_a_missing_path_in_a_list_is_an_error_not_a_text(tmp_path: Path) -> None:
    for sources in (["nowhere.jsonl"], ["my file.jsonl"], ("a b",), [Path("a b")], ["nowhere"]):
        with pytest.raises(CorpusError, match="no such file"):
            open_corpus(sources)


# --- JSONL -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_jsonl_reads_every_good_line(tmp_path: Path, ending: str) -> None:
    lines = [
        b'{"id": 1, "text": "a", "url": "http://a/", "date": "2024-01-02T03:04:05Z"}',
        b'{"id": "two", "text": "b\\u00e9", "x": [1, {"y": null}]}',
        b"",
        b"{broken",
        b"null",
        b"[1, 2]",
        b'{"id": 3, "text": "\\ud800"}',
        b'{"id": 4, "text": null}',
        b'{"id": 5, "text": 7}',
        b'{"id": 6, "text": "nan", "x": NaN}',
        b'{"id": 7, "text": "first", "text": "last"}',
        b'{"id": 8, "text": "deep", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"id": 9, "text": "\xff"}',
        b'{"id": 10, "text": "nul\\u0000"}',
        b'{"text": "raw\0nul"}',
        b'{"id": 11, "text": "two"}{"id": 12, "text": "rows"}',
        b'{"id": 13, "text": "crlf"}\r',
        b'{"text": "no id"}',
        b'{"id": 14, "text": "no newline"}',
    ]
    data = b"\n".join(lines)
    packed = {"": data, ".gz": gzip.compress(data), ".zst": zstd(data)}[ending]
    corpus = open_corpus(write(tmp_path / f"a.jsonl{ending}", packed))
    rows = pages(corpus)
    texts = ["a", "bé", "nan", "last", "deep", "nul\0", "crlf", "no id", "no newline"]
    assert column(rows, "text") == texts
    made = f"a.jsonl{ending}:17"
    assert column(rows, "id") == ["1", "two", "6", "7", "8", "10", "13", made, "14"]
    for row in rows:
        assert data[row["position"] :].startswith(b"{")
    assert rows[0]["url"] == "http://a/"
    assert rows[0]["date"] == datetime.datetime(2024, 1, 2, 3, 4, 5)
    found = [(s.offset, s.reason) for s in corpus.skipped]
    assert sorted(reason for _, reason in found) == sorted(
        ["bad json"] * 5 + ["no text"] * 2 + ["undecodable"] * 2
    )
    starts = {sum(len(line) + 1 for line in lines[:i]) for i in range(len(lines))}
    assert {offset for offset, _ in found} <= starts


@given(
    st.lists(
        st.one_of(
            st.fixed_dictionaries({"text": st.text(), "id": st.integers() | st.text()}).map(
                lambda r: json.dumps(r).encode("utf-8", "replace")
            ),
            st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")),
            st.sampled_from(
                [
                    *(b'{"text":"x"}', b"null", b"  ", b'{"text":"a"} null', b'{"x":', b"{}"),
                    *(b'{"html":"<p>"}', b'{"text":1,"html":"<i>"}', b'{"text":null,"html":2}'),
                ]
            ),
        ),
        max_size=12,
    ),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_jsonl_agrees_with_reading_line_by_line(lines: list[bytes], is_html: bool) -> None:
    from neardup.corpus.batches import File
    from neardup.corpus.fields import Fields
    from neardup.corpus.jsonl import Shape, read_block
    from neardup.corpus.lines import Block

    spare = None if is_html else "html"
    shape = Shape(Fields("text", is_html, "id", spare=spare), frozenset())
    file = File(0, "f", "f", "jsonl")

    def read(data: bytes, offset: int, row: int) -> tuple[list[Any], list[Any]]:
        rows, skipped = [], []
        for batch, left in read_block(file, shape, Block(offset, data), lambda _: row, Limits()):
            rows += batch.to_pylist()
            skipped += left
        return rows, sorted(skipped)

    whole = read(b"".join(line + b"\n" for line in lines), 10, 0)
    alone: tuple[list[Any], list[Any]] = ([], [])
    offset = 10
    for i, line in enumerate(lines):
        rows, skipped = read(line + b"\n", offset, i)
        alone[0].extend(rows)
        alone[1].extend(skipped)
        offset += len(line) + 1
    assert whole == (alone[0], sorted(alone[1]))


def test_jsonl_is_the_same_in_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = ({"text": "x" * (i % 97), **({"id": i} if i % 5 else {})} for i in range(2000))
    lines = b"".join(orjson.dumps(record) + b"\n" for record in records)
    path = write(tmp_path / "a.jsonl", lines)
    whole = pages(open_corpus(path))
    monkeypatch.setattr("neardup.corpus.jsonl.PART_BYTES", 1000)
    corpus = open_corpus(path)
    assert len(corpus.parts) > 50
    assert sum(part.size for part in corpus.parts) == len(lines)
    assert pages(corpus) == whole


def test_a_line_that_is_too_long_costs_one_row(tmp_path: Path) -> None:
    long = b'{"text": "' + b"x" * (1 << 18) + b'"}'
    page = b'{"text": "' + b"y" * 70_000 + b'"}'
    data = b'{"text": "a"}\n' + long + b"\n" + page + b'\n{"text": "b"}\n'
    for name, packed in (("a.jsonl", data), ("a.jsonl.gz", gzip.compress(data))):
        monkey = Limits(max_page=1 << 16, max_line=1 << 17, max_ratio=10_000)
        corpus = open_corpus(write(tmp_path / name, packed), limits=monkey)
        assert column(pages(corpus), "text") == ["a", "b"]
        assert {s.reason for s in corpus.skipped} == {"too large"}
        assert len(corpus.skipped) == 2


def test_a_bomb_is_stopped_and_the_rows_before_it_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.corpus.lines.BLOCK", 1 << 16)
    data = b'{"text": "a"}\n{"text": "' + b"x" * (1 << 22)
    for name, packed in (("a.jsonl.gz", gzip.compress(data)), ("a.jsonl.zst", zstd(data))):
        corpus = open_corpus(write(tmp_path / name, packed), limits=SMALL)
        assert column(pages(corpus), "text") == ["a"]
        assert [(s.offset, s.reason) for s in corpus.skipped] == [(14, "decompression bomb")]


def test_many_copies_of_a_page_are_no_bomb(tmp_path: Path) -> None:
    data = b'{"text": "the same page again and again"}\n' * 100_000
    corpus = open_corpus(write(tmp_path / "a.jsonl.gz", gzip.compress(data, 9)), limits=SMALL)
    assert len(pages(corpus)) == 100_000


@pytest.mark.parametrize("keep", [0.5, 0.9, 0.999])
def test_truncated_gzip_keeps_the_rows_before(tmp_path: Path, keep: float) -> None:
    rng = np.random.default_rng(1)
    lines = [orjson.dumps({"text": rng.bytes(60).hex()}) + b"\n" for _ in range(3000)]
    packed = gzip.compress(b"".join(lines))
    path = write(tmp_path / "a.jsonl.gz", packed[: int(len(packed) * keep)])
    corpus = open_corpus(path)
    rows = pages(corpus)
    assert keep * 2000 < len(rows) < 3000
    (skipped,) = corpus.skipped
    assert (skipped.reason, skipped.file) == ("truncated gzip", path)
    assert skipped.offset == sum(len(line) for line in lines[: len(rows)])


def test_gzip_members_and_padding(tmp_path: Path) -> None:
    data = gzip.compress(b'{"text": "a"}\n') + gzip.compress(b'{"text": "b"}\n') + b"\0" * 100
    corpus = open_corpus(write(tmp_path / "a.jsonl.gz", data))
    assert column(pages(corpus), "text") == ["a", "b"]
    assert not corpus.skipped
    corpus = open_corpus(write(tmp_path / "b.jsonl.gz", data + b"junk"))
    assert column(pages(corpus), "text") == ["a", "b"]
    assert [s.reason for s in corpus.skipped] == ["truncated gzip"]


@pytest.mark.parametrize("broken", [b"", b"{broken\n"])
def test_a_record_without_text_may_have_html(tmp_path: Path, broken: bytes) -> None:
    data = b"".join(
        [
            b'{"id": 1, "text": "a", "html": "<p>not this"}\n',
            b'{"id": 2, "html": "<p>\\u00e4"}\n',
            broken,
            b'{"id": 3, "text": null, "html": null}\n',
            b'{"id": 4, "text": "b"}\n',
            b'{"id": 5, "html": "' + b"x" * (SMALL.max_page + 1) + b'"}\n',
        ]
    )
    path = write(tmp_path / "a.jsonl", data)
    corpus = open_corpus(path, limits=SMALL)
    rows = pages(corpus)
    assert column(rows, "id") == ["1", "2", "4"]
    assert column(rows, "text") == ["a", None, "b"]
    assert column(rows, "html") == [None, "<p>ä".encode(), None]
    assert column(rows, "charset") == [None, "utf-8", None]
    reasons = {s.id: s.reason for s in corpus.skipped}
    assert reasons == {"3": "no text", "5": "too large"} | ({None: "bad json"} if broken else {})
    assert column(pages(open_corpus(path, text_field="text", limits=SMALL)), "id") == ["1", "4"]


def test_html_in_a_column_is_named_by_the_user(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "<p>a</p>", "html": "<b>b</b>"}\n')
    assert pages(open_corpus(path))[0]["text"] == "<p>a</p>"
    assert pages(open_corpus(path, html_field="text"))[0]["html"] == b"<p>a</p>"
    assert pages(open_corpus(path, html_field="html"))[0]["html"] == b"<b>b</b>"


def test_values_and_dates_are_read_leniently(tmp_path: Path) -> None:
    lines = [
        '{"text": "a", "score": 1, "date": "20240102030405"}',
        '{"text": "b", "score": "2.5", "date": 1704164645}',
        '{"text": "c", "score": "x", "date": "Tue, 02 Jan 2024 03:04:05 GMT"}',
        '{"text": "d", "date": "yesterday"}',
        '{"text": "e", "score": {}, "date": "2024-01-02T05:04:05+02:00"}',
        '{"text": "f", "score": 1e999, "date": 1e300}',
    ]
    rows = pages(open_corpus(write(tmp_path / "a.jsonl", "\n".join(lines)), value_field="score"))
    when = datetime.datetime(2024, 1, 2, 3, 4, 5)
    assert column(rows, "date")[:5] == [when, when, when, None, when]
    assert column(rows, "value")[:5] == [1.0, 2.5, None, None, None]


# --- Parquet ---------------------------------------------------------------------------------


def table(n: int) -> pa.Table:
    return pa.table({"id": range(n), "text": [f"text {i}" for i in range(n)], "other": [1.5] * n})


def test_parquet_by_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(table(1000), path, row_group_size=100)
    whole = pages(open_corpus(path))
    assert column(whole, "id") == [str(i) for i in range(1000)]
    assert column(whole, "position") == list(range(1000))
    monkeypatch.setattr("neardup.corpus.parquet.PART_BYTES", 1000)
    corpus = open_corpus(path)
    assert len(corpus.parts) == 10
    assert pages(corpus) == whole


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()]
)
def test_parquet_checks_utf8(tmp_path: Path, kind: pa.DataType) -> None:
    raw = pa.array([b"good", b"bad \xff", None, "gut é".encode()], pa.binary())
    column_ = raw.view(pa.string()) if kind == pa.string() else None
    if column_ is None:
        wide = raw.cast(pa.large_binary())
        column_ = (
            wide.view(pa.large_string()) if kind == pa.large_string() else wide.cast(pa.binary())
        )
        if kind == pa.string_view():
            column_ = raw.view(pa.string())
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": column_}), path)
    corpus = open_corpus(path)
    assert column(pages(corpus), "text") == ["good", "gut é"]
    assert [(s.offset, s.reason, s.id) for s in corpus.skipped] == [
        (1, "undecodable", "a.parquet:1"),
        (2, "no text", "a.parquet:2"),
    ]


def test_parquet_with_a_broken_page_loses_that_row_group_only(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rng = np.random.default_rng(2)
    texts = [rng.bytes(50).hex() for _ in range(300)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=100, compression="zstd")
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(bytes(data))
    corpus = open_corpus(path)
    assert column(pages(corpus), "text") == texts[:100] + texts[200:]
    (skipped,) = corpus.skipped
    assert skipped.reason == "unreadable"
    assert skipped.offset == 100
    assert "row group 1" in str(skipped.detail)


def test_one_page_repeated_by_a_dictionary_is_read_in_small_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    page = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), ["x" * 100_000])
    pq.write_table(pa.table({"text": page}), path)
    assert path.stat().st_size < 200_000
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    rows = most = 0
    for batch in open_corpus(path):
        rows += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == 3000
    assert most < 120 << 20


def test_a_damaged_parquet_footer_never_ends_the_process(tmp_path: Path) -> None:
    """pyarrow 26 aborts on some damaged column metadata, if it is asked for too early."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "text": ["some text", "more"]}), path)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(footer, len(data) - 8):
        for damage in (0x01, 0xFF):
            broken = bytearray(data)
            broken[at] ^= damage
            path.write_bytes(bytes(broken))
            try:
                for batch in open_corpus(path):
                    batch.validate(full=True)
            except CorpusError:
                pass


def test_a_broken_file_in_a_folder_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", b"PAR1 broken")
    pq.write_table(table(3), tmp_path / "b.parquet")
    write(tmp_path / "c.csv", "no,such\n1,2\n")
    corpus = open_corpus(tmp_path)
    assert len(pages(corpus)) == 3
    assert [(Path(s.file).name, s.reason) for s in corpus.skipped] == [
        ("a.parquet", "unreadable"),
        ("c.csv", "unreadable"),
    ]


def test_parquet_columns_that_cannot_serve_are_named(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": [1, 2]}), path)
    with pytest.raises(CorpusError, match="'text' is int64, not text"):
        open_corpus(path)
    pq.write_table(pa.table({"text": ["a"], "id": [[1]]}), path)
    with pytest.raises(CorpusError, match="'id' is list"):
        open_corpus(path)


def test_batches_stay_small(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    texts = ["x" * 100_000] * 200 + ["y"] * 10_000
    pq.write_table(pa.table({"text": texts}), path)
    sizes = [(batch.num_rows, batch.nbytes) for batch in open_corpus(path)]
    assert max(rows for rows, _ in sizes) <= 4096
    assert max(size for _, size in sizes) < 12 << 20


# --- CSV -------------------------------------------------------------------------------------

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from([",", "\t", ";"])
)
@settings(max_examples=150, deadline=None)
def test_csv_agrees_with_the_standard_library(rows: list[tuple[str, str]], delimiter: str) -> None:
    import tempfile

    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("name", "text"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        corpus = open_corpus(write(Path(folder) / "a.csv", sink.getvalue()), id_field="name")
        found = pages(corpus)
    assert not corpus.skipped
    assert [(r["id"], r["text"]) for r in found] == [(a, b) for a, b in rows]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_stray_quote_costs_one_row(tmp_path: Path, ending: str) -> None:
    data = (
        b'id,text\n1,"a\nb"\n2,"unclosed\n3,plain\n4,"c ""quoted"" d"\n5,too,many\n\n'
        b'6,5" pipe\n7,"x\r\ny"\n8,\xff\n9,last'
    )
    packed = gzip.compress(data) if ending else data
    corpus = open_corpus(write(tmp_path / f"a.csv{ending}", packed))
    rows = pages(corpus)
    assert [(r["id"], r["text"]) for r in rows] == [
        ("1", "a\nb"),
        ("3", "plain"),
        ("4", 'c "quoted" d'),
        ("6", '5" pipe'),
        ("7", "x\r\ny"),
        ("9", "last"),
    ]
    for row in rows:
        assert data[row["position"] :].startswith(row["id"].encode() + b",")
    assert [(s.reason, data[s.offset : s.offset + 1]) for s in corpus.skipped] == [
        ("bad record", b"2"),
        ("bad record", b"5"),
        ("undecodable", b"8"),
    ]


def test_csv_records_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(i), f'line\n"{i}"\n' * (i % 7)) for i in range(500)]
    sink = io.StringIO(newline="")
    csv.writer(sink).writerows([("id", "text"), *rows])
    path = write(tmp_path / "a.csv", sink.getvalue())
    whole = pages(open_corpus(path))
    assert [(r["id"], r["text"]) for r in whole] == rows
    monkeypatch.setattr("neardup.corpus.lines.BLOCK", 64)
    assert pages(open_corpus(path)) == whole


def test_an_unclosed_quote_without_end_is_bounded(tmp_path: Path) -> None:
    data = b'id,text\n1,"open\n' + b"2,row\n" * 50_000
    corpus = open_corpus(write(tmp_path / "a.csv", data), limits=SMALL)
    assert len(pages(corpus)) == 50_000
    assert [s.reason for s in corpus.skipped] == ["bad record"]


def test_an_empty_csv_and_jsonl_have_no_pages(tmp_path: Path) -> None:
    for name, data in (("a.csv", ""), ("b.csv", "id,text\n"), ("c.jsonl", ""), ("d.jsonl", "\n\n")):
        corpus = open_corpus(write(tmp_path / name, data))
        assert pages(corpus) == []
        assert corpus.skipped == []
