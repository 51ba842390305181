"""What each code point is to the tokenizer: a two-stage table pinned to one Unicode version.

The table is `characters.txt` (made by `tests/oracles_tokens.py`), not the running Python's
`unicodedata`: a stored fingerprint must not change meaning with the Python version.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

#: kinds of code points, the two low bits of an entry
SEPARATOR, WORD, UNSPACED, IGNORED = range(4)
UNICODE_VERSION = "14.0.0"
_KINDS = {"word": WORD, "unspaced": UNSPACED, "ignored": IGNORED}
_BLOCK = 128
_CODES = 0x110000


@cache
def character_table() -> npt.NDArray[np.int32]:
    """`table[table[c >> 7] + (c & 127)]` is 4 * (fold(c) - c) + kind(c).

    The first 8704 items say where the block of a code point starts; equal blocks are stored once.
    """
    entries = np.zeros(_CODES, np.int32)
    text = files(__package__).joinpath("characters.txt").read_text("ascii")
    for line in text.splitlines()[1:]:
        first, last, kind, fold = line.split()
        entries[int(first, 16) : int(last, 16) + 1] = 4 * int(fold) + _KINDS[kind]
    # the fast path lower-cases [A-Z0-9_] by setting bit 5, which makes "_" 0x7F
    entries[ord("_")] = 4 * 0x20 + WORD
    blocks, which = np.unique(entries.reshape(-1, _BLOCK), axis=0, return_inverse=True)
    starts = len(which) + which.astype(np.int32) * _BLOCK
    table = np.concatenate([starts.ravel(), blocks.ravel()]).astype(np.int32)
    table.flags.writeable = False
    return table
