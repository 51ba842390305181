"""kept.warc: the raw records of kept pages, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from isal import isal_zlib

from neardup.corpus.batches import File
from neardup.corpus.errors import CorpusError, brief
from neardup.corpus.opening import Corpus
from neardup.corpus.warc import Archive
from neardup.corpus.warc_records import Record
from neardup.corpus.writers.annotations import Annotations
from neardup.corpus.writers.decisions import Decisions
from neardup.corpus.writers.staging import Staging

_LEVEL = 2
_OF_REVISITS = (
    *(b"warc-type", b"warc-profile", b"warc-refers-to", b"warc-block-digest"),
    *(b"content-length", b"content-type"),
)


def write_warc(
    corpus: Corpus,
    files: list[File],
    compression: str,
    decisions: Callable[[int], Decisions],
    staging: Staging,
    annotations: Annotations,
    threads: int,
) -> None:
    """One output: compressed records are copied as they are, one gzip member each.

    Other records (warcinfo, requests, metadata) are left out. A kept revisit becomes a response
    with the content it refers to, since the record that had it is not kept.
    """
    ending = ".warc.wet" if files[0].format == "wet" else ".warc"
    packed = {"": "", "gz": ".gz", "zst": ".zst"}[compression]
    with open(staging.path("kept" + ending + packed), "wb") as out:
        for file in files:
            found = decisions(file.index)
            archive = Archive(file, corpus.limits)
            try:
                with open(file.path, "rb") as source:
                    for record, id in archive:
                        place = int(found.places(np.array([record.position], np.int64))[0])
                        if place < 0:
                            continue
                        annotations.add(id, file.name, found, place)
                        if found.kept[place]:
                            out.write(_bytes(record, archive, source))
            except OSError as error:
                raise CorpusError(f"{file.name}: cannot be copied: {brief(error)}") from None


def _bytes(record: Record, archive: Archive, source: BinaryIO) -> bytes:
    """The record as it goes to the output, compressed like its file."""
    compression = archive.file.compression
    if record.type == b"revisit":
        target = archive.target(record)
        if target is not None:
            return _packed(_head_of_response(record, target), target.block, compression)
    if record.raw is not None:
        source.seek(record.raw[0])
        raw = source.read(record.raw[1] - record.raw[0])
        return raw if compression else raw + b"\r\n\r\n"
    return _packed(record.head, record.block, compression)


def _packed(head: bytes, block: bytes, compression: str) -> bytes:
    whole = head + block + b"\r\n\r\n"
    if compression == "gz":
        packed: bytes = isal_zlib.compress(whole, _LEVEL, 31)
        return packed
    if compression == "zst":
        return bytes(pa.compress(whole, "zstd", asbytes=True))
    return whole


def _head_of_response(revisit: Record, target: Record) -> bytes:
    """The revisit's own header, as that of a record that holds the content itself."""
    lines = [revisit.head.split(b"\n", 1)[0].strip()]
    for line in revisit.head.split(b"\n")[1:]:
        name = line.partition(b":")[0].strip().lower()
        if line.strip() and not name.startswith(_OF_REVISITS):
            lines.append(line.rstrip(b"\r"))
    lines.append(b"WARC-Type: " + target.type)
    lines.append(b"Content-Length: %d" % len(target.block))
    if b"content-type" in target.headers:
        lines.append(b"Content-Type: " + target.headers[b"content-type"])
    return b"\r\n".join(lines) + b"\r\n\r\n"
