"""Tables become judgments grouped by item, whatever the order of their rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import Judgments
from adjudge.data import build

ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz"), st.sampled_from("01")),
    min_size=1,
    max_size=30,
)


def by_item(table: Judgments) -> dict[str, list[tuple[str, str, float | None]]]:
    """What each item got, in order: judge, label and seconds."""
    seconds = [None] * len(table) if table.seconds is None else table.seconds.tolist()
    judges, labels = table.judges.to_pylist(), table.scale.labels
    found = {}
    for i, item in enumerate(table.items.to_pylist()):
        rows = range(table.offsets[i], table.offsets[i + 1])
        found[item] = [(judges[table.judge[m]], labels[table.label[m]], seconds[m]) for m in rows]
    return found


@given(rows=ROWS, grouped=st.booleans(), timed=st.booleans())
def test_rows_of_an_item_are_grouped_in_file_order(
    rows: list[tuple[str, str, str]], grouped: bool, timed: bool
) -> None:
    if grouped:
        rows = sorted(rows, key=lambda row: row[0])
    columns: dict[str, list[object]] = {
        "item": [row[0] for row in rows],
        "judge": [row[1] for row in rows],
        "label": [row[2] for row in rows],
    }
    if timed:
        columns["seconds"] = [float(n) for n in range(len(rows))]
    expected: dict[str, list[tuple[str, str, float | None]]] = {}
    for n, (item, judge, label) in enumerate(rows):
        expected.setdefault(item, []).append((judge, label, float(n) if timed else None))
    table = Judgments.from_table(columns, repeats=True)
    assert by_item(table) == expected
    assert table.items.to_pylist() == list(expected)
    assert table.judge.flags.writeable  # else the sweeps would be compiled a second time


@given(rows=ROWS)
def test_contradicting_repeats_are_counted_in_tables_of_any_size(
    rows: list[tuple[str, str, str]],
) -> None:
    given_by: dict[tuple[str, str], list[str]] = {}
    for item, judge, label in rows:
        given_by.setdefault((item, judge), []).append(label)
    again = sum(len(labels) - 1 for labels in given_by.values())
    against = sum(len(set(labels)) > 1 for labels in given_by.values())
    for few in (0, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "_FEW", few)
            notes = Judgments.from_table(
                dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True))
            ).notes
        found = [note for note in notes if "different labels" in note]
        assert len(found) == bool(against)
        if found:
            assert found[0].startswith(f"{again} judgment")
            assert f"; {against} pair" in found[0]


def test_many_rows_are_grouped_as_few_are() -> None:
    """Above 100,000 rows another sort is faster; they come to the same."""
    count = 100_001
    items, judges = np.arange(count) * 7 % 5_003, np.arange(count) % 11
    labels = np.random.default_rng(0).integers(0, 3, count)
    columns = {"item": items, "judge": judges, "label": labels, "seconds": np.arange(count)}
    many = Judgments.from_table(pa.table(columns))
    order = np.argsort(items[:5_003].argsort()[items], kind="stable")  # as they first appeared
    assert many.offsets.tolist() == [0, *np.cumsum(np.bincount(items)[items[:5_003]])]
    assert many.seconds is not None
    assert np.array_equal(many.seconds, order)
    assert np.array_equal(many.judge, judges[order])
    assert np.array_equal(many.label, labels[order])
    assert (many.offsets.dtype, many.judge.dtype) == (np.int64, np.int32)


@pytest.mark.parametrize("codes", [[0, 0, 1, 2], [2, 2, 0, 1], [1, 0, 1, 3]])
def test_a_column_that_comes_coded_may_name_items_in_any_order(codes: list[int]) -> None:
    names = ["p", "q", "r", "never"]
    item = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))
    table = Judgments.from_table(
        pa.table({"item": item, "judge": ["x", "y", "x", "y"], "label": [0, 1, 1, 0]})
    )
    found = {
        item: [(judge, label) for judge, label, _ in got] for item, got in by_item(table).items()
    }
    expected: dict[str, list[tuple[str, str]]] = {}
    for code, judge, label in zip(codes, "xyxy", "0110", strict=True):
        expected.setdefault(names[code], []).append((judge, label))
    assert {item: got for item, got in found.items() if got} == expected
