"""Paths, globs and folders -> the files of a corpus, in their order, each once."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neardup.corpus.errors import BrokenStreamError, CorpusError, Skipped, brief, printable
from neardup.corpus.inflate import GZIP_MAGIC, open_stream
from neardup.corpus.tree import HTML_ENDINGS, looks_like_html

#: The formats that are one page a file; "unknown" is looked into when it is read.
PAGE_FORMATS = ("html", "text", "unknown")

_ENDINGS = {
    **dict.fromkeys(HTML_ENDINGS, "html"),
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonlines", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq", ".parq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    ".wet": "wet",
    ".warc": "warc",
    ".txt": "text",
}
_PACKED = ("jsonl", "csv", "warc", "wet")  # what may have .gz or .zst after it
#: What web servers send beside pages, not even opened in a folder. A lone .json is no corpus.
_NOT_PAGES = re.compile(
    r"\.(json|css|js|mjs|map|xml|rss|atom|crc|log|db|sqlite|py|pyc|md|yaml|yml|toml|exe|bin|so|dll"
    r"|png|jpe?g|gif|svg|webp|ico|avif|bmp|tiff?|pdf|docx?|xlsx?|pptx?|woff2?|ttf|otf|eot|swf"
    r"|zip|gz|zst|bz2|xz|7z|tar|tgz|rar|iso|deb|rpm|mp3|mp4|webm|ogg|wav|avi|mov)"
)
#: What every output folder has, and what of it is read again.
_OUTPUT = ("summary.json", "clusters.parquet")
_KEPT = re.compile(r"kept($|[.-])")
_KNOWN = ".html, .htm, .xhtml, .txt, .warc, .wet, .jsonl, .json, .csv, .tsv (also .gz), .parquet"


class Found(NamedTuple):
    """A file of a source: `path[cut:]` is its path within the source."""

    path: str
    cut: int
    source: int
    format: str
    compression: str
    named: bool


class Listing(NamedTuple):
    """All files in order, the folder each source's paths are relative to, and what was left."""

    files: list[Found]
    roots: list[str]
    left_out: list[Skipped]

    def prefixes(self) -> list[str]:
        """What each source's paths get before them, so that no two files share a label."""
        if not self.roots:
            return []
        folders = [os.path.abspath(root or os.curdir) for root in self.roots]
        common = os.path.commonpath(folders)
        relative = (os.path.relpath(folder, common) for folder in folders)
        return ["" if path == os.curdir else path + os.sep for path in relative]


def list_sources(sources: Iterable[str | os.PathLike[str]]) -> Listing:
    """The files that the sources name, or `CorpusError` for one that names none."""
    wanted = [os.fspath(source) for source in sources]
    if not wanted:
        raise CorpusError("no source given")
    listing = Listing([], [], [])
    seen: set[str] | None = set() if len(wanted) > 1 else None
    for source in wanted:
        root, found = _expand(source, listing)
        number = len(listing.roots)
        listing.roots.append(root)
        kept = os.path.join(root, "kept", "") if _is_output(root) else None
        for path, named in sorted(found):
            if seen is not None:
                real = os.path.realpath(path)
                if real in seen:
                    continue
                seen.add(real)
            format, compression = _named_format(path) if named else by_name(path)
            cut = len(os.path.join(root, ""))
            if kept and path.startswith(kept):
                cut = len(kept)
            listing.files.append(Found(path, cut, number, format, compression, named))
    return listing


def _expand(source: str, listing: Listing) -> tuple[str, list[tuple[str, bool]]]:
    """The source's root, and its files with whether the user named them one by one."""
    if not os.path.lexists(source) and glob.has_magic(source):
        matches = sorted(glob.glob(source, recursive=True))
        if not matches:
            raise CorpusError(f"{source}: matches no files")
        root = _fixed_folder(source)
    else:
        matches = [source]
        root = source if os.path.isdir(source) else os.path.dirname(source)
    found: dict[str, bool] = {}
    for path in matches:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError)
            what = "no such file or folder" if missing else f"cannot be read: {brief(error)}"
            raise CorpusError(f"{path}: {what}") from None
        if stat.S_ISDIR(mode):
            before = len(listing.left_out)
            pages = dict.fromkeys(_walk(path, listing.left_out), False)
            if not pages and len(matches) == 1:
                raise CorpusError(_nothing_in(path, listing.left_out[before:]))
            found = pages | found
        elif stat.S_ISREG(mode):
            found[path] = True
        elif len(matches) == 1:
            raise CorpusError(f"{path}: not a regular file, and a corpus is read more than once")
        else:
            listing.left_out.append(Skipped(printable(path), 0, None, "not a file", None))
    return root, list(found.items())


def _nothing_in(folder: str, left_out: list[Skipped]) -> str:
    message = f"{folder}: no pages found in this folder"
    if left_out:
        first = left_out[0]
        message += f" ({len(left_out)} left out, the first: {first.file}: {first.reason}"
        message += f", {first.detail})" if first.detail else ")"
    return message


def _fixed_folder(pattern: str) -> str:
    """The folder part of a glob before its first wildcard."""
    folder = os.path.dirname(pattern)
    while glob.has_magic(folder):
        folder = os.path.dirname(folder)
    return folder


def _walk(root: str, left_out: list[Skipped]) -> Iterator[str]:
    """Every file below a folder that may hold pages; links are never followed."""

    def leave(path: str, reason: str, detail: str | None = None) -> None:
        left_out.append(Skipped(printable(path), 0, None, reason, detail))

    real_root = os.path.realpath(root)
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            leave(folder, "unreadable", brief(error))
            continue
        if {entry.name for entry in listed}.issuperset(_OUTPUT):
            if folder != root:  # `dedup src -o src/out` must not read its own output next time
                leave(folder, "not a page", "an output of neardup")
                continue
            listed = [entry for entry in listed if _KEPT.match(entry.name)]
        for entry in listed:
            if entry.is_symlink():
                target = os.path.realpath(entry.path)
                if os.path.commonpath([real_root, target]) != real_root:
                    leave(entry.path, "link out of the tree", printable(target))
            elif entry.name.startswith("."):
                leave(entry.path, "not a page", "hidden")
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                leave(entry.path, "not a file")
            elif _is_aside(entry.name):
                leave(entry.path, "not a page")
            else:
                yield entry.path


def _is_output(folder: str) -> bool:
    """Whether a run wrote its results here; what it kept is a corpus, its reports are not."""
    return all(os.path.isfile(os.path.join(folder, name)) for name in _OUTPUT)


def _is_aside(name: str) -> bool:
    """Whether the name's ending says that the file holds no page."""
    ending = os.path.splitext(name)[1].lower()
    return _NOT_PAGES.fullmatch(ending) is not None and (
        ending == ".json" or by_name(name)[0] == "unknown"
    )


def by_name(path: str) -> tuple[str, str]:
    """The format and compression that a file's name tells; "unknown" if it tells none."""
    stem, ending = os.path.splitext(os.path.basename(path).lower())
    compression = ""
    if ending in (".gz", ".zst"):
        compression = ending[1:]
        ending = os.path.splitext(stem)[1]
    format = _ENDINGS.get(ending, "unknown")
    if compression and format not in _PACKED:
        return "unknown", ""
    return format, compression


def _named_format(path: str) -> tuple[str, str]:
    """The format of a file the user named: by its name, else by its first bytes."""
    format, compression = by_name(path)
    if format != "unknown":
        return format, compression
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
        if head.startswith(GZIP_MAGIC):
            compression = "gz"
        elif head.startswith(b"\x28\xb5\x2f\xfd"):
            compression = "zst"
        if compression:
            stream = open_stream(path, compression)
            head = stream.read(4096)
            stream.close()
    except BrokenStreamError as error:
        raise CorpusError(f"{path}: cannot be read: {error.detail}") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {brief(error)}") from None
    format = _by_first_bytes(head)
    if format == "unknown" or (compression and format not in _PACKED):
        raise CorpusError(f"{path}: unknown format; known are {_KNOWN}")
    return format, compression


def _by_first_bytes(head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"WARC/"):
        return "warc"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return "jsonl"
    return "html" if looks_like_html(head) else "unknown"
