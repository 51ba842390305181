"""Features: what is counted as one feature of a text, as a short string.

    words:3                         every three words in a row
    chars:5                         every five characters in a row
    words:2,stop=en,stem=en         without English stop words, and stemmed
    words:3,stop=+foo+bar           without these words

A text with fewer than n tokens has one feature: all of its tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from neardup.specs import SpecError

_GRAMMAR = re.compile(r"(words|chars):(\d{1,3})(?:,stop=([a-z]+|(?:\+\w+)+))?(?:,stem=([a-z]+))?")
#: windows are hashed by rotation, which tells apart places less than 64 from each other
WIDEST = 63


@dataclass(frozen=True)
class Features:
    """Read with `Features.of("words:3")`; `str()` gives that string back."""

    unit: str = "words"
    width: int = 3
    stop: str = ""
    stem: str = ""

    @classmethod
    def of(cls, text: str | Features) -> Features:
        """The features that `text` describes."""
        if isinstance(text, Features):
            return text
        match = _GRAMMAR.fullmatch(text.replace(" ", "")) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[2]) <= WIDEST:
            raise SpecError(
                f"cannot read the features {text!r}: expected words:n or chars:n with n from 1 to "
                f"{WIDEST}, and after words:n also ,stop=LANGUAGE (or ,stop=+of+the) ,stem=LANGUAGE"
            )
        stop, stem = match[3] or "", match[4] or ""
        if (stop or stem) and match[1] == "chars":
            raise SpecError(f"{text!r}: stop words and stemming need words:n, not chars:n")
        return cls(match[1], int(match[2]), stop, stem)

    @property
    def chars(self) -> bool:
        """Whether the units are characters rather than words."""
        return self.unit == "chars"

    def __str__(self) -> str:
        options = [
            f",{name}={value}" for name in ("stop", "stem") if (value := getattr(self, name))
        ]
        return f"{self.unit}:{self.width}{''.join(options)}"
