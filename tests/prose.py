"""Made-up texts for tests: random words with a seed, and edited copies of them."""

from __future__ import annotations

import random

_SYLLABLES = (
    "ka",
    "to",
    "mi",
    "ren",
    "sol",
    "va",
    "dur",
    "pe",
    "lin",
    "gos",
    "ta",
    "mer",
    "ul",
    "shi",
)


def words(rng: random.Random, count: int) -> list[str]:
    """Words of one to three syllables."""
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3))) for _ in range(count)]


def article(seed: int, count: int = 200) -> str:
    """A text of its own for every seed."""
    return " ".join(words(random.Random(seed), count))


def edited(text: str, seed: int, changes: int = 1) -> str:
    """The text with some words replaced."""
    rng = random.Random(seed)
    parts = text.split()
    for _ in range(changes):
        parts[rng.randrange(len(parts))] = "changed" + "".join(rng.choices(_SYLLABLES, k=4))
    return " ".join(parts)
