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


def test_items_judged_once_are_counted(adjudge: Run, folder: Path) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,x,1\na,y,1\nb,x,0\n")
    ended = adjudge("agreement", "j.csv", "--resamples", "0", "-o", "scores.csv")
    assert ended.out == ""
    assert ended.err == (
        "1 item with two judgments or more (1 with fewer left out), 2 judgments, 2 judges; "
        "labels 0 < 1\nscores written to scores.csv\n"
    )
    assert "percent_agreement,1," in (folder / "scores.csv").read_text()
