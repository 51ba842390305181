"""WARC and WET: pages out of records, encodings undone, hostile archives survived."""

from __future__ import annotations

import datetime
import gzip
import io
import warnings
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.corpus import Limits, open_corpus
from neardup.corpus.http_payload import Answer, decoded_body
from tests.test_corpus import column, pages, write

with warnings.catch_warnings():  # fastwarc 1 warns about itself when it is imported
    warnings.simplefilter("ignore")
    from fastwarc.warc import ArchiveIterator, WarcRecordType

DATE = "2024-01-02T03:04:05Z"


def record(
    kind: str,
    block: bytes,
    url: str = "http://a.org/",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """One WARC record; header names are given with _ for -."""
    fields = {
        "WARC-Type": kind,
        "WARC-Target-URI": url,
        "WARC-Date": DATE,
        "WARC-Record-ID": f"<urn:{kind}:{url}>",
        "Content-Type": "application/http; msgtype=response",
        **{name.replace("_", "-"): value for name, value in headers.items()},
        "Content-Length": str(len(block) if length is None else length),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def answer(body: bytes, status: int = 200, type: str = "text/html", **headers: str) -> bytes:
    fields = {"Content-Type": type, **{k.replace("_", "-"): v for k, v in headers.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} OK\r\n{head}\r\n".encode() + body


def response(body: bytes, url: str = "http://a.org/", **headers: str) -> bytes:
    return record("response", answer(body), url, **headers)


INFO = record("warcinfo", b"software: x\r\n", Content_Type="application/warc-fields")


def each_packed(records: list[bytes]) -> bytes:
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def packings(records: list[bytes]) -> dict[str, bytes]:
    """The same records in every framing we read."""
    whole = b"".join(records)
    return {
        "a.warc": whole,
        "a.warc.gz": each_packed(records),
        "whole.warc.gz": gzip.compress(whole),
        "a.warc.zst": bytes(pa.compress(whole, "zstd", asbytes=True)),
    }


RECORDS = [
    INFO,
    record("request", b"GET / HTTP/1.1\r\n\r\n"),
    response(b"<p>one"),
    record("response", answer(b"<p>\xe9", type='text/html; charset="ISO-8859-1"'), "http://b.org/"),
    record("response", answer(b"<p>x", 404), "http://c.org/"),
    record("response", answer(b"\x89PNG", type="image/png"), "http://d.org/"),
    record("response", answer(b"plain \xe9", type="text/plain;charset=latin-1"), "http://e.org/"),
    record("resource", b"<p>resource", "http://f.org/", Content_Type="text/html"),
    record("conversion", "converted é".encode(), "http://g.org/", Content_Type="text/plain"),
    record("response", b"1.2.3.4", "dns:a.org", Content_Type="text/dns"),
    response(b"<p>two"),
    response(b"<p>three"),
    record("metadata", b"x: y", Content_Type="application/warc-fields"),
]


@pytest.mark.parametrize("name", list(packings([])))
def test_pages_of_every_framing(tmp_path: Path, name: str) -> None:
    corpus = open_corpus(write(tmp_path / name, packings(RECORDS)[name]))
    rows = pages(corpus)
    url = "http://a.org/"
    assert column(rows, "id") == [
        *(url, "http://b.org/", "http://e.org/", "http://f.org/", "http://g.org/"),
        *(url + "@20240102030405", f"{url}@20240102030405:{rows[-1]['position']}"),
    ]
    assert column(rows, "html") == [
        b"<p>one",
        b"<p>\xe9",
        None,
        b"<p>resource",
        None,
        b"<p>two",
        b"<p>three",
    ]
    assert [t for t in column(rows, "text") if t] == ["plain é", "converted é"]
    assert column(rows, "charset")[1] == "ISO-8859-1"
    assert column(rows, "url")[-1] == url
    assert rows[0]["date"] == datetime.datetime(2024, 1, 2, 3, 4, 5)
    assert [(s.id, s.reason, s.detail) for s in corpus.skipped] == [
        ("http://c.org/", "http status", "404"),
        ("http://d.org/", "not a page", "image/png"),
        ("dns:a.org", "not a page", "text/dns"),
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["response", "resource", "request", "warcinfo"]),
            st.binary(max_size=300),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_framing_agrees_with_fastwarc(parts: list[tuple[str, bytes]], packed: bool) -> None:
    import tempfile

    from neardup.corpus.warc_records import read_records

    records = [record(kind, block, f"http://a/{i}") for i, (kind, block) in enumerate(parts)]
    data = each_packed(records) if packed else b"".join(records)
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.warc", data)
        ours = [
            (r.text(b"warc-target-uri"), r.block)
            for r in read_records(path, "gz" if packed else "", Limits())
            if r.type in (b"response", b"resource")
        ]
    wanted = WarcRecordType.response | WarcRecordType.resource
    theirs = [
        (r.headers["WARC-Target-URI"], r.reader.read())
        for r in ArchiveIterator(io.BytesIO(data), parse_http=False, record_types=wanted)
    ]
    assert ours == theirs


def chunked(body: bytes, size: int = 5) -> bytes:
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x;ext=1\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


BODY = b"<html><p>" + b"some words " * 50

CODINGS = {
    "": BODY,
    "gzip": gzip.compress(BODY),
    "x-gzip": gzip.compress(BODY),
    "deflate": zlib.compress(BODY),
    "Deflate": raw_deflate(BODY),
    "br": bytes(pa.compress(BODY, "brotli", asbytes=True)),
    "zstd": bytes(pa.compress(BODY, "zstd", asbytes=True)),
    "deflate, gzip": gzip.compress(zlib.compress(BODY)),
    "identity": BODY,
    "gzip ": BODY,  # declared, but stored without
}


@pytest.mark.parametrize("coding", list(CODINGS))
@pytest.mark.parametrize("transfer", ["", "chunked", "stored"])
def test_encodings_are_undone(coding: str, transfer: str) -> None:
    body = CODINGS[coding]
    headers = {b"content-encoding": coding.encode()}
    if transfer:
        headers[b"transfer-encoding"] = b"chunked"
    sent = chunked(body) if transfer == "chunked" else body
    assert decoded_body(Answer(200, headers, sent), Limits()) == BODY


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_bombs_and_broken_encodings_are_skipped(tmp_path: Path, coding: str) -> None:
    zeros = b"<p>" + b"\0" * (8 << 20)
    packers: dict[str, Any] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda data: bytes(pa.compress(data, "brotli", asbytes=True)),
        "zstd": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
    }
    bomb = packers[coding](zeros)
    long = packers[coding](BODY)
    records = [
        record("response", answer(bomb, Content_Encoding=coding), "http://bomb/"),
        record("response", answer(long[:-9], Content_Encoding=coding), "http://cut/"),
        record("response", answer(b"\x1f\x8bjunk junk", Content_Encoding=coding), "http://junk/"),
        response(b"<p>good"),
    ]
    corpus = open_corpus(write(tmp_path / "a.warc.gz", each_packed(records)))
    rows = pages(corpus)
    assert rows[-1]["html"] == b"<p>good"
    reasons = {s.id: s.reason for s in corpus.skipped}
    assert reasons["http://bomb/"] == "decompression bomb"
    assert reasons["http://junk/"] == "bad encoding"
    assert reasons.get("http://cut/", "bad encoding") == "bad encoding"


def test_unknown_encodings_and_bad_http(tmp_path: Path) -> None:
    records = [
        record("response", answer(b"x", Content_Encoding="compress"), "http://1/"),
        record("response", answer(b"x", Content_Encoding=", ".join(["gzip"] * 9)), "http://2/"),
        record("response", b"<p>no head at all", "http://3/"),
        record("response", b"HTTP/1.1 abc\r\n\r\n", "http://4/"),
        record("response", b"HTTP/1.1 200 OK", "http://5/"),
        record("response", answer(b"\x81\x8d", type="text/plain; charset=punycode"), "http://6/"),
    ]
    corpus = open_corpus(write(tmp_path / "a.warc", b"".join(records)))
    assert pages(corpus) == []
    assert [s.reason for s in corpus.skipped] == [
        *("bad encoding", "bad encoding", "bad http", "bad http", "not a page", "undecodable")
    ]


@pytest.mark.parametrize("lie", [0, 10, 10**6, 10**15, -5])
def test_a_lying_length_costs_one_record(tmp_path: Path, lie: int) -> None:
    before, after = response(b"<p>before", "http://1/"), response(b"<p>after", "http://3/")
    liar = record("response", answer(b"<p>liar"), "http://2/", length=lie)
    for name, data in (
        ("a.warc", before + liar + after),
        ("a.warc.gz", each_packed([before, liar, after])),
    ):
        corpus = open_corpus(write(tmp_path / name, data))
        assert column(pages(corpus), "id") == ["http://1/", "http://3/"]
        assert [s.reason for s in corpus.skipped] == ["bad record"]


def test_broken_members_cost_themselves_only(tmp_path: Path) -> None:
    records = [response(b"<p>%d" % i * 50, f"http://{i}/") for i in range(5)]
    members = [gzip.compress(one) for one in records]
    broken = bytearray(members[1])
    broken[len(broken) // 2] ^= 0xFF
    crc = bytearray(members[3])
    crc[-6] ^= 0xFF
    data = members[0] + bytes(broken) + members[2] + b"junk" + bytes(crc) + members[4][:-20]
    corpus = open_corpus(write(tmp_path / "a.warc.gz", data))
    assert column(pages(corpus), "id") == ["http://0/", "http://2/"]
    assert {s.reason for s in corpus.skipped} == {"truncated gzip"}
    assert 4 <= len(corpus.skipped) <= 5


def test_a_gzip_member_that_is_a_bomb(tmp_path: Path) -> None:
    limits = Limits(max_record=1 << 20, max_page=1 << 20, ratio_from=1 << 16)
    good = gzip.compress(response(b"<p>good", "http://good/"))
    large = record("response", answer(b"x" * (4 << 20)), "http://bomb/")
    path = write(tmp_path / "a.warc.gz", gzip.compress(large) + good)
    corpus = open_corpus(path, limits=limits)
    assert column(pages(corpus), "id") == ["http://good/"]
    assert [s.reason for s in corpus.skipped] == ["decompression bomb"]
    corpus = open_corpus(write(tmp_path / "a.warc", large + response(b"<p>y")), limits=limits)
    assert len(pages(corpus)) == 1
    assert [s.reason for s in corpus.skipped] == ["too large"]


@pytest.mark.parametrize("name", list(packings([])))
def test_revisits_have_the_content_they_refer_to(tmp_path: Path, name: str) -> None:
    digest = {"WARC_Payload_Digest": "sha1:ABC"}
    first = record("response", answer(b"<p>same"), "http://1/", **digest)
    records = [
        first,
        record("revisit", b"", "http://2/", WARC_Refers_To="<urn:response:http://1/>"),
        record("revisit", b"", "http://3/", **digest),
        record(
            "revisit",
            b"HTTP/1.1 304 Not Modified\r\n\r\n",
            "http://4/",
            WARC_Refers_To_Target_URI="http://1/",
            WARC_Refers_To_Date=DATE,
        ),
        record("revisit", b"", "http://5/", WARC_Refers_To_Target_URI="http://elsewhere/"),
    ]
    corpus = open_corpus(write(tmp_path / name, packings(records)[name]))
    rows = pages(corpus)
    if name in ("a.warc", "a.warc.gz", "whole.warc.gz"):
        assert column(rows, "id") == ["http://1/", "http://2/", "http://3/", "http://4/"]
        assert set(column(rows, "html")) == {b"<p>same"}
        skipped = corpus.skipped
    else:  # a zstd stream cannot go back cheaply
        assert column(rows, "id") == ["http://1/"]
        skipped = corpus.skipped[-1:]
    assert [(s.id, s.reason, s.detail) for s in skipped] == [
        ("http://5/", "revisit", "of http://elsewhere/")
    ]


def test_hostile_starts_end_in_time(tmp_path: Path) -> None:
    for name, data in (
        ("a.warc", b"\nWARC/1.0\n" * 10_000),
        ("b.warc", b"WARC/1.0\r\nContent-Length: 99\r\n\r\n" * 5_000),
        ("c.warc.gz", b"\x1f\x8b\x08" * 100_000),
        ("d.warc.gz", gzip.compress(b"WARC/1.0\nContent-Length: 0\n\n" * 100_000)),
        ("e.warc", b"junk"),
        ("f.warc", b""),
    ):
        corpus = open_corpus(write(tmp_path / name, data))
        assert pages(corpus) == []


def test_wet_files(tmp_path: Path) -> None:
    one = record("conversion", b"the text", "http://1/", Content_Type="text/plain")
    path = write(tmp_path / "a.warc.wet.gz", each_packed([INFO, one]))
    rows = pages(open_corpus(path))
    assert column(rows, "text") == ["the text"]
    assert column(rows, "id") == ["http://1/"]
