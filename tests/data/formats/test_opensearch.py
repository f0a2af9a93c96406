"""OpenSearch judgment lists."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import Content, read, write
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from faults import fault_of


def labels_of(*rows: tuple[str, str, str]) -> pa.Table:
    topics, documents, labels = zip(*rows, strict=True)
    items = [f"{t}/{d}" for t, d in zip(topics, documents, strict=True)]
    columns = {"item": items, "topic": topics, "document": documents, "label": labels}
    return pa.table({k: pa.array(v, pa.large_string()) for k, v in columns.items()})


def test_labels_by_query(tmp_path: Path) -> None:
    table = labels_of(("q1", "a", "3"), ("q2", "a", "0"), ("q1", "b", "2"))
    path = tmp_path / "judgments.json"
    write(Content(labels=table), path, format="opensearch")
    found = json.loads(path.read_text())
    assert (found["name"], found["type"]) == ("adjudge", "IMPORT_JUDGMENT")
    assert found["judgmentRatings"] == [
        {
            "query": "q1",
            "ratings": [{"docId": "a", "rating": "3.000"}, {"docId": "b", "rating": "2.000"}],
        },
        {"query": "q2", "ratings": [{"docId": "a", "rating": "0.000"}]},
    ]


def test_the_query_is_the_text_of_the_topic(tmp_path: Path) -> None:
    table = labels_of(("q1", "a", "1"), ("q2", "a", "0"))
    texts = pa.table({"topic": ["q0", "q1", None, "q1"], "query": ["x", "red dress", "y", None]})
    path = tmp_path / "judgments.json"
    write(Content(labels=table, texts=texts), path, format="opensearch")
    ratings = json.loads(path.read_text())["judgmentRatings"]
    assert [entry["query"] for entry in ratings] == ["red dress", "q2"]


def test_words_on_an_ordered_scale_are_their_places(tmp_path: Path) -> None:
    table = labels_of(("q1", "a", "good"), ("q1", "b", "bad"))
    path = tmp_path / "judgments.json"
    write(Content(labels=table, scale=Scale.parse("bad<fair<good")), path, format="opensearch")
    (entry,) = json.loads(path.read_text())["judgmentRatings"]
    assert [rating["rating"] for rating in entry["ratings"]] == ["2.000", "0.000"]
    pair = Scale(labels=("not relevant", "relevant"), relevant=("relevant",))
    table = labels_of(("q1", "a", "relevant"), ("q1", "b", "not relevant"))
    write(Content(labels=table, scale=pair), path, format="opensearch")
    (entry,) = json.loads(path.read_text())["judgmentRatings"]
    assert [rating["rating"] for rating in entry["ratings"]] == ["1.000", "0.000"]


def test_words_without_order_are_refused(tmp_path: Path) -> None:
    table = labels_of(("q1", "a", "cat"))
    path = tmp_path / "judgments.json"
    with pytest.raises(BadData) as caught:
        write(Content(labels=table, scale=Scale.parse("cat,dog")), path, format="opensearch")
    assert fault_of(caught.value) == "labels-not-numbers"
    assert not path.exists()


def test_items_without_document_are_refused(tmp_path: Path) -> None:
    table = labels_of(("q1", "a", "1")).drop_columns(["document"])
    with pytest.raises(BadData) as caught:
        write(Content(labels=table), tmp_path / "j.json", format="opensearch")
    assert fault_of(caught.value) == "column document: missing-column"


def test_a_file_without_ratings(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    path.write_text("{}")
    with pytest.raises(BadData) as caught:
        read(path, format="opensearch")
    assert fault_of(caught.value) == "j.json: no-judgments"


def test_ratings_come_back_as_gold(tmp_path: Path) -> None:
    table = labels_of(("red lamp", "a", "good"), ("red lamp", "b", "bad"), ("sofa", "a", "fair"))
    path = tmp_path / "j.json"
    scale = Scale(labels=("good", "fair", "bad"), grades=(3, 1.5, 0))
    write(Content(labels=table, scale=scale), path, format="opensearch")
    found = read(path)
    assert found.format == "opensearch"
    assert found.gold is not None
    rows = found.gold.to_table().select(["topic", "document", "gold"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("red lamp", "a", "3"), ("red lamp", "b", "0"), ("sofa", "a", "1.5"),
    ]  # fmt: skip


def test_a_rating_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    path.write_text('{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a"}]}]}')
    with pytest.raises(BadData, match=r"j\.json"):
        read(path)
