"""Writing: what is kept comes out as it went in, readable again, or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.corpus import Corpus, CorpusError, open_corpus
from neardup.corpus.writers import write_kept
from tests.test_corpus import column, pages, write, zstd
from tests.test_corpus_warc import INFO, answer, each_packed, packings, record, response

Rows = Callable[[int], pa.Table]


def decide(corpus: Corpus, removed: set[str]) -> Rows:
    """Decisions that remove the pages with these ids (each is a copy of "kept")."""
    rows = pages(corpus)

    def of_file(file: int) -> pa.Table:
        mine = [row for row in rows if row["file"] == file]
        return pa.table(
            {
                "position": pa.array([row["position"] for row in mine], pa.int64()),
                "kept": pa.array([row["id"] not in removed for row in mine], pa.bool_()),
                "cluster": pa.array(
                    ["kept" if row["id"] in removed else row["id"] for row in mine], pa.string()
                ),
                "cluster_size": pa.array([2 for _ in mine], pa.int64()),
            }
        )

    return of_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_jsonl_lines_come_out_byte_for_byte(tmp_path: Path, ending: str) -> None:
    lines = [
        b'{"id": "a",  "text":"\\u0041", "n": 1.0}',
        b'{"id": "b", "text": "removed"}',
        b"broken",
        b'{"id": "c", "text": "x"}\r',
        b'{"id": "d", "text": "no end"}',
    ]
    pack: dict[str, Any] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}
    path = write(tmp_path / f"in.jsonl{ending}", pack[ending](b"\xef\xbb\xbf" + b"\n".join(lines)))
    corpus = open_corpus(path)
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"b"}))
    assert out.name == f"kept.jsonl{ending}"
    again = open_corpus(out)
    assert column(pages(again), "id") == ["a", "c", "d"]
    data = out.read_bytes()
    if ending == ".gz":
        data = gzip.decompress(data)
    if not ending or ending == ".gz":
        assert data == b"\n".join([lines[0], lines[3], lines[4], b""])


def test_jsonl_annotated(tmp_path: Path) -> None:
    data = b'{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\nbroken\n{"id":"c","text":null}\n'
    corpus = open_corpus(write(tmp_path / "in.jsonl", data))
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"b"}), annotate=True)
    assert [json.loads(line) for line in out.read_bytes().splitlines()] == [
        {"id": "a", "text": "x", "cluster": "a", "cluster_size": 2, "kept": True},
        {"id": "b", "text": "y", "cluster": "kept", "cluster_size": 2, "kept": False},
        {"id": "c", "text": None, "cluster": None, "cluster_size": None, "kept": None},
    ]


def test_names_that_are_taken_get_a_prefix(tmp_path: Path) -> None:
    lines = '{"id": "a", "text": "x"}\n{"id": "b", "text": "\\"kept\\"", "kept": 5}\n'
    corpus = open_corpus(write(tmp_path / "in.jsonl", lines))
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"b"}), annotate=True)
    rows = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert rows[0]["neardup_cluster"] == "a"
    assert rows[1]["kept"] == 5
    assert rows[1]["neardup_kept"] is False
    table = pa.table({"id": ["a"], "text": ["x"], "cluster": ["mine"]})
    pq.write_table(table, tmp_path / "in.parquet")
    corpus = open_corpus(tmp_path / "in.parquet")
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, set()), annotate=True)
    assert pq.read_table(out).column_names == [
        *("id", "text", "cluster", "neardup_cluster", "neardup_cluster_size", "neardup_kept")
    ]


def test_parquet_keeps_all_columns_and_metadata(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int32()),
            pa.field("text", pa.large_string(), metadata={"unit": "words"}),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("kind", pa.dictionary(pa.int32(), pa.string())),
            pa.field("when", pa.timestamp("ms", "Europe/Paris")),
        ],
        metadata={"made": "by hand"},
    )
    table = pa.Table.from_pylist(
        [
            {"id": i, "text": f"text {i}", "tags": ["a"] * (i % 3), "kind": "xy"[i % 2], "when": i}
            for i in range(1000)
        ],
        schema,
    )
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=100, compression="zstd")
    corpus = open_corpus(tmp_path / "in.parquet")
    removed = {str(i) for i in range(0, 1000, 3)}
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, removed), threads=2)
    kept = pq.read_table(out)
    expected = table.filter(pa.array([i % 3 != 0 for i in range(1000)]))
    source = pq.read_schema(tmp_path / "in.parquet")
    assert kept.schema.equals(source, check_metadata=True)
    assert kept.to_pylist() == expected.to_pylist()
    metadata = pq.ParquetFile(out).metadata
    assert metadata.row_group(0).column(1).compression == "ZSTD"
    assert metadata.num_row_groups == 1
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, removed), annotate=True)
    full = pq.read_table(out)
    assert full.num_rows == 1000
    assert full["kept"].to_pylist() == [i % 3 != 0 for i in range(1000)]
    assert full["cluster"].to_pylist()[:2] == ["kept", "1"]


def test_files_of_one_schema_go_together_and_others_apart(tmp_path: Path) -> None:
    for name, columns in (("a", {"text": ["x"]}), ("b", {"text": ["y"]}), ("c", {"html": ["z"]})):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    corpus = open_corpus(tmp_path)
    written = write_kept(corpus, tmp_path / "out", decide(corpus, set()))
    assert [path.name for path in written] == ["kept.parquet", "kept-2.parquet"]
    assert pq.read_table(written[0]).to_pydict() == {"text": ["x", "y"]}
    assert pq.read_table(written[1]).to_pydict() == {"html": ["z"]}


def test_tables_in_memory_become_parquet(tmp_path: Path) -> None:
    corpus = open_corpus(pa.table({"text": ["x", "y", None], "n": [1, 2, 3]}))
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"0"}))
    assert pq.read_table(out).to_pydict() == {"text": ["y"], "n": [2]}
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"0"}), annotate=True)
    assert pq.read_table(out)["kept"].to_pylist() == [False, True, None]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_csv_records_come_out_byte_for_byte(tmp_path: Path, ending: str) -> None:
    data = b'id,text\na,"x\ny"\nb,removed\nc,too,many\nd,"=1+1"'
    path = write(tmp_path / f"in.csv{ending}", gzip.compress(data) if ending else data)
    corpus = open_corpus(path)

    def written(annotate: bool) -> bytes:
        folder = tmp_path / "out"
        (out,) = write_kept(corpus, folder, decide(corpus, {"b"}), annotate=annotate)
        assert out.name == f"kept.csv{ending}"
        return gzip.decompress(out.read_bytes()) if ending else out.read_bytes()

    assert written(False) == b'id,text\na,"x\ny"\nd,"=1+1"\n'
    rows = list(csv.reader(io.StringIO(written(True).decode(), newline="")))
    assert rows == [
        ["id", "text", "cluster", "cluster_size", "kept"],
        ["a", "x\ny", "a", "2", "true"],
        ["b", "removed", "kept", "2", "false"],
        ["d", "=1+1", "d", "2", "true"],
    ]


@pytest.mark.parametrize("name", list(packings([])))
def test_warc_records_are_copied_raw(tmp_path: Path, name: str) -> None:
    records = [
        INFO,
        response(b"<p>one", "http://1/"),
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        response(b"<p>two", "http://2/"),
        record("response", answer(b"", 404), "http://3/"),
        response(b"<p>four", "http://4/"),
    ]
    corpus = open_corpus(write(tmp_path / name, packings(records)[name]))
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"http://2/"}))
    assert out.name == name.replace("whole", "kept").replace("a.w", "kept.w")
    again = open_corpus(out)
    assert column(pages(again), "id") == ["http://1/", "http://4/"]
    assert not again.skipped
    if name == "a.warc.gz":
        assert out.read_bytes() == each_packed([records[1], records[5]])
    if name == "a.warc":
        assert out.read_bytes() == records[1] + records[5]
    if name == "whole.warc.gz":
        assert gzip.decompress(out.read_bytes()) == records[1] + records[5]


def test_a_kept_revisit_becomes_a_response(tmp_path: Path) -> None:
    records = [
        response(b"<p>same", "http://long/", WARC_Payload_Digest="sha1:X"),
        record(
            "revisit",
            b"",
            "http://s/",
            WARC_Payload_Digest="sha1:X",
            WARC_Refers_To_Target_URI="http://long/",
            WARC_Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        ),
    ]
    for name, data in (("a.warc", b"".join(records)), ("a.warc.gz", each_packed(records))):
        corpus = open_corpus(write(tmp_path / name, data))
        (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"http://long/"}))
        (row,) = pages(open_corpus(out))
        assert (row["id"], row["html"]) == ("http://s/", b"<p>same")


def test_trees_are_copied_under_their_paths(tmp_path: Path) -> None:
    for name in ("a/x.html", "a/y.html", "b"):
        write(tmp_path / "web" / name, f"<html>{name}")
    corpus = open_corpus(tmp_path / "web")
    write(tmp_path / "out/kept/old.html", "from an earlier run")
    (out,) = write_kept(corpus, tmp_path / "out", decide(corpus, {"a/x.html"}))
    found = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert found == ["a/y.html", "b"]
    before, after = pages(corpus)[1:], pages(open_corpus(out))
    assert [(r["id"], r["html"], r["date"]) for r in after] == [
        (r["id"], r["html"], r["date"]) for r in before
    ]
    assert names(tmp_path / "out") == ["kept"]


def test_annotations_of_pages_without_columns(tmp_path: Path) -> None:
    write(tmp_path / "web/a.html", "<p>")
    write(tmp_path / "web/b.html", "<p>")
    write(tmp_path / "web/c.warc", response(b"<p>", "http://1/"))
    corpus = open_corpus(tmp_path / "web")
    write_kept(corpus, tmp_path / "out", decide(corpus, {"b.html"}), annotate=True)
    assert names(tmp_path / "out") == ["annotations.parquet", "kept", "kept.warc"]
    rows = pq.read_table(tmp_path / "out/annotations.parquet").to_pylist()
    assert {(r["id"], r["cluster"], r["cluster_size"], r["kept"]) for r in rows} == {
        ("a.html", "a.html", 2, True),
        ("b.html", "kept", 2, False),
        ("http://1/", "http://1/", 2, True),
    }
    assert {Path(r["file"]).name for r in rows} == {"a.html", "b.html", "c.warc"}


def test_mixed_inputs_give_one_output_a_format(tmp_path: Path) -> None:
    write(tmp_path / "in/a.jsonl", '{"text": "a"}\n')
    write(tmp_path / "in/b.jsonl", '{"text": "b"}')
    write(tmp_path / "in/c.jsonl.gz", gzip.compress(b'{"text": "c"}\n'))
    write(tmp_path / "in/d.html", "<p>")
    corpus = open_corpus(tmp_path / "in")
    write_kept(corpus, tmp_path / "out", decide(corpus, set()))
    assert names(tmp_path / "out") == ["kept", "kept.jsonl", "kept.jsonl.gz"]
    assert (tmp_path / "out/kept.jsonl").read_text() == '{"text": "a"}\n{"text": "b"}\n'


def test_nothing_half_is_left_after_an_error(tmp_path: Path) -> None:
    write(tmp_path / "in/a.jsonl", '{"text": "a"}\n')
    write(tmp_path / "in/b.html", "<p>")
    write(tmp_path / "in/c.warc", response(b"<p>"))
    corpus = open_corpus(tmp_path / "in")
    rows = decide(corpus, set())
    write(tmp_path / "out/kept.jsonl", "from before\n")

    def failing(file: int) -> pa.Table:
        if corpus.files[file].endswith("c.warc"):
            raise OSError("disk full")
        return rows(file)

    with pytest.raises((OSError, CorpusError), match="disk full"):
        write_kept(corpus, tmp_path / "out", failing)
    assert names(tmp_path / "out") == ["kept.jsonl"]
    assert (tmp_path / "out/kept.jsonl").read_text() == "from before\n"
