"""The benchmark's own parts: corpus builder, exact truth, table, page and plots."""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import corpus, report, truth
from benchmarks.row import Check, Row, at_most, times
from benchmarks.rows.growth import exponent

WORDS = [f"word{number}" for number in range(500)]
PAGE = "\n".join(" ".join(WORDS[at : at + 9]) for at in range(0, 490, 3))


def test_chunks_keep_the_text_and_follow_the_content() -> None:
    pieces = list(corpus.chunks(PAGE, least=200, most=2000, one_in=8))
    assert len(pieces) > 3
    assert PAGE.startswith("\n".join(pieces))
    changed = list(corpus.chunks("one new first line\n" + PAGE, least=200, most=2000, one_in=8))
    assert pieces[-1] == changed[-1]


def test_a_stronger_edit_leaves_less_in_common() -> None:
    def left(strength: float) -> float:
        copy = corpus.edited(PAGE, strength, random.Random(1))
        return truth.resemblance(set(PAGE.split()), set(copy.split()))

    assert left(0.0) == 1.0
    assert left(0.02) > left(0.3) > left(0.9)


def test_copies_have_their_stated_share_and_a_fixed_order() -> None:
    originals = [f"{' '.join(WORDS)} {number}" for number in range(85)]
    made = corpus.with_copies(originals, 0.15, random.Random(7))
    assert len(made) == 100
    assert set(originals) <= set(made)
    assert made == corpus.with_copies(originals, 0.15, random.Random(7))


def test_documents_are_written_with_ids_and_described(tmp_path: Path) -> None:
    path = tmp_path / "documents.parquet"
    corpus.write_documents(path, ["a b", "cé"])
    assert pq.read_table(path).to_pydict() == {
        "id": ["d0000000", "d0000001"],
        "text": ["a b", "cé"],
    }
    assert corpus.describe(path) == {"rows": 2, "bytes": 6}
    assert pq.read_table(corpus.head(path, 1))["text"].to_pylist() == ["a b"]
    assert not list(tmp_path.glob("*.partial"))


@given(
    st.lists(st.frozensets(st.integers(0, 12), min_size=1), max_size=12),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_all_pairs_misses_none(sets: list[frozenset[int]], threshold: float) -> None:
    slow = {
        (i, j): truth.resemblance(sets[i], sets[j])
        for j in range(len(sets))
        for i in range(j)
        if truth.resemblance(sets[i], sets[j]) >= threshold
    }
    assert truth.all_pairs(sets, threshold) == slow


def test_the_exponent_of_linear_time_is_one() -> None:
    assert exponent([(10, 0.5), (100, 5.0), (1000, 50.0)]) == pytest.approx(1.0)


@pytest.fixture
def row() -> Row:
    records = [
        {"row": "simhash", "tool": "ours", "unit": "MB/s", "value": 300.0, "peak_bytes": 10**8},
        {"row": "simhash", "tool": "gaoya", "unit": "MB/s", "value": 50.0, "version": "<0.2>"},
        {"row": "simhash", "tool": "rensa", "error": "does not install: " + "no wheel " * 20},
    ]
    checks = [times(records, "gaoya", 6), times(records, "rensa", 12), at_most("time", 3, 2, "s")]
    return Row("simhash", "A row <&>", records=records, checks=checks, facts=["A fact. " * 20])


def test_a_peer_that_did_not_run_is_not_a_pass(row: Row) -> None:
    assert [check.reached for check in row.checks] == [True, None, False]


def test_the_table_fits_80_columns_and_names_every_tool(row: Row) -> None:
    text = report.terminal(row)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("neardup", "gaoya", "rensa", "does not install", "6.00 x", "yes", "NO"):
        assert word in text


def test_the_page_and_plots_are_written_and_rows_are_kept(row: Row, tmp_path: Path) -> None:
    report.save(report.stamp(row, "small"), tmp_path)
    other = Row("cold", "Cold start", "s", [], [Check("x", "y", "z", True)])
    report.save(report.stamp(other, "small"), tmp_path)
    assert set(json.loads((tmp_path / "results.json").read_text())) == {"simhash", "cold"}
    page = (tmp_path / "README.md").read_text()
    assert page.index("A row") < page.index("Cold start")
    plot = ElementTree.parse(tmp_path / "simhash.svg").getroot()
    assert len(plot.findall("{*}rect")) == 3  # background and one bar for each tool that ran
