"""Two texts side by side, what they share marked, long ones shortened around the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.views.escape import escape, isolated, link

#: a piece of text, and whether the other side has it too
Segment = tuple[str, bool]

#: characters kept at both ends of a long segment: tried in turn until the text fits
_CONTEXTS = (2000, 1000, 500, 250, 120, 60, 30)


@dataclass(frozen=True)
class Pane:
    """One side: the page's id, its URL and title if known, and its text in segments."""

    id: str
    segments: Sequence[Segment]
    url: str | None = None
    title: str | None = None


def shorten(segments: Sequence[Segment], limit: int) -> list[Segment]:
    """About `limit` characters: differences stay, long equal stretches lose their middle."""
    total = sum(len(text) for text, _ in segments)
    if total <= limit:
        return list(segments)
    for context in _CONTEXTS:
        cut = [(_without_middle(text, context, shared), shared) for text, shared in segments]
        if sum(len(text) for text, _ in cut) <= limit:
            return cut
    kept: list[Segment] = []
    for text, shared in cut:
        if len(text) >= limit:
            return [*kept, (text[:limit] + "…", shared)]
        kept.append((text, shared))
        limit -= len(text)
    return kept


def side_by_side(panes: tuple[Pane, Pane], limit: int) -> str:
    """Both panes as HTML; on a narrow screen one below the other."""
    return f'<div class="panes">{"".join(_pane(pane, limit) for pane in panes)}</div>'


def _pane(pane: Pane, limit: int) -> str:
    title = f'<p class="title">{isolated(pane.title)}</p>' if pane.title else ""
    text = "".join(
        f"<mark>{escape(text)}</mark>" if shared else f"<span>{escape(text)}</span>"
        for text, shared in shorten(pane.segments, limit)
        if text
    )
    body = text or '<span class="muted">no text</span>'
    return (
        f'<div class="pane"><p class="id">{link(pane.url, pane.id)}</p>{title}'
        f'<div class="text" dir="auto">{body}</div></div>'
    )


def _without_middle(text: str, context: int, shared: bool) -> str:
    """Both ends of a text; differences, which the reader came for, keep three times as much."""
    if not shared:
        context *= 3
    return text if len(text) <= 2 * context + 1 else f"{text[:context]}…{text[-context:]}"
