"""Every fingerprint in plain Python integers, from the words of `oracles_tokens`."""

from __future__ import annotations

from math import log

from tests.oracles_tokens import characters, kind, words

ALL = (1 << 64) - 1
A, B = 0x1D8E4E27C47D124F, 0x0B51B5A3F6B7C3E9
STEP = 0x9E3779B97F4A7C15
LEFT, RIGHT = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB


def fold_multiply(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & ALL


def mix64(x: int) -> int:
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & ALL
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & ALL
    return x ^ x >> 31


def rotate(x: int, by: int) -> int:
    by %= 64
    return (x << by | x >> (64 - by)) & ALL


def hash_token(token: str) -> int:
    """The hash of a folded word, of a pair of unspaced characters, or of a lone one."""
    if kind(token[0]) == "unspaced":
        before, code = (ord(token[0]), ord(token[1])) if len(token) == 2 else (0x1FFFFF, ord(token))
        return fold_multiply((before << 32 | code) ^ A, B)
    data = token.replace("_", "\x7f").encode()
    h = A
    for i in range(0, len(data), 16):
        low = int.from_bytes(data[i : i + 8], "little")
        high = int.from_bytes(data[i + 8 : i + 16], "little")
        h = fold_multiply(low ^ h, high ^ B)
    return h


def units(text: str, unit: str = "words") -> list[int]:
    if unit == "chars":
        return [fold_multiply(A ^ ord(c.replace("_", "\x7f")), B) for c in characters(text)]
    return [hash_token(word) for word in words(text)]


def phrases(hashes: list[int], width: int) -> list[int]:
    width = min(width, len(hashes))
    found = []
    for i in range(len(hashes) - width + 1 if width else 0):
        h = 0
        for unit in hashes[i : i + width]:
            h = rotate(h, 11) ^ unit
        found.append(mix64(h))
    return found


def digest(hashes: list[int]) -> tuple[int, int]:
    def lane(factor: int) -> int:
        terms = (
            fold_multiply(unit ^ (STEP * place & ALL), factor)
            for place, unit in enumerate(hashes, start=1)
        )
        return mix64((len(hashes) + sum(terms)) & ALL)

    return lane(LEFT), lane(RIGHT)


def simhash(features: list[int], weights: str = "tf", idf: dict[int, float] | None = None) -> int:
    totals = [0.0] * 64
    for feature in sorted(set(features)):
        weight = float(features.count(feature))
        if weights == "log-tf":
            weight = 1 + log(weight)
        elif idf is not None:
            weight *= idf[feature]
        for bit in range(64):
            totals[bit] += weight if feature >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if totals[bit] > 0)


def minhash(features: list[int], bins: int) -> list[int]:
    """All 2 t rounds, without stopping early."""
    signature = [0xFFFFFFFF] * bins
    round_bits = (2 * bins - 1).bit_length()
    for feature in features:
        for turn in range(2 * bins):
            h = feature if turn == 0 else fold_multiply(feature ^ (STEP * turn & ALL), RIGHT)
            place = (h >> 32) * bins >> 32 if turn < bins else turn - bins
            value = turn << (32 - round_bits) | (h & 0xFFFFFFFF) >> round_bits
            signature[place] = min(signature[place], value, 0xFFFFFFFE)
    return signature
