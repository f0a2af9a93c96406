"""adjudge judges: a table of judges for programs, the busiest for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run


def test_a_pipe_gets_every_judge(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("judges", "judgments.csv", "--model", "majority-vote")
    rows = {row["judge"]: row for row in ended.rows}
    assert {judge: row["judgments"] for judge, row in rows.items()} == {
        "ann": "4",
        "bob": "3",
        "cy": "3",
    }
    # ann agrees with the vote shares 2/3, 1, 1 and 1/3 of her four items.
    assert float(rows["ann"]["accuracy"]) == pytest.approx((2 / 3 + 1 + 1 + 1 / 3) / 4)


def test_json(adjudge: Run, crowd: Path) -> None:
    found = adjudge("judges", "judgments.csv", "--json").json
    assert [row["judge"] for row in found["judges"]] == ["ann", "bob", "cy"]
    assert found["counts"]["judges"] == 3


def test_a_person_sees_the_busiest(at_terminal: Run, demo_folder: Path) -> None:
    ended = at_terminal("judges", demo_folder / "judgments.csv", "--top", "2")
    assert "Judges with most judgments (38 more: --top 0 shows all)" in ended.out
    shown = [line.split()[:2] for line in ended.out.splitlines() if "0." in line]
    assert shown == [["llm-judge-8b", "400"], ["judge-0016", "235"]]
    every = at_terminal("judges", demo_folder / "judgments.csv", "--top", "0").out
    assert "more" not in every
    assert sum("judge-" in line for line in every.splitlines()) == 40


def test_the_page_of_a_binary_scale_fits_80_columns(at_terminal: Run, folder: Path) -> None:
    rows = "".join(f"i{n},A19IBSKBTABMR{n % 3},{n % 2}\n" for n in range(12))
    (folder / "j.csv").write_text("item,judge,label\n" + rows)
    lines = at_terminal("judges", "j.csv").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len([line for line in lines if "A19IBSKBTABMR" in line]) == 3


def test_the_fit_is_that_of_consensus(adjudge: Run, demo_folder: Path, folder: Path) -> None:
    given = (demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv", "--binary")
    adjudge("consensus", *given, "-o", "labels.csv", "--judges", "beside.csv")
    adjudge("judges", *given, "-o", "judges.csv")
    assert (folder / "beside.csv").read_bytes() == (folder / "judges.csv").read_bytes()


def test_gold_in_the_file_is_used_on_request_only(adjudge: Run, folder: Path) -> None:
    rows = ["a,x,1,1", "a,y,0,1", "b,x,0,0", "b,y,1,0"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label,gold", *rows, ""]))
    args = ("judges", "j.csv", "--model", "majority-vote")
    blind = {row["judge"]: float(row["accuracy"]) for row in adjudge(*args).rows}
    told = {row["judge"]: float(row["accuracy"]) for row in adjudge(*args, "--use-gold").rows}
    assert blind == {"x": 0.5, "y": 0.5}
    assert told == {"x": 1.0, "y": 0.0}
