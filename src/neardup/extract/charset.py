"""The bytes of a page as valid UTF-8, whatever they were written in.

Order of trust: a byte order mark, what the transport said, what the page says in its first
1,024 bytes, valid UTF-8, a guess from byte statistics, windows-1252. Text that is valid UTF-8
beyond chance stays UTF-8 even where a declaration says otherwise: declarations outlive
conversions. Nothing raises: bytes that mean nothing become U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from functools import cache

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_META = re.compile(
    rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})"
    rb"|<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{2,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_PRESCAN = 1024
_WIDE = {"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "iso2022_jp", "hz"}
_BY_CHANCE = 8  # so many sequences of two-byte text are valid UTF-8 once in 10^8 pages

# Labels that mean more on the web than their name says (WHATWG Encoding, section 4.2), and
# the Python codec that reads that superset.
_WEB = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "latin-1": "cp1252", "iso8859-9": "cp1254",
    "iso8859-11": "cp874", "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030",
    "euc_kr": "cp949", "shift_jis": "cp932", "big5": "big5hkscs", "utf-16": "utf-16-le",
}  # fmt: skip
_ALIASES = {
    "x-sjis": "cp932", "windows-31j": "cp932", "ms_kanji": "cp932", "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "windows-949": "cp949",
    "windows-874": "cp874", "x-cp1251": "cp1251", "x-cp1252": "cp1252", "cn-big5": "big5hkscs",
    "x-x-big5": "big5hkscs", "gb_2312-80": "gb18030", "unicode-1-1-utf-8": "utf-8",
    "x-mac-roman": "mac-roman", "macintosh": "mac-roman", "x-mac-cyrillic": "mac-cyrillic",
    "utf8": "utf-8", "unicode": "utf-16-le", "iso-8859-8-i": "iso8859-8", "logical": "iso8859-8",
    "dos-874": "cp874", "koi8_r": "koi8-r", "koi": "koi8-r", "koi8-ru": "koi8-u",
}  # fmt: skip
_PLAIN_TEXT = {"cp037", "idna", "punycode", "utf-7", "unicode_escape", "raw_unicode_escape"}


@cache
def codec(label: str) -> str | None:
    """The Python codec for a charset label as used on the web, or None."""
    label = label.strip().strip("\"'").lower()
    label = _ALIASES.get(label, label)
    if len(label) > 40 or not label.isascii() or "\0" in label:
        return None
    try:
        info = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    name = info.name
    if not getattr(info, "_is_text_encoding", True) or name in _PLAIN_TEXT:
        return None
    return _WEB.get(name, name)


def declared(page: bytes) -> str | None:
    """The codec a page declares for itself; UTF-16 there can only mean UTF-8."""
    head = _COMMENT.sub(b"", page[:_PRESCAN])
    found = _META.search(head)
    if not found:
        return None
    name = codec((found[1] or found[2]).decode("ascii"))
    return "utf-8" if name and name.startswith(("utf-16", "utf-32")) else name


def to_utf8(page: bytes, transport: str | None = None) -> bytes:
    """The page as valid UTF-8; the same object where it already is, without a mark."""
    for mark, marked in _MARKS:
        if page.startswith(mark):
            return _decoded(page[len(mark) :], marked)
    name = (codec(transport) if transport else None) or declared(page)
    if name and name != "utf-8" and not _utf8_beyond_chance(page, name):
        return _decoded(page, name)
    if name == "utf-8" or _valid(page):
        return page if _valid(page) else _decoded(page, "utf-8")
    return _decoded(page, guess(page))


def _valid(page: bytes) -> bool:
    try:
        page.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(page: bytes, name: str) -> bytes:
    try:
        text = page.decode(name, "replace")
    except (LookupError, ValueError, NotImplementedError):
        text = page.decode("cp1252", "replace")
    return text.encode("utf-8", "replace")


def _utf8_beyond_chance(page: bytes, name: str) -> bool:
    """Valid UTF-8 with characters beyond ASCII: enough of them not to be another charset."""
    if page.isascii() or not _valid(page):
        return False
    leads = len(page.translate(None, bytes(range(0xC0))))
    return leads >= (_BY_CHANCE if name in _WIDE else 1)


def guess(page: bytes) -> str:
    """The most likely codec of bytes that are not UTF-8 and declare nothing."""
    return "cp1252"
