"""The independent units of work a corpus is read in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from neardup.corpus.batches import EMPTY, Batches, File
from neardup.corpus.errors import Skipped
from neardup.corpus.limits import Limits

#: About how many bytes of a file are one part, where it can be divided.
PART_BYTES = 32 << 20


class Part(ABC):
    """A stretch of one file, or a few small files: read by any thread, in any order."""

    limits: Limits

    @property
    @abstractmethod
    def name(self) -> str:
        """For progress bars and messages."""

    @property
    @abstractmethod
    def files(self) -> Sequence[int]:
        """The numbers of the files it reads."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes to read, for progress."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Changes when the input does: path, size, time of change, range and fields."""

    @abstractmethod
    def read(self) -> Batches:
        """PAGES batches, each with the records left out since the one before."""


def _ignore(position: int) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class FilePart(Part):
    """A whole file or a range of it."""

    file: File
    limits: Limits
    #: called while reading with the bytes of the part that are behind, for progress
    reached: Callable[[int], None] = field(default=_ignore, kw_only=True, compare=False, repr=False)

    @property
    def range(self) -> str:
        return "all"

    @property
    def name(self) -> str:
        return self.file.name if self.range == "all" else f"{self.file.name} [{self.range}]"

    @property
    def files(self) -> Sequence[int]:
        return [self.file.index]

    @property
    def size(self) -> int:
        return self.file.size

    @property
    def identity(self) -> str:
        return f"{identity(self.file)} {self.range} {self.meaning}"

    @property
    def meaning(self) -> str:
        """The options that decide what is read from the range."""
        return repr(self.limits)


def identity(file: File) -> str:
    return f"{file.name!r} {file.size} {file.changed}"


@dataclass(frozen=True)
class LeftOut(Part):
    """What was found unreadable while the sources were listed, told like any other record."""

    rows: tuple[Skipped, ...]
    limits: Limits

    @property
    def name(self) -> str:
        return "files left out"

    @property
    def files(self) -> Sequence[int]:
        return []

    @property
    def size(self) -> int:
        return 0

    @property
    def identity(self) -> str:
        return repr(self.rows)

    def read(self) -> Batches:
        yield EMPTY, list(self.rows)
