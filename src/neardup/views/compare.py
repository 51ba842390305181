"""The page of one comparison: verdict, signals, and both texts with what they share marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neardup.views import page
from neardup.views.escape import escape, isolated
from neardup.views.panes import Pane, side_by_side

_PANE_CHARACTERS = 200_000


def comparison(
    verdict: str,
    similarity: float,
    signals: Sequence[Mapping[str, object]],
    panes: tuple[Pane, Pane],
) -> str:
    """An HTML document; `signals` are records with `signal`, `value` and `meaning`."""
    rows = (
        (
            escape(record["signal"]),
            escape(_shown(record["value"])),
            f'<span class="muted">{escape(record["meaning"])}</span>',
        )
        for record in signals
    )
    a, b = (isolated(pane.id) for pane in panes)
    body = [
        f"<header><h1>{escape(verdict.capitalize())}: resemblance {similarity:.3f}</h1>"
        f'<p class="muted">{a} and {b}</p></header>',
        "<h2>Signals</h2>",
        page.table("What the verdict rests on", ("signal", "#value", "meaning"), rows),
        "<h2>Both texts</h2>",
        "<p><mark>Text on both sides</mark> is marked, also where it was moved; "
        "<span class='text'><span>text on one side</span></span> is what differs.</p>",
        side_by_side(panes, _PANE_CHARACTERS),
    ]
    return page.page(f"{verdict}: {panes[0].id} and {panes[1].id}", "\n".join(body))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
