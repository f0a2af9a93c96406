"""Kaggle's CrowdFlower search relevance."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.formats import read
from adjudge.data.gold import Gold
from adjudge.errors import BadData
from faults import fault_of

HEADER = (
    '"id","query","product_title","product_description","median_relevance","relevance_variance"'
)


def test_median_is_gold(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(
        f"{HEADER}\n"
        '1,"bridal shower","A ""very"" white box","Multi\nline",1,0\n'
        '2,"led lights","String of lights","",4,0.471\n'
    )
    content = read(path)
    assert content.format == "kaggle"
    assert content.judgments is None
    assert content.gold is not None
    assert content.gold.to_table().to_pylist() == [
        {"item": "1", "topic": "bridal shower", "document": "1", "gold": "1"},
        {"item": "2", "topic": "led lights", "document": "2", "gold": "4"},
    ]
    assert content.texts.to_pylist() == [
        {
            "topic": "bridal shower",
            "document": "1",
            "query": "bridal shower",
            "title": 'A "very" white box',
            "text": "Multi\nline",
        },
        {
            "topic": "led lights",
            "document": "2",
            "query": "led lights",
            "title": "String of lights",
            "text": "",
        },
    ]


def test_items_alone_have_no_gold(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text('"id","query","product_title","product_description"\n3,"q","t","d"\n')
    content = read(path)
    assert content.format == "kaggle"
    assert content.gold is None
    assert content.texts["document"].to_pylist() == ["3"]
    with pytest.raises(BadData, match="there is no gold in this file"):
        Gold.read(path)


def test_two_values_for_one_item(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(f'{HEADER}\n1,"q","t","d",1,0\n1,"q","t","d",2,0\n')
    with pytest.raises(BadData) as caught:
        read(path)
    assert fault_of(caught.value) == "train.csv, line 3, column median_relevance: bad-data"
