"""Progress bars on stderr: what is done, pages a second, time left."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

_TITLES = {
    "read": "Reading",
    "templates": "Finding templates",
    "fingerprint": "Fingerprinting",
    "compare": "Comparing",
    "write": "Writing",
}


class Bars:
    """A bar a stage; silent when stderr is not a terminal."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        self.bars = Progress(
            TextColumn("{task.description:<17}"),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]:>14}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self.tasks: dict[str, tuple[TaskID, int, float]] = {}
        self.lock = threading.Lock()

    def __enter__(self) -> Bars:
        self.bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bars.stop()

    def advance(self, stage: str, done: int, total: int, pages: int) -> None:
        """`done` more of `total`, and `pages` more pages."""
        if self.bars.disable:
            return
        with self.lock:
            if stage not in self.tasks:
                for task in self.bars.tasks:  # one stage ends where the next begins
                    self.bars.update(task.id, completed=task.total)
                task_id = self.bars.add_task(_TITLES[stage], total=total or None, rate="")
                self.tasks[stage] = (task_id, 0, time.monotonic())
            task_id, seen, start = self.tasks[stage]
            seen += pages
            self.tasks[stage] = (task_id, seen, start)
            rate = f"{seen / max(time.monotonic() - start, 1e-3):,.0f} pages/s" if seen else ""
            self.bars.update(task_id, advance=done, rate=rate)
