"""The work folder: documents spilled uncompressed, part by part, so that nothing is read twice.

work.json           what the run is: recipe, sources; `--resume` continues only the same run
part-N.text         the documents' UTF-8, one after another
part-N.rows         their rows (Arrow IPC stream); present when the part is whole
part-N.skipped      records left out, one JSON object a line
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from neardup.corpus import Skipped
from neardup.kernels import I64, U32, view

ROWS = pa.schema(
    [
        pa.field("batch", pa.int32(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("file", pa.int32(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("key", pa.float64()),
        pa.field("site", pa.uint64(), nullable=False),
        pa.field("page", pa.uint64(), nullable=False),  # hash of the URL: captures of one page
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("length", pa.uint32(), nullable=False),
    ]
)


class WorkError(RuntimeError):
    """The work folder is in use, or belongs to another run."""


class PartWriter:
    """Spills one part; several threads add its batches in any order."""

    def __init__(self, folder: Path, number: int) -> None:
        self.stem = folder / f"part-{number}"
        self.text: BinaryIO = open(f"{self.stem}.text", "wb")  # noqa: SIM115
        self.skips = open(f"{self.stem}.skipped", "w", encoding="ascii")  # noqa: SIM115
        self.sink = pa.OSFile(f"{self.stem}.partial", "wb")
        self.rows = pa.ipc.new_stream(self.sink, ROWS)
        self.offset = 0
        self.lock = threading.Lock()

    def add(self, batch: int, columns: dict[str, Any], texts: pa.Array) -> None:
        """Append the documents of one batch."""
        data, offsets = view(texts)
        start, end = int(offsets[0]), int(offsets[-1])
        n = len(texts)
        with self.lock:
            rows = {
                "batch": np.full(n, batch, np.int32),
                **columns,
                "offset": offsets[:-1] - start + self.offset,
                "length": np.diff(offsets).astype(np.uint32),
            }
            self.text.write(data[start:end].data)
            self.offset += end - start
            arrays = [pa.array(rows[field.name], field.type) for field in ROWS]
            self.rows.write_batch(pa.record_batch(arrays, schema=ROWS))

    def skip(self, skipped: Iterable[Skipped]) -> None:
        """Note the records left out."""
        lines = "".join(json.dumps(row._asdict()) + "\n" for row in skipped)
        with self.lock:
            self.skips.write(lines)

    def finish(self) -> None:
        """Make the part whole."""
        self.text.close()
        self.skips.close()
        self.rows.close()
        self.sink.close()
        os.replace(f"{self.stem}.partial", f"{self.stem}.rows")

    def abandon(self) -> None:
        """Close what is open; the part stays unfinished."""
        for file in (self.text, self.skips, self.rows, self.sink):
            with contextlib.suppress(OSError, pa.ArrowException):
                file.close()


class Work:
    """A locked work folder with the parts that are whole."""

    def __init__(self, folder: Path, identity: dict[str, Any], resume: bool) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(folder / "lock", "a+b")  # noqa: SIM115
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._begin(identity, resume)
        except BlockingIOError:
            self.lock.close()
            raise WorkError(f"{folder} is in use by another run") from None
        except BaseException:
            self.lock.close()
            raise
        self.writers: dict[int, PartWriter] = {}
        self.opening = threading.Lock()

    def _begin(self, identity: dict[str, Any], resume: bool) -> None:
        """Check that this is the run to resume, or empty the folder for a new one."""
        folder, note = self.folder, self.folder / "work.json"
        if resume and note.exists():
            if json.loads(note.read_text("utf-8")) != identity:
                raise WorkError(
                    f"cannot resume {folder}: its recipe or its sources differ from this run's; "
                    "run without --resume to start anew"
                )
        else:
            for path in folder.iterdir():
                if path.name != "lock":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            note.write_text(json.dumps(identity), "utf-8")

    def whole(self, number: int) -> bool:
        """Whether a part was spilled to its end."""
        return (self.folder / f"part-{number}.rows").exists()

    def writer(self, number: int) -> PartWriter:
        """The writer of a part that is not whole."""
        with self.opening:
            if number not in self.writers:
                self.writers[number] = PartWriter(self.folder, number)
            return self.writers[number]

    def finish(self, number: int) -> None:
        """Make a part whole; one without any batch is empty."""
        self.writer(number).finish()
        del self.writers[number]

    def rows(self, number: int, columns: list[str]) -> pa.Table:
        """Columns of a part's rows, in the order they were read."""
        with pa.OSFile(str(self.folder / f"part-{number}.rows")) as source:
            reader = pa.ipc.open_stream(source)
            batches = [(batch["batch"][0].as_py(), batch) for batch in reader if batch.num_rows]
        ordered = [batch.select(columns) for _, batch in sorted(batches, key=lambda b: b[0])]
        schema = pa.schema([ROWS.field(name) for name in columns])
        return pa.Table.from_batches(ordered, schema)

    def skipped(self, number: int) -> Iterator[Skipped]:
        """The records of a part that were left out."""
        with open(self.folder / f"part-{number}.skipped", encoding="ascii") as lines:
            for line in lines:
                yield Skipped(**json.loads(line))

    def close(self) -> None:
        """Give up the lock; the folder stays."""
        for writer in self.writers.values():
            writer.abandon()
        self.lock.close()


class _File:
    """A file descriptor that closes when nobody holds it any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDONLY)

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.close(self.descriptor)


class Texts:
    """The spilled documents by row number; safe to read from several threads."""

    def __init__(self, folder: Path, starts: I64, offsets: I64, lengths: U32) -> None:
        self.folder = folder
        self.starts = starts  # first row of each part, and the number of rows
        self.offsets = offsets
        self.lengths = lengths
        self._file = lru_cache(128)(self._open)

    def _open(self, part: int) -> _File:
        return _File(self.folder / f"part-{part}.text")

    def read(self, rows: I64) -> pa.Array:
        """The documents of these rows, as `large_string`."""
        ends = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(self.lengths[rows], out=ends[1:])
        data = np.empty(int(ends[-1]), np.uint8)
        target = data.data
        parts = np.searchsorted(self.starts, rows, side="right") - 1
        for part, offset, start, end in zip(
            parts.tolist(), self.offsets[rows].tolist(), ends.tolist(), ends[1:].tolist(),
            strict=False,
        ):  # fmt: skip
            if start < end:
                file = self._file(part)
                if os.preadv(file.descriptor, [target[start:end]], offset) != end - start:
                    raise WorkError(f"{file.path} is shorter than its rows say")
        return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(ends), pa.py_buffer(data))
