"""Wide tables: only names that say so make judges; what else columns may be is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from reading import judgments_in

ROWS = 12


def table(*columns: str, item: str = "id") -> dict[str, list[Any]]:
    """An item in each row, and grades in the other columns."""
    cells = {
        name: [str((n + at * (n // 3)) % 3) for n in range(ROWS)] for at, name in enumerate(columns)
    }
    return {item: [f"i{n}" for n in range(ROWS)], **cells}


def written(folder: Path, columns: dict[str, list[Any]], name: str = "t.csv") -> Path:
    path = folder / name
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if name.endswith(".csv"):
        lines = [",".join(columns), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl"])
@pytest.mark.parametrize(
    "columns",
    [
        ("annotator_1", "annotator_2", "annotator_3"),
        ("worker1", "worker2"),
        ("rater A", "rater B"),
        ("CoderA", "CoderB"),
        ("expert.1", "expert.2"),
        ("label_annotator_1", "label_annotator_2"),
        ("human1_answer", "human2_answer"),
    ],
)
def test_names_of_judges_are_judges(tmp_path: Path, columns: tuple[str, ...], name: str) -> None:
    more = {"final": ["1"] * ROWS, "annotator_mean": ["1"] * ROWS}
    found = judgments_in(read(written(tmp_path, table(*columns) | more, name)))
    assert found.judges.to_pylist() == list(columns)
    assert len(found) == ROWS * len(columns)
    frame = Judgments.from_table(table(*columns) | more)
    assert frame.to_table().equals(found.to_table())


@pytest.mark.parametrize(
    "columns",
    [
        ("score1", "score2", "score3"),
        ("relevance", "fluency", "coherence"),
        ("alice", "bob"),
        ("gpt-4", "llama", "claude"),
        ("grade_maths", "grade_art"),
        ("label_1", "label_2"),
        ("judge_relevance", "judge_fluency"),
        (
            "annotator_1_relevance",
            "annotator_2_relevance",
            "annotator_1_style",
            "annotator_2_style",
        ),
        ("gpt_correctness", "llama_correctness"),
        ("model_1", "model_2"),
    ],
)
def test_other_columns_are_asked_about(tmp_path: Path, columns: tuple[str, ...]) -> None:
    path = written(tmp_path, table(*columns))
    for reader in (lambda: read(path), lambda: Judgments.from_table(table(*columns))):
        with pytest.raises(BadData) as caught:
            reader()
        assert caught.value.code == "unclear-columns"
        assert caught.value.value == list(columns)
        named = {remedy.setting: remedy.value for remedy in caught.value.remedies}
        assert named["judges-are"] == named["questions-are"] == ",".join(columns)
        assert {"transpose", "counts"} <= named.keys()
    judged = judgments_in(read(path, judges_are=columns))
    assert (len(judged), judged.item_count, judged.judge_count) == (
        *(ROWS * len(columns), ROWS, len(columns)),
    )
    asked = judgments_in(read(path, questions_are=columns))
    assert (len(asked), asked.item_count, asked.judge_count) == (
        *(ROWS * len(columns), ROWS * len(columns), 1),
    )
    flipped = judgments_in(read(path, transpose=True))
    assert (len(flipped), flipped.item_count, flipped.judge_count) == (
        *(ROWS * len(columns), len(columns), ROWS),
    )


MADE = (
    *("final", "rank", "class", "total", "mean", "count", "majority_vote_label", "gold_label"),
    *("consensus", "average", "median", "adjudicated", "overall", "agreement"),
)


@pytest.mark.parametrize("made", MADE)
def test_a_column_derived_from_labels_is_not_a_judge(tmp_path: Path, made: str) -> None:
    path = written(tmp_path, table("alice", made, "bob"))
    with pytest.raises(BadData) as caught:
        read(path)
    assert caught.value.value == ["alice", "bob"]


def test_counts_that_add_up_are_votes(tmp_path: Path) -> None:
    votes = {"yes": [2, 1, 0, 3], "no": [1, 2, 3, 0], "unsure": [0, 0, 1, 2]}
    rows = {"id": list("abcd"), "votes": [3, 3, 4, 5], **votes, "class": [0, 1, 1, 0]}
    found = judgments_in(read(written(tmp_path, rows)))
    assert (len(found), found.item_count, found.judge_count) == (15, 4, 1)
    assert {
        label: sum(row["label"] == label for row in found.to_table().to_pylist()) for label in votes
    } == {label: sum(counts) for label, counts in votes.items()}
    del rows["votes"]
    path = written(tmp_path, rows)
    with pytest.raises(BadData, check=lambda fault: fault.code == "unclear-columns"):
        read(path)
    assert judgments_in(read(path, counts=True)).to_table().equals(found.to_table())


def test_long_text_is_no_label(tmp_path: Path) -> None:
    text = [f"{n} {'a long answer ' * 12}" for n in range(ROWS)]
    rows = {"item": [f"i{n}" for n in range(ROWS)], "judge": ["j"] * ROWS, "label": text}
    for columns in ({}, {"label": "label"}):
        with pytest.raises(BadData) as caught:
            read(written(tmp_path, rows), columns=columns)
        assert caught.value.code == "free-text"


def test_a_scale_around_zero_is_a_scale() -> None:
    labels = ["-2", "-1", "0", "1", "2"]
    found = Judgments.from_table({"item": list("abcde"), "judge": ["j"] * 5, "label": labels})
    assert found.scale.labels == tuple(labels)
