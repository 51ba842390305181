"""The frame of every page: policy, style sheet, headings and tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from neardup.views.escape import escape

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --muted: #57606a; --line: #d0d7de;
  --soft: #f4f6f8; --link: #0950b8; --shared: #e3f1d6; --only: #a40e26; --only-paper: #ffe9e7;
  --part0: #2f6f9f; --part1: #c2571a; --part2: #8a63d2; --part3: #9a8000; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e4e8ec; --muted: #a3adb8;
  --line: #373e47; --soft: #1d2127; --link: #8cb9ff; --shared: #233a1c; --only: #ffb3ab;
  --only-paper: #4a1f1c; --part0: #5aa2d6; --part1: #e98a4c; --part2: #b79af0; --part3: #cdb53a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--link); }
.muted { color: var(--muted); }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem;
  margin: 1rem 0; }
.numbers div { background: var(--soft); border-radius: 6px; padding: .6rem .8rem; }
.numbers dt { color: var(--muted); font-size: .85rem; }
.numbers dd { margin: 0; font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .92rem; min-width: min(100%, 24rem); }
caption { text-align: start; color: var(--muted); padding-bottom: .4rem; }
th, td { text-align: start; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 500; white-space: nowrap; }
td bdi, th bdi { display: inline-block; min-width: 7rem; max-width: 34rem; white-space: normal;
  overflow-wrap: anywhere; }
td a bdi, th a bdi { text-decoration: underline; }
td > .muted { display: inline-block; min-width: 10rem; }
@media (max-width: 36rem) { tbody th { white-space: normal; } td > .muted { min-width: 8rem; }
  th, td { padding-right: .6rem; } td bdi { min-width: 4.5rem; } }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr));
  gap: 1rem 2.5rem; }
figure { margin: .75rem 0; }
figcaption { color: var(--muted); font-size: .92rem; margin-bottom: .4rem; }
svg { display: block; }
.chart { width: 100%; max-width: 30rem; }
.chart rect { fill: var(--part0); }
.chart text { fill: var(--ink); font-size: 13px; dominant-baseline: central;
  font-variant-numeric: tabular-nums; }
.chart .label { text-anchor: end; fill: var(--muted); font-size: 12px; }
.stack { border-radius: 4px; background: var(--soft); }
.part0 { fill: var(--part0); background: var(--part0); }
.part1 { fill: var(--part1); background: var(--part1); }
.part2 { fill: var(--part2); background: var(--part2); }
.part3 { fill: var(--part3); background: var(--part3); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0;
  margin: .5rem 0; font-size: .92rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.panes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
  gap: 1rem; margin: .5rem 0 1.5rem; }
.pane { border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; min-width: 0; }
.pane .id { font-size: .85rem; margin: 0; overflow-wrap: anywhere; }
.pane .title { font-weight: 600; margin: .1rem 0; overflow-wrap: anywhere; }
.pane .text { margin-top: .5rem; font-size: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--shared); color: inherit; border-radius: 2px; }
.text span { color: var(--only); background: var(--only-paper); border-radius: 2px; }
.text .muted { color: var(--muted); background: none; }
@media print { main { max-width: none; padding: 0; } h2, h3 { break-after: avoid; }
  .numbers div, tr, figure { break-inside: avoid; } .scroll { overflow: visible; }
  mark, .text span, rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def page(title: str, body: str) -> str:
    """A whole document that runs nothing, loads nothing and sends no referrer."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def numbers(pairs: Iterable[tuple[str, str]]) -> str:
    """The headline numbers, each with its name."""
    items = (f"<div><dt>{escape(n)}</dt><dd>{escape(v)}</dd></div>" for n, v in pairs)
    return f'<dl class="numbers">{"".join(items)}</dl>'


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML already; a column named with a leading # holds numbers."""
    kinds = [' class="number"' if name.startswith("#") else "" for name in columns]
    heads = (
        f'<th scope="col"{kind}>{escape(name.lstrip("#"))}</th>'
        for name, kind in zip(columns, kinds, strict=True)
    )
    lines = []
    for first, *rest in rows:
        cells = (f"<td{kind}>{c}</td>" for c, kind in zip(rest, kinds[1:], strict=True))
        lines.append(f'<tr><th scope="row"{kinds[0]}>{first}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{''.join(heads)}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def write(path: Path, document: str) -> None:
    """Write beside and rename, so that an interrupted run leaves no half page."""
    part = path.with_name(path.name + ".part")
    part.write_text(document, encoding="utf-8", newline="\n")
    os.replace(part, path)
