"""The pool: which documents count, where runs rank them, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import Judgments, Run
from adjudge.errors import BadData
from adjudge.evaluation._pool import Pool, Unjudged, build_pool, judged_at
from adjudge.evaluation.ranking.rank import rank_systems
from adjudge.models.majority_vote import MajorityVote

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


def test_items_are_used_as_documents_where_there_are_none() -> None:
    simulated = Judgments.from_table(
        {"item": ["i", "j"], "topic": ["7", "7"], "judge": ["x", "x"], "label": [0, 1]}
    )
    pool = build_pool(simulated, np.ones(2, dtype=np.bool_), [run_of([("7", "j")])])
    assert ranking(pool, 0, "7") == [("j", 1)]


@pytest.mark.parametrize("rows", [[("7", "u"), ("8", "v")], [("3", "u"), ("4", "b")]])
def test_a_run_of_which_nothing_is_judged(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(BadData) as raised:
        pooled(TWO, run_of(rows))
    assert (raised.value.source, raised.value.line) == ("one.run", 1)
    assert raised.value.value in ("u", "3")


def test_judgments_that_cannot_be_matched_with_runs() -> None:
    simulated = Judgments.from_table({"item": ["i"], "judge": ["x"], "label": [0]})
    with pytest.raises(BadData) as raised:
        build_pool(simulated, np.ones(1, dtype=np.bool_), [ONE])
    assert raised.value.expected == "topics"
    table = {"item": ["i", "j"], "topic": ["7", "7"], "document": ["a", "a"]}
    twice = Judgments.from_table(table | {"judge": ["x", "x"], "label": [0, 1]})
    with pytest.raises(BadData, match="items 'i' and 'j' are one document"):
        build_pool(twice, np.ones(2, dtype=np.bool_), [ONE])


TOPICS, DEPTH = 6, 30


def panel(judged: float, seed: int = 1) -> tuple[Judgments, Run]:
    """Documents of which the upper half is relevant, some of them judged, all of them returned."""
    random = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {"topic": [], "document": [], "judge": [], "label": []}
    run: dict[str, list[object]] = {"topic": [], "document": [], "score": []}
    for t in range(TOPICS):
        for d in range(DEPTH):
            run["topic"].append(f"q{t}")
            run["document"].append(f"d{d}")
            run["score"].append(float(-d))
            if random.random() < judged or d in (0, DEPTH - 1):
                for judge in "xyz":
                    rows["topic"].append(f"q{t}")
                    rows["document"].append(f"d{d}")
                    rows["judge"].append(judge)
                    rows["label"].append(int(d < DEPTH // 2))
    return Judgments.from_table(rows), Run.from_table(run, name="r")


def test_judged_at_k_by_hand() -> None:
    table = {"topic": ["q"] * 2, "document": ["a", "c"], "judge": ["x"] * 2, "label": [1, 0]}
    judgments = Judgments.from_table(table)
    rows = {"topic": ["q"] * 4, "document": ["a", "b", "c", "d"], "score": [4.0, 3.0, 2.0, 1.0]}
    run = Run.from_table(rows, name="r")
    everything = np.ones(2, dtype=np.bool_)
    shares = [judged_at(judgments, everything, [run], k)[0] for k in (1, 2, 3, 4, 100)]
    assert shares == [1.0, 0.5, pytest.approx(2 / 3), 0.5, 0.5]


def test_filled_lists_come_nearest_to_the_values_of_complete_judgments() -> None:
    full, run = panel(judged=1.0)
    complete = MajorityVote().fit(full)
    true = rank_systems(complete, [run], ["P@10", "nDCG@20"], draws=20, next_items=0)
    sparse, run = panel(judged=0.4)
    consensus = MajorityVote().fit(sparse)
    for measure in ("P@10", "nDCG@20"):
        expected = true.by_label[measure][0]
        apart = {}
        for way in ("not-relevant", "prevalence", "filled"):
            found = rank_systems(
                consensus,
                [run],
                [measure],
                draws=200,
                next_items=0,
                unjudged=way,  # type: ignore[arg-type]
            )
            apart[way] = abs(found.by_label[measure][0] - expected)
        assert apart["filled"] < min(apart["prevalence"], apart["not-relevant"])
