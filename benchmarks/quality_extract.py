"""How well pages are read: agreement with lexbor, main content against its peers, speed.

    python -m benchmarks.quality_extract [--peers PYTHON]

Data: the folder NEARDUP_DATA, else ../shared/data. PYTHON is the interpreter of an environment
with trafilatura and resiliparse; without it, they are left out.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
from selectolax.lexbor import LexborHTMLParser

from benchmarks.lexbor_walk import tokens, visible_text
from neardup import schemas
from neardup.extract import Extract, extract, scan

_SETS = (
    "terms_history/pages.jsonl.gz",
    "main_content/articles.jsonl.gz",
    "main_content/template_pages.jsonl.gz",
)
_PEER = """
import json, sys, time
name = sys.argv[1]
rows = [json.loads(line)["html"] for line in sys.stdin.buffer]
if name == "trafilatura":
    from trafilatura import extract
    read = lambda page: extract(page, include_comments=False) or ""
else:
    from resiliparse.extract.html2text import extract_plain_text
    read = lambda page: extract_plain_text(page, main_content=True)
read(rows[0])
start = time.process_time()
texts = [read(row) for row in rows]
json.dump([texts, time.process_time() - start], sys.stdout)
"""


def data_folder() -> Path | None:
    folder = Path(os.environ.get("NEARDUP_DATA", "../shared/data"))
    return folder if folder.is_dir() else None


def rows_of(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pages_of(pages: list[bytes]) -> pa.RecordBatch:
    """PAGES with nothing but the HTML; the data is UTF-8, whatever the pages declare."""
    count = len(pages)
    columns = {
        "id": pa.array([str(row) for row in range(count)]),
        "file": pa.array([0] * count, pa.int32()),
        "position": pa.array(range(count), pa.int64()),
        "html": pa.array(pages, pa.binary()),
        "charset": pa.array(["utf-8"] * count),
    }
    arrays = [columns.get(f.name, pa.nulls(count, f.type)) for f in schemas.PAGES]
    return pa.RecordBatch.from_arrays(arrays, schema=schemas.PAGES)


def agreement(name: str, pages: list[bytes]) -> None:
    """Print the share of pages with the tokens of a lexbor walk, and where others part."""
    texts = extract(pages_of(pages), Extract()).column("text").to_pylist()
    same, count = 0, 0
    for row, (page, text) in enumerate(zip(pages, texts, strict=True)):
        ours, theirs = tokens(text), tokens(visible_text(page))
        count += len(theirs)
        same += ours == theirs
        if ours != theirs:
            at = next(
                (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
                min(len(ours), len(theirs)),
            )
            print(f"  page {row}: {ours[at : at + 6]} where lexbor has {theirs[at : at + 6]}")
    print(f"{name}: {same} of {len(pages)} pages alike ({same / len(pages):.2%}), {count} tokens")


def shingles(words: list[str]) -> collections.Counter[tuple[str, ...]]:
    return collections.Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)))


def quality(texts: Iterable[str], gold: list[str]) -> str:
    """Precision, recall (means over pages) and their F1 over 4-shingles of tokens."""
    precision = recall = 0.0
    for text, truth in zip(texts, gold, strict=True):
        found, wanted = shingles(tokens(text)), shingles(tokens(truth))
        common = (found & wanted).total()
        precision += common / found.total() / len(gold)
        recall += common / wanted.total() / len(gold)
    f1 = 2 * precision * recall / (precision + recall)
    return f"F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})"


def main_content(rows: list[dict[str, str]], peers: str | None) -> None:
    """Print F1 and MB/s of main content, ours and the peers', on pages no weight has seen."""
    unseen = [row for row in rows if _half(row["url"]) == 1]
    gold = [row["text"] for row in unseen]
    pages = [row["html"].encode() for row in unseen]
    megabytes = sum(map(len, pages)) / 1e6
    batch = pages_of(pages)
    for content in ("main", "visible"):
        spec = Extract(content=content)
        extract(batch, spec)
        start = time.process_time()
        texts = extract(batch, spec).column("text").to_pylist()
        speed = megabytes / (time.process_time() - start)
        print(f"neardup {content}: {quality(texts, gold)}, {speed:.1f} MB/s")
    if peers is None:
        print("trafilatura, resiliparse: left out (no --peers)")
        return
    lines = "".join(json.dumps(row) + "\n" for row in unseen)
    for name in ("trafilatura", "resiliparse"):
        command = [peers, "-c", _PEER, name]
        run = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
        texts, seconds = json.loads(run.stdout)
        print(f"{name}: {quality(texts, gold)}, {megabytes / seconds:.1f} MB/s")


def _half(url: str) -> int:
    """Which half a host is in: 0 was used to fit the weights, 1 to measure."""
    return hashlib.md5((urlsplit(url).netloc).encode(), usedforsecurity=False).digest()[0] % 2


def speed(pages: list[bytes]) -> None:
    """Print MB/s to text, title and links: lexbor on one thread, ours on one and two."""
    batches = [pages_of(pages[start::16]) for start in range(16)]
    megabytes = sum(map(len, pages)) / 1e6
    pool = ThreadPoolExecutor(2)
    spec = Extract()
    jobs: dict[str, Callable[[], object]] = {
        "lexbor, 1 thread": lambda: [_lexbor(page) for page in pages],
        "neardup, 1 thread": lambda: [scan(batch, spec) for batch in batches],
        "neardup, 2 threads": lambda: list(pool.map(lambda batch: scan(batch, spec), batches)),
    }
    best, busy = dict.fromkeys(jobs, 0.0), dict.fromkeys(jobs, 0.0)
    for _ in range(5):
        for name, job in jobs.items():
            start, processor = time.perf_counter(), time.process_time()
            job()
            best[name] = max(best[name], megabytes / (time.perf_counter() - start))
            busy[name] = max(busy[name], megabytes / (time.process_time() - processor))
    for name, rate in best.items():
        ratio = rate / best["lexbor, 1 thread"]
        print(
            f"{name}: {rate:.0f} MB/s ({ratio:.2f} of lexbor), {busy[name]:.0f} MB per CPU second"
        )


def _lexbor(page: bytes) -> tuple[str, list[str | None], str]:
    parser = LexborHTMLParser(page)
    parser.strip_tags(["script", "style", "template", "noscript"])
    text = parser.body.text(separator="\n") if parser.body else ""
    title = parser.css_first("title")
    links = [link.attributes.get("href") for link in parser.css("a[href]")]
    return text, links, title.text() if title else ""


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--peers", help="a python with trafilatura and resiliparse")
    options = arguments.parse_args()
    folder = data_folder()
    if folder is None:
        print("no data: set NEARDUP_DATA to its folder; skipped")
        return 0
    sets = {name: rows_of(folder / name) for name in _SETS}
    sample: list[bytes] = []
    for name, rows in sets.items():
        pages = [row["html"].encode() for row in rows]
        agreement(name, pages)
        sample += pages[::6]
    main_content(sets[_SETS[1]], options.peers)
    speed(sample)
    return 0


if __name__ == "__main__":
    sys.exit(main())
