"""adjudge compare: models side by side, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run

FEW = ("--models", "majority-vote,dawid-skene,hybrid-confusion:em")


def test_a_pipe_gets_the_models_and_a_person_the_advice(adjudge: Run, demo_folder: Path) -> None:
    gold = ("--gold", demo_folder / "truth.csv")
    ended = adjudge("compare", demo_folder / "judgments.csv", *gold, *FEW)
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == (
        "model,log_loss,rank,accuracy,low,high,accuracy_rank,brier,corrected_calibration_error,"
        "seconds,reason"
    )
    assert {row["model"]: row["accuracy_rank"] for row in ended.rows} == {
        "hybrid-confusion:em": "1",
        "dawid-skene": "1",
        "majority-vote": "2",
    }
    losses = [float(row["log_loss"]) for row in ended.rows]
    assert losses == sorted(losses)
    assert ended.err.startswith("Take hybrid-confusion:em: log loss 0.3")
    assert len(ended.err.splitlines()) == 1


def test_calibration_by_gold_is_said_and_can_be_left_out(adjudge: Run, demo_folder: Path) -> None:
    given = (
        "compare",
        demo_folder / "judgments.csv",
        "--gold",
        demo_folder / "truth.csv",
        "--json",
    )
    models = "item-types,dawid-skene,hybrid-confusion:em"
    found = adjudge(*given, "--models", models).json
    assert sorted(found["calibrated"]) == sorted(models.split(","))
    plain = adjudge(*given, "--models", models, "--no-calibrate").json
    assert plain["calibrated"] == []
    losses = [{row["model"]: row["log_loss"] for row in each["models"]} for each in (found, plain)]
    assert all(losses[0][name] < losses[1][name] for name in models.split(","))


@pytest.mark.parametrize("way", ["none", "held out"])
def test_without_gold_judgments_are_held_out(way: str, adjudge: Run, demo_folder: Path) -> None:
    more = () if way == "none" else ("--gold", demo_folder / "gold.csv", "--held-out")
    models = ("--models", "majority-vote,vote,hybrid-confusion:em")
    ended = adjudge("compare", demo_folder / "judgments.csv", *more, *models, "--folds", "3")
    assert ended.code == 0, ended.err
    rows = ended.rows
    assert list(rows[0]) == ["model", "log_score", "se", "rank", "clipped", "seconds", "reason"]
    assert [row["model"] for row in rows] == ["hybrid-confusion:em", "majority-vote", "vote"]
    assert float(rows[0]["log_score"]) > float(rows[1]["log_score"])
    assert rows[2]["reason"] == (
        "vote cannot be scored by judgments: weights say which judges count, not how they label"
    )
    assert f"warning: vote is not scored: {rows[2]['reason']}\n" in ended.err
    assert "Only gold shows" in ended.err


def test_a_model_that_does_not_fit_is_named(adjudge: Run, folder: Path, demo_folder: Path) -> None:
    gold = ("--gold", demo_folder / "gold.csv", "-o", "models.csv")
    models = ("--models", "hierarchical-relevance,majority-vote")
    ended = adjudge("compare", demo_folder / "judgments.csv", *gold, *models)
    assert (ended.code, ended.out) == (0, "")
    assert "warning: hierarchical-relevance is not scored: " in ended.err
    assert "collapse them (--binary)" in ended.err
    assert ended.err.endswith("models written to models.csv\n")
    assert len((folder / "models.csv").read_text().splitlines()) == 3


def test_a_pipe_gets_the_folds_of_a_filter_and_a_person_the_outcome(
    adjudge: Run, demo_folder: Path
) -> None:
    args = ("compare", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv")
    ended = adjudge(*args, "--filter", "zscore:graded-accuracy-gold")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "fold,gamma,accuracy,dropped,fallback"
    assert len(ended.rows) == 5
    assert ended.err.startswith("graded accuracy 0.")
    assert "(without the filter 0." in ended.err


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("--models dawid-skein", "model: dawid-skene"),
        ("-o models.xls", "--output"),
        ("--filter votes", "--filter"),
        ("--filter accuracy --measure ranked", "--measure"),
        ("--filter accuracy", "--gold"),
        ("--flip", "--filter"),
        ("--filter accuracy --models vote", "--models"),
        ("--filter accuracy --folds 2", "--folds"),
    ],
)
def test_bad_input(arguments: str, fault: str, adjudge: Run, demo_folder: Path) -> None:
    assert adjudge("compare", demo_folder / "judgments.csv", *arguments.split()).fault == fault
