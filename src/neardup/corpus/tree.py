"""Pages that are files: HTML as raw bytes, plain text as UTF-8."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime

from neardup.corpus.batches import Batches, File, Rows
from neardup.corpus.errors import Skipped, brief, printable
from neardup.corpus.limits import Limits
from neardup.corpus.parts import Part, identity

#: Files of a tree that make one part.
CHUNK_FILES = 200

HTML_ENDINGS = (".html", ".htm", ".xhtml", ".xht", ".shtml")

_HTML_SIGNS = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|link|div|table|h1|p|a\s)", re.IGNORECASE
)


def looks_like_html(data: bytes) -> bool:
    """Whether the first bytes have a tag that pages start with, in ASCII or UTF-16."""
    head = data[:2048]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.replace(b"\0", b"")
    return b"\0" not in head and _HTML_SIGNS.search(head) is not None


@dataclass(frozen=True)
class TreePart(Part):
    """Some files of a tree, each one page at position 0 of its own file.

    A tree may have millions of files, so a part holds little more than their paths.
    """

    first: int
    paths: tuple[str, ...]
    cut: int  #: where in a path the path within the tree begins
    prefix: str
    limits: Limits

    @property
    def name(self) -> str:
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return printable(self.paths[0]) + more

    @property
    def files(self) -> range:
        return range(self.first, self.first + len(self.paths))

    @property
    def size(self) -> int:
        return sum(self.member(i).size for i in range(len(self.paths)))

    @property
    def identity(self) -> str:
        members = (identity(self.member(i)) for i in range(len(self.paths)))
        return "\n".join(members) + f"\n{self.limits}"

    def member(self, i: int, info: os.stat_result | None = None) -> File:
        """The file `i` of this part; without size and time if it is gone."""
        path = self.paths[i]
        if info is None:
            with contextlib.suppress(OSError):
                info = os.lstat(path)
        size, changed = (info.st_size, info.st_mtime_ns) if info else (0, 0)
        return File(self.first + i, path, self.label(i), "page", "", size, changed)

    def label(self, i: int) -> str:
        return printable(self.prefix + self.paths[i][self.cut :]).replace(os.sep, "/")

    def read(self) -> Batches:
        rows = Rows()
        for i in range(len(self.paths)):
            self._read_page(i, rows)
            if rows.full:
                yield rows.take()
        yield rows.take()

    def _read_page(self, i: int, rows: Rows) -> None:
        path, label = self.paths[i], self.label(i)

        def skip(reason: str, detail: str | None = None) -> None:
            rows.skipped.append(Skipped(printable(path), 0, label, reason, detail))

        try:
            data, info = _read_file(path, self.limits.max_page + 1)
        except OSError as error:
            return skip("unreadable", brief(error))
        if info is None:
            return skip("not a file")
        if len(data) > self.limits.max_page:
            return skip("too large", f"{info.st_size} bytes")
        file = self.member(i, info)
        date = datetime.fromtimestamp(info.st_mtime, UTC).replace(tzinfo=None)
        ending = os.path.splitext(path)[1].lower()
        if ending == ".txt":
            try:
                text = data.removeprefix(b"\xef\xbb\xbf").decode()
            except UnicodeDecodeError:
                return skip("undecodable", "not UTF-8")
            rows.add(file, 0, label, text=text, date=date)
        elif ending in HTML_ENDINGS or looks_like_html(data):
            rows.add(file, 0, label, html=data, date=date)
        else:
            skip("not a page")
        return None


def _read_file(path: str, size: int) -> tuple[bytes, os.stat_result | None]:
    """At most `size` bytes of a regular file; a FIFO put in its place must not block us."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb", buffering=0) as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return b"", None
        data = file.read(min(size, info.st_size + 1)) or b""
        while len(data) < size and (more := file.read(size - len(data))):
            data += more
        return data, info
