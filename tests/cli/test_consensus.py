"""adjudge consensus: every output, gold in the file and in its own file."""

from __future__ import annotations

import csv
import json
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from adjudge import Consensus
from commands import Run

VOTES = {  # label and its share of the votes, by hand
    "q1/d1": ("1", 2 / 3),
    "q1/d2": ("0", 1.0),
    "q2/d1": ("1", 1.0),
    "q2/d3": ("0", 2 / 3),
}
HEADER = "item,topic,document,label,probability,p_0,p_1,judgments,entropy,rank,fallback"


def votes_of(rows: list[dict[str, str]]) -> dict[str, tuple[str, float]]:
    return {row["item"]: (row["label"], pytest.approx(float(row["probability"]))) for row in rows}


def test_a_pipe_gets_the_table_and_messages_go_to_standard_error(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "--model", "majority-vote")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == HEADER
    assert votes_of(ended.rows) == VOTES
    assert ended.err.splitlines() == [
        "10 judgments of 4 items and 2 topics by 3 judges; labels 0 < 1",
        "4 labels, 50% at least 90% sure",
        "Next: adjudge report judgments.csv",
    ]
    result = adjudge("consensus", "judgments.csv", "--model", "majority-vote", "--verbose")
    assert "model majority-vote" in result.err


def test_output_by_extension(adjudge: Run, crowd: Path) -> None:
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        ended = adjudge("consensus", "judgments.csv", "-m", "majority-vote", "-o", f"l.{kind}")
        assert (ended.code, ended.out) == (0, "")
        assert f"\nlabels written to l.{kind}\n" in ended.err
    assert (crowd / "l.csv").read_text().replace(",", "\t") == (crowd / "l.tsv").read_text()
    lines = [json.loads(line) for line in (crowd / "l.jsonl").read_text().splitlines()]
    assert votes_of(lines) == VOTES
    table = pq.read_table(crowd / "l.parquet")
    assert ",".join(table.column_names) == HEADER
    assert table.to_pylist() == lines


def test_json_is_one_document(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "--model", "majority-vote", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    assert votes_of(found.pop("labels")) == VOTES
    assert found == {
        "model": "majority-vote",
        "settings": {"weigh_copies": True, "by_topic": False, "ties": "random", "seed": 0},
        "counts": {"judgments": 10, "items": 4, "judges": 3, "topics": 2},
        "scale": {"labels": ["0", "1"], "truths": ["0", "1"], "ordinal": True},
        "iterations": 0,
        "converged": None,
        "log_likelihood": None,
        "prevalence": {
            "0": pytest.approx((1 / 3 + 1 + 0 + 2 / 3) / 4),
            "1": pytest.approx((2 / 3 + 0 + 1 + 1 / 3) / 4),
        },
        "notes": [],
        "families": [],
        "suspected": [],
        "effective_judges": 3.0,
        "correlation": None,
        "correlation_range": None,
        "correlation_gold_items": None,
        "mean_n_eff": None,
        "more_gold": None,
        "left_out": [],
        "bad_rows": [],
    }


def test_a_person_sees_the_least_certain_items_in_eight_lines(
    at_terminal: Run, crowd: Path
) -> None:
    ended = at_terminal("consensus", "judgments.csv", "--model", "majority-vote")
    lines = [line.split() for line in ended.out.splitlines() if "/" in line]
    assert lines == [
        ["q1/d1", "1", "0.67", "3"],
        ["q2/d3", "0", "0.67", "3"],
        ["q1/d2", "0", "1.00", "2"],
    ]
    assert "-o labels.csv keeps the labels" in ended.err
    assert len((ended.out + ended.err).splitlines()) <= 8
    assert "q2/d1" in at_terminal("consensus", "judgments.csv", "--verbose").out


def test_a_person_sees_no_markup_and_no_long_ids(at_terminal: Run, folder: Path) -> None:
    rows = ["[/]x,[red]j,1", f"{'y' * 5000},:smile:,0", "\x1b[31mz,j2,0"]
    (folder / "odd.csv").write_text("\n".join(["item,judge,label", *rows, ""]))
    ended = at_terminal("consensus", "odd.csv")
    assert ended.code == 0
    assert "\n[/]x " in ended.out
    assert f"\n{'y' * 18}...{'y' * 18} " in ended.out
    assert "\n\\x1b[31mz " in ended.out
    assert " :smile: " in at_terminal("judges", "odd.csv").out


def test_gold_fixes_truth_and_gold_without_judgments_is_kept_and_reported(
    adjudge: Run, crowd: Path
) -> None:
    (crowd / "gold.csv").write_text("topic,document,gold\nq1,d1,0\nq9,d9,1\n")
    args = ("consensus", "judgments.csv", "--gold", "gold.csv", "--model", "majority-vote")
    ended = adjudge(*args)
    found = {
        row["item"]: (row["label"], row["probability"], row["judgments"]) for row in ended.rows
    }
    assert found["q1/d1"] == ("0", "1", "3")
    assert found["q9/d9"] == ("1", "1", "0")
    assert ended.err.splitlines()[1] == (
        "warning: 1 of 2 gold items has no judgments (first: 'q9/d9'); their labels are their gold"
    )
    notes = adjudge(*args, "--json").json["notes"]
    assert f"warning: {notes[0]}" == ended.err.splitlines()[1]
    assert notes[1].startswith("1 gold item calibrates the probabilities: 0 of 3 labels change")


def test_gold_of_other_items_is_reported_with_both_names(adjudge: Run, crowd: Path) -> None:
    (crowd / "gold.csv").write_text("topic,document,gold\nQ1,D1,0\nQ2,D2,1\n")
    given = ("judgments.csv", "--gold", "gold.csv")
    strange = "no gold item (of 2) has a judgment: gold has 'Q1/D1', the judgments have 'q1/d1'"
    warning = adjudge("consensus", *given, "--model", "majority-vote").err.splitlines()[1]
    unused = "the fit learns nothing from this gold; check the names of the items"
    assert warning == f"warning: {strange}: {unused}"
    for command in ("evaluate", "compare"):
        ended = adjudge(command, *given)
        assert (ended.code, ended.err) == (
            2,
            f"error: gold.csv: {strange}; check the names of the items\n",
        )


def test_gold_in_the_file_measures_only(adjudge: Run, folder: Path) -> None:
    rows = ["a,x,1,1", "a,y,1,1", "b,x,0,1", "b,y,0,1", "c,x,0,", "c,y,0,"]
    (folder / "j.csv").write_text("\n".join(["item,judge,label,gold", *rows, ""]))
    blind = adjudge("consensus", "j.csv", "--model", "majority-vote")
    assert [row["label"] for row in blind.rows] == ["1", "0", "0"]
    lines = blind.err.splitlines()
    assert lines[1].startswith("warning: Its probabilities are worse than the plain vote's")
    assert lines[2].endswith("accuracy on the 2 gold items of the file 0.500 (0.095 to 0.905)")
    # Half of -log(1e-6); the vote share has (log(3 / 2.5) + log(3 / .5)) / 2.
    assert "log loss 6.908 on 2 gold items" in lines[1]
    assert "has 0.987" in lines[1]
    found = adjudge("consensus", "j.csv", "--model", "majority-vote", "--json").json
    assert found["log_loss"] == pytest.approx(6 * math.log(10) / 2, rel=1e-5)
    assert (found["accuracy"]["value"], found["accuracy"]["items"]) == (0.5, 2)
    result = adjudge("consensus", "j.csv", "--model", "majority-vote", "--use-gold")
    assert [row["label"] for row in result.rows] == ["1", "1", "0"]
    assert "accuracy" not in result.err


def test_judges_are_written_to_a_second_file(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "-o", "l.csv", "--judges", "j.csv")
    assert "\nlabels written to l.csv\njudges written to j.csv\n" in ended.err
    alone = adjudge("judges", "judgments.csv").rows
    with (crowd / "j.csv").open() as file:
        second = list(csv.DictReader(file))
    assert second == [{key: row[key] for key in second[0]} for row in alone]


WRITTEN = {
    "qrels": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d3 0\n",
    "beir": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td1\t1\nq2\td3\t0\n",
    "crowd-kit": "task,true_label\nq1/d1,1\nq1/d2,0\nq2/d1,1\nq2/d3,0\n",
    "quepid-case": "query,docid,rating\nq1,d1,1\nq1,d2,0\nq2,d1,1\nq2,d3,0\n",
    "trec-2011-submission": (
        "q1\td1\t1\t0.6666666666666666\nq1\td2\t2\t0\nq2\td1\t1\t1\nq2\td3\t2\t0.3333333333333333\n"
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_other_formats(name: str, adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "-m", "majority-vote", "--to", name, "-q")
    assert (ended.code, ended.err) == (0, "")
    if name == "trec-2011-submission":
        cells = [line.split("\t") for line in ended.out.splitlines()]
        expected = [line.split("\t") for line in WRITTEN[name].splitlines()]
        assert [row[:3] for row in cells] == [row[:3] for row in expected]
        assert [float(row[3]) for row in cells] == pytest.approx(
            [float(row[3]) for row in expected]
        )
    else:
        assert ended.out == WRITTEN[name]


def test_a_failed_format_leaves_nothing(
    adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    (folder / "flat.csv").write_text("item,judge,label\na,x,1\nb,x,0\n")
    ended = adjudge(
        *("consensus", "flat.csv", "--to", "qrels", "-o", "out.qrels", "--judges", "j.csv", "-q")
    )
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == ("error: column topic: qrels needs a query and a document for each item\n")
    assert names(folder) == ["flat.csv"]


def test_settings_of_the_model(adjudge: Run, crowd: Path) -> None:
    given = (
        *("--set", "iterations=7", "--set", "diagonal=5", "--set", "tolerance=0", "--by-topic"),
        *("--set", "ties=lower", "--seed", "3", "--threads", "1", "--model", "dawid-skene"),
    )
    ended = adjudge("consensus", "judgments.csv", *given, "--json")
    assert ended.json["settings"] == {
        "iterations": 7,
        "tolerance": 0.0,
        "diagonal": 5.0,
        "prevalence": None,
        "weigh_copies": True,
        "by_topic": True,
        "ties": "lower",
        "seed": 3,
    }


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("dawid-skene prevalence=[0.8,0.2]", 0),
        ('dawid-skene prevalence={"1":0.2,"0":0.8}', 0),
        ("dawid-skene prevalence=[2,1]", 2),
        ("dawid-skene prevalence=0.8", 2),
        ("hybrid-confusion concentration=[1e9,1]", 0),
        ("hybrid-confusion concentration=[1,2,3]", 2),
    ],
)
def test_shares_and_pseudo_counts_of_classes_are_settings(
    given: str, code: int, adjudge: Run, folder: Path
) -> None:
    (folder / "two.csv").write_text("item,judge,label\na,x,1\na,y,0\nb,x,1\nb,y,1\nc,x,1\n")
    name, setting = given.split()
    more = ("--set", "method=em") if name == "hybrid-confusion" else ()
    ended = adjudge("consensus", "two.csv", "-m", name, *more, "--set", setting)
    assert ended.code == code, ended.err
    plain = adjudge("consensus", "two.csv", "-m", name, *more)
    if not code:
        assert float(ended.rows[2]["p_0"]) > float(plain.rows[2]["p_0"])


def test_a_fit_that_did_not_converge_is_reported(adjudge: Run, crowd: Path) -> None:
    ended = adjudge("consensus", "judgments.csv", "-m", "dawid-skene", "--set", "iterations=1")
    assert "warning: the fit stopped before it converged" in ended.err


def test_ties_go_where_they_are_sent(adjudge: Run, folder: Path) -> None:
    (folder / "tied.csv").write_text("item,judge,label\na,x,1\na,y,0\n")
    for rule, label in (("lower", "0"), ("higher", "1")):
        ended = adjudge("consensus", "tied.csv", "-m", "majority-vote", "--set", f"ties={rule}")
        assert ended.rows[0]["label"] == label


def test_the_papers_set_of_the_relevance_feedback_track(adjudge: Run, shared_data: Path) -> None:
    """89,624 judgments, 19,033 items, 762 judges, 100 topics: as the papers that use it have."""
    ended = adjudge(
        *("consensus", shared_data / "trec-rf10" / "judgments.tsv", "--drop-label", "-2"),
        *("--binary", "-m", "majority-vote", "--json"),
    )
    found = ended.json
    assert found["counts"] == {"judgments": 89624, "items": 19033, "judges": 762, "topics": 100}
    assert found["accuracy"]["items"] == 3275
    assert found["accuracy"]["value"] == pytest.approx(0.64, abs=0.01)


@pytest.mark.parametrize("changed", [0, 12], ids=["copies", "noisy copies"])
def test_judges_who_may_be_one_source_are_warned_of(
    changed: int, adjudge: Run, demo_folder: Path, folder: Path
) -> None:
    with (demo_folder / "judgments.csv").open() as file:
        rows = list(csv.DictReader(file))
    own = [row for row in rows if row["judge"] == "llm-judge-8b"]
    for copy in "abc":
        for place, row in enumerate(own):
            other = changed and (place + ord(copy)) % changed == 0
            label = str((int(row["label"]) + 1) % 3) if other else row["label"]
            rows.append({**row, "judge": f"copy-{copy}", "label": label})
    with (folder / "copied.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    warnings = [
        line for line in adjudge("consensus", "copied.csv").err.splitlines() if "copy-a" in line
    ]
    assert warnings
    assert all(line.startswith("warning: ") for line in warnings)


def test_few_gold_labels_suggest_the_command_for_more(adjudge: Run, demo_folder: Path) -> None:
    """The command names the earlier gold and works as it is; from 50 labels on there is none."""
    given = str(demo_folder / "judgments.csv")
    few = demo_folder / "few.csv"
    few.write_text("".join((demo_folder / "gold.csv").read_text().splitlines(True)[:21]))
    messages = adjudge("consensus", given, "--gold", few, "-m", "majority-vote").err
    command = re.search(r"adjudge (next .* --gold 50) -o gold-to-fill\.csv", messages)
    assert command is not None
    rows = adjudge(*shlex.split(command[1])).rows
    assert [bool(row["gold"]) for row in rows] == [True] * 20 + [False] * 50
    many = demo_folder / "gold.csv"
    assert "adjudge next" not in adjudge("consensus", given, "--gold", many, "-m", "vote").err


def test_a_sampled_model_writes_draws_topics_and_checks(
    adjudge: Run, demo_folder: Path, folder: Path
) -> None:
    sampling = ("--set", "chains=2", "--set", "warmup=40", "--set", "draws=60", "--seed", "7")
    ended = adjudge(
        *("consensus", demo_folder / "judgments.csv", "-m", "hierarchical-relevance", "--binary"),
        *(*sampling, "--save-draws", "draws.nc", "--topics", "topics.csv", "-o", "labels.csv"),
        "--json",
    )
    assert ended.code == 0, ended.err
    found = ended.json
    assert (found["chains"], found["draws"], found["relabelled"]) == (2, 60, 0)
    names = {row["name"] for row in found["diagnostics"]}
    assert names == {"phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1"}
    assert {"agreement of pairs", "share of label 1"} <= {row["name"] for row in found["checks"]}
    assert (folder / "topics.csv").read_text().startswith("topic,items,p_0,p_0_low,p_0_high,p_1")
    assert (folder / "draws.nc").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("-m dawid-skene --save-draws d.nc", "--save-draws"),
        ("-m hybrid-confusion --save-draws d.csv", "--save-draws"),
        ("-m hybrid-confusion --set draws=0", "draws"),
    ],
)
def test_draws_that_cannot_be(arguments: str, fault: str, adjudge: Run, crowd: Path) -> None:
    assert adjudge("consensus", "judgments.csv", *arguments.split()).fault == fault


def test_a_vote_with_weights_and_filters(adjudge: Run, demo_folder: Path, folder: Path) -> None:
    ended = adjudge(
        *("consensus", demo_folder / "judgments.csv", "--gold", demo_folder / "gold.csv"),
        *("--model", "vote", "--set", "weight=graded-accuracy-gold*honeypot-accuracy"),
        *("--set", "keep=zscore:graded-accuracy-gold:1.5", "-o", "l.csv", "--judges", "j.csv"),
        "--verbose",
    )
    assert ended.code == 0, ended.err
    assert "4 of 40 judges dropped by zscore:graded-accuracy-gold:1.5" in ended.err
    assert (folder / "j.csv").read_text().splitlines()[0].endswith("weight,kept,dropped_by,flipped")


def test_an_earlier_consensus_labels_without_a_fit(adjudge: Run, crowd: Path) -> None:
    """Memory mode: judges keep the rates that they had in the earlier fit."""
    fit = ("consensus", "judgments.csv", "-m", "dawid-skene", "--save", "old.adjudge")
    first = adjudge(*fit, "-o", "-")
    again = adjudge("consensus", "judgments.csv", "--start", "old.adjudge", "-o", "-")
    assert (again.code, again.rows) == (0, first.rows)
    learnt = Consensus.load(crowd / "old.adjudge")
    judges = learnt.judgments.judges.to_pylist()
    (crowd / "new.csv").write_text(f"topic,document,judge,label\nq9,d1,{judges[0]},1\n")
    odds = learnt.overall_prevalence * learnt.confusion[0, :, 1]  # Bayes' rule
    row = adjudge("consensus", "new.csv", "--start", "old.adjudge", "-o", "-").rows[0]
    assert float(row["p_1"]) == pytest.approx(odds[1] / odds.sum())
    numbers = "item,judge,label\n" + "".join(
        f"i{n},j{k},{n + k / 10}\n" for n in range(9) for k in range(3)
    )
    (crowd / "numbers.csv").write_text(numbers)
    assert adjudge("consensus", "numbers.csv", "--save", "values.adjudge").code == 0
    assert adjudge("consensus", "numbers.csv", "--start", "values.adjudge", "-o", "-").code == 0
    for option in (
        *(["-m", "pmf"], ["--set", "seed=1"], ["--gold", "gold.csv"], ["--use-gold"]),
        *(["--no-calibrate"], ["--checkpoint", "state"], ["--resume"]),
    ):
        assert adjudge("consensus", "new.csv", "--start", "old.adjudge", *option).code == 2
    assert adjudge("consensus", "new.csv", "--start", "judgments.csv").code == 2
