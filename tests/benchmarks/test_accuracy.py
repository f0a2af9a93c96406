"""The sets, the scoring and the tables by which models are measured against one another."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments
from adjudge.simulation import Crowd, Population

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
ROWS = [
    ("a", "ann", "1"),
    ("a", "bob", "1"),
    ("a", "bob", "1"),
    ("a", "bob", "0"),
    ("b", "ann", "0"),
    ("b", "cid", "0"),
]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the benchmarks that are tested here."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import copies
    import entries
    import prototype
    import scoring
    import sets
    import some_gold
    import thinned

    return type(
        "Modules",
        (),
        {
            "copies": copies,
            "entries": entries,
            "prototype": prototype,
            "scoring": scoring,
            "sets": sets,
            "gold": some_gold,
            "thinned": thinned,
        },
    )


def judgments_of(rows: list[tuple[str, str, str]]) -> Judgments:
    items, judges, labels = zip(*rows, strict=True)
    return Judgments.from_table(pa.table({"item": items, "judge": judges, "label": labels}))


def rows_of(judgments: Judgments) -> list[tuple[str, ...]]:
    table = judgments.to_table()
    columns = [table[name].to_pylist() for name in ("item", "judge", "label")]
    return sorted(zip(*columns, strict=True))


def test_rows_that_say_the_same_count_once(modules: Any) -> None:
    left = modules.sets.without_repeats(judgments_of(ROWS))
    assert rows_of(left) == [
        ("a", "ann", "1"),
        ("a", "bob", "0"),  # another label is another judgment
        ("a", "bob", "1"),
        ("b", "ann", "0"),
        ("b", "cid", "0"),
    ]


def test_a_copy_says_what_her_model_said_and_nothing_else_moves(modules: Any) -> None:
    before = modules.sets.without_repeats(judgments_of(ROWS))
    after = modules.sets.with_copies(before, before.judges.to_pylist().index("ann"), 2)
    rows = rows_of(after)
    for copy in ("ann copy 1", "ann copy 2"):
        assert {(i, lab) for i, judge, lab in rows if judge == copy} == {("a", "1"), ("b", "0")}
    assert len(after) == len(before) + 4
    own = after.judge < before.judge_count
    assert after.judge[own].tolist() == before.judge.tolist()
    assert after.label[own].tolist() == before.label.tolist()


def test_a_file_put_into_the_data_takes_part(modules: Any, tmp_path: Path) -> None:
    for folder in ("more", "panels"):
        (tmp_path / folder).mkdir()
        text = "item,judge,label,gold\na,x,1,1\na,y,0,1\nb,x,0,0\n"
        (tmp_path / folder / f"of-{folder}.csv").write_text(text)
        (tmp_path / folder / "other.csv").write_text("question,worker,answer\n1,2,3\n")
    found = modules.sets.real_sets(tmp_path)
    assert found == {"of-more": "crowd", "of-panels": "panel"}
    held = modules.sets.real_set("of-panels", tmp_path)
    assert (held.kind, len(held.judgments), held.truth.tolist()) == ("panel", 3, [1, 0])
    assert modules.sets.real_sets(tmp_path / "nowhere") == {}


def test_scores_by_hand(modules: Any) -> None:
    truth = np.array([0, 1, -1, 1], np.int16)
    posterior = np.array([[1.0, 0.0], [0.5, 0.5], [0.1, 0.9], [0.8, 0.2]])
    found = modules.scoring.score(truth, posterior)
    assert found["accuracy"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["log_loss"] == pytest.approx((-np.log(0.5) - np.log(0.2)) / 3, abs=1e-5)
    assert (found["sure"], found["sure_accuracy"]) == (pytest.approx(1 / 3, abs=1e-6), 1.0)
    assert modules.scoring.score_labels(truth, np.array([0, 0, 0, 1]))["accuracy"] == (
        pytest.approx(2 / 3, abs=1e-6)
    )


def test_the_judges_who_are_copied_are_chosen_by_gold(modules: Any) -> None:
    rows = []
    for number in range(40):
        truth = number % 2
        for judge, wrong in (("good", 0), ("fair", 8), ("poor", 30), ("rare", 40)):
            if judge != "rare" or number < 10:
                label = 1 - truth if number < wrong else truth
                rows.append((f"i{number:02}", judge, str(label)))
    judgments = judgments_of(rows)
    gold = Gold.of({f"i{number:02}": str(number % 2) for number in range(40)})
    held = modules.sets.Set("made", "crowd", judgments, gold)
    order = modules.copies.judges_by_accuracy(held)
    assert [judgments.judges[int(judge)].as_py() for judge in order] == ["poor", "fair", "good"]


def test_gold_that_is_told_is_not_scored(modules: Any) -> None:
    judgments = judgments_of(ROWS)
    held = modules.sets.Set("made", "crowd", judgments, Gold.of({"a": "1", "b": "0", "z": "1"}))
    told = modules.gold.told(held, np.array([1]))
    assert told.items.to_pylist() == ["b"]
    assert modules.gold._hidden(held, np.array([1])).tolist() == [1, -1]
    first = modules.gold.draw(held, 1, 3)
    assert first.tolist() == modules.gold.draw(held, 1, 3).tolist()


def test_samplers_wait_to_be_asked_for(modules: Any) -> None:
    fast = [entry.name for entry in modules.entries.entries()]
    full = [entry.name for entry in modules.entries.entries(full=True)]
    assert "hybrid-confusion:em" in fast
    assert "hybrid-confusion:gibbs" not in fast
    assert {"hybrid-confusion:gibbs", "hierarchical-relevance"} <= set(full) - set(fast)


def test_less_is_drawn_as_it_is_told(modules: Any) -> None:
    whole = Crowd(items=100, population=Population.parse("two-coin:20"), per_item=5).make(1)
    judgments = whole.judgments

    def left(how: str) -> Judgments:
        return modules.thinned.thin(judgments, how, np.random.default_rng(3))

    half = left("half the judges")
    assert half.judge_count == 10
    every = dict(zip(judgments.judges.to_pylist(), judgments.counts_per_judge, strict=True))
    assert {every[name] for name in half.judges.to_pylist()} == set(half.counts_per_judge)
    assert set(left("three judgments an item").counts_per_item) == {3}
    few = left("a fifth of the items")
    assert (few.item_count, len(few)) == (20, 100)
    first = set(rows_of(left("three judgments an item")))
    assert first < set(rows_of(judgments))


def test_the_prototype_gives_its_own_answers(modules: Any, shared_data: Path) -> None:
    module = modules.prototype.load(shared_data)
    beside = shared_data.resolve().parent / "reference" / "dependence" / "duck.csv"
    if module is None or not beside.is_file():
        pytest.skip("no prototype beside the data")
    held = modules.sets.real_set("duck", shared_data)
    found = module.consensus(modules.prototype.arrays_of(held.judgments))["P"]
    with beside.open(newline="") as file:
        wanted = {row["item"]: float(row["p_1"]) for row in csv.DictReader(file)}
    place = [wanted[name] for name in held.judgments.items.to_pylist()]
    assert found[:, 1] == pytest.approx(place, abs=2e-6)
