"""A 128-bit digest of a sequence of units: equal digests mean equal normalised texts."""

from __future__ import annotations

import numpy as np

from neardup.kernels import U64, Int, fold_multiply, mix64, part

_STEP = np.uint64(0x9E3779B97F4A7C15)
_LEFT, _RIGHT = np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
_ZERO = np.uint64(0)


@part
def digest_units(units: U64, count: Int, digests: U64, row: Int) -> None:
    """digest_k = mix64(count + sum over i of fold_multiply(u_i ^ (i + 1) STEP, C_k)), k = 0, 1.

    The place of each unit is mixed in with it, so the terms do not wait for each other.
    """
    left, right, place = np.uint64(count), np.uint64(count), _ZERO
    for i in range(count):
        place += _STEP
        left += fold_multiply(units[i] ^ place, _LEFT)
        right += fold_multiply(units[i] ^ place, _RIGHT)
    digests[row, 0], digests[row, 1] = mix64(left), mix64(right)
