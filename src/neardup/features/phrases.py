"""Phrases: every n units in a row are one feature ([manku07] §2, Broder's shingles)."""

from __future__ import annotations

import numpy as np

from neardup.kernels import U64, Int, kernel, mix64

_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)
_TURN = np.uint64(11)
_TURNS = np.uint64(63)


@kernel
def phrases(units: U64, count: Int, width: Int, features: U64, end: Int) -> Int:
    """Append a hash for every `width` units in a row to features[:end] and return the new end.

    f_i = mix64(xor over j < n of rotate(u_{i+j}, 11 (n - 1 - j))), rolled forward from f_{i-1}
    before mixing. Fewer units than `width` make one phrase of all of them.
    """
    width = min(width, count)
    if width == 0:
        return end
    back = (_TURN * np.uint64(width)) & _TURNS
    h = _ZERO
    for i in range(width - 1):
        h = _rotate(h, _TURN) ^ units[i]
    leaving = _ZERO
    for i in range(count - width + 1):
        h = _rotate(h, _TURN) ^ units[i + width - 1] ^ leaving
        leaving = _rotate(units[i], back)
        features[end + i] = mix64(h)
    return end + count - width + 1


@kernel
def _rotate(x: np.uint64, by: np.uint64) -> np.uint64:
    return (x << by) | (x >> ((_64 - by) & _TURNS))


@kernel
def without(units: U64, count: Int, stop: U64) -> Int:
    """Drop the units in the open-addressing table `stop` (a power of two, 0 for free)."""
    if len(stop) == 0:
        return count
    last = np.uint64(len(stop) - 1)
    kept = 0
    for i in range(count):
        slot = units[i] & last
        while stop[slot] != _ZERO and stop[slot] != units[i]:
            slot = (slot + _ONE) & last
        if stop[slot] == _ZERO:
            units[kept] = units[i]
            kept += 1
    return kept
