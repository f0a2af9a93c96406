"""Tables as notebooks hold them: whatever comes, judgments or an error of ours that says why."""

from __future__ import annotations

import contextlib
import warnings
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge import Gold, Judgments, ReadingWarning
from adjudge.errors import AdjudgeError, BadData, Remedy

BASE: dict[str, list[Any]] = {
    "item": ["a", "a", "b", "b"],
    "judge": ["x", "y", "x", "y"],
    "label": [1, 0, 1, 1],
}


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({**BASE, **columns})


def quiet(table: Any, **options: Any) -> Judgments:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        return Judgments.from_table(table, **options)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_a_missing_label_is_named_with_the_way_to_skip_it(missing: object) -> None:
    table = frame(label=pd.Series([1, missing, 0, 1], dtype="object"))
    with pytest.raises(BadData) as caught:
        Judgments.from_table(table)
    assert (caught.value.row, caught.value.code) == (2, "missing-label")
    assert caught.value.remedies == (Remedy("skip-bad-rows"),)
    with pytest.warns(ReadingWarning, match="1 bad row left out, at table, row 2, column label"):
        kept = Judgments.from_table(table, skip_bad=True)
    assert len(kept) == 3
    assert kept.notes[-1].startswith("1 bad row left out, at table, row 2")
    assert "bad row left out" in kept._repr_html_()


def test_bytes_of_polars_are_read_as_text() -> None:
    table = pl.DataFrame({**BASE, "label": pl.Series([b"1", None, b"0", b"1"], dtype=pl.Binary)})
    assert quiet(table, skip_bad=True).to_table()["label"].to_pylist() == ["1", "0", "1"]


def test_columns_are_named() -> None:
    table = pd.DataFrame({"thing": BASE["item"], "who": BASE["judge"], "stars": BASE["label"]})
    with pytest.raises(BadData, match=r'columns=\{"item": NAME\}'):
        Judgments.from_table(table)
    read = Judgments.from_table(table, columns={"item": "thing", "judge": "who", "label": "stars"})
    assert read.to_table().to_pylist() == Judgments.from_table(frame()).to_table().to_pylist()


def test_ordered_categories_keep_their_order() -> None:
    grades = ["poor", "fair", "good"]
    given_ = pd.Categorical(["good", "poor", "good", "poor"], categories=grades, ordered=True)
    scale = Judgments.from_table(frame(label=given_)).scale
    assert (scale.labels, scale.ordinal) == (tuple(grades), True)
    loose = pd.Categorical(["good", "poor", "good", "poor"], categories=grades)
    assert not Judgments.from_table(frame(label=loose)).scale.ordinal


def test_an_odd_column_that_plays_no_role_stops_nothing() -> None:
    expected = Judgments.from_table(frame()).to_table()
    for odd in ([1, "a", 2.5, None], [[1], {}, "x", 2], [1j, 2, 3, 4]):
        assert quiet(frame(remark=odd)).to_table().equals(expected)
    with pytest.warns(ReadingWarning, match="column remark left out"):
        Judgments.from_table(frame(remark=[1j, 2, 3, 4]))


def test_names_of_several_types_are_text() -> None:
    read = Judgments.from_table(frame(item=[1, 1.0, "b", "b"]))
    assert read.items.to_pylist() == ["1", "b"]


def test_records_and_lazy_frames_are_tables_too() -> None:
    expected = Judgments.from_table(frame()).to_table()
    records = frame().to_dict("records")
    coded = pl.DataFrame(BASE, schema_overrides={"item": pl.Categorical, "judge": pl.Enum("xy")})
    tables = (records, BASE, pa.table(BASE), pl.DataFrame(BASE), pl.DataFrame(BASE).lazy(), coded)
    for table in (*tables, frame().astype({"item": "category", "label": "float"})):
        assert Judgments.from_table(table).to_table().equals(expected)
    for by in (["item"], ["item", "judge"]):
        assert Judgments.from_table(frame().set_index(by)).to_table().equals(expected)


def test_two_columns_of_one_name_are_refused() -> None:
    twice = frame()
    twice.columns = pd.Index(["item", "label", "label"])
    for table in (twice, pa.table([[1], [2], [3]], names=["item", "label", "label"])):
        with pytest.raises(BadData, match="two columns are called 'label'"):
            Judgments.from_table(table)


@pytest.mark.parametrize("table", [None, 3, [1, 2], np.zeros((2, 2)), pd.Series([1, 2]), {"a": 1}])
def test_what_is_no_table_is_refused(table: Any) -> None:
    for read in (Judgments.from_table, Gold.from_table, adjudge.fit):
        with pytest.raises(AdjudgeError):
            read(table)


_VALUES = [None, True, False, Decimal("1.5"), pd.NaT, pd.Timestamp("2020-01-01")]
_CELLS = st.one_of(
    st.sampled_from(_VALUES),
    st.integers(-3, 3) | st.integers() | st.floats(),
    st.text(max_size=3) | st.binary(max_size=3),
    st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(st.text(max_size=1), st.integers(0, 2), max_size=1),
)
_DTYPES = ("object", "string", "category", "Int64", "float64", "boolean", "datetime64[ns]")
_NAMES = ("item", "judge", "label", "topic", "document", "time", "seconds", "gold", "family", "x")


@st.composite
def _frames(draw: st.DrawFn) -> Any:
    """A frame with columns of any names and types, of pandas, Polars or Arrow."""
    rows = draw(st.integers(0, 5))
    held = draw(st.lists(st.sampled_from(_NAMES), max_size=7))
    names = [*(("item", "judge", "label") if draw(st.booleans()) else ()), *held]
    cells = st.one_of(_CELLS, st.sampled_from(["a", "b"]), st.sampled_from([0, 1, 2]))
    series = []
    for _ in names:
        one = draw(st.lists(cells, min_size=rows, max_size=rows))
        made = pd.Series(one, dtype="object")
        kind = draw(st.sampled_from(_DTYPES))
        with contextlib.suppress(Exception):  # a type that these values cannot have
            made = made.astype(kind)
        series.append(made)
    table = pd.concat(series, axis=1) if series else pd.DataFrame()
    table.columns = pd.Index(names)
    if names and len(set(names)) == len(names) and draw(st.booleans()):
        with contextlib.suppress(TypeError):  # lists are no index
            table = table.set_index(names[: draw(st.integers(1, 2))])
    for convert in draw(st.sampled_from([(), (pl.from_pandas,), (pa.Table.from_pandas,)])):
        with contextlib.suppress(Exception):  # what that library does not hold
            table = convert(table)
    return table


@given(table=_frames(), skip=st.booleans())
def test_no_frame_raises_an_error_of_another_library(table: Any, skip: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for read in (partial(Judgments.from_table, skip_bad=skip), Gold.from_table):
            with contextlib.suppress(AdjudgeError):
                found = read(table)
                repr(found)
                found._repr_html_()
