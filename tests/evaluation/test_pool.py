"""The pool: which documents count, where runs rank them, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._pool import Pool, Unjudged, build_pool

JUDGMENTS = Judgments.from_table(
    {
        "topic": ["7", "7", "7", "8", "9"],
        "document": ["a", "b", "c", "a", "d"],
        "judge": ["x"] * 5,
        "label": [1, 0, 1, 0, 1],
    }
)


def run_of(rows: list[tuple[str, str]], name: str = "one") -> Run:
    topic, document = (list(column) for column in zip(*rows, strict=True))
    score = [float(-number) for number in range(len(rows))]
    table = {"topic": topic, "document": document, "score": score}
    return Run.from_table(table, name=name, source=f"{name}.run")


def pooled(*runs: Run, unjudged: Unjudged = "not-relevant") -> Pool:
    judged = np.ones(JUDGMENTS.item_count, dtype=np.bool_)
    return build_pool(JUDGMENTS, judged, runs, unjudged)


def ranking(pool: Pool, system: int, topic: str) -> list[tuple[str, int]]:
    at = pool.topics.to_pylist().index(topic)
    entry, place = pool.ranking(system, at)
    documents = pool.documents.to_pylist()[pool.begins[at] : pool.begins[at + 1]]
    return [(documents[e], int(p)) for e, p in zip(entry, place, strict=True)]


ONE = run_of([("7", "c"), ("7", "u"), ("7", "a"), ("8", "v"), ("8", "a")])
TWO = run_of([("8", "u"), ("7", "u"), ("7", "b"), ("5", "a"), ("8", "a")], "two")


def test_all_judged_documents_of_topics_in_play_are_in_the_pool() -> None:
    pool = pooled(ONE, TWO)
    assert pool.systems == ("one", "two")
    assert pool.topics.to_pylist() == ["7", "8"]
    assert pool.begins.tolist() == [0, 3, 4]
    assert pool.documents.to_pylist() == ["a", "b", "c", "a"]
    assert pool.item.tolist() == [0, 1, 2, 3]
    assert pool.topic.tolist() == [0, 0, 0, 1]


def test_unjudged_documents_keep_their_places_and_are_worth_nothing() -> None:
    pool = pooled(ONE, TWO)
    assert ranking(pool, 0, "7") == [("c", 1), ("a", 3)]
    assert ranking(pool, 0, "8") == [("a", 2)]
    assert ranking(pool, 1, "7") == [("b", 2)]


def test_condensed_lists_close_up() -> None:
    pool = pooled(ONE, TWO, unjudged="condensed")
    assert ranking(pool, 0, "7") == [("c", 1), ("a", 2)]
    assert ranking(pool, 1, "7") == [("b", 1)]
    assert ranking(pool, 1, "8") == [("a", 1)]


def test_unjudged_documents_that_are_to_have_a_truth_join_the_pool_once() -> None:
    pool = pooled(ONE, TWO, unjudged="prevalence")
    assert pool.documents.to_pylist() == ["a", "b", "c", "u", "a", "u", "v"]
    assert pool.item[:4].tolist() == [0, 1, 2, -1]
    assert ranking(pool, 0, "7") == [("c", 1), ("u", 2), ("a", 3)]
    assert ranking(pool, 1, "7") == [("u", 1), ("b", 2)]
    assert ranking(pool, 1, "8") == [("u", 1), ("a", 2)]


def test_what_is_not_judged_is_counted_and_named_by_file_and_line() -> None:
    assert pooled(ONE, TWO).notes == (
        "one.run: 2 of 5 documents are not judged, taken as not relevant "
        "(first: line 2, document 'u' of topic '7')",
        "two.run: 1 of 3 topics has no judgments and is left out (first: line 4, topic '5')",
        "two.run: 2 of 4 documents are not judged, taken as not relevant "
        "(first: line 1, document 'u' of topic '8')",
        "1 judged topic is in no run and left out",
    )


def test_a_run_that_lacks_a_topic_of_another_returns_nothing_there() -> None:
    short = run_of([("7", "a")], "short")
    pool = pooled(ONE, short)
    assert ranking(pool, 1, "8") == []
    assert "short.run: 1 of 2 topics is not in this run: it returns nothing there" in pool.notes


def test_an_item_that_nobody_judged_is_unjudged() -> None:
    judged = np.array([True, False, True, True, True])
    pool = build_pool(JUDGMENTS, judged, [run_of([("7", "b"), ("7", "a")])])
    assert pool.documents.to_pylist() == ["a", "c"]
    assert ranking(pool, 0, "7") == [("a", 2)]


def test_items_stand_for_documents_where_there_are_none() -> None:
    made = Judgments.from_table(
        {"item": ["i", "j"], "topic": ["7", "7"], "judge": ["x", "x"], "label": [0, 1]}
    )
    pool = build_pool(made, np.ones(2, dtype=np.bool_), [run_of([("7", "j")])])
    assert ranking(pool, 0, "7") == [("j", 1)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("7", "u"), ("8", "v")],
            "one.run, line 1: document 'u' of topic '7' is not in the judgments, nor is any other "
            "of this run's 2",
        ),
        (
            [("3", "a"), ("4", "b")],
            "one.run, line 1: topic '3' has no judgments, nor has any other of this run's 2",
        ),
    ],
)
def test_a_run_of_which_nothing_is_judged(rows: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(BadData) as raised:
        pooled(TWO, run_of(rows))
    assert str(raised.value) == message


def test_judgments_without_topics() -> None:
    made = Judgments.from_table({"item": ["i"], "judge": ["x"], "label": [0]})
    with pytest.raises(BadData) as raised:
        build_pool(made, np.ones(1, dtype=np.bool_), [ONE])
    assert str(raised.value) == (
        "the judgments have no topics, so nothing can be matched with a run; wanted columns topic "
        "and document"
    )


def test_two_items_that_are_one_document() -> None:
    table = {"item": ["i", "j"], "topic": ["7", "7"], "document": ["a", "a"]}
    made = Judgments.from_table(table | {"judge": ["x", "x"], "label": [0, 1]})
    with pytest.raises(BadData) as raised:
        build_pool(made, np.ones(2, dtype=np.bool_), [ONE])
    assert str(raised.value) == (
        "items 'i' and 'j' are one document of one topic; wanted one item for each"
    )


def test_a_way_that_does_not_exist() -> None:
    with pytest.raises(BadSetting) as raised:
        pooled(ONE, unjudged="ignored")  # type: ignore[arg-type]
    assert str(raised.value) == (
        "unjudged = 'ignored': wanted one of not-relevant, condensed, prevalence, filled"
    )
