"""Shared passages: equal words, each used once, as long as they go, and nothing forgotten."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.tokens import token_counts
from neardup.pairs.passages import Passage, _tokens, passages, segments
from neardup.specs import SpecError

POEM = (
    "The lamp is lit before the tide has turned. Nobody rows across the bay by night. "
    "A rope, a bell and seven coils of wire hang from the beam beside the kitchen door."
)
few_words = st.lists(st.sampled_from("abc"), max_size=10).map(" ".join)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_equal_texts_are_one_passage() -> None:
    found = passages(POEM, POEM.upper())
    assert found.shared == (Passage(0, len(POEM) - 1, 0, len(POEM) - 1),)
    assert found.only_a == found.only_b == ()


def test_moved_paragraphs_are_found_and_the_rest_is_named() -> None:
    first, second, third = POEM.split(". ")
    a = f"{first}. {second}. {third}"
    b = f"{third} - {first}. Wanted: a boat."
    found = passages(a, b)
    assert [a[p.start_a : p.end_a] for p in found.shared] == [first, third.rstrip(".")]
    assert all(a[p.start_a : p.end_a] == b[p.start_b : p.end_b] for p in found.shared)
    assert [a[start:end] for start, end in found.only_a] == [second]
    assert [b[start:end] for start, end in found.only_b] == ["Wanted: a boat"]


def test_the_longest_run_wins() -> None:
    a = "zero one two three four five six seven"
    b = "zero one two three x one two three four five six seven"
    (passage,) = passages(a, b, "words:3").shared
    assert b[passage.start_b : passage.end_b] == "one two three four five six seven"


@pytest.mark.parametrize(
    ("text", "changed", "gone", "come"),
    [
        ("采茶的人已经背着竹篓上了山。天还没有亮，头灯的光连成线", "天还", "天还", "夜色"),
        ("ตลาดน้ำยามเช้าก่อนพระอาทิตย์ขึ้นเรือพายลำเล็กมารวมกัน", "พระอาทิตย์", "พระอาทิตย์", "qqq"),
    ],
)
def test_scripts_without_spaces(text: str, changed: str, gone: str, come: str) -> None:
    other = text.replace(changed, come)
    found = passages(text, other)
    assert [text[start:end] for start, end in found.only_a] == [gone]
    assert [other[start:end] for start, end in found.only_b] == [come]


def test_seven_characters_are_no_passage_and_eight_are() -> None:
    assert not passages("商店街小豆腐屋ab", "x商店街小豆腐屋y").shared
    assert passages("商店街小豆腐屋朝ab", "x商店街小豆腐屋朝y").shared


def test_short_texts_share_only_if_they_are_equal() -> None:
    assert passages("Sign in", "sign IN!").shared == (Passage(0, 7, 0, 7),)
    assert passages("Sign in", "sign in to go on reading").shared == ()
    assert passages("", "").shared == ()
    assert passages("...", "!") == passages("", "")


def test_a_run_is_at_least_as_long_as_asked() -> None:
    a, b = "one two three four x", "y one two three four"
    assert not passages(a, b, "words:5").shared
    assert len(passages(a, b, "words:4").shared) == 1


@pytest.mark.parametrize("features", ["chars:5", "words:5,stop=en", "five"])
def test_only_plain_words_make_passages(features: str) -> None:
    with pytest.raises(SpecError):
        passages("a", "b", features)


def test_segments_give_the_text_back() -> None:
    found = passages(POEM, POEM.replace("Nobody", "Everybody"))
    pieces = segments(POEM, found.only_a)
    assert "".join(text for text, _ in pieces) == POEM
    assert [text for text, shared in pieces if not shared] == ["Nobody"]


@given(st.text(), st.text())
def test_any_text(a: str, b: str) -> None:
    found = passages(a, b, "words:1")
    for text, only in ((a, found.only_a), (b, found.only_b)):
        assert "".join(piece for piece, _ in segments(text, only)) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_words_are_those_of_the_house(text: str) -> None:
    """A run of m > 1 unspaced characters is m - 1 pairs there and m characters here."""
    tokens = _tokens(text, {})
    lone = int((tokens.weights < 1).sum())
    counted = int(token_counts([text])[0])
    assert counted <= len(tokens.words)
    if not lone:
        assert counted == len(tokens.words)


@given(few_words, few_words)
def test_tiles_are_equal_disjoint_long_enough_and_complete(a: str, b: str) -> None:
    found = passages(a, b, "words:3")
    left_a, left_b = list(a), list(b)
    for p in found.shared:
        assert words(a[p.start_a : p.end_a]) == words(b[p.start_b : p.end_b])
        assert len(words(a[p.start_a : p.end_a])) >= min(3, len(words(a)))
        for left, start, end in ((left_a, p.start_a, p.end_a), (left_b, p.start_b, p.end_b)):
            assert "#" not in left[start:end]  # each word is used once
            left[start:end] = "#" * (end - start)
    rest_a, rest_b = "".join(left_a), "".join(left_b)
    assert [a[s:e] for s, e in found.only_a] == [r.strip() for r in _unused(rest_a)]
    if len(words(a)) >= 3 and len(words(b)) >= 3:
        runs = {m[1] for m in re.finditer(r"(?=(\w \w \w))", rest_a)}
        assert not runs & {m[1] for m in re.finditer(r"(?=(\w \w \w))", rest_b)}


def _unused(rest: str) -> list[str]:
    return [piece for piece in rest.split("#") if piece.strip()]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a " * 200_000, "b " + "a " * 150_000),
        ("a b c d e f " * 20_000, "a b c d e g " * 20_000),
    ],
)
def test_repetitive_text_is_not_quadratic(a: str, b: str) -> None:
    start = time.perf_counter()
    assert passages(a, b).shared
    assert time.perf_counter() - start < 30  # quadratic work would take hours
