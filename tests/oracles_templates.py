"""The slow, obvious way to hash blocks and to remove them."""

from __future__ import annotations

import re

MASK = (1 << 64) - 1
SEED, WORD = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
GRAMS = (0x9E6C63D0876A9A47, 0xA47B07BC5CD74259, 0xE7037ED1A0B428DB, 1)
NUMBER = 0x8EBC6AF09C88C6E3
RUN = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")
UNSPACED = re.compile(
    rb"[\xe3-\xe9][\s\S]{2}|\xe0[\xb8-\xbb][\s\S]|\xe1[\x80\x81\x9e][\s\S]", re.DOTALL
)


def mix64(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def fold(h: int, x: int) -> int:
    h = ((h ^ x) * WORD) & MASK
    return h ^ (h >> 29)


def words(block: bytes) -> list[bytes]:
    """Runs of letters, cut after 64 bytes and around characters of scripts without spaces."""
    found = []
    for run in RUN.findall(block):
        while run:
            word = run[:64]
            unspaced = UNSPACED.search(word)
            if unspaced and unspaced.start() == 0:
                word = word[:3]
            elif unspaced:
                word = word[: unspaced.start()]
            found.append(word)
            run = run[len(word) :]
    return found


def hash_word(word: bytes) -> int:
    h = SEED
    for k in range(0, len(word), 8):
        h = fold(h, int.from_bytes(word[k : k + 8].lower(), "little"))
    return h


def block_row(block: bytes) -> tuple[int, int]:
    """The value and the mark of a block."""
    found = words(block)
    if not found:
        return 0, 0
    value, loose, halves = SEED, [0, 0, 0], 0
    for word in found:
        value = fold(value, hash_word(word))
        loose.append(NUMBER if word[:8].isdigit() else hash_word(word))
        halves += 1 if len(word) == 3 and UNSPACED.match(word) else 2
    grams = []
    for k in range(len(found)):
        total = sum(h * c for h, c in zip(loose[k : k + 4], GRAMS, strict=True)) & MASK
        product = total * SEED
        grams.append((product & MASK) ^ (product >> 64))
    full = grams[3:] or grams[-1:]
    lanes = mix64(min(full)) >> 38 << 38 | mix64(max(full)) >> 38 << 12
    return max(mix64(value), 1), lanes | min((halves + 1) // 2, 4095)


def removed(text: str, template: set[int], remain: float, least: int) -> tuple[str, int]:
    """A text without its template blocks, and how many it lost."""
    blocks = text.split("\n")
    rows = [block_row(block.encode()) for block in blocks]
    kept = [b for b, (value, _) in zip(blocks, rows, strict=True) if value not in template]
    total = sum(mark & 4095 for _, mark in rows)
    left = sum(mark & 4095 for value, mark in rows if value not in template)
    if len(kept) == len(blocks) or left < max(least, remain * total):
        return text, 0
    return "\n".join(kept), len(blocks) - len(kept)
