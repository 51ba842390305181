"""A pool of threads that share the parts of a corpus.

A part is read under its own lock and its batches are handled outside it, so several parts are read
at once, and a corpus of one large part is still handled by all threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Open:
    number: int
    batches: Iterator[Any]
    next: int = 0
    busy: bool = False
    exhausted: bool = False
    pending: set[int] = field(default_factory=set)


class _Drain:
    def __init__(
        self,
        parts: list[tuple[int, Callable[[], Iterator[Any]]]],
        limit: int,
        handle: Callable[[int, int, Any], None],
        finish: Callable[[int], None],
    ) -> None:
        self.waiting = parts[::-1]
        self.limit = limit
        self.handle = handle
        self.finish = finish
        self.open: list[_Open] = []
        self.changed = threading.Condition()
        self.error: BaseException | None = None

    def work(self) -> None:
        try:
            while (part := self._claim()) is not None:
                self._step(part)
        except BaseException as error:  # handed to the caller's thread
            with self.changed:
                self.error = self.error or error
                self.changed.notify_all()

    def _claim(self) -> _Open | None:
        """A part that nobody reads right now; None when all is read or something failed."""
        with self.changed:
            while self.error is None:
                readable = [part for part in self.open if not part.exhausted]
                for part in readable:
                    if not part.busy:
                        part.busy = True
                        return part
                if self.waiting and len(readable) < self.limit:
                    number, read = self.waiting.pop()
                    part = _Open(number, read(), busy=True)
                    self.open.append(part)
                    return part
                if not readable and not self.waiting:
                    return None
                self.changed.wait()
            return None

    def _step(self, part: _Open) -> None:
        batch = next(part.batches, None)
        with self.changed:
            part.busy = False
            number = part.next
            part.next += 1
            if batch is None:
                part.exhausted = True
            else:
                part.pending.add(number)
            self.changed.notify_all()
        if batch is not None:
            self.handle(part.number, number, batch)
        with self.changed:
            part.pending.discard(number)
            done = part.exhausted and not part.pending and part in self.open
            if done:
                self.open.remove(part)
        if done:
            self.finish(part.number)


def drain(
    parts: list[tuple[int, Callable[[], Iterator[Any]]]],
    threads: int,
    handle: Callable[[int, int, Any], None],
    finish: Callable[[int], None] = lambda part: None,
) -> None:
    """Call handle(part, batch number, batch) for all batches, then finish(part) for each part.

    The first exception of any thread stops the others and is raised here.
    """
    state = _Drain(parts, threads, handle, finish)
    workers = [threading.Thread(target=state.work, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(0.2)  # a join without time limit cannot be interrupted
    except BaseException as error:
        with state.changed:
            state.error = error
            state.changed.notify_all()
        for worker in workers:
            worker.join()
        raise
    if state.error is not None:
        raise state.error
