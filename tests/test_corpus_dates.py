"""Dates are read in the ways people write them."""

from __future__ import annotations

from datetime import datetime

import pytest

from neardup.corpus.fields import parse_date

DAY = datetime(2008, 6, 3, 11, 5, 30)


@pytest.mark.parametrize(
    "text",
    [
        "2008-06-03T11:05:30Z",
        "2008-06-03 13:05:30+02:00",
        "20080603110530",
        "Tue, 03 Jun 2008 11:05:30 GMT",
        "3-JUN-2008 11:05:30.79",
        1212491130,
        1212491130000,
        "1212491130",
    ],
)
def test_a_date_is_read(text):
    assert parse_date(text) == DAY


@pytest.mark.parametrize("text", ["soon", "", None, True, "99-JUN-2008", float("nan"), 1e300])
def test_what_is_no_date_is_none(text):
    assert parse_date(text) is None
