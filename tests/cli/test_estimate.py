"""adjudge estimate: JSON, tables and pages; what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest

from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.evaluation.estimation.estimate import estimate
from commands import Run
from gold_panels import drawn, simulate_panel
from rankings import system


@pytest.fixture
def panel(folder: Path) -> Path:
    judgments, gold = simulate_panel(items=300)
    pacsv.write_csv(judgments.to_table(), folder / "judgments.csv")
    pacsv.write_csv(drawn(gold, 120, 1).to_table(), folder / "gold.csv")
    rng = np.random.default_rng(2)
    truth = gold.align(judgments)
    for name, quality in (("a", 2.0), ("b", 1.0)):
        run = system(judgments, truth, quality, rng, name=name)
        topics = run.topics.take(pa.array(run.topic)).to_pylist()
        lines = zip(topics, run.documents.to_pylist(), run.score.tolist(), strict=True)
        text = "".join(f"{t} Q0 {d} 0 {s:.6f} {name}\n" for t, d, s in lines)
        (folder / f"{name}.run").write_text(text)
    assert (look_up(gold.items, judgments.items) >= 0).all()
    return folder


def test_one_target_is_one_document(adjudge: Run, panel: Path) -> None:
    ended = adjudge(
        "estimate", "judgments.csv", "--gold", "gold.csv", "--target", "share:1,2", "--json"
    )
    assert ended.code == 0
    found = ended.json
    assert found["target"] == "share:1,2"
    assert found["low"] < found["estimate"] < found["high"]
    assert found["classical_low"] < found["low"]
    assert found["high"] < found["classical_high"]
    assert (found["method"], found["gold"], found["items"]) == ("prediction-powered", 120, 300)
    assert found["saved"] > 0
    assert found["notes"] == ["gold is taken for a random draw of the 300 items"]


def test_several_targets_of_two_runs(adjudge: Run, panel: Path) -> None:
    given = ("estimate", "judgments.csv", "--gold", "gold.csv", "--runs", "a.run", "--run", "b.run")
    rows = adjudge(*given, "--target", "nDCG@10", "P@5").rows
    assert [row["target"] for row in rows] == ["nDCG@10 of a minus b", "P@5 of a minus b"]
    assert {row["judged"] for row in rows} == {"a 1.000, b 1.000"}
    found = adjudge(*given, "--target", "AP", "--target", "Bpref", "--json").json
    assert [one["target"] for one in found["estimates"]] == [
        "AP of a minus b",
        "Bpref of a minus b",
    ]


def test_gold_on_unjudged_items_is_left_out(adjudge: Run, folder: Path) -> None:
    judgments, gold = simulate_panel(items=300)
    item = judgments.item
    some = judgments.select(judgments=item >= 60, keep_empty=True)  # the first 60 have none left
    pacsv.write_csv(some.to_table(), folder / "some.csv")
    known = drawn(gold, 120, 1)
    pacsv.write_csv(known.to_table(), folder / "gold.csv")
    given = ("estimate", "some.csv", "--gold", "gold.csv", "--target", "mean-grade")
    found = adjudge(*given, "--json").json
    alone = estimate(Judgments.read(folder / "some.csv"), known, "mean-grade")
    assert (found["items"], found["gold"]) == (alone.items, alone.gold)
    assert alone.gold < 120
    for name in ("estimate", "low", "high", "power"):
        assert found[name] == pytest.approx(getattr(alone, name), abs=1e-12)


def test_honeypots_can_be_left_out(adjudge: Run, panel: Path) -> None:
    gold = pacsv.read_csv(panel / "gold.csv").select(["item", "gold"])
    planted = pa.array(np.arange(len(gold)) < 20)
    pacsv.write_csv(gold.append_column("honeypot", planted), panel / "mixed.csv")
    pacsv.write_csv(gold.filter(pc.invert(planted)), panel / "plain.csv")
    names = set(gold["item"].filter(planted).to_pylist())
    rows = pacsv.read_csv(panel / "judgments.csv")
    kept = pa.array([name not in names for name in rows["item"].to_pylist()])
    pacsv.write_csv(rows.filter(kept), panel / "rest.csv")
    asked = ("--target", "mean-grade", "--json")
    mixed = ("estimate", "judgments.csv", "--gold", "mixed.csv", *asked)
    assert len(adjudge(*mixed).json["warnings"]) == 1
    found = adjudge(*mixed, "--leave-out-honeypots").json
    assert found == adjudge("estimate", "rest.csv", "--gold", "plain.csv", *asked).json
    assert (found["gold"], found["items"], found["warnings"]) == (100, 280, [])
    given = estimate("judgments.csv", "mixed.csv", "mean-grade", leave_out_honeypots=True)
    assert given.estimate == pytest.approx(found["estimate"], abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("--target share:1", "judgments.csv"),
        ("--gold gold.csv --target share:1 --leave-out-honeypots", "gold.csv, column honeypot"),
        ("--gold other.csv --target share:1", "other.csv"),
        ("--gold same.csv --target share:1", "same.csv"),
        ("--gold gold.csv --target nDCG@10 --run none.run", "none.run, line 1"),
        ("--gold gold.csv --target mean-grade --labels 0,1,2", ""),
        ("--gold chance.csv --target share:1", "chance.csv, column sampling_probability"),
    ],
)
def test_bad_input_is_one_sentence(adjudge: Run, panel: Path, arguments: str, fault: str) -> None:
    (panel / "other.csv").write_text("item,gold\nz,1\n")
    items = [line.split(",")[0] for line in (panel / "gold.csv").read_text().splitlines()[1:3]]
    (panel / "same.csv").write_text(
        "item,gold\n" + "".join(f"{item.strip(chr(34))},1\n" for item in items)
    )
    (panel / "none.run").write_text("topic-001 Q0 nothing 1 1.0 none\n")
    (panel / "chance.csv").write_text("item,gold,sampling_probability\nitem-001,1,0\n")
    assert adjudge("estimate", "judgments.csv", *arguments.split(), "-q").fault == fault
