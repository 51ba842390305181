"""The benchmark corpus: real documents from Debian documentation packages, cached in .bench/.

Packages are fetched by name with apt and unpacked without root. Their HTML pages stay HTML for
the extraction row; for the text rows lexbor strips the tags and the text is cut into documents.
Near-duplicates are real (neighbouring versions and dialects of one manual) and made (seeded
edits of a stated share of the documents). Every order is fixed, so two runs measure one corpus.
"""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CACHE = Path(__file__).resolve().parent.parent / ".bench"
VERSION = 2  # raised when the same packages come to give another corpus
SEED = 20070508

SMALL = (
    "python3.11-doc",
    "postgresql-doc-15",
    "libreoffice-help-en-us",
    "libreoffice-help-en-gb",
    "git-doc",
    "developers-reference",
    "debian-reference-en",
    "debian-reference-ja",
    "debian-reference-zh-cn",
)
FULL = (
    *SMALL,
    "libstdc++-11-doc",
    "libstdc++-12-doc",
    "libboost1.74-doc",
    "libboost1.81-doc",
    "debian-handbook",
    "installation-guide-amd64",
    "libreoffice-help-fr",
    "libreoffice-help-ru",
    "libreoffice-help-ja",
    "debian-reference-de",
    "apache2-doc",
    "sqlite3-doc",
    "nodejs-doc",
    "python-django-doc",
    "cmake-doc",
)
#: only for the million documents of the growth row
GROWTH = (*FULL, "linux-doc-6.1", "openjdk-17-doc", "python-pandas-doc", "qtbase5-doc-html")

EDITED = 0.15  # share of the documents that are edited copies of others
ROW_GROUP = 4096


@dataclass(frozen=True)
class Size:
    """What `--size` names: packages, bytes of HTML for extraction, documents for growth."""

    packages: tuple[str, ...]
    html_bytes: int
    growth: tuple[int, ...]


SIZES = {
    "small": Size(SMALL, 40_000_000, (10_000, 30_000, 100_000)),
    "full": Size(FULL, 120_000_000, (10_000, 100_000, 1_000_000)),
}


class CorpusError(RuntimeError):
    """The corpus cannot be built here; the message says what is missing."""


# ---------------------------------------------------------------- packages


def tree(package: str) -> Path:
    """The unpacked files of a Debian package, fetched on first use."""
    target = CACHE / "debian" / "trees" / package
    if target.is_dir():
        return target
    archives = CACHE / "debian" / "packages"
    archives.mkdir(parents=True, exist_ok=True)
    if not list(archives.glob(f"{package}_*.deb")):
        _download(package, archives)
    archive = sorted(archives.glob(f"{package}_*.deb"))[-1]
    partial = target.with_name(target.name + ".partial")
    partial.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-deb", "-x", str(archive), str(partial)], check=True)
    partial.rename(target)
    return target


def _download(package: str, folder: Path) -> None:
    fetch = ["apt-get", "download", "--quiet", "--quiet", package]
    if subprocess.run(fetch, cwd=folder, capture_output=True).returncode == 0:
        return
    subprocess.run(["apt-get", "update", "--quiet", "--quiet"], capture_output=True)
    again = subprocess.run(fetch, cwd=folder, capture_output=True, text=True)
    if again.returncode:
        raise CorpusError(f"cannot fetch the Debian package {package}: {again.stderr.strip()}")


def html_files(package: str) -> list[Path]:
    """Every HTML page of a package, in a fixed order, without links to pages counted already."""
    found = (p for p in tree(package).rglob("*") if p.suffix in (".html", ".htm"))
    return sorted(p for p in found if p.is_file() and not p.is_symlink())


# ---------------------------------------------------------------- text and documents

_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r"\s*\n\s*")


def visible_text(html: bytes) -> str:
    """The text of a page as lexbor sees it, one source line a line."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    page.strip_tags(["head", "script", "style", "noscript", "template"])
    text = page.body.text(separator=" ") if page.body else ""
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def texts(package: str) -> list[str]:
    """The text of every page of a package, cached."""
    path = CACHE / "text" / f"{package}.parquet"
    if not path.exists():
        found = [visible_text(file.read_bytes()) for file in html_files(package)]
        write(path, {"text": pa.array([t for t in found if t], pa.large_string())})
    cached: list[str] = pq.read_table(path)["text"].to_pylist()
    return cached


def chunks(text: str, least: int = 400, most: int = 20_000, one_in: int = 112) -> Iterator[str]:
    """Cut a page where its own lines say so, so that two versions of a page are cut alike.

    A line ends a document when its CRC is 0 modulo `one_in`: lengths are spread widely about
    3 KB, as on the web, and an edit moves only the cuts next to it.
    """
    lines: list[str] = []
    length = 0
    for line in text.split("\n"):
        lines.append(line)
        length += len(line) + 1
        cut = length >= least and zlib.crc32(line.encode()) % one_in == 0
        if cut or length >= most:
            yield "\n".join(lines)
            lines, length = [], 0
    if length >= least // 4:
        yield "\n".join(lines)


def edited(text: str, strength: float, draw: random.Random) -> str:
    """A copy with about `strength` of its words dropped, repeated or replaced, in small runs."""
    words = text.split(" ")
    result: list[str] = []
    at = 0
    while at < len(words):
        run = draw.randint(1, 4)
        piece = words[at : at + run]
        at += run
        if draw.random() >= strength:
            result += piece
            continue
        kind = draw.randrange(3)
        if kind == 1:
            result += piece + piece
        elif kind == 2:
            result += [draw.choice(words) for _ in piece]
    return " ".join(result)


def with_copies(originals: list[str], share: float, draw: random.Random) -> list[str]:
    """The documents and edited copies, shuffled; copies are `share` of the result.

    Strengths run from one word in 200 to one in 7: on both sides of any sensible threshold.
    """
    count = round(len(originals) * share / (1 - share))
    copies = [
        edited(draw.choice(originals), draw.choice((0.005, 0.01, 0.02, 0.05, 0.15)), draw)
        for _ in range(count)
    ]
    result = originals + [copy for copy in copies if copy]
    draw.shuffle(result)
    return result


# ---------------------------------------------------------------- files


def documents(size: str) -> Path:
    """Parquet with `id` and `text`: the documents of the simhash, minhash and job rows."""
    path = _file(size, SIZES[size].packages, "documents")
    if not path.exists():
        originals = [
            document
            for package in SIZES[size].packages
            for text in texts(package)
            for document in chunks(text)
        ]
        write_documents(path, with_copies(originals, EDITED, random.Random(SEED)))
    return path


def head(path: Path, count: int) -> Path:
    """The first `count` documents of a corpus file (their order is already shuffled)."""
    part = path.with_name(f"{path.stem}-first-{count}.parquet")
    if not part.exists():
        table = pq.read_table(path).slice(0, count)
        write(part, {name: table[name] for name in table.column_names})
    return part


def pages(size: str) -> Path:
    """Parquet with `url` and `html`: a shuffled sample of the packages' own pages."""
    wanted = SIZES[size].html_bytes
    path = _file(size, SIZES[size].packages, f"pages-{wanted}")
    if not path.exists():
        files = [file for package in SIZES[size].packages for file in html_files(package)]
        random.Random(SEED).shuffle(files)
        urls, htmls, total = [], [], 0
        for file in files:
            if total >= wanted:
                break
            htmls.append(file.read_bytes())
            urls.append("file:///" + str(file.relative_to(CACHE / "debian" / "trees")))
            total += len(htmls[-1])
        write(path, {"url": pa.array(urls), "html": pa.array(htmls, pa.large_binary())})
    return path


def growth(count: int, words: int = 64) -> Path:
    """`count` documents of `words` words each, the same share of copies at every count."""
    path = _file("growth", GROWTH, f"{count}x{words}")
    if not path.exists():
        draw = random.Random(SEED)
        originals: list[str] = []
        for document in _passages(words):
            if len(originals) >= round(count * (1 - EDITED)):
                break
            originals.append(document)
        write_documents(path, with_copies(originals, EDITED, draw)[:count])
    return path


def _passages(words: int) -> Iterator[str]:
    """Runs of `words` words from all packages; when they are used up, edited ones again."""
    draw = random.Random(SEED + 1)
    for lap in range(100):
        for package in GROWTH:
            for text in texts(package):
                found = text.split()
                for at in range(0, len(found) - words // 2, words):
                    passage = " ".join(found[at : at + words])
                    yield edited(passage, 0.5, draw) if lap else passage


def write_documents(path: Path, found: list[str]) -> None:
    """Documents in their order, named by their place."""
    write(
        path,
        {
            "id": pa.array([f"d{number:07}" for number in range(len(found))]),
            "text": pa.array(found, pa.large_string()),
        },
    )


def write(path: Path, columns: dict[str, pa.Array]) -> None:
    """One Parquet file, written beside and renamed, so that a cache never holds half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    pq.write_table(pa.table(columns), partial, compression="zstd", row_group_size=ROW_GROUP)
    partial.rename(path)


def _file(folder: str, packages: tuple[str, ...], name: str) -> Path:
    digest = hashlib.blake2b(repr((VERSION, SEED, EDITED, packages)).encode(), digest_size=4)
    return CACHE / "corpus" / f"{folder}-{digest.hexdigest()}" / f"{name}.parquet"


@cache
def describe(path: Path) -> dict[str, int]:
    """Rows and bytes of text of a corpus file."""
    text = pq.read_table(path, columns=["text"])["text"]
    return {"rows": len(text), "bytes": pc.sum(pc.binary_length(text)).as_py()}
