"""`python -m benchmarks [--size small|full] [ROW ...]`: measure, print, write docs/benchmarks."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks import report
from benchmarks.corpus import SIZES, CorpusError


def main() -> int:
    """Run the named rows, all of them when none is named."""
    options = argparse.ArgumentParser(prog="make bench", description=__doc__)
    options.add_argument("rows", nargs="*", metavar="ROW", help=" ".join(report.ORDER))
    options.add_argument("--size", choices=SIZES, default="small")
    options.add_argument("--dry", action="store_true", help="print only, write nothing")
    args = options.parse_args()
    unknown = [name for name in args.rows if name not in report.ORDER]
    if unknown:
        options.error(f"unknown row {unknown[0]!r}; rows: {', '.join(report.ORDER)}")
    missed = failed = 0
    for name in args.rows or report.ORDER:
        try:
            row = importlib.import_module(f"benchmarks.rows.{name}").run(args.size)
        except (CorpusError, RuntimeError) as error:
            print(f"make bench: the row {name} failed: {error}", file=sys.stderr)
            failed += 1
            continue
        print(report.terminal(row), flush=True)
        missed += sum(check.reached is False for check in row.checks)
        if not args.dry:
            report.save(report.stamp(row, args.size))
    if missed:
        print(f"{missed} targets not reached")
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
