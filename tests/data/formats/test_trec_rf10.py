"""TREC 2010 relevance feedback: the format, and the published counts of the real file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import SCALE, gold_subset, trec_2011_subset
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from faults import fault_of

_TEXT = """topicID\tworkerID\tdocID\tgold\tlabel
7\tw1\td1\t-1\t0
7\tw2\td1\t-1\t-2
7\tw1\td2\t2\t1
7\tw2\td2\t2\t2
7\tw1\td3\t-2\t-2
7\tw2\td3\t-2\t1
8\tw3\td1\t0\t-2
"""


@pytest.fixture
def small(tmp_path: Path) -> Content:
    (tmp_path / "rf10.tsv").write_text(_TEXT)
    return read(tmp_path / "rf10.tsv")


@pytest.fixture(scope="module")
def whole(shared_data: Path) -> Content:
    return read(shared_data / "trec-rf10" / "judgments.tsv")


def _counts(content: Content) -> tuple[int, int, int, int, int]:
    judgments, gold = content.judgments, content.gold
    assert judgments is not None
    assert gold is not None
    topics = judgments.topic_count
    return len(judgments), judgments.item_count, judgments.judge_count, topics, len(gold)


def test_the_format(small: Content) -> None:
    assert small.format == "trec-rf10"
    assert small.judgments is not None
    assert small.judgments.scale == SCALE
    assert str(SCALE) == "-2 < 0 < 1 < 2"
    assert SCALE.relevant == ("1", "2")
    assert _counts(small) == (7, 4, 3, 2, 3)


def test_gold_that_is_not_known_is_none_and_honeypots_are_marked(small: Content) -> None:
    assert small.gold is not None
    assert small.gold.to_table().to_pylist() == [
        {"item": "7/d2", "topic": "7", "document": "d2", "gold": "2", "honeypot": False},
        {"item": "7/d3", "topic": "7", "document": "d3", "gold": "-2", "honeypot": True},
        {"item": "8/d1", "topic": "8", "document": "d1", "gold": "0", "honeypot": False},
    ]


def test_the_binary_subset(small: Content) -> None:
    subset = trec_2011_subset(small)
    assert subset.judgments is not None
    assert subset.gold is not None
    assert subset.judgments.to_table().to_pydict() == {
        "item": ["7/d1", "7/d2", "7/d2"],
        "topic": ["7", "7", "7"],
        "document": ["d1", "d2", "d2"],
        "judge": ["w1", "w1", "w2"],
        "label": ["0", "1", "1"],
    }
    assert dict(zip(subset.gold.items.to_pylist(), subset.gold.texts(), strict=True)) == {
        "7/d2": "1"
    }


def test_the_graded_subset(small: Content) -> None:
    graded = gold_subset(small)
    assert _counts(graded) == (2, 1, 2, 1, 1)
    assert graded.judgments is not None
    assert graded.judgments.scale.labels == ("0", "1", "2")


def test_a_subset_of_no_gold() -> None:
    with pytest.raises(BadData) as raised:
        trec_2011_subset(Content())
    assert fault_of(raised.value) == "missing-gold"


def test_a_scale_named(tmp_path: Path) -> None:
    (tmp_path / "rf10.tsv").write_text(_TEXT)
    with pytest.raises(BadData) as raised:
        read(tmp_path / "rf10.tsv", scale=Scale.parse("0<1<2"))
    assert fault_of(raised.value) == "rf10.tsv, line 3, column label: label-off-scale"


def test_a_label_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "rf10.tsv").write_text(_TEXT + "8\tw3\td2\t0\t3\n")
    with pytest.raises(BadData) as raised:
        read(tmp_path / "rf10.tsv")
    assert fault_of(raised.value) == "rf10.tsv, line 9, column label: label-off-scale"


def test_the_counts_of_the_whole_file(whole: Content) -> None:
    assert _counts(whole) == (98_453, 20_232, 766, 100, 4_460)
    assert whole.gold is not None
    assert whole.gold.honeypot is not None
    assert int(whole.gold.honeypot.sum()) == 1_183


def test_the_counts_of_the_track_of_2011(whole: Content) -> None:
    subset = trec_2011_subset(whole)
    assert _counts(subset) == (89_624, 19_033, 762, 100, 3_275)
    assert subset.judgments is not None
    assert subset.gold is not None
    assert subset.judgments.scale.labels == ("0", "1")
    known = subset.gold.align(subset.judgments)
    assert int((known >= 0).sum()) == 3_275
    assert set(np.unique(known)) == {-1, 0, 1}


def test_the_counts_of_graded_items(whole: Content) -> None:
    graded = gold_subset(whole)
    assert _counts(graded)[:3] == (19_699, 3_275, 722)
    assert graded.judgments is not None
    assert graded.gold is not None
    assert set(graded.gold.align(graded.judgments)) == {0, 1, 2}
