"""TREC 2010 relevance feedback: the format, and the published counts of the real file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import SCALE, gold_subset, trec_2011_subset
from adjudge.errors import remedies_of
from reading import gold_in, judgments_in

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
def entire_file(shared_data: Path) -> Content:
    return read(shared_data / "trec-rf10" / "judgments.tsv")


def _counts(content: Content) -> tuple[int, int, int, int, int]:
    judgments, gold = content.judgments, content.gold
    assert judgments is not None
    assert gold is not None
    topics = judgments.topic_count
    return len(judgments), judgments.item_count, judgments.judge_count, topics, len(gold)


def test_the_format(small: Content) -> None:
    assert small.format == "trec-rf10"
    assert judgments_in(small).scale == SCALE
    assert str(SCALE) == "-2 < 0 < 1 < 2"
    assert SCALE.relevant == ("1", "2")
    assert _counts(small) == (7, 4, 3, 2, 3)
    (note,) = small.notes
    assert [(one.setting, one.value) for one in remedies_of(note)] == [("drop-label", ("-2",))]


def test_unknown_gold_is_left_out_and_honeypots_are_marked(small: Content) -> None:
    assert gold_in(small).to_table().to_pylist() == [
        {"item": "7/d2", "topic": "7", "document": "d2", "gold": "2", "honeypot": False},
        {"item": "7/d3", "topic": "7", "document": "d3", "gold": "-2", "honeypot": True},
        {"item": "8/d1", "topic": "8", "document": "d1", "gold": "0", "honeypot": False},
    ]


def test_the_binary_subset(small: Content) -> None:
    subset = trec_2011_subset(small)
    assert judgments_in(subset).to_table().to_pydict() == {
        "item": ["7/d1", "7/d2", "7/d2"],
        "topic": ["7", "7", "7"],
        "document": ["d1", "d2", "d2"],
        "judge": ["w1", "w1", "w2"],
        "label": ["0", "1", "1"],
    }
    assert dict(zip(gold_in(subset).items.to_pylist(), gold_in(subset).texts(), strict=True)) == {
        "7/d2": "1"
    }


def test_the_graded_subset(small: Content) -> None:
    graded = gold_subset(small)
    assert _counts(graded) == (2, 1, 2, 1, 1)
    assert judgments_in(graded).scale.labels == ("0", "1", "2")


def test_the_counts_of_the_file(entire_file: Content) -> None:
    assert _counts(entire_file) == (98_453, 20_232, 766, 100, 4_460)
    assert gold_in(entire_file).honeypot is not None
    assert int(gold_in(entire_file).honeypot.sum()) == 1_183


def test_the_counts_of_the_track_of_2011(entire_file: Content) -> None:
    subset = trec_2011_subset(entire_file)
    assert _counts(subset) == (89_624, 19_033, 762, 100, 3_275)
    assert judgments_in(subset).scale.labels == ("0", "1")
    known = gold_in(subset).align(judgments_in(subset))
    assert int((known >= 0).sum()) == 3_275
    assert set(np.unique(known)) == {-1, 0, 1}


def test_the_counts_of_graded_items(entire_file: Content) -> None:
    graded = gold_subset(entire_file)
    assert _counts(graded)[:3] == (19_699, 3_275, 722)
    assert set(gold_in(graded).align(judgments_in(graded))) == {0, 1, 2}
