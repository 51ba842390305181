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
PRESCAN = 1024
_WIDE = {"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "iso2022_jp", "hz"}
_BY_CHANCE = 8  # two-byte text that long is valid UTF-8 once in 10^8 pages

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
# The commonest characters of the languages a codec serves.
_COMMON = {
    "gb18030": frozenset(
        "的一是不了在人有我他这中大来上国个到说们为子和你地出会时年得就那要下以生，。"
    ),
    "big5hkscs": frozenset(
        "的一是不了在人有我他這中大來上國個到說們為子和你地出會時年得就那要下以生，。"
    ),
    "cp932": frozenset(map(chr, range(0x3041, 0x3094))) | frozenset("、。ー"),
    "euc_jp": frozenset(map(chr, range(0x3041, 0x3094))) | frozenset("、。ー"),
    "cp949": frozenset(
        "이다는을가의에하고지은로기도를한사자리인시어대일해나아수정서라보그여전들있과"
    ),
    "cp1251": frozenset("оеаинтсрвлкмд"),
    "koi8-r": frozenset("оеаинтсрвлкмд"),
}
_ALPHABETS = {"cp1251", "koi8-r"}
_LIKELY = 0.1
_SAMPLE = 1 << 16
_ASCII = bytes(range(128))
_LETTERS = re.compile(rb"[A-Za-z]")
_MARKUP = re.compile(
    rb"<(script|style)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)|<[^>]*>?", re.IGNORECASE | re.DOTALL
)
# What a page may be written in; Python knows codecs beyond these that are no charsets.
_CHARSETS = {
    "utf-8", "utf-16-le", "utf-16-be", "gb18030", "big5hkscs", "cp932", "euc_jp", "iso2022_jp",
    "cp949", "hz", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp866", "cp874",
    *(f"cp125{i}" for i in range(9)), *(f"iso8859-{i}" for i in range(2, 17)),
}  # fmt: skip


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
    name = _WEB.get(info.name, info.name)
    return name if name in _CHARSETS else None


def declared(page: bytes) -> str | None:
    """The codec a page declares for itself; UTF-16 there can only mean UTF-8."""
    head = _COMMENT.sub(b"", page[:PRESCAN])
    found = _META.search(head)
    if not found:
        return None
    name = codec((found[1] or found[2]).decode("ascii"))
    return "utf-8" if name and name.startswith("utf-16") else name


def needs_decoding(head: bytes, transport: str | None = None) -> bool:
    """Whether a page that is valid UTF-8 may mean something else, from its first 1,024 bytes."""
    name = (codec(transport) if transport else None) or declared(head)
    return head.startswith(tuple(mark for mark, _ in _MARKS)) or name not in (None, "utf-8")


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
    if page.isascii():
        return True
    try:
        page.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(page: bytes, name: str) -> bytes:
    return page.decode(name, "replace").encode("utf-8", "replace")


def _utf8_beyond_chance(page: bytes, name: str) -> bool:
    """Valid UTF-8 with characters beyond ASCII: enough of them not to be another charset."""
    if page.isascii() or not _valid(page):
        return False
    leads = len(page.translate(None, bytes(range(0xC0))))
    return leads >= (_BY_CHANCE if name in _WIDE else 1)


def guess(page: bytes) -> str:
    """The most likely codec of bytes that are not UTF-8 and declare nothing.

    A codec is likely when much of what it reads is made of the commonest characters of its
    language; one-byte alphabets only where most letters are theirs.
    """
    sample = _MARKUP.sub(b" ", page[:_SAMPLE])
    letters = len(_LETTERS.findall(sample))
    wide = len(sample.translate(None, _ASCII))
    best, name = _LIKELY, "cp1252"
    for candidate, common in _COMMON.items():
        if candidate in _ALPHABETS and wide < letters:
            continue
        share = _share(sample, candidate, common)
        if share > best:
            best, name = share, candidate
    return name


def _share(sample: bytes, name: str, common: frozenset[str]) -> float:
    """Of the characters beyond ASCII, the share that is common; 0 where bytes do not decode."""
    try:
        text = codecs.getincrementaldecoder(name)().decode(sample)
    except (UnicodeDecodeError, LookupError):
        return 0.0
    beyond = [c for c in text if c > "\x7f"]
    return sum(c in common for c in beyond) / len(beyond) if beyond else 0.0
