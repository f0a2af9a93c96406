"""Ratings of search tools: OpenSearch and Kaggle."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from reading import gold_in


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


def test_ratings_come_back_as_gold(tmp_path: Path) -> None:
    table = labels_of(("red lamp", "a", "good"), ("red lamp", "b", "bad"), ("sofa", "a", "fair"))
    path = tmp_path / "j.json"
    scale = Scale(labels=("good", "fair", "bad"), grades=(3, 1.5, 0))
    write(Content(labels=table, scale=scale), path, format="opensearch")
    found = read(path)
    assert found.format == "opensearch"
    rows = gold_in(found).to_table().select(["topic", "document", "gold"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("red lamp", "a", "3"), ("red lamp", "b", "0"), ("sofa", "a", "1.5"),
    ]  # fmt: skip


def test_a_rating_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    path.write_text('{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a"}]}]}')
    with pytest.raises(BadData, match=r"j\.json"):
        read(path)


KAGGLE = (
    '"id","query","product_title","product_description","median_relevance","relevance_variance"'
)


def test_median_is_gold(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(
        f"{KAGGLE}\n"
        '1,"bridal shower","A ""very"" white box","Multi\nline",1,0\n'
        '2,"led lights","String of lights","",4,0.471\n'
    )
    content = read(path)
    assert content.format == "kaggle"
    assert content.judgments is None
    assert gold_in(content).to_table().to_pylist() == [
        {"item": "1", "topic": "bridal shower", "document": "1", "gold": "1"},
        {"item": "2", "topic": "led lights", "document": "2", "gold": "4"},
    ]
    assert [tuple(row.values()) for row in content.texts.to_pylist()] == [
        ("bridal shower", "1", "bridal shower", 'A "very" white box', "Multi\nline"),
        ("led lights", "2", "led lights", "String of lights", ""),
    ]
    assert content.texts.column_names == ["topic", "document", "query", "title", "text"]


def test_items_alone_have_no_gold(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text('"id","query","product_title","product_description"\n3,"q","t","d"\n')
    content = read(path)
    assert content.format == "kaggle"
    assert content.gold is None
    assert content.texts["document"].to_pylist() == ["3"]
    with pytest.raises(BadData, match="there is no gold in this file"):
        Gold.read(path)
