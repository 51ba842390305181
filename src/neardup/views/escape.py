"""The one way a value gets into a page: escaped, printable, and isolated from its surroundings."""

from __future__ import annotations

import html
import re

#: control characters but tab and newline, lone surrogates, and what no document may hold
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LIVE = re.compile(r"https?://[^\s<>\"'\\]+", re.IGNORECASE)


def escape(value: object) -> str:
    """The value as HTML text or attribute: five characters escaped, unprintable ones shown as �."""
    return html.escape(_UNPRINTABLE.sub("\ufffd", str(value)))


def isolated(value: object) -> str:
    """Escaped, in a `<bdi>`: a right-to-left override inside cannot turn the text around it."""
    return f"<bdi>{escape(value)}</bdi>"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the cut marked by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def link(url: str | None, label: str | None = None, limit: int = 160) -> str:
    """A live link if the URL is http or https, else only its text: `javascript:` never runs."""
    shown = isolated(shortened(label or url or "", limit))
    if url is None or not _LIVE.fullmatch(url):
        return shown
    return f'<a href="{escape(url)}" rel="noreferrer noopener">{shown}</a>'
