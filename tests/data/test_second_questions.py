"""A second question next to the label gets a note; columns about items and judges get none."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adjudge.data.formats import read
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, ReadingWarning

NOTE = "column relevance is taken for the label, not fluency"


def rows(many: int = 40, **others: object) -> list[dict[str, object]]:
    """Judgments of ten items by four judges, with further columns by their numbers or functions."""
    return [
        {
            "item": f"i{n // 4}",
            "judge": f"j{n % 4}",
            "relevance": (n * 7 // 3) % 3,
            **{name: value(n) if callable(value) else value for name, value in others.items()},
        }
        for n in range(many)
    ]


def written(folder: Path, name: str, records: list[dict[str, object]]) -> Path:
    path = folder / name
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif path.suffix == ".json":
        path.write_text(json.dumps(records))
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        lines = [mark.join(records[0]), *(mark.join(map(str, r.values())) for r in records)]
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", ["j.csv", "j.tsv", "j.jsonl", "j.json", "j.parquet"])
def test_a_second_question_is_reported_in_any_file(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, rows(fluency=lambda n: (n * 5 // 3) % 4))
    assert NOTE in read(path).notes
    chosen = read(path, columns={"label": "fluency"})
    assert chosen.notes == ()
    assert chosen.judgments is not None
    assert chosen.judgments.scale.labels == ("0", "1", "2", "3")


def test_two_rows_per_item_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("item,judge,relevance,fluency\na,x,1,3\na,y,0,2\nb,x,0,3\nb,y,1,2\n")
    assert NOTE in read(path).notes
    path.write_text("item,judge,label1,label2\na,x,1,2\na,y,0,2\nb,x,0,1\nb,y,1,2\n")
    with pytest.raises(BadData, check=lambda fault: fault.code == "unclear-columns"):
        read(path)


def test_python_gets_the_option_in_its_own_form() -> None:
    table = pa.Table.from_pylist(rows(fluency=lambda n: (n * 5 // 3) % 4))
    with pytest.warns(ReadingWarning, match='columns={"label": "fluency"} names the column'):
        Judgments.from_table(table)


@pytest.mark.parametrize(
    "column",
    [
        *("time", "confidence", "family", "text", "url", "title", "snippet", "rank", "cost"),
        *("worker_country", "trust_level", "session", "lead_time", "batch_id", "comment", "split"),
    ],
)
def test_a_column_with_a_known_name_is_no_question(column: str, tmp_path: Path) -> None:
    # Its values are as those of a question could be: the name alone speaks against it.
    by = (lambda n: n % 4 // 2) if column == "family" else (lambda n: (n * 5 // 3) % 4)
    path = written(tmp_path, "j.csv", rows(**{column: by}))
    assert not [note for note in read(path).notes if "is taken for the label" in note]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("genre", lambda n: "news" if n // 4 % 2 else "blog"),  # of the item
        ("team", lambda n: "red" if n % 4 % 2 else "blue"),  # of the judge
        ("spelt", lambda n: ("no", "partly", "yes")[(n * 7 // 3) % 3]),  # the label in words
        ("thoughts", lambda n: f"what I think {n}"),  # free text
        ("doubt", lambda n: "yes" if n % 9 == 0 else ""),  # mostly empty
        ("project", "one"),
    ],
)
def test_what_describes_items_judges_and_labels_is_no_question(
    column: str, value: object, tmp_path: Path
) -> None:
    assert read(written(tmp_path, "j.csv", rows(**{column: value}))).notes == ()


def test_judgments_inside_items_may_have_a_second_question(tmp_path: Path) -> None:
    given = [[(j, (item + j) % 2, item * (j + 1) % 3) for j in range(3)] for item in range(8)]
    names = ("annotator", "relevance", "fluency")
    records: list[dict[str, object]] = [
        {"id": item, "annotations": [dict(zip(names, one, strict=True)) for one in own]}
        for item, own in enumerate(given)
    ]
    path = written(tmp_path, "j.json", records)
    assert NOTE in read(path).notes
    assert read(path, columns={"label": "fluency"}).notes == ()


@pytest.mark.parametrize("name", ["p.csv", "p.json"])
def test_a_second_outcome_of_comparisons_is_reported(name: str, tmp_path: Path) -> None:
    sides = ("right", "left")
    records: list[dict[str, object]] = [
        {"left": "a", "right": "b", "judge": f"j{n}", "winner": sides[n % 2], "fluency": second}
        for n, second in enumerate(["right", "left", "left"] * 4)
    ]
    path = written(tmp_path, name, records)
    content = read(path)
    assert content.notes == ("column winner is taken for the label, not fluency",)
    chosen = read(path, columns={"label": "fluency"})
    assert chosen.notes == ()
    assert content.comparisons is not None
    assert chosen.comparisons is not None
    counts = [one.comparisons.outcome_counts["left"] for one in (content, chosen)]
    assert counts == [6, 8]
