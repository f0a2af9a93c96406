"""adjudge agreement: measures by hand, for programs and for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run


def test_percent_agreement_by_hand(adjudge: Run, crowd: Path) -> None:
    """Pairs that agree: 1 of 3, 1 of 1, 1 of 1, 1 of 3."""
    ended = adjudge("agreement", "judgments.csv", "--resamples", "0")
    values = {row["score"]: row["value"] for row in ended.rows}
    assert float(values["percent_agreement"]) == pytest.approx(4 / 8)
    assert ended.err == (
        "4 items with two judgments or more (0 with fewer left out), 10 judgments, 3 judges; "
        "labels 0 < 1\n"
    )


def test_json(adjudge: Run, crowd: Path) -> None:
    found = adjudge("agreement", "judgments.csv", "--json", "--resamples", "5").json
    assert found["counts"] == {
        "items": 4,
        "left_out": 0,
        "judgments": 10,
        "pairs": 8,
        "repeats": 0,
        "judge_pairs": 0,
    }
    assert found["scores"][0]["value"] == pytest.approx(0.5)


def test_items_judged_once_are_counted(adjudge: Run, folder: Path) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,x,1\na,y,1\nb,x,0\n")
    ended = adjudge("agreement", "j.csv", "--resamples", "0", "-o", "scores.csv")
    assert ended.out == ""
    assert ended.err == (
        "1 item with two judgments or more (1 with fewer left out), 2 judgments, 2 judges; "
        "labels 0 < 1\nscores written to scores.csv\n"
    )
    assert "percent_agreement,1," in (folder / "scores.csv").read_text()


def test_labels_can_be_collapsed_and_dropped(adjudge: Run, folder: Path) -> None:
    rows = ["a,x,1", "a,y,2", "b,x,0", "b,y,-2", "b,z,0"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label", *rows, ""]))

    def percent(*arguments: str) -> float:
        ended = adjudge("agreement", "j.csv", "--resamples", "0", *arguments)
        return float(ended.rows[0]["value"])

    assert percent("--labels", "-2<0<1<2") == pytest.approx(1 / 4)
    assert percent("--drop-label", "-2") == pytest.approx(1 / 2)
    assert percent("--drop-label", "-2", "--binary") == pytest.approx(1)
    assert percent("--drop-label", "-2", "--binary", "--relevant", "2") == pytest.approx(1 / 2)


def test_a_person_sees_why_a_measure_has_no_value(at_terminal: Run, folder: Path) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,x,cat\na,y,cat\n")
    out = at_terminal("agreement", "j.csv").out
    assert "the scale is nominal: its labels are no grades" in " ".join(out.split())
    assert "95% interval" in out
