"""Times as platforms write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data._instants import KIND, american, instants, seconds_between
from adjudge.data.source import Source


def instants_of(*texts: str | None) -> list[datetime | None]:
    return list(instants(pa.array(texts, pa.string()), Source("t.csv"), "SubmitTime").to_pylist())


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("PST", -8),
        ("PDT", -7),
        ("MST", -7),
        ("MDT", -6),
        ("CST", -6),
        ("CDT", -5),
        ("EST", -5),
        ("EDT", -4),
        ("AKST", -9),
        ("AKDT", -8),
        ("HST", -10),
        ("GMT", 0),
        ("UTC", 0),
    ],
)
def test_zones_of_the_united_states(zone: str, hours: int) -> None:
    local = datetime(2013, 3, 5, 18, 8, 31, tzinfo=timezone(timedelta(hours=hours)))
    assert instants_of(f"Tue Mar 05 18:08:31 {zone} 2013") == [local.astimezone(UTC)]


def test_midnight_crosses_the_year() -> None:
    assert instants_of("Tue Dec 31 23:30:00 EST 2013") == [datetime(2014, 1, 1, 4, 30, tzinfo=UTC)]


def test_month_comes_first() -> None:
    assert instants_of("3/5/2013 8:08:31", "12/31/2015 23:59", "2/29/2012") == [
        datetime(2013, 3, 5, 8, 8, 31, tzinfo=UTC),
        datetime(2015, 12, 31, 23, 59, tzinfo=UTC),
        datetime(2012, 2, 29, tzinfo=UTC),
    ]


def test_iso_with_and_without_zone_even_mixed() -> None:
    assert instants_of("2021-03-09T22:16:08.728353Z") == [
        datetime(2021, 3, 9, 22, 16, 8, 728353, tzinfo=UTC)
    ]
    assert instants_of("2021-03-09T22:16:08") == [datetime(2021, 3, 9, 22, 16, 8, tzinfo=UTC)]
    assert instants_of("2021-03-09T22:16:08+02:00", "2021-03-09 22:16:08", "3/9/2021 1:00:00") == [
        datetime(2021, 3, 9, 20, 16, 8, tzinfo=UTC),
        datetime(2021, 3, 9, 22, 16, 8, tzinfo=UTC),
        datetime(2021, 3, 9, 1, 0, 0, tzinfo=UTC),
    ]


def test_blank_is_unknown() -> None:
    assert instants_of("", None, "  ", "1/2/2020 03:04:05") == [
        None,
        None,
        None,
        datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Tue Mar 05 18:08:31 CEST 2013",  # no zone of the United States: not guessed
        "2/30/2013 10:00:00",
        "1/1/2013 24:00:00",
        "Tue Foo 05 18:08:31 PST 2013",
        "yesterday",
    ],
)
def test_what_is_no_time_is_left_out_with_a_word(text: str) -> None:
    source = Source("t.csv")
    times = instants(pa.array(["1/2/2020 03:04:05", text]), source, "SubmitTime")
    assert times.to_pylist() == [datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), None]
    assert source.notes == [
        f"column SubmitTime: 1 of its values is no time, such as {text!r}, and left out"
    ]


def test_day_first_where_no_month_fits() -> None:
    source = Source("t.csv")
    given = pa.array(["13/1/2013 10:00:00", "2/1/2013 6:05 PM", "3/1/2013"])
    assert instants(given, source, "t").to_pylist() == [
        datetime(2013, 1, 13, 10, tzinfo=UTC),
        datetime(2013, 1, 2, 18, 5, tzinfo=UTC),
        datetime(2013, 1, 3, tzinfo=UTC),
    ]
    assert source.notes == ["column t: dates are taken as day first, since some can be no other"]
    assert instants_of("5.3.2013 18:08", "") == [datetime(2013, 3, 5, 18, 8, tzinfo=UTC), None]


@given(
    st.lists(
        st.none() | st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2199, 1, 1)),
        min_size=1,
    )
)
def test_written_dates_read_back(times: list[datetime | None]) -> None:
    whole = [None if t is None else t.replace(microsecond=0, tzinfo=UTC) for t in times]
    texts = american(pa.array(whole, KIND))
    assert instants(texts, Source("t"), "t").to_pylist() == whole
    plain = [None if t is None else f"{t.month}/{t.day}/{t.year} {t:%H:%M:%S}" for t in whole]
    assert texts.to_pylist() == plain


def test_seconds_between_two_columns() -> None:
    start = pa.array(
        [datetime(2020, 1, 1, tzinfo=UTC), None, datetime(2020, 1, 2, tzinfo=UTC)], KIND
    )
    end = pa.array([datetime(2020, 1, 1, 0, 1, 2, 500000, tzinfo=UTC)] * 3, KIND)
    assert seconds_between(start, end).to_pylist() == [62.5, None, None]
    assert np.isclose(seconds_between(start, end)[0].as_py(), 62.5)
