"""adjudge judges: a table of judges for programs, the busiest for people; mistakes, drift, ..."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyarrow.csv import read_csv

from commands import Run

KNOWN = ("--model", "hybrid-confusion", "--set", "method=em")  # so that figures are its own


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


def test_a_person_sees_the_busiest(at_terminal: Run, demo_folder: Path) -> None:
    ended = at_terminal("judges", demo_folder / "judgments.csv", *KNOWN, "--top", "2")
    head = " ".join(ended.out.split())
    assert head.startswith("Judges: keep 27, train 4, drop 4, watch 5 (38 more: --top 0 shows all)")
    shown = [line.split() for line in ended.out.splitlines() if "0." in line]
    assert [line[:2] for line in shown] == [["llm-judge-8b", "400"], ["judge-0016", "235"]]
    assert [line[-1] for line in shown] == ["keep", "keep"]
    given = ("judges", demo_folder / "judgments.csv", *KNOWN, "--top", "0")
    every = at_terminal(*given).out
    assert "more" not in every.replace("more often", "")
    assert sum(line.startswith(" judge-") for line in every.splitlines()) == 39
    reasons = [line for line in every.splitlines() if line.startswith("judge-")]
    assert len(reasons) == 3  # those to be kept need no reason
    assert "--verbose gives every reason" in every
    verbose = at_terminal(*given, "--verbose").out
    assert len([line for line in verbose.splitlines() if line.startswith("judge-")]) == 13
    assert "judge-0038: drop, hardly better than chance" in verbose


def test_the_fit_is_that_of_consensus(adjudge: Run, demo_folder: Path, folder: Path) -> None:
    given = (demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv", "--binary")
    adjudge("consensus", *given, "-o", "labels.csv", "--judges", "second.csv")
    adjudge("judges", *given, "-o", "judges.csv")
    second, judges = (read_csv(folder / name) for name in ("second.csv", "judges.csv"))
    assert judges.select(second.column_names).equals(second)
    assert judges.column_names[-2:] == ["advice", "why"]


def test_gold_in_the_file_is_used_on_request_only(adjudge: Run, folder: Path) -> None:
    rows = ["a,x,1,1", "a,y,0,1", "b,x,0,0", "b,y,1,0"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label,gold", *rows, ""]))
    args = ("judges", "j.csv", "--model", "majority-vote")
    blind = {row["judge"]: float(row["accuracy"]) for row in adjudge(*args).rows}
    with_gold = {row["judge"]: float(row["accuracy"]) for row in adjudge(*args, "--use-gold").rows}
    assert blind == {"x": 0.5, "y": 0.5}
    assert with_gold == {"x": 1.0, "y": 0.0}


def last_row(page: str) -> list[str]:
    return [line.split() for line in page.splitlines() if line.strip()][-1]


def test_mistakes(adjudge: Run, at_terminal: Run, demo_folder: Path) -> None:
    given = demo_folder / "judgments.csv"
    rows = adjudge("judges", given, "--show", "mistakes").rows
    assert list(rows[0]) == ["judge", "truth", "label", "rate", "low", "high", "judgments"]
    assert all(row["truth"] != row["label"] for row in rows)
    page = at_terminal("judges", given, *KNOWN, "--show", "mistakes", "--top", "1").out
    assert last_row(page)[:4] == ["llm-judge-8b", "0", "1", "26%"]


def test_drift_and_history(adjudge: Run, at_terminal: Run, demo_folder: Path) -> None:
    given = demo_folder / "judgments.csv"
    rows = adjudge("judges", given, "--show", "drift").rows
    assert len(rows) == 40
    assert {row["changed"] for row in rows} == {"false"}
    blocks = adjudge("judges", given, "--show", "history").rows
    busy = [row for row in blocks if row["judge"] == "llm-judge-8b"]
    assert [row["block"] for row in busy] == [str(n) for n in range(1, 11)]
    assert sum(int(row["judgments"]) for row in busy) == 400
    page = at_terminal("judges", given, "--show", "drift", "--top", "2").out
    assert "Who changed over time, the surest first (38 more: --top 0 shows all)" in page
    page = at_terminal("judges", given, "--show", "history", "--top", "1").out
    assert "The work of each judge in its order" in page


def test_drift_without_times(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("judges", "judgments.csv", "--show", "drift", "--quiet")
    assert ended.fault == "judgments.csv"


def test_pairs(adjudge: Run, at_terminal: Run, folder: Path, demo_folder: Path) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    given = {f"judge-{n}": np.where(rng.random(60) < 0.75, truth, 1 - truth) for n in range(6)}
    given["twin"] = given["judge-5"]
    rows = "".join(
        f"i{n},{name},{label}\n" for name in given for n, label in enumerate(given[name])
    )
    (folder / "j.csv").write_text("item,judge,label\n" + rows)
    (row,) = adjudge("judges", "j.csv", "--show", "pairs").rows
    assert (row["judge_a"], row["judge_b"]) == ("judge-5", "twin")
    assert (row["items"], row["agreements"]) == ("60", "60")
    none = at_terminal("judges", demo_folder / "judgments.csv", "--show", "pairs", "-v")
    assert none.out == "No two judges agree more than expected.\n"
    assert "153 pairs of judges with 10 items or more in common were compared" in none.err
    page = at_terminal("judges", "j.csv", "--show", "pairs").out
    assert last_row(page)[:4] == ["judge-5", "twin", "60", "60"]


def test_families_for_people_and_programs(
    adjudge: Run, at_terminal: Run, demo_folder: Path, folder: Path
) -> None:
    given = (demo_folder / "judgments.csv", "--family", "(judge-000)[12]")
    (row,) = adjudge("judges", *given, "--show", "families").rows
    assert row["kind"] == "declared"
    assert row["judges"] == "judge-0001, judge-0002"
    ended = at_terminal("judges", *given, "--top", "2", "--verbose")
    printed = ended.out + ended.err
    assert "judge-0001 and judge-0002 are one family, as declared" in printed
    assert "40 judges count as 39.0" in " ".join(printed.split())
    assert "n_eff" in printed
    found = adjudge("judges", *given, "--json").json
    assert found["families"] == [
        {"kind": "declared", "judges": ["judge-0001", "judge-0002"], "excess": None}
    ]
    assert found["effective_judges"] == pytest.approx(39.0)
    assert 1 < found["mean_n_eff"] < 7
    assert found["suspected"] == []
    assert found["correlation"] is not None


def test_judges_of_numbers_have_a_bias_and_a_noise(
    adjudge: Run, at_terminal: Run, folder: Path
) -> None:
    """As classes every judge of numbers looks like chance, and was to be dropped."""
    made, lines = np.random.default_rng(3), ["item,judge,label"]
    for item, value in enumerate(made.normal(50, 15, 120)):
        given = value + made.normal((0, 8, -8), (1, 2, 6))
        lines += [f"i{item},j{judge},{number:.2f}" for judge, number in enumerate(given)]
    (folder / "numbers.csv").write_text("\n".join(lines) + "\n")
    ended = adjudge("judges", "numbers.csv")
    assert ended.code == 0, ended.err
    assert "360 judgments of 120 items by 3 judges; numbers from" in ended.err
    shift, noise = ([float(row[name]) for row in ended.rows] for name in ("shift", "noise"))
    assert shift[1] - shift[0] == pytest.approx(8, abs=1.5)
    assert shift[2] - shift[0] == pytest.approx(-8, abs=1.5)
    assert noise == sorted(noise)
    labels = folder / "of-consensus.csv"
    adjudge("consensus", "numbers.csv", "-o", "values.csv", "--judges", labels)
    assert labels.read_text() == ended.out
    assert adjudge("judges", "numbers.csv", "--model", "continuous").out == ended.out
    assert adjudge("judges", "numbers.csv", "--json").json["judges"][2]["judge"] == "j2"
    wrong = adjudge("judges", "numbers.csv", "--show", "drift").err.splitlines()[-1]
    assert wrong == (
        "error: --show = 'drift': expected --bin N or --classes with it, since labels are numbers"
    )
    assert "advice" in adjudge("judges", "numbers.csv", "--bin", "4").out.splitlines()[0]
    refused = adjudge("agreement", "numbers.csv").err
    assert refused.endswith(
        "different labels; --bin 5 makes grades; as numbers 'adjudge consensus' has their values, "
        "'adjudge judges' the noise of judges\n"
    )
    shown = at_terminal("judges", "numbers.csv", "--top", "2").out
    assert "shift is what each adds" in shown
    assert "1 more: --top 0 shows all" in " ".join(shown.split())


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
