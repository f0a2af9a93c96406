from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run


def test_a_pipe_gets_the_folds_and_a_person_the_outcome(adjudge: Run, demo_folder: Path) -> None:
    args = ("tune", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv")
    ended = adjudge(*args, "--filter", "zscore:graded-accuracy-gold")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "fold,gamma,accuracy,dropped,fallback"
    assert len(ended.rows) == 5
    assert ended.err.startswith("graded accuracy 0.")
    assert "(without the filter 0." in ended.err


def test_json_holds_the_threshold(adjudge: Run, demo_folder: Path) -> None:
    args = ("tune", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv")
    found = adjudge(*args, "--binary", "--measure", "binary", "--flip", "--json").json
    assert 0.60 <= found["alpha"] <= 0.99
    assert found["accuracy"] >= found["without_filter"] - 0.05


def test_weights_are_taken(adjudge: Run, demo_folder: Path) -> None:
    args = ("tune", demo_folder / "judgments.csv", "--gold", demo_folder / "truth.csv", "-q")
    plain = adjudge(*args, "--filter", "zscore:graded-accuracy-gold", "--json").json
    heavy = ("--weight", "graded-accuracy-gold^3", "--shrink", "5")
    weighted = adjudge(*args, "--filter", "zscore:graded-accuracy-gold", *heavy, "--json").json
    assert weighted["without_filter"] > plain["without_filter"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            ("--filter", "votes"),
            "error: --filter = 'votes': wanted zscore:FEATURE+FEATURE, |zscore|:FEATURE or "
            "accuracy\n",
        ),
        (("--measure", "ranked"), "error: --measure = 'ranked': wanted graded or binary\n"),
        ((), "error: no --gold: wanted a file of gold to tune by\n"),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...], wanted: str, adjudge: Run, demo_folder: Path
) -> None:
    ended = adjudge("tune", demo_folder / "judgments.csv", *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", wanted)


def test_a_misspelt_feature_gets_the_nearest(adjudge: Run, demo_folder: Path) -> None:
    ended = adjudge("tune", demo_folder / "judgments.csv", "--filter", "zscore:honeypot-acuracy")
    assert ended.code == 2
    assert "did you mean 'honeypot-accuracy'?" in ended.err


def test_features_of_judges(adjudge: Run, demo_folder: Path) -> None:
    args = ("judges", demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv")
    ended = adjudge(*args, "--features", "all")
    assert ended.code == 0, ended.err
    assert "honeypot-accuracy_low" in ended.rows[0]
    one = adjudge(*args, "--features", "honeypot-accuracy, label-typicality")
    assert "graded-accuracy-gold" not in one.rows[0]
    lacking = adjudge("judges", demo_folder / "judgments.csv", "--features", "honeypot-accuracy")
    assert lacking.err == (
        "error: feature honeypot-accuracy needs honeypots, and no gold item is marked as one\n"
    )


def test_a_vote_with_weights_and_filters(adjudge: Run, demo_folder: Path, folder: Path) -> None:
    ended = adjudge(
        *("consensus", demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv"),
        *("--model", "vote", "--weight", "graded-accuracy-gold*honeypot-accuracy"),
        *("--filter", "zscore:graded-accuracy-gold:1.5", "-o", "l.csv", "--judges", "j.csv"),
    )
    assert ended.code == 0, ended.err
    assert "4 of 40 judges dropped by zscore:graded-accuracy-gold:1.5" in ended.err
    assert (folder / "j.csv").read_text().splitlines()[0].endswith("weight,kept,dropped_by,flipped")
