"""Page text in the terminal: no escape sequence, no markup, no more columns than there are."""

from __future__ import annotations

import re
import unicodedata

#: CSI, OSC (ended by BEL or ST), and the two-character sequences
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
#: white space that moves the cursor becomes a blank; the rest of these vanish: C0 and C1, soft
#: hyphen, zero-width and bidi controls, line separators, lone surrogates, tags
_SPACE = re.compile("[\\s\u2028\u2029]+")
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str, width: int | None = None) -> str:
    """The text on one line without anything a terminal would obey, cut to `width` columns."""
    text = _CONTROL.sub("", _SPACE.sub(" ", _SEQUENCE.sub("", text))).strip()
    if width is None or columns(text) <= width:
        return text
    room, kept = width - 1, []
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def markup(text: str, width: int | None = None) -> str:
    """`clean`, and with square brackets that rich prints instead of obeying."""
    from rich.markup import escape  # only where a table is drawn

    return escape(clean(text, width))


def columns(text: str) -> int:
    """How many columns a terminal gives the text: two for wide characters, none for marks."""
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
