"""The side of a measurement that runs in a fresh process: one tool, one row, one input file.

`python -P -m benchmarks.tool TOOL ROW INPUT` prints one JSON line. A tool's function takes the
input, prepares what the tool is handed ready-made (Python strings for peers that cannot read
Arrow: not counted), and returns the call that is timed. It is called once on a small part
first, so that loading, compiling and first-touch costs stay outside.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

WARM_ROWS = 200


def main() -> None:
    """Measure and print; an error becomes a record too, so that no tool drops out silently."""
    options = argparse.ArgumentParser(prog="benchmarks.tool")
    options.add_argument("tool")
    options.add_argument("row")
    options.add_argument("input", type=Path)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--work", type=Path)
    options.add_argument("--warm", type=Path, help="a small file to run the whole job on first")
    args = options.parse_args()
    module = importlib.import_module(f"benchmarks.tools.{args.tool}")
    function = getattr(module, args.row)
    if args.row == "job":
        record = whole_job(function, args.input, args.warm, args.threads, args.work)
    else:
        column = "html" if args.row == "html" else "text"
        record = array(function, pq.read_table(args.input)[column], args.threads, args.seconds)
    record["peak_bytes"] = peak_bytes()
    record["version"] = version(module.PACKAGE)
    record["note"] = getattr(module, "NOTES", {}).get(args.row, "")
    sys.stdout.write("\n" + json.dumps(record) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a peer's exit handlers are not ours to wait for


def array(
    function: Callable[..., Callable[[], Any]], column: Any, threads: int, seconds: float
) -> dict[str, Any]:
    """MB/s over a column in memory; a slow tool gets the part it can do in `seconds`."""
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0)
    warm = column.slice(0, WARM_ROWS)
    function(warm, threads)()
    call = function(warm, threads)
    rate = _bytes(warm) / max(_timed(call)[0]["seconds"], 1e-6)
    share = min(1.0, rate * seconds / _bytes(column))
    part = column.slice(0, max(WARM_ROWS, int(len(column) * share)))
    call = function(part, threads)
    best, result = _timed(call)
    spent = best["seconds"]
    while spent < seconds / 3:
        again, result = _timed(call)
        spent += again["seconds"]
        best = min(best, again, key=lambda run: run["seconds"])
    if len(result) != len(part):
        raise RuntimeError(f"{len(result)} results for {len(part)} inputs")
    return {**best, "bytes": _bytes(part), "rows": len(part)}


def whole_job(
    function: Callable[..., dict[str, Any]], path: Path, warm: Path, threads: int, work: Path
) -> dict[str, Any]:
    """One run from a Parquet file to clusters, after a run on a small file.

    The caller knows the size of the text: reading it here would count as the tool's memory.
    """
    function(warm, threads, work / "warm")
    base = peak_bytes()
    took, result = _timed(lambda: function(path, threads, work / "out"))
    return {**took, "base_bytes": base, **result}


def _timed(call: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    begin, work = time.perf_counter(), time.process_time()
    result = call()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - work
    return {"seconds": seconds, "cpu_seconds": cpu}, result


def _bytes(column: Any) -> int:
    return int(pc.sum(pc.binary_length(column)).as_py() or 0)


def peak_bytes() -> int:
    """The most memory this process has held resident."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def version(package: str) -> str:
    """The installed version of a tool, empty where it has none."""
    try:
        return metadata.version(package) if package else ""
    except metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
