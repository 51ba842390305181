"""Bombs and breaks inside compressed files cost themselves, and what follows is read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pytest

from neardup.corpus import Limits, open_corpus
from neardup.corpus.inflate import GZIP_MAGIC, GzipStream, PlainStream
from tests.test_corpus import SMALL, column, pages, write, zstd


def gzip_(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


BOMB = b'{"id": "bomb", "text": "' + b"x" * (1 << 21) + b'"}\n'
PACK = {"gz": gzip_, "zst": zstd}


def line(id: int | str, length: int = 60) -> bytes:
    noise = np.random.default_rng(zlib.crc32(str(id).encode())).bytes(length).hex()
    return b'{"id": "%s", "text": "%s"}\n' % (str(id).encode(), noise.encode())


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("block", [1 << 12, 1 << 16, 4 << 20])
def test_a_bomb_line_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, block: int
) -> None:
    monkeypatch.setattr("neardup.corpus.lines.BLOCK", block)
    data = line("a") + BOMB + line("b") + line("c") + BOMB + line("d")
    path = write(tmp_path / f"a.jsonl.{ending}", PACK[ending](data))
    corpus = open_corpus(path, limits=Limits(max_line=1 << 17, ratio_from=1 << 12, max_ratio=50))
    if block == 4 << 20:  # all of it is one block: then long lines are judged as pages
        corpus = open_corpus(path, limits=Limits(max_page=1 << 16))
    assert column(pages(corpus), "id") == ["a", "b", "c", "d"]
    first = len(line("a"))
    second = first + len(BOMB) + len(line("b")) + len(line("c"))
    assert [s.offset for s in corpus.skipped] == [first, second]
    wanted = "too large" if block == 4 << 20 else "decompression bomb"
    assert {s.reason for s in corpus.skipped} == {wanted}


def test_bombs_are_not_read_over_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.corpus.lines.BLOCK", 1 << 16)
    data = line("a") + BOMB + line("b") + BOMB + line("c")
    path = write(tmp_path / "a.jsonl.gz", gzip_(data))
    limits = Limits(max_line=1 << 17, ratio_from=1 << 12, max_ratio=50, max_skipped=3 << 20)
    corpus = open_corpus(path, limits=limits)
    assert column(pages(corpus), "id") == ["a", "b"]
    assert [s.reason for s in corpus.skipped] == ["decompression bomb"] * 2
    assert "the rest of the file is left out" in (corpus.skipped[1].detail or "")


def test_lines_after_a_long_one_are_kept_though_another_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.corpus.lines.BLOCK", 1 << 14)
    long = line("long", 1 << 18)
    data = long + line("a") + long + line("b") + long
    corpus = open_corpus(write(tmp_path / "a.jsonl", data), limits=SMALL)
    assert column(pages(corpus), "id") == ["a", "b"]
    assert [s.reason for s in corpus.skipped] == ["too large"] * 3


def damaged(kind: str, lines: list[bytes]) -> bytes:
    """A gzip member of these lines that cannot be read to its end."""
    whole = gzip_(b"".join(lines))
    if kind == "cut":
        return whole[: len(whole) * 2 // 3]
    if kind == "checksum":
        return whole[:-8] + b"\0\0\0\0" + whole[-4:]
    if kind == "header":
        return b"\0\1\2\3" + whole[4:]
    return b"plain junk\n"


@pytest.mark.parametrize("kind", ["cut", "checksum", "header", "junk"])
@pytest.mark.parametrize("place", [0, 4, 9])
def test_a_broken_member_costs_itself(tmp_path: Path, kind: str, place: int) -> None:
    groups = [[line(10 * member + i) for i in range(10)] for member in range(10)]
    members = [gzip_(b"".join(group)) for group in groups]
    members[place] = damaged(kind, groups[place])
    path = write(tmp_path / "a.jsonl.gz", b"".join(members))
    corpus = open_corpus(path)
    ids = [int(id) for id in column(pages(corpus), "id")]
    others = [id for id in range(100) if id // 10 != place]
    assert [id for id in ids if id // 10 != place] == others
    lost = 10 - (len(ids) - len(others))
    assert {"cut": 2 <= lost <= 5, "checksum": lost == 0}.get(kind, lost == 10)
    (skipped,) = corpus.skipped
    assert skipped.reason == "truncated gzip"
    at = sum(len(member) for member in members[:place])
    assert f"gzip member at byte {at}: " in (skipped.detail or "")
    assert [row["id"] for row in pages(open_corpus(path))] == [str(id) for id in ids]


def test_a_broken_member_of_a_csv_costs_itself(tmp_path: Path) -> None:
    members = [gzip_(b"id,text\n" + b"".join(b"a%d,x\n" % i for i in range(50)))]
    for name in (b"b", b"c", b"d"):
        members.append(gzip_(b"".join(name + b"%d,x\n" % i for i in range(50))))
    members[1] = members[1][:-40]
    corpus = open_corpus(write(tmp_path / "a.csv.gz", b"".join(members)))
    ids = column(pages(corpus), "id")
    assert [sum(id[0] == name for id in ids) for name in "acd"] == [50, 50, 50]
    assert [s.reason for s in corpus.skipped] == ["truncated gzip"]


def test_what_a_long_member_gave_before_its_break_is_kept(tmp_path: Path) -> None:
    lines = [line(i, 400) for i in range(4000)]
    packed = bytearray(gzip_(b"".join(lines)))
    at = len(packed) * 9 // 10
    packed[at : at + 64] = b"\xff" * 64
    path = write(tmp_path / "a.jsonl.gz", bytes(packed) + gzip_(line("end")))
    corpus = open_corpus(path)
    texts = column(pages(corpus), "text")
    assert column(pages(corpus), "id")[-1] == "end"
    stream = zlib.decompressobj(31)  # what zlib gives of the bytes before the damage
    sound = stream.decompress(bytes(packed[:at])).count(b"\n") - 1
    assert texts[:sound] == [orjson.loads(line)["text"] for line in lines[:sound]]
    assert len(texts) < 3700
    assert "truncated gzip" in {s.reason for s in corpus.skipped}


def test_members_made_to_overlap_do_not_cost_the_square(tmp_path: Path) -> None:
    """Every magic begins a member of stored blocks that runs to the end of the file."""
    head = GZIP_MAGIC + b"\0" * 7
    size = 65_535 - 15
    body = (
        head + b"\0" + size.to_bytes(2, "little") + (65_535 - size).to_bytes(2, "little")
    ) * 4_369
    path = write(tmp_path / "a.jsonl.gz", body * 16)
    stream = GzipStream(PlainStream(open(path, "rb", buffering=0)))  # noqa: SIM115
    given = breaks = 0
    more = True
    while more:
        try:
            data = stream.read(1 << 20)
            given, more = given + len(data), bool(data)
        except Exception:
            breaks, more = breaks + 1, stream.resume()
    stream.close()
    assert given + stream.again < 40 << 20
    assert breaks < 10_000


@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_truncated_zstd_keeps_every_line_that_can_be_read(tmp_path: Path, keep: float) -> None:
    data = b"".join(line(i, 400) for i in range(4000))
    packed = zstd(data)[: int(len(zstd(data)) * keep)]
    decoder = pa.CompressedInputStream(pa.BufferReader(packed), "zstd")
    sound = 0
    try:
        while byte := decoder.read(1):
            sound += byte == b"\n"
    except OSError:
        pass
    corpus = open_corpus(write(tmp_path / "a.jsonl.zst", packed))
    rows = pages(corpus)
    assert len(rows) == sound > 3500 * keep
    (skipped,) = corpus.skipped
    before = sum(map(len, data.splitlines(keepends=True)[:sound]))
    assert (skipped.reason, skipped.offset) == ("unreadable", before)


def test_damaged_zstd_keeps_the_blocks_before(tmp_path: Path) -> None:
    data = b"".join(line(i, 400) for i in range(4000))
    packed = bytearray(zstd(data))
    at = len(packed) * 3 // 4
    packed[at : at + 5000] = b"\xff" * 5000
    corpus = open_corpus(write(tmp_path / "a.jsonl.zst", bytes(packed)))
    rows = pages(corpus)
    block = 128 * 1024 // len(line(0, 400)) + 1
    assert len(rows) >= 3000 - block
    assert "unreadable" in {s.reason for s in corpus.skipped}
