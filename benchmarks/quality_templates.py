"""What template removal takes and what it leaves, on real and on made-up sites.

    python -m benchmarks.quality_templates

The data is in the folder NEARDUP_DATA, else ../shared/data; without it only the made-up sites are
measured.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import schemas
from neardup.extract import Extract, extract
from neardup.extract.templates import (
    TemplateBuilder,
    Templates,
    TemplateTable,
    block_hashes,
    remove,
)

WORD = re.compile(r"\w+")
THRESHOLD = 0.8


def main() -> None:
    folder = Path(os.environ.get("NEARDUP_DATA") or "../shared/data")
    if folder.is_dir():
        terms_history(folder / "terms_history")
        template_pages(folder / "main_content")
    else:
        print(f"no data in {folder}: real pages are skipped")
    made_up_sites()
    speed()


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def texts_of(pages: list[dict[str, Any]]) -> list[str]:
    """The visible text of HTML pages."""
    empty = {
        name: pa.nulls(len(pages), schemas.PAGES.field(name).type) for name in schemas.PAGES.names
    }
    html = pa.array([page["html"].encode() for page in pages], pa.binary())
    number = pa.array(range(len(pages)))
    columns = empty | {"html": html, "file": number.cast(pa.int32()), "position": number}
    columns["id"] = number.cast(pa.string())
    batch = pa.record_batch(
        [columns[name] for name in schemas.PAGES.names], names=schemas.PAGES.names
    )
    result: list[str] = extract(batch, Extract())["text"].to_pylist()
    return result


def shingles(text: str, size: int = 5) -> set[tuple[str, ...]]:
    words = WORD.findall(text.casefold())
    return {tuple(words[k : k + size]) for k in range(len(words) - size + 1)}


def resemblance(a: set[tuple[str, ...]], b: set[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def without(texts: list[str], sites: list[int], spec: Templates) -> tuple[list[str], TemplateTable]:
    numbers = np.array(sites, np.uint64)
    builder = TemplateBuilder(spec)
    builder.add(numbers, np.arange(len(texts)), *block_hashes(texts))
    table = builder.build()
    return remove(texts, numbers, table, spec)[0].to_pylist(), table


def terms_history(folder: Path) -> None:
    """Text that all versions of a page share must survive, whatever is taken for a site."""
    pages = rows(folder / "pages.jsonl.gz")
    versions = {row["version"]: shingles(row["text"]) for row in rows(folder / "versions.jsonl.gz")}
    texts = texts_of(pages)
    before = [shingles(text) for text in texts]
    members = defaultdict(set)
    for page in pages:
        members[page["document"]].add(page["version"])
    shared = {
        document: set.intersection(*(versions[v] for v in names if v in versions))
        for document, names in members.items()
        if any(v in versions for v in names)
    }
    numbers = {document: n for n, document in enumerate(members, 1)}
    captures = defaultdict(int)
    for page in pages:
        captures[page["document"]] += 1
    print(f"\nterms_history: {len(pages)} captures of {len(members)} pages, at most "
          f"{max(captures.values())} of one")  # fmt: skip
    print("| a site is | min_pages | template blocks | pages changed | shared text that survives | "
          "pages that lose any |\n|---|---|---|---|---|---|")  # fmt: skip
    for name, sites in (
        ("one page's captures", [numbers[page["document"]] for page in pages]),
        ("twenty pages", [numbers[page["document"]] // 20 + 1 for page in pages]),
        ("everything", [1] * len(pages)),
    ):
        for least in (3, 5, 10):
            after, table = without(texts, sites, Templates(min_pages=least))
            kept = total = losers = 0
            for page, old, text, new in zip(pages, before, texts, after, strict=True):
                common = shared.get(page["document"], set()) & old
                left = len(common & shingles(new)) if new != text else len(common)
                kept, total, losers = (
                    kept + left,
                    total + len(common),
                    losers + (left < len(common)),
                )
            changed = sum(a != b for a, b in zip(texts, after, strict=True))
            print(
                f"| {name} | {least} | {len(table)} | {changed} | {kept / total:.4%} | {losers} |"
            )


def template_pages(folder: Path) -> None:
    """Pages of a few sites in one template each: different articles must not look alike."""
    pages = rows(folder / "template_pages.jsonl.gz")
    index = {page["id"]: n for n, page in enumerate(pages)}
    lines = (folder / "template_pairs.tsv").read_text("utf-8").splitlines()[1:]
    pairs = [(index[a], index[b], float(gold)) for a, b, _, gold in (x.split("\t") for x in lines)]
    texts, sites = texts_of(pages), components(len(pages), [(a, b) for a, b, _ in pairs])
    sizes = sorted(np.bincount(sites)[1:].tolist(), reverse=True)
    print(f"\ntemplate_pages: {len(pages)} pages, sites of {sizes[:8]} ... pages")
    print("| min_pages | template blocks | pages changed | different pairs above "
          f"{THRESHOLD} | and above .5 | copies above {THRESHOLD} |\n"
          "|---|---|---|---|---|---|")  # fmt: skip
    for least in (None, 3, 5, 10):
        after, blocks = texts, 0
        if least:
            after, table = without(texts, sites, Templates(min_pages=least))
            blocks = len(table)
        sets = [shingles(text) for text in after]
        scores = [(resemblance(sets[a], sets[b]), gold) for a, b, gold in pairs]
        different = [s for s, gold in scores if gold < 0.1]
        copies = [s for s, gold in scores if gold >= 0.5]
        changed = sum(a != b for a, b in zip(texts, after, strict=True))
        print(
            f"| {least or 'no removal'} | {blocks} | {changed} | "
            f"{sum(s >= THRESHOLD for s in different)} of {len(different)} | "
            f"{sum(s >= 0.5 for s in different)} | "
            f"{sum(s >= THRESHOLD for s in copies)} of {len(copies)} |"
        )


def components(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """The number, from 1, of the connected component of each page."""
    parent = list(range(count))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in pairs:
        parent[root(a)] = root(b)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(n), len(numbers) + 1) for n in range(count)]


def made_up_sites() -> None:
    """A thousand articles in one template, and copies of one page, by the template's share."""
    print("\nmade up: articles of 150 words in a template of menus and paragraphs")
    print("| pages | template's share of the words | resemblance before | after | pages whose "
          "article is left exactly |\n|---|---|---|---|---|")  # fmt: skip
    for count in (12, 100, 1000):
        for share in (0.3, 0.6, 0.75, 0.9, 0.95):
            texts, articles = site(count, share)
            after, _ = without(texts, [1] * count, Templates())
            old, new = (resemblance(shingles(t[0]), shingles(t[1])) for t in (texts, after))
            exact = sum(a == b for a, b in zip(after, articles, strict=True))
            print(f"| {count} | {share:.0%} | {old:.2f} | {new:.2f} | {exact} |")
    print("\nmade up: copies of one page, each with its own text; what of the page survives")
    print("| copies | own text of each | survives |\n|---|---|---|")
    for count in (30, 100, 1000):
        for share in (0.05, 0.1, 0.2, 0.3, 0.5):
            texts, _ = site(count, 1 - share)
            after, _ = without(texts, [1] * count, Templates())
            page = shingles(texts[0]) & shingles(texts[1])
            print(f"| {count} | {share:.0%} | {len(page & shingles(after[0])) / len(page):.0%} |")


def site(count: int, share: float, words: int = 150) -> tuple[list[str], list[str]]:
    """Pages of which the template is this share of the words, and their articles alone; two
    thirds of the template are paragraphs of 25 words, one third is links of two words."""
    draw = random.Random(7)
    letters = "etaoinshrdlu"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(3000)]

    def prose(length: int) -> str:
        return " ".join(draw.choices(vocabulary, k=length))

    size = round(words * share / (1 - share))
    above = [prose(2) for _ in range(size // 6)]
    below = [prose(25) for _ in range(max(1, round(size * 2 / 3 / 25)))]
    articles = ["\n".join(prose(50) for _ in range(words // 50)) for _ in range(count)]
    return ["\n".join([*above, article, *below]) for article in articles], articles


def speed() -> None:
    """Megabytes of text a second on one thread, and the time to decide."""
    texts, _ = site(2000, 0.6)
    array = pa.array(texts * 10, pa.large_string())
    sites = np.repeat(np.arange(1, 101, dtype=np.uint64), 200)
    size = array.nbytes / 1e6
    hashing = min(timed(lambda: block_hashes(array)) for _ in range(5))
    rows = block_hashes(array)
    builder = TemplateBuilder(Templates())
    adding = timed(lambda: builder.add(sites, np.arange(len(array)), *rows))
    start = time.thread_time()
    table = builder.build()
    building = time.thread_time() - start
    removing = min(timed(lambda: remove(array, sites, table, table.spec)) for _ in range(5))
    print(f"\nspeed on {size:.0f} MB, {len(array)} pages, {len(rows[0])} blocks, 100 sites:")
    print(f"block_hashes {size / hashing:.0f} MB/s, remove {size / removing:.0f} MB/s, "
          f"add {len(rows[0]) / adding / 1e6:.1f} and build {len(rows[0]) / building / 1e6:.1f} "
          "million blocks a second")  # fmt: skip


def timed(call: Any) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


if __name__ == "__main__":
    main()
