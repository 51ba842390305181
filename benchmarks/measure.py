"""The side of a measurement that waits: fresh processes, interleaved, the best of several."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.corpus import CACHE
from benchmarks.environments import Missing, python_of

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3
PATIENCE = 1200.0  # seconds before one measurement is given up
ENOUGH = 60.0  # seconds after which a tool is not asked again

#: rows that are about several threads or processes; a row of one thread is measured in its own
#: seconds on the processor, which a busy machine disturbs less
WALL = ("job", "html")

#: documents of the whole job for a tool that would take hours over all
FIRST = {"datatrove": 2000}

Record = dict[str, Any]


def side_by_side(
    row: str, tools: Iterable[str], path: Path, threads: int = 1, seconds: float = 6.0
) -> list[Record]:
    """Every tool on one input, taking turns (the machine is noisy): the best of each.

    A tool that cannot run gives a record with `error` instead of numbers.
    """
    names = list(tools)
    best: dict[str, Record] = {}
    spent = dict.fromkeys(names, 0.0)
    for turn in range(ROUNDS):
        for tool in names:
            if (turn and spent[tool] > ENOUGH) or "error" in best.get(tool, {}):
                continue
            begin = time.monotonic()
            record = once(row, tool, path, threads, seconds)
            spent[tool] += time.monotonic() - begin
            best[tool] = better(best.get(tool), record)
    return [{"row": row, "tool": tool, "unit": "MB/s", **best[tool]} for tool in names]


def better(old: Record | None, new: Record) -> Record:
    """The faster of two runs, with the lower of their peaks."""
    if old is None or "error" in new:
        return new
    chosen = new if new["value"] > old["value"] else old
    return {**chosen, "peak_bytes": min(old["peak_bytes"], new["peak_bytes"])}


def once(row: str, tool: str, path: Path, threads: int = 1, seconds: float = 6.0) -> Record:
    """One run of one tool in a process of its own."""
    python = python_of(tool)
    if isinstance(python, Missing):
        return {"error": f"does not install: {python.reason}"}
    if row == "job" and tool in FIRST:
        path = corpus.head(path, FIRST[tool])
    work = Path(tempfile.mkdtemp(prefix=f"{tool}-", dir=_folder("work")))
    command = [str(python), "-P", "-W", "ignore", "-m", "benchmarks.tool", tool, row, str(path)]
    command += ["--threads", str(threads), "--seconds", str(seconds), "--work", str(work)]
    command += ["--warm", str(corpus.head(path, 200))] if row == "job" else []
    try:
        record = _run(command, _environment(threads, work))
        if row == "job" and "error" not in record:
            record |= corpus.describe(path)
        if "error" not in record:
            clock = "seconds" if row in WALL else "cpu_seconds"
            record["value"] = record["bytes"] / 1e6 / record[clock]
        return record
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(command: list[str], environment: dict[str, str]) -> Record:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment, cwd=CACHE, stdout=out, stderr=err)
        watch = Watch(process.pid)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return {"error": f"not done after {PATIENCE:.0f} s"}
        finally:
            children = watch.stop()
        out.seek(0)
        err.seek(0)
        lines = out.read().decode(errors="replace").strip().splitlines()
        said = err.read().decode(errors="replace").strip().splitlines()
    if code or not lines:
        last = said[-1].replace(f"{ROOT}/", "")[:200] if said else "no message"
        return {"error": f"exit code {code}: {last}"}
    record: Record = json.loads(lines[-1])
    record["peak_bytes"] = max(record["peak_bytes"], children)
    return record


class Watch:
    """The most memory a process and its children held together, looked at every 20 ms.

    Only tools that start children need it; for the others the kernel's own peak is exact.
    """

    def __init__(self, pid: int) -> None:
        self.pid, self.peak, self.over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        import psutil  # type: ignore[import-untyped]

        while not self.over.wait(0.02):
            try:
                root = psutil.Process(self.pid)
                family = root.children(recursive=True)
                if family:
                    total = sum(p.memory_info().rss for p in (root, *family))
                    self.peak = max(self.peak, total)
            except psutil.Error:
                continue

    def stop(self) -> int:
        """End the watch; 0 when there never were children."""
        self.over.set()
        self.thread.join()
        return self.peak


def _environment(threads: int, work: Path) -> dict[str, str]:
    """Every thread pool a tool may have, held to the same number of threads."""
    count = str(threads)
    pools = ("RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "ARROW_IO", "ARROW_CPU")
    limits = {f"{name}_NUM_THREADS": count for name in pools} | {"OMP_NUM_THREADS": count}
    quiet = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(work / "hf")}
    path = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    return {**os.environ, **limits, **quiet, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}


def _folder(name: str) -> Path:
    folder = CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
