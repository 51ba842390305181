"""Character references: `&amp;`, `&notin;`, `&#8217;`, and those without their semicolon.

HTML standard, section 13.2.5.72 and after: the longest known name wins, old names need no
semicolon, and numbers 128 to 159 mean what they mean in windows-1252.
"""

from __future__ import annotations

from html.entities import html5

import numpy as np

from neardup.extract.tags import PRIME, SEED, TAG_TABLE, Int, hash_table, name_hash
from neardup.kernels import I64, U8, kernel

_SLOTS = 8192
_LONGEST_OLD, _LONGEST = 6, 32  # bytes of the longest name without and with a semicolon
_SEMICOLON, _HASH, _X = 59, 35, 120
_LENGTH_SHIFT = 48  # a value holds up to six UTF-8 bytes, lowest first, and their number
_REPLACEMENT = 0xFFFD
_NO_DIGIT = np.int64(99)


def _tables() -> I64:
    """The element tables, then a map from the hash of a reference's name to its packed UTF-8."""
    names = list(html5)
    keys, numbers = hash_table([name_hash(name) for name in names], _SLOTS)
    packed = []
    for name in names:
        raw = html5[name].encode()
        packed.append(int.from_bytes(raw, "little") | len(raw) << _LENGTH_SHIFT)
    values = np.where(numbers >= 0, np.array(packed, np.int64)[numbers], 0)
    windows = [ord(bytes([i]).decode("cp1252", "replace")) for i in range(128, 160)]
    windows = [i + 128 if w == _REPLACEMENT else w for i, w in enumerate(windows)]
    return np.concatenate([TAG_TABLE, keys, values, np.array(windows, np.int64)])


_KEYS = len(TAG_TABLE)
_VALUES = _KEYS + _SLOTS
_WINDOWS = _VALUES + _SLOTS
TABLES = _tables()
TABLES.flags.writeable = False


@kernel
def _number(data: U8, i: Int, end: Int, tables: I64) -> tuple[Int, Int]:
    """A numeric reference whose `#` stands at i: its packed UTF-8 and where it ends."""
    i += 1
    base = 10
    if i < end and data[i] | 32 == _X:
        base, i = 16, i + 1
    start = i
    code: Int = 0
    while i < end:
        c = np.int64(data[i])
        digit = c - 48 if c <= 57 else (c | 32) - 87 if c | 32 >= 97 else _NO_DIGIT
        if digit < 0 or digit >= base:
            break
        code = min(code * base + digit, 0x110000)
        i += 1
    if i == start:
        return 0, i
    if i < end and data[i] == _SEMICOLON:
        i += 1
    if 128 <= code < 160:
        code = tables[_WINDOWS + code - 128]
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        code = _REPLACEMENT
    if code < 0x80:
        return code | 1 << _LENGTH_SHIFT, i
    low, middle, high = 0x80 | code & 0x3F, 0x80 | code >> 6 & 0x3F, 0x80 | code >> 12 & 0x3F
    if code < 0x800:
        return 0xC0 | code >> 6 | low << 8 | 2 << _LENGTH_SHIFT, i
    if code < 0x10000:
        return 0xE0 | code >> 12 | middle << 8 | low << 16 | 3 << _LENGTH_SHIFT, i
    return 0xF0 | code >> 18 | high << 8 | middle << 16 | low << 24 | 4 << _LENGTH_SHIFT, i


@kernel
def _look_up(key: Int, tables: I64) -> Int:
    slot = key & (_SLOTS - 1)
    while tables[_KEYS + slot] != 0:
        if tables[_KEYS + slot] == key:
            return tables[_VALUES + slot]
        slot = (slot + 1) & (_SLOTS - 1)
    return 0


@kernel
def decode(data: U8, i: Int, end: Int, tables: I64, attribute: Int) -> tuple[Int, Int]:
    """The reference whose `&` stands at i: (packed character, where it ends); 0 if it is none.

    Reads at most 33 bytes of a name, so a flood of `&` takes linear time.
    """
    i += 1
    if i < end and data[i] == _HASH:
        return _number(data, i, end, tables)
    key, old, old_end, last = SEED, 0, i, min(end, i + _LONGEST)
    start = i
    while i < last:
        c = np.int64(data[i])
        if not (97 <= c | 32 <= 122 or 48 <= c <= 57):
            break
        key = (key ^ np.uint64(c)) * PRIME
        i += 1
        if i - start <= _LONGEST_OLD:
            value = _look_up(np.int64(key), tables)
            if value:
                old, old_end = value, i
    if i < end and data[i] == _SEMICOLON and i > start:
        value = _look_up(np.int64((key ^ np.uint64(_SEMICOLON)) * PRIME), tables)
        if value:
            return value, i + 1
    if old and attribute and old_end < end:
        c = np.int64(data[old_end])
        if c == 61 or 97 <= c | 32 <= 122 or 48 <= c <= 57:
            return 0, i
    return old, old_end
