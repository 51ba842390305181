"""Bar charts as inline SVG: no script, no plotting library, coloured by the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence

from neardup.views.escape import escape

_WIDTH, _LABEL, _VALUE, _ROW = 400, 104, 74, 24  # units of the view box, about one pixel each


def bars(rows: Sequence[tuple[str, int]], title: str, *, log: bool = False) -> str:
    """One horizontal bar a row with its label and count; bar lengths by log(1 + count) if `log`."""
    room = _WIDTH - _LABEL - _VALUE
    longest = max((_length(count, log) for _, count in rows), default=0.0)
    height = _ROW * max(len(rows), 1)
    parts = [
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
    ]
    for at, (label, count) in enumerate(rows):
        middle = at * _ROW + _ROW / 2
        wide = room * _length(count, log) / longest if longest else 0.0
        wide = max(wide, 1.5) if count else 0.0  # a single page stays visible beside a million
        parts.append(
            f'<text x="{_LABEL - 8}" y="{middle:g}" class="label">{escape(label)}</text>'
            f'<rect x="{_LABEL}" y="{middle - 8:g}" width="{wide:.1f}" height="16" rx="2"/>'
            f'<text x="{_LABEL + wide + 6:.1f}" y="{middle:g}">{count:,}</text>'
        )
    return "".join([*parts, "</svg>"])


def stack(parts: Sequence[tuple[str, int]], title: str) -> str:
    """One bar divided into the parts of a whole, and under it a legend with each part's share."""
    total = sum(count for _, count in parts)
    drawn, legend, start = [], [], 0.0
    for at, (label, count) in enumerate(parts):
        share = 100 * count / total if total else 0.0
        drawn.append(f'<rect class="part{at}" x="{start:.3f}%" width="{share:.3f}%" height="28"/>')
        legend.append(
            f'<li><span class="swatch part{at}"></span>{escape(label)} '
            f"<b>{count:,}</b> ({percent(count, total)})</li>"
        )
        start += share
    return (
        f'<svg class="stack" role="img" width="100%" height="28" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(drawn)}</svg>"
        f'<ul class="legend">{"".join(legend)}</ul>'
    )


def percent(part: float, whole: float) -> str:
    """`part` of `whole` in per cent; what is not nothing never reads 0 %, nor a part 100 %."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.1f} %"


def _length(count: int, log: bool) -> float:
    return math.log1p(count) if log else float(count)
