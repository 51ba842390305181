"""What the scanner knows of each HTML element, as arrays a kernel can read.

The classes follow the HTML standard's tree construction (special elements, scopes, elements
that close a paragraph) and its default style sheet (what is a block, what is never shown).
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from neardup.kernels import I64

#: A whole number in a kernel: int to Python, int64 to Numba; numpy has no type that is both.
Int: TypeAlias = Any

# What an element is (bits of `Tags.kinds`).
VOID = 1  # has no content and no end tag
BLOCK = 2  # its start and end tag end a block of text
SPACE = 4  # stands in the line like a word: separates, but ends no block
UNSEEN = 8  # never shown, with all it contains
RAW = 16  # its content is not markup and not shown
CLOSES_P = 32  # its start tag closes an open paragraph
SCOPE = 64  # end tags of blocks do not reach beyond it
SPECIAL = 128  # end tags of inline elements do not reach beyond it
FORMAT = 256  # closed by the adoption agency: blocks opened inside stay open
SCOPED = 512  # its end tag closes all that was left open inside
TABLE_PART = 1024  # placed with regard to the nearest table
BREAKOUT = 2048  # ends an svg or math element left open
HEADING = 4096
DROPPED = 8192  # its tags change nothing (html, head, body, option: no stack entry)
TEXTUAL = 32768  # its content is text, not markup
IMPLIED = 16384  # its end tag may be left out

# Where a text stands (bits of a stack entry, inherited by what is opened inside).
HIDDEN = 1
FOREIGN = 2  # inside svg or math, where other rules hold
LINK = 4
NAV = 8
HEADER = 16
FOOTER = 32
ASIDE = 64
ARTICLE = 128
MAIN = 256
HEADLINE = 512
ITEM = 1024
CELL = 2048
PARAGRAPH = 4096
CONTROL = 8192  # inside a form, button or label
QUOTE = 16384
FIGURE = 32768
GOOD_NAME = 65536  # class or id of an element around it speaks for content
BAD_NAME = 131072  # or against

_WORDS = {
    VOID: "area base basefont bgsound br col embed frame hr img image input keygen link meta param"
    " source track wbr",
    BLOCK: "address article aside blockquote body br caption center dd details dialog dir div dl dt"
    " fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html"
    " legend li listing main marquee menu nav ol optgroup option p plaintext pre search section"
    " summary table tbody td tfoot th thead tr ul xmp",
    SPACE: "audio button canvas embed iframe image img input object select svg textarea video",
    UNSEEN: "annotation applet audio canvas datalist frameset object rp select svg template video",
    TEXTUAL: "plaintext textarea title xmp",
    RAW: "iframe noembed noframes noscript script style",
    CLOSES_P: "address article aside blockquote center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol"
    " p plaintext pre search section summary table ul xmp",
    SCOPE: "applet caption integration marquee object table td template th select",
    SPECIAL: "address applet article aside blockquote button caption center colgroup dd details dir"
    " div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup"
    " integration li listing main marquee menu nav object ol p plaintext pre search section select"
    " summary table tbody td template tfoot th thead tr ul xmp",
    FORMAT: "a b big code em font i nobr s small strike strong tt u",
    SCOPED: "address applet article aside blockquote button center dd details dialog dir div dl dt"
    " fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup listing main marquee menu"
    " nav object ol p li pre search section summary ul",
    TABLE_PART: "caption col colgroup table tbody td tfoot th thead tr",
    BREAKOUT: "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr"
    " i img li listing menu meta nobr ol p pre ruby s small span strike strong sub sup table tt u"
    " ul var",
    HEADING: "h1 h2 h3 h4 h5 h6",
    IMPLIED: "dd dt li p rp rt",
    DROPPED: "body col colgroup head html optgroup option",
}
_PLACES = {
    LINK: "a",
    NAV: "nav menu",
    HEADER: "header",
    FOOTER: "footer",
    ASIDE: "aside",
    ARTICLE: "article",
    MAIN: "main",
    HEADLINE: "h1 h2 h3 h4 h5 h6",
    ITEM: "li dd dt",
    CELL: "td th",
    PARAGRAPH: "p",
    CONTROL: "form button label fieldset",
    QUOTE: "blockquote pre",
    FIGURE: "figure figcaption caption",
}
_OTHERS = "label rt ruby span sub sup var math title integration foreignobject desc"

_known = {name for words in (*_WORDS.values(), _OTHERS) for name in words.split()}
NAMES = ("", "\0", *sorted(_known))


def whole(value: int) -> int:
    """A constant for arguments: Numba compiles a kernel anew for each plain int passed to it."""
    return cast(int, np.int64(value))


UNKNOWN, CLOSED = 0, 1  # an element without rules; a stack entry whose element has ended
_ID = {name: i for i, name in enumerate(NAMES)}

A, AREA, BODY, BUTTON, CAPTION = (_ID[n] for n in ("a", "area", "body", "button", "caption"))
DD, DESC, DIALOG, DIV, DT, FONT = (_ID[n] for n in ("dd", "desc", "dialog", "div", "dt", "font"))
ADDRESS, FOREIGNOBJECT, FORM = (_ID[n] for n in ("address", "foreignobject", "form"))
HTML, INPUT, INTEGRATION, LI, LINK_TAG = (
    _ID[n] for n in ("html", "input", "integration", "li", "link")
)
BASE, BR, H1, H6, HR, MATH, META, NOBR, OL, P, PLAINTEXT = (
    _ID[n] for n in ("base", "br", "h1", "h6", "hr", "math", "meta", "nobr", "ol", "p", "plaintext")
)
RP, RT, SCRIPT, SELECT, SVG, TABLE, TBODY = (
    _ID[n] for n in ("rp", "rt", "script", "select", "svg", "table", "tbody")
)
TD, TEMPLATE, TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, UL, XMP = (
    _ID[n]
    for n in ("td", "template", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "xmp")
)

# Words in a class or id that speak for and against content, where main content is asked for.
_GOOD_NAMES = "article articlebody body content entry main post story text"
_BAD_NAMES = (
    "ad ads advert advertisement banner breadcrumb breadcrumbs byline caption comment comments"
    " cookie cookies copyright credit disqus footer header login masthead menu meta modal more nav"
    " navbar navigation newsletter outbrain pager pagination popular popup promo rail recirc"
    " recommended related share sharing sidebar signup skip social subscribe taboola tag tags"
    " toolbar trending widget"
)

# The attributes the scanner reads, by their row in its table of spans.
ATTRIBUTES = ("href", "rel", "style", "hidden", "lang", "open", "content", "http-equiv", "name",
              "class", "id", "xml:lang")  # fmt: skip
HREF, REL, STYLE, HIDDEN_ATTRIBUTE, LANG, OPEN, CONTENT, HTTP_EQUIV, NAME, CLASS, ID, XML_LANG = (
    range(len(ATTRIBUTES))
)

_PRIME = 0x100000001B3
# FNV-1a. Unsigned: Numba tells LLVM that signed numbers do not overflow, and LLVM believes it.
SEED, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(_PRIME)


def name_hash(name: str) -> int:
    """FNV-1a of a lower-case name, as the scanner computes it while it reads; kept as int64."""
    value = int(SEED)
    for byte in name.encode():
        value = ((value ^ byte) * _PRIME) & 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value


def hash_table(keys: list[int], size: int) -> tuple[I64, I64]:
    """Slots of an open-addressed table: the key in each (0 = free), and its number."""
    slots, numbers = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    for number, key in enumerate(keys):
        slot = key & (size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot], numbers[slot] = key, number
    return slots, numbers


def _bits(words: dict[int, str]) -> I64:
    table = np.zeros(len(NAMES), np.int64)
    for bit, names in words.items():
        for name in names.split():
            table[_ID[name]] |= bit
    return table


TAG_SLOTS = 1024
_keys, _ids = hash_table([name_hash(name) for name in NAMES], TAG_SLOTS)
ATTRIBUTE_SLOTS = 256
_attribute_keys, _rows = hash_table([name_hash(name) for name in ATTRIBUTES], ATTRIBUTE_SLOTS)

NAME_SLOTS = 1024
_name_keys, _numbers = hash_table(
    [name_hash(name) for name in (_GOOD_NAMES + " " + _BAD_NAMES).split()], NAME_SLOTS
)
_name_bits = np.where(_numbers < len(_GOOD_NAMES.split()), GOOD_NAME, BAD_NAME)

# One array holds every table of the scanner (an argument more is compile time in each kernel).
TAG_KEYS = 0
TAG_IDS = TAG_KEYS + TAG_SLOTS
KINDS = TAG_IDS + TAG_SLOTS
PLACES = KINDS + len(NAMES)
ATTRIBUTE_KEYS = PLACES + len(NAMES)
ATTRIBUTE_ROWS = ATTRIBUTE_KEYS + ATTRIBUTE_SLOTS
NAME_KEYS = ATTRIBUTE_ROWS + ATTRIBUTE_SLOTS
NAME_BITS = NAME_KEYS + NAME_SLOTS
TAG_TABLE = np.concatenate(
    [_keys, _ids, _bits(_WORDS), _bits(_PLACES), _attribute_keys, _rows, _name_keys, _name_bits]
)
