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
SHORT = _CODES // _BLOCK


@cache
def character_table() -> npt.NDArray[np.int32]:
    """`table[table[c >> 7] + (c & 127)]` is 4 * (fold(c) - c) + kind(c).

    The first 8704 items say where the block of a code point starts; equal blocks are stored once.
    Between the two, `table[SHORT + c]` has what hashing a word needs of a c below 0x800 at once:
    the folded UTF-8 bytes in the low 24 bits, how many in the next 4, and the kind above.
    """
    entries = np.zeros(_CODES, np.int32)
    text = files(__package__).joinpath("characters.txt").read_text("ascii")
    for line in text.splitlines()[1:]:
        first, last, kind, fold = line.split()
        entries[int(first, 16) : int(last, 16) + 1] = 4 * int(fold) + _KINDS[kind]
    # the fast path lower-cases [A-Z0-9_] by setting bit 5, which makes "_" 0x7F
    entries[ord("_")] = 4 * 0x20 + WORD
    numbers: dict[bytes, int] = {}  # np.unique sorts the blocks, which takes 0.3 s at every start
    which = [numbers.setdefault(b.tobytes(), len(numbers)) for b in entries.reshape(-1, _BLOCK)]
    starts = SHORT + 0x800 + np.array(which) * _BLOCK
    short = [_short(code, int(entries[code])) for code in range(0x800)]
    blocks = np.frombuffer(b"".join(numbers), np.int32)
    table = np.concatenate([starts, short, blocks]).astype(np.int32)
    table.flags.writeable = False
    return table


def _short(code: int, entry: int) -> int:
    folded = chr(code + (entry >> 2)).encode()
    return int.from_bytes(folded, "little") | len(folded) << 24 | (entry & 3) << 28
