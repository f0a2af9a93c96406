"""Times as platforms write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data._instants import KIND, instants, seconds_between
from adjudge.data.source import Source


def instants_of(*texts: str | None) -> list[datetime | None]:
    return list(instants(pa.array(texts, pa.string()), Source("t.csv"), "SubmitTime").to_pylist())


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


ZONES = {"P": -8, "M": -7, "C": -6, "E": -5, "AK": -9}
HOURS = {f"{zone}ST": hours for zone, hours in ZONES.items()}
HOURS |= {f"{zone}DT": hours + 1 for zone, hours in ZONES.items()}


@pytest.mark.parametrize(("zone", "hours"), [*HOURS.items(), ("HST", -10), ("GMT", 0), ("UTC", 0)])
def test_zones_of_the_united_states(zone: str, hours: int) -> None:
    local = datetime(2013, 3, 5, 18, 8, 31, tzinfo=timezone(timedelta(hours=hours)))
    assert instants_of(f"Tue Mar 05 18:08:31 {zone} 2013") == [local.astimezone(UTC)]


@pytest.mark.parametrize(
    ("texts", "times"),
    [
        (["Tue Dec 31 23:30:00 EST 2013"], [utc(2014, 1, 1, 4, 30)]),
        (["3/5/2013 8:08:31", "2/29/2012"], [utc(2013, 3, 5, 8, 8, 31), utc(2012, 2, 29)]),
        (["2021-03-09T22:16:08.728353Z"], [utc(2021, 3, 9, 22, 16, 8, 728353)]),
        (["2021-03-09T22:16:08"], [utc(2021, 3, 9, 22, 16, 8)]),
        (
            ["2021-03-09T22:16:08+02:00", "2021-03-09 22:16:08", "3/9/2021 1:00:00"],
            [utc(2021, 3, 9, 20, 16, 8), utc(2021, 3, 9, 22, 16, 8), utc(2021, 3, 9, 1)],
        ),
        (["", None, "  ", "1/2/2020 03:04:05"], [None, None, None, utc(2020, 1, 2, 3, 4, 5)]),
        (["5.3.2013 18:08", ""], [utc(2013, 3, 5, 18, 8), None]),
    ],
)
def test_forms_of_times(texts: list[str | None], times: list[datetime | None]) -> None:
    assert instants_of(*texts) == times


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
def test_invalid_times_are_left_out_with_a_note(text: str) -> None:
    source = Source("t.csv")
    times = instants(pa.array(["1/2/2020 03:04:05", text]), source, "SubmitTime")
    assert times.to_pylist() == [utc(2020, 1, 2, 3, 4, 5), None]
    assert len(source.notes) == 1
    assert repr(text) in source.notes[0]


def test_day_first_where_no_month_fits() -> None:
    source = Source("t.csv")
    given = pa.array(["13/1/2013 10:00:00", "2/1/2013 6:05 PM", "3/1/2013"])
    assert instants(given, source, "t").to_pylist() == [
        *(utc(2013, 1, 13, 10), utc(2013, 1, 2, 18, 5), utc(2013, 1, 3)),
    ]
    assert "day first" in source.notes[0]


@given(
    st.lists(
        st.none() | st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2199, 1, 1)),
        min_size=1,
    )
)
def test_written_dates_read_back(times: list[datetime | None]) -> None:
    to_seconds = [None if t is None else t.replace(microsecond=0, tzinfo=UTC) for t in times]
    plain = [None if t is None else f"{t.month}/{t.day}/{t.year} {t:%H:%M:%S}" for t in to_seconds]
    found = instants(pa.array(plain, pa.string()), Source("t"), "t").to_pylist()
    assert found == to_seconds


def test_seconds_between_two_columns() -> None:
    start = pa.array([utc(2020, 1, 1), None, utc(2020, 1, 2)], KIND)
    end = pa.array([utc(2020, 1, 1, 0, 1, 2, 500000)] * 3, KIND)
    assert seconds_between(start, end).to_pylist() == [62.5, None, None]
