"""The sets, the scoring and the tables by which models are compared."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
ROWS = [
    ("a", "ann", "1", "1"),
    ("a", "bob", "1", "1"),
    ("a", "bob", "1", "1"),
    ("a", "bob", "0", "1"),
    ("b", "ann", "0", ""),
    ("b", "cid", "-1", ""),
]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the benchmarks that are tested here."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import benchmark_page
    import entries
    import scoring
    import sets
    import some_gold

    return type(
        "Modules",
        (),
        {
            "entries": entries,
            "gold": some_gold,
            "page": benchmark_page,
            "scoring": scoring,
            "sets": sets,
        },
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a manifest of one set and of the relevance feedback track."""
    (tmp_path / "sets").mkdir()
    manifest = "kind,name,family,path\npanels,mine,f,mine.csv.gz\ncrowds,trec-rf10,trec,t.tsv\n"
    (tmp_path / "sets" / "sets.csv").write_text(manifest)
    with gzip.open(tmp_path / "mine.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([("item", "judge", "label", "gold"), *ROWS])
    rows = ["topicID\tworkerID\tdocID\tgold\tlabel", "7\tw\td1\t2\t1", "7\tv\td1\t2\t-2"]
    (tmp_path / "t.tsv").write_text("\n".join([*rows, "7\tw\td2\t-1\t0", ""]))
    return tmp_path


def rows_of(judgments: Judgments) -> list[tuple[str, ...]]:
    table = judgments.to_table()
    columns = [table[name].to_pylist() for name in ("item", "judge", "label")]
    return sorted(zip(*columns, strict=True))


def test_a_manifest_lists_sets_and_equal_rows_count_once(modules: Any, data: Path) -> None:
    listed = modules.sets.list_sets(data)
    entry = listed["mine"]
    assert (entry.kind, entry.family) == ("panels", "f")
    held = modules.sets.read_set(entry)
    assert rows_of(held.judgments) == sorted({row[:3] for row in ROWS})
    assert held.truth.tolist() == [2, -1]  # the lowest label is -1
    assert modules.sets.list_sets(data / "nowhere") == {}


def test_the_relevance_feedback_track_is_read_in_three_ways(modules: Any, data: Path) -> None:
    listed = modules.sets.list_sets(data)
    read = {name: modules.sets.read_set(entry) for name, entry in listed.items()}
    assert rows_of(read["trec-rf10 binary"].judgments) == [("7_d1", "w", "1"), ("7_d2", "w", "0")]
    assert read["trec-rf10 grades"].gold.to_table()["gold"].to_pylist() == ["2"]
    assert len(read["trec-rf10 broken links"].judgments) == 3


def test_copies_repeat_a_judge_and_leave_the_others(modules: Any, data: Path) -> None:
    before = modules.sets.read_set(modules.sets.list_sets(data)["mine"]).judgments
    after = modules.sets.with_copies(before, before.judges.to_pylist().index("ann"), 2)
    rows = rows_of(after)
    for copy in ("ann copy 1", "ann copy 2"):
        assert {(i, lab) for i, judge, lab in rows if judge == copy} == {("a", "1"), ("b", "0")}
    own = after.judge < before.judge_count
    assert after.judge[own].tolist() == before.judge.tolist()
    assert after.label[own].tolist() == before.label.tolist()


def test_scores_by_hand(modules: Any) -> None:
    truth = np.array([0, 1, -1, 1], np.int16)
    posterior = np.array([[1.0, 0.0], [0.5, 0.5], [0.1, 0.9], [0.8, 0.2]])
    found = modules.scoring.score(truth, posterior)
    assert found["accuracy"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["log_loss"] == pytest.approx((-np.log(0.5) - np.log(0.2)) / 3, abs=1e-5)
    assert (found["sure"], found["sure_accuracy"]) == (pytest.approx(1 / 3, abs=1e-6), 1.0)


def test_judges_are_ordered_by_accuracy_on_gold(modules: Any) -> None:
    rows = []
    for number in range(40):
        truth = number % 2
        for judge, wrong in (("good", 0), ("fair", 8), ("poor", 30), ("rare", 40)):
            if judge != "rare" or number < 10:
                label = 1 - truth if number < wrong else truth
                rows.append((f"i{number:02}", judge, str(label)))
    items, judges, labels = zip(*rows, strict=True)
    judgments = Judgments.from_table(pa.table({"item": items, "judge": judges, "label": labels}))
    gold = Gold.of({f"i{number:02}": str(number % 2) for number in range(40)})
    order = modules.sets.judges_by_accuracy(modules.sets.Set("simulated", judgments, gold))
    assert [judgments.judges[int(judge)].as_py() for judge in order] == ["poor", "fair", "good"]


def test_gold_that_guides_the_fit_is_not_scored(modules: Any) -> None:
    table = {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": ["1", "0", "0"]}
    judgments = Judgments.from_table(table)
    held = modules.sets.Set("simulated", judgments, Gold.of({"a": "1", "b": "0", "z": "1"}))
    assert modules.gold.choose(held, np.array([1])).items.to_pylist() == ["b"]
    assert modules.gold._hidden(held, np.array([1])).tolist() == [1, -1]
    assert modules.gold.draw(held, 1, 3).tolist() == modules.gold.draw(held, 1, 3).tolist()


def test_a_family_counts_once_and_missing_families_show_the_gain(modules: Any) -> None:
    def line(side: str, name: str, family: str, accuracy: float) -> dict[str, Any]:
        about = {"set": name, "family": family, "kind": "crowds", "case": "accuracy", "cpu": 1.0}
        return {**about, "side": side, "accuracy": accuracy, "log_loss": 0.5, "ece": 0.1}

    vote = "vote share (+.5)"
    lines = [line(vote, "a", "f", 0.6), line(vote, "b", "f", 0.8), line(vote, "c", "g", 0.5)]
    lines += [line("dawid-skene", "a", "f", 0.8), line("item-types", "a", "f", 0.9)]
    text = modules.page._table(lines)
    assert "people: 3 sets, 2 families" in text
    assert f"| {vote} | 0.600 / 0.500 / 0.100 |" in text
    assert "| **dawid-skene** | on 1 sets: +0.200 to the vote (item-types +0.300) |" in text
