"""Phrases: every n units in a row are one feature ([manku07] §2, Broder's shingles)."""

from __future__ import annotations

import numpy as np

from neardup.kernels import U64, Address, Int, load64, mix64, part, store64

_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)
_TURN = np.uint64(11)
_TURNS = np.uint64(63)


@part
def phrases(units: Address, count: Int, width: Int, features: Address) -> Address:
    """Write a hash for every `width` units in a row; the address after the last.

    f_i = mix64(xor over j < n of rotate(u_{i+j}, 11 (n - 1 - j))), rolled forward from f_{i-1}
    before mixing. Fewer units than `width` make one phrase of all of them.
    """
    width = min(width, count)
    back = (_TURN * np.uint64(width)) & _TURNS
    h = leaving = _ZERO
    for i in range(width - 1):
        h = _rotate(h, _TURN) ^ load64(units + 8 * i)
    entering = units + 8 * width - 8
    for i in range(count - width + 1 if width > 0 else 0):
        h = _rotate(h, _TURN) ^ load64(entering + 8 * i) ^ leaving
        leaving = _rotate(load64(units + 8 * i), back)
        features = store64(features, mix64(h))
    return features


@part
def _rotate(x: np.uint64, by: np.uint64) -> np.uint64:
    return (x << by) | (x >> ((_64 - by) & _TURNS))


@part
def without(units: U64, count: Int, stop: U64) -> Int:
    """Drop the units in the open-addressing table `stop` (a power of two, 0 for free)."""
    kept = count
    if len(stop) > 0:
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
