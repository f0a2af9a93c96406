"""adjudge evaluate: labels of every kind, judgments fitted or cross-validated, against gold."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path

import pytest

from adjudge import DawidSkene, Gold, Judgments
from adjudge.evaluation import cross_validate
from adjudge.models.calibrated import with_calibration
from commands import Ended, Run


def scores(ended: Ended) -> dict[str, float]:
    """The scores that have a value, by name."""
    assert ended.code == 0, ended.err
    rows = csv.DictReader(io.StringIO(ended.out))
    return {row["score"]: float(row["value"]) for row in rows if row["value"]}


def test_scores_of_labels_by_hand(adjudge: Run, folder: Path) -> None:
    (folder / "labels.csv").write_text(
        "item,label,probability,p_0,p_1\na,1,0.9,0.1,0.9\nb,0,0.6,0.6,0.4\nc,1,0.8,0.2,0.8\n"
    )
    (folder / "gold.csv").write_text("item,gold\na,1\nb,1\nc,0\nd,1\n")
    ended = adjudge("evaluate", "labels.csv", "--gold", "gold.csv", "--resamples", "0")
    found = scores(ended)
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["recall"] == pytest.approx(1 / 2)
    assert found["mse"] == pytest.approx((0.1**2 + 0.6**2 + 0.8**2) / 3)
    assert ended.err == "warning: 3 of 4 gold items have a label and are scored\n"


@pytest.mark.parametrize("folds", ["0", "2"])
def test_gold_may_be_a_column_of_the_judgments(folds: str, adjudge: Run, folder: Path) -> None:
    lines = [f"i{n},{judge},{n % 2},{n % 2}" for n in range(12) for judge in "ab"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label,answer", *lines]) + "\n")
    ended = adjudge("evaluate", "j.csv", "--gold", "answer", "--folds", folds, "--resamples", "0")
    assert scores(ended)["accuracy"] == 1.0


def test_labels_that_gold_fixed_are_not_scored_without_a_warning(
    adjudge: Run, folder: Path
) -> None:
    lines = [f"i{n},{judge},{n % 2}" for n in range(12) for judge in "ab"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label", *lines]) + "\n")
    gold = [f"i{n},{n // 2 % 2}" for n in range(12)]
    (folder / "g.csv").write_text("\n".join(["item,gold", *gold]) + "\n")
    for given, warned in (((), False), (("--gold", "g.csv"), True)):
        adjudge("consensus", "j.csv", *given, "-o", "labels.csv")
        ended = adjudge("evaluate", "labels.csv", "--gold", "g.csv", "--resamples", "0")
        assert ("warning: every label is its gold" in ended.err) == warned


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_what_consensus_writes_is_scored_as_the_fit(
    kind: str, adjudge: Run, demo_folder: Path, folder: Path
) -> None:
    judgments, truth = demo_folder / "judgments.csv", demo_folder / "truth.csv"
    adjudge("consensus", judgments, "-o", f"labels.{kind}")
    from_file = adjudge("evaluate", f"labels.{kind}", "--gold", truth, "--resamples", "20")
    fitted = adjudge("evaluate", judgments, "--gold", truth, "--resamples", "20")
    assert scores(from_file) == pytest.approx(scores(fitted))
    assert len(scores(fitted)) > 15


@pytest.mark.parametrize("name", ["qrels", "beir", "crowd-kit", "quepid-case", "consensus-jsonl"])
def test_other_formats_of_labels_are_scored(name: str, adjudge: Run, crowd: Path) -> None:
    adjudge("consensus", "judgments.csv", "-m", "majority-vote", "--to", name, "-o", "out.txt")
    ended = adjudge("evaluate", "out.txt", "--gold", "gold.csv", "--resamples", "0")
    assert scores(ended)["accuracy"] == 1.0
    assert ended.err == "warning: 2 of 3 gold items have a label and are scored\n"


def test_binary_labels_against_graded_gold(adjudge: Run, folder: Path) -> None:
    (folder / "labels.csv").write_text("item,label,probability,p_0,p_1\na,1,1,0,1\nb,1,1,0,1\n")
    (folder / "gold.csv").write_text("item,gold\na,2\nb,1\n")
    args = ("evaluate", "labels.csv", "--gold", "gold.csv", "--resamples", "0")
    assert adjudge(*args).code == 2
    assert scores(adjudge(*args, "--binary"))["accuracy"] == 1.0
    assert scores(adjudge(*args, "--binary", "--relevant", "2"))["accuracy"] == 0.5
    assert scores(adjudge(*args, "--binary", "--labels", "0<1<2"))["accuracy"] == 1.0


def test_graded_labels_collapsed(adjudge: Run, folder: Path) -> None:
    (folder / "labels.csv").write_text(
        "item,label,probability,p_0,p_1,p_2\na,0,0.4,0.4,0.3,0.3\nb,2,1,0,0,1\n"
    )
    (folder / "gold.csv").write_text("item,gold\na,1\nb,1\nc,-2\n")
    args = (
        "evaluate",
        "labels.csv",
        "--gold",
        "gold.csv",
        "--drop-label",
        "-2",
        "--resamples",
        "0",
    )
    ended = adjudge(*args)
    assert scores(ended)["accuracy"] == 0.0
    assert ended.err.splitlines()[0] == "gold.csv: 1 gold item left out: truth -2"
    found = scores(adjudge(*args, "--binary"))
    assert found["accuracy"] == 0.5
    assert found["mse"] == pytest.approx(0.4**2 / 2)  # 0.6 and 1 relevant; both are
    assert scores(adjudge(*args, "--relevant", "1"))["binary_accuracy"] == 0.0


def test_folds(adjudge: Run, demo_folder: Path) -> None:
    args = ("evaluate", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv")
    args = (*args, "--model", "dawid-skene")
    ended = adjudge(*args, "--folds", "5", "--resamples", "20")
    assert ended.out.splitlines()[0] == "score,value,low,high,mean,sd,reason"
    assert ended.err.splitlines()[0] == "dawid-skene by 5 folds over 400 gold items"
    crossed, blind = scores(ended), scores(adjudge(*args, "--resamples", "0"))
    assert crossed["accuracy"] > blind["accuracy"]  # four fifths of the truth are given
    assert crossed["accuracy"] < 1
    found = adjudge(*args, "--folds", "5", "--resamples", "20", "--json").json
    assert (found["model"], found["folds"], found["gold"]) == ("dawid-skene", 5, 400)
    row = next(row for row in found["scores"] if row["score"] == "accuracy")
    assert row["value"] == crossed["accuracy"]
    assert row["sd"] > 0


def test_folds_score_what_consensus_gives(adjudge: Run, demo_folder: Path) -> None:
    """Gold calibrates the labels of `consensus`, so each fold is calibrated by the others too."""
    args = ("evaluate", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv")
    args = (*args, "--model", "dawid-skene", "--folds", "4", "--resamples", "0")
    calibrated, plain = scores(adjudge(*args)), scores(adjudge(*args, "--no-calibrate"))
    assert calibrated["log_loss"] < plain["log_loss"] - 0.01
    table, truth = Judgments.read(args[1]), Gold.read(args[3])
    direct = cross_validate(with_calibration(DawidSkene()), table, truth, folds=4)
    assert calibrated["log_loss"] == pytest.approx(float(direct.pooled["log_loss"]))


def test_probabilities_worse_than_the_votes_are_reported(adjudge: Run, folder: Path) -> None:
    """Six judges who make the same mistakes: shares without smoothing are certain, and wrong."""
    lines = ["item,judge,label,gold"]
    lines += [f"i{n},j{j},{(n + (n % 10 < 3)) % 2},{n % 2}" for n in range(60) for j in range(6)]
    (folder / "same.csv").write_text("\n".join(lines) + "\n")
    ended = adjudge("evaluate", "same.csv", "--model", "majority-vote", "--resamples", "0")
    assert ended.code == 0, ended.err
    assert "Its probabilities are worse than the plain vote's: log loss " in ended.err
    found = adjudge("evaluate", "same.csv", "--model", "majority-vote", "--json").json
    # 42 items of 60 are right: -.7 ln(6.5 / 7) - .3 ln(.5 / 7)
    assert found["vote_log_loss"] == pytest.approx(0.8436, abs=1e-4)
    assert found["warning"].endswith("has 0.844.")


def test_no_calibration_error_is_shown_below_none(
    adjudge: Run, at_terminal: Run, folder: Path
) -> None:
    """Chance can bring the corrected error below 0: JSON shows it, tables for people do not."""
    lucky, lines = random.Random(8), ["item,judge,label,gold"]
    for item in range(60):
        truth = lucky.random() < 0.5
        lines += [f"i{item},j{j},{truth ^ (lucky.random() < 0.25):d},{truth:d}" for j in range(3)]
    (folder / "lucky.csv").write_text("\n".join(lines) + "\n")
    vote, both = ("--model", "majority-vote"), ("--models", "majority-vote,single-confusion")
    rows = {row["score"]: row for row in adjudge("evaluate", "lucky.csv", *vote).rows}
    assert float(rows["corrected_calibration_error"]["value"]) < 0
    assert "calibration error 0.000\n" in adjudge("consensus", "lucky.csv", *vote, "-v").err
    shown = at_terminal("evaluate", "lucky.csv", *vote).out
    assert re.search(r"corrected calibration error +0\.000 +0\.00 to 0\.", shown)
    shown = at_terminal("compare", "lucky.csv", *both).out
    assert shown.count(" 0.000 ") == 2
    assert "-0." not in shown
