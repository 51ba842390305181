"""A spec prints as a call and reads back; nothing else is ever evaluated."""

from __future__ import annotations

import pytest

import neardup
from neardup.specs import Spec, SpecError, parse

SPECS = [
    neardup.Simhash(),
    neardup.Simhash(bits=64, features="words:2", weights="log-tf"),
    neardup.MinHash(permutations=16, features="chars:4"),
    neardup.Exact(),
    neardup.ModP(p=3),
    neardup.Templates(min_pages=3),
    neardup.Extract(content="main"),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_spec_reads_back_from_its_own_text(spec):
    assert parse(str(spec), Spec) == spec
    assert parse(repr(spec), Spec) == spec
    assert parse(str(spec), type(spec)).digest == spec.digest


def test_specs_differ_in_their_digests():
    assert len({spec.digest for spec in SPECS}) == len(SPECS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read"),
        ("Simhash(", "cannot read"),
        ("Nohash()", "unknown spec 'Nohash'"),
        ("Simhash(bits=__import__('os'))", "unknown spec '__import__'"),
        ("Simhash(bits=1+1)", "cannot read a value"),
        ("Simhash(colour=3)", "colour"),
        ("os.system('true')", "cannot read"),
        ("[" * 10000, "cannot read"),
        ("MinHash()", "is not a Simhash"),
    ],
)
def test_what_is_no_spec_is_refused_in_one_line(text, message):
    with pytest.raises(SpecError, match=message) as caught:
        parse(text, neardup.Simhash)
    assert "\n" not in str(caught.value)
