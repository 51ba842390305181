"""Results to a table in the terminal, docs/benchmarks/README.md and one SVG a row."""

from __future__ import annotations

import json
import os
import platform
import re
import textwrap
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.row import Row, title

FOLDER = ROOT / "docs" / "benchmarks"
ORDER = ("simhash", "minhash", "job", "html", "growth", "cold")
WIDTH = 80
REACHED = {True: "yes", False: "NO", None: "-"}

HEAD = """\
# Benchmarks

neardup and its peers on one machine, side by side. Written by `make bench`; do not edit.

- Every tool runs in a fresh process and, where it is a peer, in an environment of its own.
  Tools take turns and the best of three turns counts: what matters is the ratio.
- Rows of one thread are measured in seconds of the processor, which a busy machine disturbs
  less; rows of several threads by the clock. Peers that want Python strings get them ready-made.
- Memory is the peak of the resident set of the process (of the whole family where a tool starts
  children).
- The corpus is real documentation from Debian packages ({edited:.0%} of the documents are edited
  copies, beside the real near-duplicates of neighbouring versions and dialects of one manual).

"""


def machine() -> dict[str, Any]:
    """What this machine is, without its name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    model = re.search(r"model name\s*:\s*(.+)", text)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": model[1].strip() if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
    }


def stamp(row: Row, size: str) -> dict[str, Any]:
    """A measured row with when, where and how it was measured."""
    return {
        **row.to_dict(),
        "size": size,
        "date": datetime.now(UTC).date().isoformat(),
        "command": f'make bench ROWS="{row.name}" SIZE={size}',
        "machine": machine(),
    }


def save(stamped: dict[str, Any], folder: Path = FOLDER) -> None:
    """Replace one row in results.json, then write the page and the plots anew."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    results[stamped["name"]] = stamped
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    (folder / "README.md").write_text(page(results))
    for name, values in results.items():
        (folder / f"{name}.svg").write_text(bars(_row(values)))


def _row(values: dict[str, Any]) -> Row:
    fields = {k: v for k, v in values.items() if k in Row.__dataclass_fields__}
    return Row.from_dict(fields)


# ---------------------------------------------------------------- terminal


def terminal(row: Row) -> str:
    """The row in plain text, 80 columns."""
    lines = [row.title, "=" * len(row.title)]
    for record in row.records:
        name = f"  {title(record['tool']):<22}"
        if "error" in record:
            said = textwrap.wrap(record["error"], WIDTH - len(name) - 2)
            lines += [name + said[0], *(" " * len(name) + more for more in said[1:])]
            continue
        cells = [f"{record['value']:>9.2f} {record['unit']:<5}"]
        if "peak_bytes" in record:
            cells.append(f"{record['peak_bytes'] / 1e6:>7.0f} MB peak")
        cells.append(record.get("version", ""))
        lines.append(name + "  ".join(cells).rstrip())
    lines.append("")
    for check in row.checks:
        head, *more = textwrap.wrap(check.what, 37)
        lines.append(
            f"  {head:<38}{check.target:<14}{check.measured:<22}{REACHED[check.reached]}"[:WIDTH]
        )
        lines += ["  " + part for part in more]
    for fact in row.facts:
        lines += textwrap.wrap(fact, WIDTH - 2, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- page


def page(results: dict[str, Any]) -> str:
    """docs/benchmarks/README.md."""
    from benchmarks.corpus import EDITED

    parts = [HEAD.format(edited=EDITED)]
    names = [name for name in ORDER if name in results]
    for name in names:
        parts.append(_section(results[name]))
    return "".join(parts)


def _section(values: dict[str, Any]) -> str:
    row, where = _row(values), values["machine"]
    lines = [f"## {row.title}", "", f"![{row.title}]({row.name}.svg)", ""]
    lines += ["| tool | version | value | peak memory | note |", "|---|---|---:|---:|---|"]
    for record in row.records:
        lines.append(_line(record))
    lines += ["", "| what | target | measured | reached |", "|---|---|---|---|"]
    for c in row.checks:
        lines.append(f"| {c.what} | {c.target} | {c.measured} | {REACHED[c.reached]} |")
    lines += ["", *(f"- {fact}" for fact in row.facts)]
    lines.append(
        f"- {values['date']}, size {values['size']}: `{values['command']}` on {where['cores']} "
        f"cores of {where['processor']}, {where['memory']}, {where['system']}, Python "
        f"{where['python']}."
    )
    return "\n".join(lines) + "\n\n"


def _line(record: dict[str, Any]) -> str:
    name = title(record["tool"])
    if "error" in record:
        return f"| {name} | | not measured | | {record['error']} |"
    peak = f"{record['peak_bytes'] / 1e6:.0f} MB" if "peak_bytes" in record else ""
    notes = [record.get("note", "")]
    if "rows" in record:
        notes.append(f"{record['rows']:,} rows, {record['bytes'] / 1e6:.0f} MB")
    if "pages_per_second" in record:
        notes.append(f"{record['pages_per_second']:,.0f} pages/s")
    note = "; ".join(part for part in notes if part)
    value = f"{record['value']:.2f} {record['unit']}"
    return f"| {name} | {record.get('version', '')} | {value} | {peak} | {note} |"


# ---------------------------------------------------------------- plot


def bars(row: Row) -> str:
    """Horizontal bars, one a tool, ours in colour; no script and nothing from outside."""
    records = [record for record in row.records if "error" not in record]
    top = max((record["value"] for record in records), default=1.0) or 1.0
    height, left, span = 26, 150, 420
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {height * len(records) + 44}" '
        f'font-family="sans-serif" font-size="13" role="img" aria-label="{escape(row.title)}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="10" y="22" font-size="15" fill="#222222">{escape(row.title)}</text>',
    ]
    for number, record in enumerate(records):
        y = 38 + number * height
        width = max(1.0, span * record["value"] / top)
        colour = "#2563a8" if record["tool"] == "ours" else "#9aa5b1"
        name, value = escape(title(record["tool"])), f"{record['value']:.4g} {record['unit']}"
        lines += [
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end" fill="#222222">{name}</text>',
            f'<rect x="{left}" y="{y + 2}" width="{width:.1f}" height="18" fill="{colour}"/>',
            f'<text x="{left + width + 6:.1f}" y="{y + 15}" fill="#222222">{escape(value)}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"
