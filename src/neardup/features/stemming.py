"""Stemming with Snowball: the texts rewritten before the kernels, each distinct word stemmed once.

Needs the extra `stem`. This is the slow path: a few MB/s, in Python.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pyarrow as pa

from neardup.features.stopwords import stop_words
from neardup.specs import SpecError

_WORD = re.compile(r"[\w\u0300-\u036f]+")
_LANGUAGES = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
    "tr": "turkish",
}  # fmt: skip
#: a crawl holds endless distinct "words"; the cache of stems starts again at this many
_REMEMBERED = 1_000_000


class Stemmer:
    """Words of one language to their stems; stop words, when given, to nothing."""

    def __init__(self, language: str, stop: frozenset[str]) -> None:
        if language not in _LANGUAGES:
            known = ", ".join(sorted(_LANGUAGES))
            raise SpecError(f"no stemmer for the language {language!r}; known: {known}")
        try:
            import snowballstemmer
        except ImportError:
            raise SpecError("stemming needs: pip install 'neardup[stem]'") from None
        self._stem: Any = snowballstemmer.stemmer(_LANGUAGES[language]).stemWord
        self._stop = stop
        self._stems: dict[str, str] = {}

    def __call__(self, match: re.Match[str]) -> str:
        word = match[0]
        stem = self._stems.get(word)
        if stem is None:
            lower = word.lower()
            stem = "" if lower in self._stop else self._stem(lower)
            if len(self._stems) >= _REMEMBERED:
                self._stems = {}
            self._stems[word] = stem
        return stem


@cache
def _stemmer(language: str, stop: str) -> Stemmer:
    return Stemmer(language, stop_words(stop) if stop else frozenset())


def stemmed(texts: pa.Array, language: str, stop: str = "") -> pa.Array:
    """The texts with every word replaced by its stem and stop words left out."""
    stemmer = _stemmer(language, stop)
    rewritten = (_WORD.sub(stemmer, text or "") for text in texts.to_pylist())
    return pa.array(rewritten, type=pa.large_string())
