"""adjudge next: the items by gain, and who should judge them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import Judgments
from adjudge.evaluation import diagnose
from adjudge.models.item_types import ItemTypes
from commands import Run


def test_a_pipe_gets_the_items_of_most_gain(adjudge: Run, demo_folder: Path) -> None:
    given = demo_folder / "judgments.csv"
    rows = adjudge("next", given, "--top", "7").rows
    judgments = Judgments.read(given)
    found = diagnose(ItemTypes().fit(judgments))
    best = found.items.sort_by([("gain", "descending")]).slice(0, 7)
    assert [row["item"] for row in rows] == best["item"].to_pylist()
    assert [row["gain_rank"] for row in rows] == [str(n) for n in range(1, 8)]
    advice = dict(zip(found.judges["judge"].to_pylist(), found.judges["advice"].to_pylist(),
                      strict=True))  # fmt: skip
    pairs = set(zip(*(judgments.to_table()[c].to_pylist() for c in ("item", "judge")), strict=True))
    for row in rows:
        names = [row[f"judge_{n}"] for n in (1, 2, 3)]
        assert len(set(names)) == 3
        assert {advice[name] for name in names} <= {"keep", "train"}
        assert not {(row["item"], name) for name in names} & pairs
        bits = [float(row[f"bits_{n}"]) for n in (1, 2, 3)]
        assert bits == sorted(bits, reverse=True)
        assert bits[0] > float(row["gain"])  # the best tell more than the average


def test_all_items_and_no_judges(adjudge: Run, demo_folder: Path) -> None:
    rows = adjudge("next", demo_folder / "judgments.csv", "--top", "0", "--suggest", "0").rows
    assert len(rows) == 400
    assert not [key for key in rows[0] if key.startswith(("judge_", "bits_"))]
    gains = [float(row["gain"]) for row in rows]
    assert gains == sorted(gains, reverse=True)


def test_gold_has_nothing_to_gain(adjudge: Run, demo_folder: Path) -> None:
    given = (demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv")
    found = adjudge("next", *given, "--top", "0", "--json").json
    assert found["counts"]["items"] == 400
    assert sum(row["gain"] == 0 for row in found["items"]) >= 80


def test_pmf_names_those_who_would_agree(adjudge: Run, demo_folder: Path) -> None:
    rows = adjudge("next", demo_folder / "judgments.csv", "-m", "pmf", "--top", "3").rows
    for row in rows:
        agreement = [float(row[f"agreement_{n}"]) for n in (1, 2, 3)]
        assert agreement == sorted(agreement, reverse=True)


def test_a_person_sees_a_page(at_terminal: Run, demo_folder: Path) -> None:
    given = demo_folder / "judgments.csv"
    page = at_terminal("next", given, "--top", "2").out
    assert page.startswith("Items most worth another judgment (gain in bits)")
    assert max(map(len, page.splitlines())) <= 80
    assert "who should judge it" in page
    assert "who should judge it" not in at_terminal("next", given, "--suggest", "0").out


def test_few_judgments_leave_nobody_to_prefer(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("next", "judgments.csv", "--suggest", "1")
    assert "no judge is sure enough to be suggested before others: all are" in ended.err
    assert {row["item"]: row["judge_1"] for row in ended.rows} == {
        "q1/d1": "",  # all three have judged it
        "q1/d2": "cy",
        "q2/d1": "bob",
        "q2/d3": "",
    }


@pytest.mark.parametrize("option", ["--top", "--suggest"])
def test_numbers_below_nothing(adjudge: Run, crowd: Path, option: str) -> None:
    ended = adjudge("next", "judgments.csv", option, "-1")
    assert ended.code == 2
    assert option in ended.err
