"""A short run of the fuzzer; `make fuzz` is the long one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import fuzz


def test_mutated_records_never_crash_or_hang(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["src", "."]))
    monkeypatch.chdir(Path(__file__).parent.parent)
    failures = tmp_path / "failures"
    code = fuzz.main(["--count", "4000", "--seed", "3", "--failures", str(failures)])
    told = capfd.readouterr()
    assert code == 0, told.err
    assert "0 failures" in told.out
    assert not failures.exists()


def test_a_crash_is_seen_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watching process must tell a worker that dies from one that is done."""

    class Dying(fuzz.Worker):
        def __init__(self, seed: int, first: int) -> None:
            super().__init__(seed, first)
            self.process.kill()

    monkeypatch.setattr(fuzz, "Worker", Dying)
    seen = fuzz.watch(1, 10**6, 60, 60)
    assert [next(seen)[:2] for _ in range(2)] == [("fail", 0), ("fail", 1)]
    seen.close()
