"""Slow, obvious tokens from `unicodedata`; run as a script it prints the character table.

    python tests/oracles_tokens.py > src/neardup/features/characters.txt

with the oldest Python that neardup supports: its Unicode version is the pinned one.
"""

from __future__ import annotations

import unicodedata

UNSPACED = [  # Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3021, 0x3029),
    (0x3038, 0x303B), (0x3041, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F),
    (0x20000, 0x323AF),
]  # fmt: skip
#: soft hyphen, zero-width joiners, word joiner, byte order mark, variation selectors
IGNORED = {0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def kind(char: str) -> str:
    """`word`, `unspaced` (a script without spaces), `ignored` or `` (a separator)."""
    code = ord(char)
    if code in IGNORED:
        return "ignored"
    if char == "_":
        return "word"
    category = unicodedata.category(char)
    if category[0] not in "LMN":
        return ""
    if category != "Nd" and any(low <= code <= high for low, high in UNSPACED):
        return "unspaced"
    return "word"


def fold(char: str) -> str:
    """Simple case folding, one code point to one; full-width ASCII becomes ASCII."""
    if 0xFF01 <= ord(char) <= 0xFF5E:
        char = chr(ord(char) - 0xFEE0)
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


def words(text: str) -> list[str]:
    """The folded words of a text; unspaced runs as overlapping pairs of characters."""
    runs: list[tuple[str, str]] = []
    before = ""
    for char in text:
        now = kind(char)
        if now == "ignored":
            continue
        if now and now == before:
            runs[-1] = (now, runs[-1][1] + fold(char))
        elif now:
            runs.append((now, fold(char)))
        before = now
    found: list[str] = []
    for now, run in runs:
        if now == "word" or len(run) == 1:
            found.append(run)
        else:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found


def characters(text: str) -> str:
    """The folded text that `chars:n` sees: runs of word characters joined by single spaces."""
    seen = (fold(c) if kind(c) else " " for c in text if kind(c) != "ignored")
    return " ".join("".join(seen).split())


def table() -> list[tuple[int, int, str, int]]:
    """(first, last, kind, fold - code) of every run of equal characters that are not separators."""
    rows: list[tuple[int, int, str, int]] = []
    for code in range(0x110000):
        now = kind(chr(code))
        if not now:
            continue
        delta = 0 if now == "ignored" else ord(fold(chr(code))) - code
        if rows and rows[-1][1:] == (code - 1, now, delta):
            rows[-1] = (rows[-1][0], code, now, delta)
        else:
            rows.append((code, code, now, delta))
    return rows


if __name__ == "__main__":
    version = unicodedata.unidata_version
    print(f"# Unicode {version}: first last kind fold; from tests/oracles_tokens.py")
    for first, last, now, delta in table():
        print(f"{first:X} {last:X} {now} {delta:+d}")
