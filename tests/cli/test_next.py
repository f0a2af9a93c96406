"""adjudge next: the items by gain, and who should judge them."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from adjudge import Gold, Judgments
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


def test_with_few_judgments_no_judge_is_preferred(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("next", "judgments.csv", "--suggest", "1")
    assert "no judge is to be kept or trained, so all are suggested" in ended.err
    assert {row["item"]: row["judge_1"] for row in ended.rows} == {
        "q1/d1": "",  # all three have judged it
        "q1/d2": "cy",
        "q2/d1": "bob",
        "q2/d3": "",
    }


def test_items_drawn_for_people_make_a_valid_estimate(
    adjudge: Run, demo_folder: Path, tmp_path: Path
) -> None:
    given = demo_folder / "judgments.csv"
    place = tmp_path / "to-label.csv"
    words = ("--for", "estimate", "--target", "share:1,2", "--budget", "60")
    assert adjudge("next", given, *words, "-o", place, "-q").code == 0
    truth = Gold.read(demo_folder / "truth.csv")
    known = dict(zip(truth.items.to_pylist(), truth.texts(), strict=True))
    table = csv.read_csv(place)
    assert len(table) == 60
    filled = pa.array([known[item] for item in table["item"].to_pylist()])
    csv.write_csv(table.set_column(table.column_names.index("gold"), "gold", filled), place)
    found = adjudge("estimate", given, "--gold", place, "--target", "share:1,2", "--json").json
    assert found["gold"] == 60
    share = sum(value != "0" for value in known.values()) / 400
    assert found["low"] <= share <= found["high"]
    assert found["notes"] == []


def test_what_choosing_saves_is_reported_for_the_target(
    adjudge: Run, demo_folder: Path, tmp_path: Path
) -> None:
    """A ranking hangs on few documents, a mean on all alike."""
    given, run = demo_folder / "judgments.csv", tmp_path / "a.run"
    rows = csv.read_csv(given).select(["topic", "document"]).group_by(["topic", "document"])
    pairs = rows.aggregate([]).sort_by("document").to_pylist()
    run.write_text(
        "".join(
            f"{pair['topic']} Q0 {pair['document']} {place} {-place} a\n"
            for place, pair in enumerate(pairs, 1)
        )
    )
    place = tmp_path / "to-label.csv"
    words = ("--budget", "40", "-o", place)
    mean = adjudge("next", given, "--for", "estimate", "--target", "mean-grade", *words)
    said = re.search(r"these 40 items are expected to be worth (\d+) drawn", mean.err)
    assert said is not None, mean.err
    assert 40 <= int(said[1]) < 50
    assert "choosing saves little" in mean.err
    ranked = ("--for", "nDCG", "--run", run, "--target", "P@3", *words, "--json")
    assert adjudge("next", given, *ranked).json["labels_at_random"] > 80
    assert "% of the labels" in adjudge("next", given, *ranked[:-1]).err


def fill_in(place: Path, folder: Path, rows: int) -> None:
    """Fill in the first rows of a drawn file, as a person would who knows the truth."""
    truth = Gold.read(folder / "truth.csv")
    known = dict(zip(truth.items.to_pylist(), truth.texts(), strict=True))
    table = csv.read_csv(place)
    gold = [known[item] for item in table["item"].to_pylist()[:rows]]
    column = pa.array(gold + [None] * (len(table) - rows), pa.string())
    csv.write_csv(table.set_column(table.column_names.index("gold"), "gold", column), place)


@pytest.mark.parametrize("words", [(), ("--stratify",)])
def test_gold_that_was_drawn_and_filled_in_is_read_by_every_command(
    adjudge: Run, demo_folder: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    given, place = demo_folder / "judgments.csv", tmp_path / "gold-to-fill.csv"
    assert adjudge("next", given, "--gold", "50", *words, "--seed", "4", "-o", place).code == 0
    assert csv.read_csv(place).column_names == [
        *("item", "topic", "document", "gold"),
        *("sampling_probability", "sampling_round", "sampling_stratum"),
    ]
    ended = adjudge("consensus", given, "--gold", place)
    assert ended.code == 2  # nothing is filled in yet
    assert "no row has a gold label yet" in ended.err
    fill_in(place, demo_folder, 40)
    vote = ("-m", "majority-vote", "--json")
    fitted = adjudge("consensus", given, "--gold", place, *vote).json
    assert fitted["more_gold"]["have"] == 40
    assert any("10 of 50 rows" in note for note in fitted["left_out"])
    scored = adjudge("evaluate", given, "--gold", place, *vote).json
    assert scored["gold"] == scored["scored"] == 40
    assert any("unequal probabilities" in note for note in scored["notes"]) == bool(words)
    assert adjudge("judges", given, "--gold", place, *vote).code == 0
    found = adjudge("estimate", given, "--gold", place, "--target", "share:1,2", *vote).json
    assert (found["gold"], found["notes"]) == (40, [])
    truth = Gold.read(demo_folder / "truth.csv").texts()
    assert found["low"] <= sum(value != "0" for value in truth) / 400 <= found["high"]


def test_more_gold_is_drawn_after_earlier_gold(
    adjudge: Run, demo_folder: Path, tmp_path: Path
) -> None:
    given, gold = demo_folder / "judgments.csv", demo_folder / "gold.csv"
    rows = adjudge("next", given, "--gold", gold, "--gold", "20").rows
    known = {row["item"] for row in rows if row["gold"]}
    assert known == set(Gold.read(gold).items.to_pylist())
    drawn = [row["item"] for row in rows if not row["gold"]]
    assert len(drawn) == 20
    assert not known & set(drawn)
    result = adjudge("next", given, "--gold", "20", "--json").json
    assert (result["gold"], result["stratified"], len(result["items"])) == (20, False, 20)
    assert result["items"] == adjudge("next", given, "--gold", "20", "--json").json["items"]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("--gold 401", "--gold"),
        ("--gold 1", "--gold"),
        ("--gold 20 --gold 30", "--gold"),
        ("--gold 20 --for estimate", "--gold"),
        ("--stratify", "--stratify"),
        ("--for fun", "--for"),
        ("--for A-B", "--runs"),
        ("--target share:1", "--target"),
    ],
)
def test_a_draw_that_cannot_be(adjudge: Run, demo_folder: Path, words: str, fault: str) -> None:
    assert adjudge("next", demo_folder / "judgments.csv", *words.split()).fault == fault


def test_gold_for_every_item_leaves_none_to_draw(adjudge: Run, demo_folder: Path) -> None:
    given = ("--gold", demo_folder / "truth.csv", "--gold", "20")
    ended = adjudge("next", demo_folder / "judgments.csv", *given)
    assert (ended.code, ended.error.code) == (2, "no-items-to-draw")
