"""The Arrow schema, and its version, of every table that crosses rooms."""

from __future__ import annotations

import pyarrow as pa

VERSION = 1

#: What was fetched: one row a page. Either `html` (raw bytes) or `text` is set, never both.
#: (file, position) is the page's place: `file` counts the corpus' files in their order,
#: `position` rises within a file (row number in Parquet, byte offset elsewhere).
PAGES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("file", pa.int32(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("html", pa.binary()),
        pa.field("charset", pa.string()),  # as the transport declared it, not as the page does
        pa.field("text", pa.string()),
        pa.field("date", pa.timestamp("us")),
        pa.field("value", pa.float64()),  # the column named by --keep max:COLUMN or min:COLUMN
    ]
)

#: The text of a page: its blocks in reading order, one a line ("\n" between blocks).
DOCUMENTS = pa.schema(
    [
        pa.field("title", pa.string()),
        pa.field("text", pa.string(), nullable=False),
        pa.field("language", pa.string()),
        pa.field("canonical", pa.string()),
    ]
)

#: A record that was left out: where it stands and why.
SKIPPED = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("id", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("detail", pa.string()),
    ]
)

#: One row a document: `cluster` is the id of the page kept for it (its own when it is kept).
CLUSTERS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("similarity", pa.float64()),
        pa.field("found_by", pa.string()),
        pa.field("verdict", pa.string(), nullable=False),
    ]
)

#: Two hosts with the same pages (Ye et al. §1; [manku07] §5.2), the one kept more often first.
HOSTS = pa.schema(
    [
        pa.field("host", pa.string(), nullable=False),
        pa.field("mirror", pa.string(), nullable=False),
        pa.field("pages", pa.int64(), nullable=False),  # matched pages
        pa.field("host_pages", pa.int64(), nullable=False),
        pa.field("mirror_pages", pa.int64(), nullable=False),
        pa.field("share", pa.float64(), nullable=False),  # of the smaller host's pages
        pa.field("host_path", pa.string()),  # host_path* is the same page as mirror_path*
        pa.field("mirror_path", pa.string()),
        pa.field("mapped", pa.float64(), nullable=False),  # share of the matches that map so
    ]
)
