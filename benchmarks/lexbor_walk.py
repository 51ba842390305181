"""Visible text by a walk of lexbor's tree with the scanner's rules: the scanner's oracle."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from neardup.extract import tags as t

_KIND = dict(zip(t.NAMES, t.TAG_TABLE[t.KINDS : t.KINDS + len(t.NAMES)].tolist(), strict=True))
_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:;|!|$)")
_NOSCRIPT = re.compile(rb"<(/?)noscript(?=[\s/>])", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def visible_text(page: bytes) -> str:
    """Text of the page as a browser with scripting shows it, blocks divided by newlines.

    Lexbor parses as if without scripting, where `noscript` in the head holds elements; renamed
    to `noembed` it holds raw text, as it does in a browser.
    """
    parser = LexborHTMLParser(_NOSCRIPT.sub(rb"<\1noembed", page))
    parts: list[str] = []
    root = parser.root
    stack: list[tuple[Any, bool]] = [(root, False)] if root is not None else []
    while stack:
        node, done = stack.pop()
        name = node.tag
        if name == "-text":
            parts.append(node.text_content or "")
            continue
        if not name or name[0] in "-!":
            continue
        kind = _KIND.get(name, 0)
        parts.append("\n" if kind & t.BLOCK else " " if kind & t.SPACE else "")
        if done or _hidden(node, name, kind):
            continue
        stack.append((node, True))
        children = []
        child = node.child
        while child is not None:
            children.append(child)
            child = child.next
        stack.extend((child, False) for child in reversed(children))
    return "".join(parts)


def _hidden(node: Any, name: str, kind: int) -> bool:
    if name in ("html", "body"):
        return False
    if kind & (t.UNSEEN | t.RAW) or name in ("head", "title"):
        return True
    attributes = node.attributes
    if "hidden" in attributes or (name == "dialog" and "open" not in attributes):
        return True
    return bool(_HIDING_STYLE.search((attributes.get("style") or "").lower()))
