"""The consensus table: typed on reading, round trips in all three kinds, safe in a spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.formats import Content, read, write
from adjudge.data.formats.trec_2011 import _relevance
from adjudge.data.scale import Scale
from reading import complaint
from sizes import sized

_KINDS = {"consensus": ".csv", "consensus-jsonl": ".jsonl", "consensus-parquet": ".parquet"}
_TEXT = (
    "item,topic,document,label,probability,p_0,p_1,judgments,entropy,rank,fallback\n"
    "7/a,7,a,1,0.75,0.25,0.75,3,0.8112781244591328,1,false\n"
    "7/b,7,b,0,1,1,0,2,0,2,true\n"
)


def _file(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_columns_have_their_types(tmp_path: Path) -> None:
    content = read(_file(tmp_path, _TEXT))
    assert content.format == "consensus"
    assert content.gold is None
    assert content.scale == Scale(labels=("0", "1"), ordinal=True, relevant=("1",))
    labels = content.labels
    kinds = dict(zip(labels.column_names, labels.schema.types, strict=True))
    text, number, integer = pa.large_string(), pa.float64(), pa.int64()
    assert list(kinds.values()) == [
        *([text] * 4),
        *([number] * 3),
        *(integer, number, integer, pa.bool_()),
    ]
    row = ["7/a", "7", "a", "1", 0.75, 0.25, 0.75, 3, 0.8112781244591328, 1, False]
    assert list(labels.to_pylist()[0].values()) == row


@pytest.mark.parametrize("name", sorted(_KINDS))
def test_gold_with_labels_hides_no_column(tmp_path: Path, name: str) -> None:
    labels = pa.table({"item": ["a"], "label": ["1"], "probability": [0.5], "gold": ["0"]})
    path = tmp_path / f"labels{_KINDS[name]}"
    write(Content(labels=labels), path, format=name)
    assert read(path).labels.to_pylist() == labels.to_pylist()


def test_a_table_without_labels(tmp_path: Path) -> None:
    assert complaint(read, _file(tmp_path, "item,label,probability\n")) == "labels.csv: no-rows"
    assert complaint(read, _file(tmp_path, "item,probability\na,1\n"), format="consensus") == (
        "labels.csv, column label: missing-column"
    )


def test_a_formula_for_an_item_is_disarmed_in_csv_alone(tmp_path: Path) -> None:
    labels = pa.table({"item": ["=cmd", "'=x"], "label": ["-2", "@"], "probability": [1.0, 1.0]})
    for name, extension in _KINDS.items():
        path = tmp_path / f"out{extension}"
        write(Content(labels=labels), path, format=name)
        again = read(path)
        assert again.labels["item"].to_pylist() == ["=cmd", "'=x"]
        assert again.labels["label"].to_pylist() == ["-2", "@"]
    assert (tmp_path / "out.csv").read_text() == "item,label,probability\n'=cmd,-2,1\n''=x,'@,1\n"


def test_relevance_without_a_binary_collapse() -> None:
    table = pa.table({"item": ["a"], "label": ["cat"], "p_cat": [0.5], "p_dog": [0.5]})
    assert complaint(_relevance, table, None) == "no-relevant-labels"


_PIECE = st.text(
    st.one_of(
        st.sampled_from("\"',\t\n\r =+-@'"),
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
    ),
    max_size=4,
)
_ID = st.builds(lambda before, after: f"{before}x{after}", _PIECE, _PIECE)
_LABEL = _ID.map(lambda text: text.replace("\t", " ").strip())
_SHARE = st.floats(0, 1)


@pytest.mark.parametrize("name", sorted(_KINDS))
@settings(deadline=None, max_examples=sized(15, full=40))
@given(
    items=st.lists(_ID, min_size=1, max_size=6, unique=True),
    truths=st.lists(_LABEL, min_size=1, max_size=3, unique=True),
    with_topics=st.booleans(),
    data=st.data(),
)
def test_the_table_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    items: list[str],
    truths: list[str],
    with_topics: bool,
    data: st.DataObject,
) -> None:
    def column(values: st.SearchStrategy[Any], kind: Any) -> Any:
        count = len(items)
        return pa.array(data.draw(st.lists(values, min_size=count, max_size=count)), kind)

    columns: dict[str, Any] = {"item": pa.array(items, pa.large_string())}
    if with_topics:
        columns["topic"] = column(_ID, pa.large_string())
        columns["document"] = column(_ID, pa.large_string())
    columns["label"] = column(st.sampled_from(truths), pa.large_string())
    columns["probability"] = column(_SHARE, pa.float64())
    for truth in truths:
        columns[f"p_{truth}"] = column(_SHARE, pa.float64())
    columns["judgments"] = column(st.integers(0, 10**9), pa.int64())
    columns["entropy"] = column(st.floats(0, 10), pa.float64())
    columns["rank"] = column(st.integers(1, 10**9), pa.int64())
    columns["fallback"] = column(st.booleans(), pa.bool_())
    table = pa.table(columns)
    path = tmp_path_factory.mktemp("consensus") / f"labels{_KINDS[name]}"
    write(Content(labels=table), path, format=name)
    again = read(path).labels
    assert again.equals(table)
