"""How much one page, line or record may cost before it is left out."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds in bytes. What exceeds one is skipped, never held in memory as a whole."""

    max_page: int = 64 * MEGABYTE  #: a page after every encoding is undone
    max_line: int = 128 * MEGABYTE  #: a JSONL line or CSV row; escapes may swell a page
    max_record: int = 128 * MEGABYTE  #: a WARC record before its content encoding is undone
    max_ratio: int = 200  #: output per byte of compressed input, at each layer ...
    ratio_from: int = MEGABYTE  #: ... once this much has come out
    max_skipped: int = 65536 * MEGABYTE  #: lines of a file that are bombs, read over
    max_head: int = 256 * 1024  #: the head of a WARC record, or of the HTTP answer in it

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) < 1:
                raise ValueError(f"Limits.{name} must be at least 1")

    def is_bomb(self, produced: int, consumed: int) -> bool:
        """Whether so much from so little is a decompression bomb."""
        return produced > self.ratio_from and produced > self.max_ratio * max(consumed, 1)
