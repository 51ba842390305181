"""Files written beside their final place and moved there together, when all are complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
from isal import isal_zlib

PARTIAL = ".partial"
#: isal's level 2: ten times as fast as zlib's usual level here, and 13 % larger.
_LEVEL = 2


class Staging:
    """The names under way. Leaving with an exception removes them all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.written: list[Path] = []

    def path(self, name: str) -> Path:
        """Where to write the file or folder that will be called `name`."""
        self.names.append(name)
        partial = self.folder / (name + PARTIAL)
        _remove(partial)
        return partial

    def free(self, stem: str, ending: str) -> str:
        """`stem` + `ending`, with a number where that name is taken."""
        name, number = stem + ending, 2
        while name in self.names:
            name, number = f"{stem}-{number}{ending}", number + 1
        return name

    def forget(self, name: str) -> None:
        """Give up a file that will be written in another way."""
        self.names.remove(name)
        _remove(self.folder / (name + PARTIAL))

    def __enter__(self) -> Staging:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for name in self.names:
                _remove(self.folder / (name + PARTIAL))
            return
        for name in self.names:
            partial, final = self.folder / (name + PARTIAL), self.folder / name
            _sync(partial)
            if final.is_dir() and not final.is_symlink():
                shutil.rmtree(final)
            os.replace(partial, final)
            self.written.append(final)
        _sync(self.folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Sink:
    """A file to write bytes to, compressed or not."""

    def __init__(self, path: Path, compression: str) -> None:
        self.file: Any = open(path, "wb")  # noqa: SIM115  (closed by close)
        self.packer: Any = None
        if compression == "gz":
            self.packer = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, 31)
        elif compression == "zst":
            self.file = pa.CompressedOutputStream(self.file, "zstd")

    def write(self, data: bytes | memoryview) -> None:
        self.file.write(self.packer.compress(data) if self.packer else data)

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *_: object) -> None:
        if self.packer:
            self.file.write(self.packer.flush())
        self.file.close()
