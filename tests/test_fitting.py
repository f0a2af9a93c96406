"""``adjudge.fit`` and what it takes: tables of any types, gold in any form, models and settings."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adjudge
from adjudge import BadData, BadSetting, ReadingWarning

ROWS = [(i, j, (i + (j == 2 and i % 4 == 0)) % 2) for i in range(12) for j in range(3)]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["item", "judge", "label"])


@pytest.mark.parametrize(
    ("role", "kind", "expected"),
    [
        ("item", "int64", "int64"),
        ("item", "Int64", "int64"),
        ("item", "float64", "double"),
        ("item", "category", "int64"),
        ("item", "str", "large_string"),
        ("label", "int8", "int8"),
        ("label", "float64", "double"),
        ("label", "bool", "bool"),
        ("judge", "int64", "int64"),
    ],
)
def test_ids_and_labels_keep_their_types(
    frame: pd.DataFrame, role: str, kind: str, expected: str
) -> None:
    consensus = adjudge.fit(frame.astype({role: kind}))
    table = consensus.judges if role == "judge" else consensus.labels
    assert str(table.schema.field(role).type) == expected
    assert set(table[role].to_pylist()) == set(frame.astype({role: kind})[role].tolist())


@pytest.mark.parametrize("from_file", [False, True])
def test_labels_merge_with_their_table(
    frame: pd.DataFrame, from_file: bool, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.parquet"
    pq.write_table(pa.table(frame), path)
    labels = adjudge.fit(path if from_file else frame).labels.to_pandas()
    merged = frame.merge(labels, on="item")
    assert len(merged) == len(frame)
    assert (merged["label_x"] == merged["label_y"]).mean() > 0.9
    parts = adjudge.Judgments.concat([frame[:18], frame[18:]])
    assert adjudge.fit(parts).labels["item"].to_pylist() == list(range(12))


def test_a_wide_table_keeps_types_and_merges(frame: pd.DataFrame) -> None:
    wide = frame.pivot_table(index="item", columns="judge", values="label", aggfunc="first")
    wide = wide.add_prefix("annotator_").reset_index()
    labels = adjudge.fit(wide).labels
    assert [str(labels.schema.field(name).type) for name in ("item", "label")] == ["int64"] * 2
    assert len(wide.merge(labels.to_pandas(), on="item")) == len(wide)


def test_ids_may_be_uuids(frame: pd.DataFrame) -> None:
    ids = frame["item"].map(lambda item: uuid.UUID(int=item))
    labels = adjudge.fit(frame.assign(item=ids)).labels
    assert labels["item"].to_pylist() == list(dict.fromkeys(map(str, ids)))


def test_arrow_without_a_type_of_uuids_reads_tables(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(pa, "UuidType", raising=False)  # as in Arrow 17
    assert len(adjudge.fit(frame).labels) == 12


def test_an_option_of_the_reader_is_named_before_the_reader_advises_it(frame: pd.DataFrame) -> None:
    wide = frame.pivot_table(index="item", columns="judge", values="label", aggfunc="first")
    with pytest.raises(BadSetting, check=lambda fault: fault.setting == "judges_are"):
        adjudge.fit(wide, judges_are="*")


def test_gold_of_unknown_items_is_noted_and_leaves_ids_as_text(frame: pd.DataFrame) -> None:
    with pytest.warns(ReadingWarning, match="'new'"):
        labels = adjudge.fit(frame, gold={"new": 1}).labels
    assert labels["item"].to_pylist() == [*map(str, range(12)), "new"]


@pytest.mark.parametrize(
    "make",
    [
        lambda gold: gold,
        lambda gold: {str(item): str(label) for item, label in gold.items()},
        lambda gold: gold | {5: None, 6: float("nan")},
        pd.Series,
        lambda gold: list(gold.items()),
        lambda gold: np.array(list(gold.items())),
        lambda gold: pd.DataFrame({"item": gold.keys(), "label": gold.values()}),
        lambda gold: pd.Series(gold, name="gold").rename_axis("item").to_frame(),
    ],
    ids=["dict", "texts", "unknown", "series", "pairs", "array", "frame", "index"],
)
def test_gold_in_many_forms(frame: pd.DataFrame, make: Callable[[Any], Any]) -> None:
    consensus = adjudge.fit(frame, gold=make({1: 0, 2: 0, 3: 1}), model="majority-vote")
    assert consensus.known is not None
    assert consensus.known[:7].tolist() == [-1, 0, 0, 1, -1, -1, -1]


@pytest.mark.parametrize(
    "gold",
    [np.arange(12), [0, 1], {1, 2}, True, 3, pd.DataFrame({"a": [1], "b": [0]}), {1: 7}],
    ids=["array", "list", "set", "flag", "number", "frame", "off the scale"],
)
def test_other_gold_is_refused(frame: pd.DataFrame, gold: Any) -> None:
    with pytest.raises(BadData):
        adjudge.fit(frame, gold=gold)


def test_gold_in_a_column_is_used_by_its_name(frame: pd.DataFrame) -> None:
    frame["truth"] = frame["item"] % 2
    with pytest.warns(ReadingWarning, match="gold for 12 items, which is not used"):
        assert adjudge.fit(frame).known is None
    for name in ("truth", frame):
        assert adjudge.fit(frame, gold=name).known is not None
    with pytest.raises(BadData, check=lambda fault: fault.column == "nothing"):
        adjudge.fit(frame, gold="nothing")


def test_bad_rows_and_columns_are_settings(frame: pd.DataFrame) -> None:
    frame["label"] = frame["label"].astype(object)
    frame.loc[3, "label"] = None
    frame = frame.rename(columns={"label": "mark"})
    with pytest.raises(BadData, check=lambda fault: fault.code == "missing-label"):
        adjudge.fit(frame, columns={"label": "mark"})
    with pytest.warns(ReadingWarning, match="1 bad row left out"):
        consensus = adjudge.fit(frame, columns={"label": "mark"}, skip_bad=True)
    assert len(consensus.judgments) == 35


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"model": adjudge.DawidSkene(), "iterations": 5}, "iterations"),
        ({"model": adjudge.DawidSkene}, "model"),
        ({"model": 3}, "model"),
        ({"drop_labels": ["1"]}, "drop_labels"),
        ({"calibrate": "yes"}, "calibrate"),
        ({"model": "dawid-skene", "start": 3}, "start"),
        ({"model": "pmf", "start": 3}, "start"),
        ({"model": "continuous", "start": 3}, "start"),
    ],
)
def test_the_setting_at_fault_is_named(
    frame: pd.DataFrame, given: dict[str, Any], setting: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        adjudge.fit(frame, **given)
    assert caught.value.setting == setting


@pytest.mark.parametrize("name", ["dawid-skene", "single-confusion", "item-types"])
def test_an_earlier_fit_is_continued(name: str, frame: pd.DataFrame) -> None:
    first = adjudge.fit(frame, model=name)
    again = adjudge.fit(frame, model=name, start=first)
    np.testing.assert_allclose(again.posterior, first.posterior, atol=0.01)
    assert len(again.trace) <= len(first.trace)
    more = pd.concat([frame, frame[:3].assign(judge=9)])
    assert adjudge.fit(more, model=name, start=first).judgments.judge_count == 4


def test_a_fit_on_other_labels_is_not_continued(frame: pd.DataFrame) -> None:
    other = adjudge.fit(frame.assign(label=frame["label"] + 1), model="dawid-skene")
    with pytest.raises(BadSetting, check=lambda fault: fault.setting == "start"):
        adjudge.fit(frame, model="dawid-skene", start=other)


def test_text_instead_of_a_number_and_tables_to_predict(frame: pd.DataFrame) -> None:
    with pytest.raises(
        BadSetting,
        match=r"settings of dawid-skene = \"iterations='a'\": expected numbers and texts",
    ):
        adjudge.fit(frame, model="dawid-skene", iterations="a")
    fitted = adjudge.fit(frame, model="dawid-skene")
    assert len(fitted.predict({"item": ["n"], "judge": [1], "label": [1]}).choice) == 1
    with pytest.raises(BadData):
        fitted.predict({"item": ["n"], "judge": [1], "label": ["new"]})


def test_numbers_too_large_to_square() -> None:
    table = {"item": list("aabb"), "judge": list("xyxy"), "label": [1.5, 1e300, 2, -1e300]}
    with pytest.raises(BadData, match="the numbers are too far apart to be fitted"):
        adjudge.fit(table, model="continuous")
