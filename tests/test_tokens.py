"""Tokens against an oracle made from `unicodedata`, and against hostile bytes."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features import characters, words
from neardup.features.reading import read
from neardup.features.specs import Features
from neardup.features.tokens import token_counts
from neardup.kernels import strings, view
from neardup.specs import SpecError
from tests import oracles_fingerprints as oracle
from tests import oracles_tokens

ODD = (
    "aZ_09 .,'-\n\t\x00äÖßÿ×÷éİıſKÅẞ\u0301\u0308\u00ad\u200d\u200c\ufeff\ufe0f"
    "Ａｚ９＿日本語ひカ々〇สวัสดี๑ກข"
    "ខមြန်ⱥȺǅΣςσКЁ،مرح०१👍🏽❤𝔸𐐀𐐨𠀀\U000e0100\U0010ffff"
)
TEXTS = st.one_of(st.text(max_size=80), st.text(st.sampled_from(ODD), max_size=200))


def units(texts: pa.Array, features: str = "words:1") -> list[list[int]]:
    """The units of each text, undone from phrases of one (mix64 is a bijection)."""
    found: list[list[int]] = []
    for block in read(texts, Features.of(features)):
        rows = zip(block.ends, block.ends[1:], strict=False)
        found += [block.values[a:b].tolist() for a, b in rows]
    return found


@given(st.lists(TEXTS, max_size=5))
def test_tokens_are_those_of_the_oracle(texts: list[str]) -> None:
    found = units(strings(texts))
    assert found == [[oracle.mix64(u) for u in oracle.units(text)] for text in texts]
    assert token_counts(texts).tolist() == [len(oracles_tokens.words(text)) for text in texts]


@given(st.lists(TEXTS, max_size=5))
def test_characters_are_those_of_the_oracle(texts: list[str]) -> None:
    found = units(strings(texts), "chars:1")
    assert found == [[oracle.mix64(u) for u in oracle.units(text, "chars")] for text in texts]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 5000])
@pytest.mark.parametrize("letter", ["a", "Ä", "ⱥ", "𐐀"])
def test_a_word_of_any_length_across_blocks_and_chunks(size: int, letter: str) -> None:
    for before in (0, 1, 50, 63, 64, 4090):
        text = "." * before + letter * size + " x"
        assert units(strings([text])) == [[oracle.mix64(u) for u in oracle.units(text)]]


def test_words() -> None:
    assert oracles_tokens.words("Don't PANIC: naïve_42 Straße") == [
        "don", "t", "panic", "naïve_42", "straße",
    ]  # fmt: skip
    assert oracles_tokens.words("日本語 x 中 ตา") == ["日本", "本語", "x", "中", "ตา"]
    assert oracles_tokens.words("Donau\u00addampf") == ["donaudampf"]


@given(st.lists(st.binary(max_size=300), max_size=4), st.integers(0, 3))
def test_ill_formed_utf8_stays_inside_its_text(pieces: list[bytes], offset: int) -> None:
    """The same bytes give the same tokens whatever lies around them."""
    texts = pa.array([b"\xf0\x9f", *pieces, b"\xff"], pa.large_binary()).view(pa.large_string())
    together = units(texts.slice(offset))
    alone = [units(texts.slice(i, 1))[0] for i in range(offset, len(texts))]
    assert together == alone
    tight = pa.LargeStringArray.from_buffers(
        len(texts), texts.buffers()[1], pa.py_buffer(b"\xf0\x9f" + b"".join(pieces) + b"\xff")
    )
    assert units(tight.slice(offset)) == together


@given(st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=6))
def test_every_kind_of_string_array_reads_the_same(texts: list[str | None]) -> None:
    wanted = token_counts([text or "" for text in texts]).tolist()
    array = pa.array(texts, pa.string())
    kinds = [
        array,
        array.cast(pa.large_string()),
        array.cast(pa.string_view()),
        array.dictionary_encode(),
        pa.chunked_array([array, array.slice(0, 0)]),
        pd.Series(texts, dtype=object),
        texts,
    ]
    assert [token_counts(kind).tolist() for kind in kinds] == [wanted] * len(kinds)
    assert token_counts(array.slice(1)).tolist() == wanted[1:]


def test_the_kernels_have_one_signature() -> None:
    for texts in (["a"], [], [None], pa.array(["x", "ÿ" * 100])):
        token_counts(texts)
        token_counts(texts, "chars:2")
    for kernel in (words.tokenise_texts, words.characterise_texts, words._hash_any):
        assert len(kernel.signatures) <= 1  # none when read from the cache


def test_the_character_table_is_the_pinned_unicode() -> None:
    first = characters.files(characters.__package__).joinpath("characters.txt")
    assert f"Unicode {characters.UNICODE_VERSION}:" in first.read_text().splitlines()[0]
    table = characters.character_table()
    codes = np.arange(0x110000)
    entries = table[table[codes >> 7] + (codes & 127)]
    kinds = ["", "word", "unspaced", "ignored"]
    for code in (ord("é"), ord("中"), 0x200D, ord("Σ"), ord("ß"), ord("!"), 0xD800, 0x10FFFF):
        char = chr(code)
        assert kinds[entries[code] & 3] == oracles_tokens.kind(char)
        assert (
            entries[code] >> 2
            == (ord(oracles_tokens.fold(char)) - code if oracles_tokens.kind(char) else 0)
            or oracles_tokens.kind(char) == "ignored"
        )
    if unicodedata.unidata_version == characters.UNICODE_VERSION:
        runs = [(a, b, kinds.index(k), d) for a, b, k, d in oracles_tokens.table()]
        wanted = np.zeros(0x110000, np.int64)
        for a, b, k, d in runs:
            wanted[a : b + 1] = 4 * d + k
        wanted[ord("_")] += 4 * 0x20
        assert (entries == wanted).all()


def test_folding_is_idempotent() -> None:
    table = characters.character_table()
    codes = np.arange(0x110000)
    folded = codes + (table[table[codes >> 7] + (codes & 127)] >> 2)
    folded[ord("_")] = ord("_")
    again = folded + (table[table[folded >> 7] + (folded & 127)] >> 2)
    again[ord("_")] = ord("_")
    assert (again == folded).all()


def test_hash_words_refuses_what_is_not_one_word() -> None:
    assert words.hash_words(["The", "the"]).tolist() == [oracle.hash_token("the")] * 2
    for bad in ("", "two words", "日本語", "x" * 10_000 + " y"):
        with pytest.raises(SpecError, match="not one word"):
            words.hash_words(["fine", bad])


def test_views_have_a_block_to_load() -> None:
    data, offsets = view(strings(["ab", None, "c"]))
    assert len(data) >= 64
    assert offsets.tolist() == [0, 2, 2, 3]
    assert not data.flags.writeable
