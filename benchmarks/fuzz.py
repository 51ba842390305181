"""Mutated pages and records through the readers, extraction and the tokeniser.

    python -m benchmarks.fuzz --count 1000000 [--seed S] [--seconds N]

A round is one file of one format: valid records, most of them damaged. It must end with pages,
skipped rows or a CorpusError. Anything else, a crash of the process or a round that takes too
long is a failure: its file is saved, and its round number rebuilds it. Rounds run in a process
of their own, so that a crash is seen and the run goes on.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup import schemas
from neardup.corpus import REASONS, Corpus, CorpusError, open_corpus
from neardup.corpus.writers import write_kept
from neardup.extract.documents import Extract, extract
from neardup.features.tokens import token_counts

#: A round has a few hundred small records; one that takes this long hangs.
ROUND_SECONDS = 60
RECORDS = 250

NASTY = [
    *(
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf0\x9f",
    ),
    *(
        b'"',
        b"'",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"\\udc00\\ud800",
        b"NaN",
        b"-Infinity",
        b"null",
        b"{}",
    ),
    *(
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b",",
        b"\t",
        b"[" * 2000,
        b'{"a":' * 700,
        b"}" * 50,
        b"1e999",
        b"-0",
    ),
    *(
        b"<!--",
        b"-->",
        b"<script>",
        b"</script",
        b"<![CDATA[",
        b"<style>",
        b"<title>",
        b"<a href='",
        b"<p hidden>",
    ),
    *(
        b"<div>" * 600,
        b"<table><td><table>",
        b"<svg><math>",
        b"<template>",
        b"</",
        b"<",
        b"&#x110000;",
        b"&#0;",
    ),
    *(
        b"&amp",
        b"&#",
        b"<meta charset=utf-16>",
        b"<meta charset=x-user-defined>",
        b"<plaintext>",
        b"<select>",
    ),
    *(
        b"WARC/1.0\r\n",
        b"Content-Length: 99999999999999\r\n",
        b"Content-Length: -1\r\n",
        b"\x1f\x8b\x08\0",
    ),
    *(
        b"Content-Encoding: br\r\n",
        b"Content-Encoding: zstd, gzip, deflate\r\n",
        b"Transfer-Encoding: chunked\r\n",
    ),
    *(
        "\u202e\u0301\u0e01\u4e00\U0001f468\u200d".encode(),
        "İﬃß".encode(),
        b"\xe2\x80\xa8",
        b"PAR1",
    ),
]


def words(rng: random.Random, count: int) -> str:
    """Made-up text in several scripts."""
    letters = rng.choice(["abcdefgh", "éüßøñ", "абвгд", "的一是不了", "ابتثج", "กขคง", "かなカナ"])
    return " ".join(
        "".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(rng.randint(1, count))
    )


def html(rng: random.Random) -> bytes:
    items = "".join(f"<li><a href='/{i}'>{words(rng, 3)}</a>" for i in range(rng.randint(0, 4)))
    page = (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{words(rng, 4)}</title>"
        f"<style>p {{}}</style><script>var a = '<p>';</script></head><body><ul>{items}</ul>"
        f"<p>{words(rng, 30)}</p><div style='display:none'>{words(rng, 3)}</div>"
        f"<!-- {words(rng, 2)} -->"
        f"<table><tr><td>{words(rng, 5)}&amp;&eacute;&#233;</table></body></html>"
    )
    return page.encode(rng.choice(["utf-8", "utf-8", "utf-16", "utf-8-sig"]))


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """One to four damages: flips, cuts, copies, splices, lies about lengths, nasty tokens."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(out) + 1)
        end = min(len(out), at + rng.choice([1, 2, 8, 64, 512]))
        kind = rng.randrange(9)
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif kind == 1 and out:
            out[at % len(out)] = rng.randrange(256)
        elif kind == 2:
            del out[at:end]
        elif kind == 3:
            out[at:at] = out[at:end] * rng.choice([1, 1, 5])
        elif kind == 4:
            out[at:at] = rng.choice(NASTY)
        elif kind == 5:
            del out[at:]
        elif kind == 6:
            out[at:end] = other[at:end]
        elif kind == 7:
            _lie(rng, out)
        else:
            out[at:end] = rng.randbytes(end - at)
    return bytes(out)


def _lie(rng: random.Random, out: bytearray) -> None:
    """Replace a number by one that is too small, too large or none."""
    digits = [i for i, byte in enumerate(out) if 48 <= byte <= 57]
    if digits:
        at = rng.choice(digits)
        out[at : at + 1] = rng.choice([b"0", b"-1", b"4294967296", b"99999999999999999999", b"x"])


def jsonl(rng: random.Random) -> bytes:
    record = {
        "id": rng.choice([rng.randrange(10**6), words(rng, 2), None]),
        "text": words(rng, 30),
        "html": html(rng).decode("utf-8", "replace"),
        "url": f"http://example.org/{rng.randrange(1000)}",
        "date": rng.choice(["2024-01-02", 1704164645, "Tue, 02 Jan 2024 03:04:05 GMT", "x"]),
        "more": {"list": [1, None, 2.5, {"deep": "x"}]},
    }
    return json.dumps(record, ensure_ascii=rng.random() < 0.5).encode("utf-8", "replace") + b"\n"


def csv_row(rng: random.Random) -> bytes:
    text = words(rng, 20).replace(" ", rng.choice([" ", "\n", ",", '""']))
    return f'{rng.randrange(10**6)},"{text}",http://example.org/{rng.randrange(99)}\n'.encode()


def warc(rng: random.Random) -> bytes:
    body = html(rng)
    coding, packed = rng.choice(
        [
            ("", body),
            ("", body),
            ("gzip", gzip.compress(body, 1)),
            ("deflate", zlib.compress(body, 1)),
            ("br", bytes(pa.compress(body, "brotli", asbytes=True))),
            ("zstd", bytes(pa.compress(body, "zstd", asbytes=True))),
        ]
    )
    transfer = ""
    if rng.random() < 0.3:
        transfer = "Transfer-Encoding: chunked\r\n"
        packed = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    kind = rng.choice(["response"] * 5 + ["revisit", "resource", "conversion", "request"])
    mime = rng.choice(["text/html; charset=utf-8", "text/html", "text/plain", "image/png", ""])
    status = rng.choice([200, 200, 200, 404])
    head = (
        f"HTTP/1.1 {status} OK\r\nContent-Type: {mime}\r\n"
        f"Content-Encoding: {coding}\r\n{transfer}\r\n"
    )
    block = head.encode() + packed if kind == "response" else body
    outer = "application/http" if kind == "response" else mime
    number = rng.randrange(50)
    return (
        (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://example.org/{number}\r\n"
            f"WARC-Date: 2024-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:{number}>\r\n"
            f"WARC-Refers-To: <urn:{rng.randrange(50)}>\r\nContent-Type: {outer}\r\n"
            f"Content-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )


def parquet(rng: random.Random) -> bytes:
    rows = [json.loads(jsonl(random.Random(rng.random()))) for _ in range(rng.randint(1, 40))]
    table = pa.table(
        {
            "id": [str(row["id"]) for row in rows],
            "text": [row["text"] for row in rows],
            "n": list(range(len(rows))),
        }
    )
    sink = io.BytesIO()
    codec = rng.choice(["none", "snappy", "zstd", "gzip", "brotli", "lz4"])
    pq.write_table(
        table,
        sink,
        row_group_size=rng.choice([5, 100]),
        compression=codec,
        use_dictionary=rng.random() < 0.5,
        data_page_version=rng.choice(["1.0", "2.0"]),
    )
    return sink.getvalue()


Made = tuple[dict[str, bytes], int]


@cache
def _whole(make: Callable[[random.Random], bytes], seed: int) -> list[bytes]:
    """Valid records to damage; making them costs more than the rest of a round."""
    rng = random.Random(f"{seed} {make.__name__}")
    return [make(rng) for _ in range(4 * RECORDS if make is not parquet else RECORDS)]


def _records(make: Callable[[random.Random], bytes], rng: random.Random, seed: int) -> list[bytes]:
    """Records of a round, about four in five of them damaged."""
    whole = rng.choices(_whole(make, seed), k=RECORDS)
    return [mutate(rng, one, rng.choice(whole)) if rng.random() < 0.8 else one for one in whole]


def build(seed: int, number: int) -> Made:
    """The files of a round by name, and how many mutated pages or records are in them."""
    rng = random.Random(f"{seed} {number}")
    format = rng.choice(
        ["jsonl", "jsonl", "csv", "warc", "warc", "warc.gz", "warc.gz", "tree", "parquet"]
    )
    if format == "tree":
        pages = _records(html, rng, seed)
        endings = [".html", ".htm", "", ".txt"]
        return {f"{i}{rng.choice(endings)}": page for i, page in enumerate(pages)}, len(pages)
    if format == "parquet":
        files = rng.choices(_whole(parquet, seed), k=RECORDS // 10)
        return {f"{i}.parquet": mutate(rng, f, files[0]) for i, f in enumerate(files)}, len(files)
    if format == "warc.gz":
        records = _records(warc, rng, seed)
        if rng.random() < 0.3:
            return {"a.warc.gz": gzip.compress(b"".join(records), 1)}, len(records)
        members = [gzip.compress(one, 1) for one in records]
        return {
            "a.warc.gz": b"".join(
                mutate(rng, one, members[0]) if rng.random() < 0.2 else one for one in members
            )
        }, len(records)
    make = {"jsonl": jsonl, "csv": csv_row, "warc": warc}[format]
    records = _records(make, rng, seed)
    data = (b"id,text,url\n" if format == "csv" else b"") + b"".join(records)
    if format != "warc" and rng.random() < 0.3:
        packed = gzip.compress(data, 1)
        if rng.random() < 0.5:
            packed = mutate(rng, packed, packed)
        return {f"a.{format}.gz": packed}, len(records)
    return {f"a.{format}": data}, len(records)


def check(folder: Path, number: int) -> tuple[int, int]:
    """Read a round's files to the end; how many pages and how many skipped rows came out."""
    paths = sorted(path for path in folder.iterdir() if path.name != "out")
    lines = paths[0].name.startswith("a.jsonl")
    options: dict[str, Any] = {"html_field": "html"} if lines and number % 2 else {}
    try:
        source = folder if len(paths) > 1 else paths[0]
        corpus = open_corpus(source, **options)
    except CorpusError:
        return 0, 1
    pages = 0
    places: dict[int, list[int]] = {}
    for batch in corpus:
        _check_batch(batch)
        pages += batch.num_rows
        for file, position in zip(
            batch["file"].to_pylist(), batch["position"].to_pylist(), strict=True
        ):
            places.setdefault(file, []).append(position)
    assert all(row.reason in REASONS for row in corpus.skipped)
    for found in places.values():
        assert found == sorted(set(found)), "positions must rise"
    if number % 4 == 0:
        _check_writing(corpus, places, folder / "out", number % 8 == 0, options)
    return pages, len(corpus.skipped)


def _check_batch(batch: pa.RecordBatch) -> None:
    batch.validate(full=True)
    assert batch.schema == schemas.PAGES
    documents = extract(batch, Extract())
    documents.validate(full=True)
    assert documents.num_rows == batch.num_rows
    counts = token_counts(documents["text"])
    assert len(counts) == batch.num_rows
    assert batch.num_rows == 0 or counts.min() >= 0


def _check_writing(
    corpus: Corpus,
    places: dict[int, list[int]],
    out: Path,
    annotate: bool,
    options: dict[str, Any],
) -> None:
    """Everything kept must be readable again, as often as it was read."""

    def rows(file: int) -> pa.Table:
        found = places.get(file, [])
        columns = {
            "position": pa.array(found, pa.int64()),
            "kept": pa.array([True] * len(found), pa.bool_()),
        }
        if annotate:
            columns["cluster"] = pa.array(["x"] * len(found), pa.string())
            columns["cluster_size"] = pa.array([1] * len(found), pa.int64())
        return pa.table(columns)

    try:
        written = write_kept(corpus, out, rows, annotate=annotate)
    except CorpusError:
        return
    expected = sum(len(found) for found in places.values())
    again = 0
    for path in written:
        if path.name.startswith("kept") and (path.is_file() or any(path.rglob("*"))):
            try:
                again += sum(b.num_rows for b in open_corpus(path, **options))
            except CorpusError:  # a file without a page left has no field to name the text
                continue
    assert annotate or again == expected, f"{again} of {expected} pages were read again"


def work(seed: int, first: int) -> None:
    """Rounds without end, each announced and counted on stdout for the watching process."""
    for number in iter(range(first, sys.maxsize)):
        print(f"begin {number}", flush=True)
        files, cases = build(seed, number)
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                (Path(folder) / name).write_bytes(data)
            pages, skipped = check(Path(folder), number)
        print(f"end {number} {cases} {pages} {skipped}", flush=True)


class Worker:
    """A process that runs rounds, and a thread that collects what it says."""

    def __init__(self, seed: int, first: int) -> None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.fuzz",
            "--seed",
            str(seed),
            "--work",
            str(first),
        ]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by stop)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def stop(self) -> str:
        """End the process; the last lines it wrote to stderr and how it ended."""
        self.process.kill()
        self.reader.join()
        code = self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.errors.seek(0)
        told = self.errors.read().decode("utf-8", "replace").strip().splitlines()[-6:]
        self.errors.close()
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return "\n".join([*told, ended])


def watch(
    seed: int, count: int, seconds: float, limit: float
) -> Iterator[tuple[str, int, list[int]]]:
    """("end", round, counts) for rounds that went well, ("fail", round, []) for the others."""
    cases, number = 0, 0
    until = time.monotonic() + seconds
    while cases < count and time.monotonic() < until:
        worker = Worker(seed, number)
        patience = 10 * limit  # the first round may compile kernels
        try:
            while cases < count and time.monotonic() < until:
                try:
                    line = worker.lines.get(timeout=patience)
                except queue.Empty:
                    line = None
                if line is None:
                    print(f"round {number} failed: {worker.stop()}", file=sys.stderr, flush=True)
                    yield "fail", number, []
                    number += 1
                    break
                word, at, *counts = line.split()
                if word == "end":
                    patience = limit
                    cases += int(counts[0])
                    yield "end", int(at), [int(c) for c in counts]
                    number = int(at) + 1
        finally:
            if worker.process.poll() is None:
                worker.stop()


def save(seed: int, number: int, folder: Path) -> Path:
    """Write the files of a failed round where they can be looked at."""
    target = folder / f"seed-{seed}-round-{number}"
    target.mkdir(parents=True, exist_ok=True)
    for name, data in build(seed, number)[0].items():
        (target / name).write_bytes(data)
    return target


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="mutated pages and records")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--limit", type=float, default=ROUND_SECONDS, help="seconds for a round")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--round", type=int, help="run one round in this process")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.work is not None:
        work(chosen.seed, chosen.work)
    if chosen.round is not None:
        folder = save(chosen.seed, chosen.round, chosen.failures)
        print(f"{folder}: {check(folder, chosen.round)} pages and skipped rows")
        return 0
    started, told = time.monotonic(), 0.0
    rounds = cases = pages = skipped = failures = 0
    for word, number, counts in watch(chosen.seed, chosen.count, chosen.seconds, chosen.limit):
        rounds += 1
        if word == "fail":
            failures += 1
            print(
                f"seed {chosen.seed} round {number}: {save(chosen.seed, number, chosen.failures)}"
            )
        else:
            cases, pages, skipped = cases + counts[0], pages + counts[1], skipped + counts[2]
        passed = time.monotonic() - started
        if passed - told > 10:
            told = passed
            print(f"{cases:,} cases, {cases / passed:,.0f}/s, {failures} failures", flush=True)
    passed = time.monotonic() - started
    print(
        f"{cases:,} mutated pages and records in {rounds:,} rounds, {passed:.0f} s "
        f"({cases / passed:,.0f}/s): {pages:,} pages, {skipped:,} skipped, {failures} failures "
        f"(seed {chosen.seed})"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    # a hidden crash must not be mistaken for the end of the run
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    sys.exit(main())
