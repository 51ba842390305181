"""Word shingles as users of the Python peers write them: the fastest plain Python we found."""

from __future__ import annotations


def words5(text: str) -> set[str]:
    """Lower-cased word 5-grams of a text."""
    words = text.lower().split()
    return set(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))


def words3(text: str) -> list[str]:
    """Lower-cased word 3-grams of a text, with repeats."""
    words = text.lower().split()
    return list(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
