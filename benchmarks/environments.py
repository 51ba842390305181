"""A virtual environment for every peer, made on first use: two of them want other versions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import CACHE

#: what each tool's environment holds; ours and the C loop use the project's own
PEERS: dict[str, tuple[str, ...]] = {
    "gaoya": ("gaoya",),
    "rensa": ("rensa",),
    "datasketch": ("datasketch", "xxhash"),
    "fastsketchlsh": ("FastSketchLSH",),
    "simhash_1e0ng": ("simhash",),
    "text_dedup": ("text-dedup",),
    "datatrove": ("datatrove[processing,io]", "lxml_html_clean", "spacy"),
    "trafilatura": ("trafilatura", "lxml_html_clean"),
    "resiliparse": ("resiliparse",),
    "selectolax": ("selectolax",),
}
PYTHONS = ("python3.13", "python3.12", "python3.11")


@dataclass(frozen=True)
class Missing:
    """Why a tool cannot run here."""

    reason: str


def python_of(tool: str) -> Path | Missing:
    """The interpreter that runs `tool`; installs it when asked for the first time."""
    if tool not in PEERS:
        return Path(sys.executable)
    folder = CACHE / "venvs" / tool
    ready, failed = folder / "ready", folder.with_name(f"{tool}.failed")
    if ready.exists():
        return folder / "bin" / "python"
    if failed.exists():
        return Missing(failed.read_text())
    reasons = []
    for python in (sys.executable, *PYTHONS):
        reason = _install(python, folder, PEERS[tool])
        if reason is None:
            ready.touch()
            return folder / "bin" / "python"
        reasons.append(f"{Path(python).name}: {reason}")
    failed.write_text("; ".join(reasons))
    return Missing(failed.read_text())


def _install(python: str, folder: Path, packages: tuple[str, ...]) -> str | None:
    """None when it worked, else the last line of what pip said."""
    if shutil.which(python) is None:
        return "not on this machine"
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run(
        [python, "-m", "venv", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        return _last(made.stderr)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "pyarrow"]
    done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else _last(done.stderr)


def _last(text: str) -> str:
    errors = [line for line in text.splitlines() if line.startswith("ERROR")]
    lines = errors or text.strip().splitlines() or ["no message"]
    return lines[-1][:200]
