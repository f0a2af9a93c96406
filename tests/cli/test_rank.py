"""adjudge rank: runs against noisy judgments, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge import Judgments
from commands import Run

QUICK = ("--samples", "200")
EXACT = ("-m", "majority-vote", "--samples", "50")


@pytest.fixture
def systems(folder: Path, demo_folder: Path) -> tuple[str, ...]:
    """Judgments of the demo, and two runs over all its topics: one by truth, one by item."""
    made = Judgments.read(demo_folder / "judgments.csv")
    truth = dict(
        line.split(",")[0:3:2] for line in (demo_folder / "truth.csv").read_text().splitlines()[1:]
    )
    rows = list(zip(made.items.to_pylist(), made.documents.to_pylist(), made.topic, strict=True))  # type: ignore[union-attr,arg-type]
    topics = made.topics.to_pylist()  # type: ignore[union-attr]
    lines: dict[str, list[str]] = {"good": [], "plain": []}
    for number, (item, document, topic) in enumerate(rows):
        noise = number * 7919 % 101 / 100
        for name, score in (("good", int(truth[item]) + 2 * noise), ("plain", noise)):
            lines[name].append(f"{topics[topic]} Q0 {document} 1 {score:.3f} {name}")
    for name, text in lines.items():
        (folder / f"{name}.run").write_text("\n".join(text) + "\n")
    return ("rank", str(demo_folder / "judgments.csv"))


def test_a_pipe_gets_the_systems(adjudge: Run, systems: tuple[str, ...]) -> None:
    ended = adjudge(*systems, "--runs", "good.run", "plain.run", "--measures", "AP", "P@5", *QUICK)
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "measure,system,value,low,high,sd,p_best,judged"
    rows = ended.rows
    assert [(row["measure"], row["system"]) for row in rows] == [
        *(("AP", "good"), ("AP", "plain"), ("P@5", "good"), ("P@5", "plain"))
    ]
    for row in rows:
        assert float(row["low"]) < float(row["value"]) < float(row["high"])
    assert float(rows[0]["p_best"]) > 0.95
    assert ended.err.startswith("2,418 judgments")
    assert len(ended.err.splitlines()) == 1, "notes are for --verbose"
    more = adjudge(*systems, "--runs", "good.run", "plain.run", "--measures", "AP", *QUICK, "-v")
    assert "  intervals cover judge noise on these 20 topics" in more.err


def test_json_and_files(adjudge: Run, folder: Path, systems: tuple[str, ...]) -> None:
    files = ("-o", "systems.csv", "--pairs", "pairs.jsonl", "--next", "next.csv")
    runs = ("--runs", "good.run", "plain.run", "--measures", "AP", "infAP")
    ended = adjudge(*systems, *runs, *QUICK, *files, "--json", "--over", "topics")
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["model"] == "item-types"
    assert found["ranking"]["draws"] == {"AP": 200, "infAP": 100}
    assert found["ranking"]["over"] == "topics"
    assert found["ranking"]["covers"] == ["judgments", "topics"]
    assert found["ranking"]["unjudged"] == "not-relevant"
    assert len(found["systems"]) == 4
    assert [row["first"] for row in found["pairs"]] == ["good", "good"]
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    assert [row["measure"] for row in pairs] == ["AP", "infAP"]
    assert (folder / "systems.csv").read_text().startswith("measure,system,")
    assert (folder / "next.csv").read_text().startswith("topic,document,judgments,label,")


def test_what_the_labels_give_is_what_their_qrels_give(
    adjudge: Run, folder: Path, demo_folder: Path, systems: tuple[str, ...]
) -> None:
    import ir_measures

    ended = adjudge(*systems, "--runs", "good.run", "--measures", "nDCG@10", *EXACT)
    labels = ("consensus", demo_folder / "judgments.csv", "-m", "majority-vote", "--to", "qrels")
    assert adjudge(*labels, "-o", "crowd.qrels").code == 0
    expected = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10],
        list(ir_measures.read_trec_qrels(str(folder / "crowd.qrels"))),
        list(ir_measures.read_trec_run(str(folder / "good.run"))),
    )
    assert float(ended.rows[0]["value"]) == pytest.approx(expected[ir_measures.nDCG @ 10])


def test_qrels_have_values_and_no_intervals(
    at_terminal: Run, adjudge: Run, folder: Path, systems: tuple[str, ...]
) -> None:
    labels = (*("consensus", systems[1]), "-m", "majority-vote", "--to", "qrels")
    assert adjudge(*labels, "-o", "crowd.qrels").code == 0
    asked = ("rank", "crowd.qrels", "--runs", "good.run", "plain.run", "--measures", "AP")
    ended = at_terminal(*asked)
    assert ended.code == 0, ended.err
    assert "Pairs by AP" in ended.out
    assert "interval" not in ended.out
    found = adjudge(*asked, "--json").json
    assert found["ranking"]["covers"] == []
    several = adjudge(*systems, *asked[2:], "-m", "majority-vote", "--json").json["systems"]
    for row, same in zip(found["systems"], several, strict=True):
        assert row["low"] is None
        assert row["value"] == pytest.approx(same["value"], abs=1e-12)


@pytest.mark.parametrize(
    ("unjudged", "said"),
    [
        ("not-relevant", "taken as not relevant"),
        ("condensed", "taken out of the runs (condensed lists)"),
        ("prevalence", "as relevant as their topic's judged documents"),
    ],
)
def test_unjudged_documents_are_counted_and_said(
    unjudged: str, said: str, adjudge: Run, folder: Path, systems: tuple[str, ...]
) -> None:
    with (folder / "good.run").open("a") as file:
        file.write("\ntopic-001 Q0 stranger 1 9.5 good\nnowhere Q0 a 1 1 good\n")
    ended = adjudge(*systems, "--runs", "good.run", *EXACT, "--unjudged", unjudged)
    assert ended.code == 0, ended.err
    assert (
        f"warning: good.run: 1 of 401 documents is not judged, {said} (first: line 402, document "
        "'stranger' of topic 'topic-001')\n"
    ) in ended.err
    assert (
        "warning: good.run: 1 of 21 topics has no judgments and is left out (first: line 403, "
        "topic 'nowhere')\n"
    ) in ended.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("7 0 a 1\n", "bad.run, line 1"),
        ("topic-001 Q0 a 1 2 t\ntopic-001 Q0 a 2 1 t\n", "bad.run, line 2, column document"),
        ("\ntopic-001 Q0 a 1 2 t\n", "bad.run, line 2"),
        ("7 Q0 a 1 2 t\n", "bad.run, line 1"),
        ("", "bad.run"),
    ],
)
def test_a_bad_run_is_named_by_file_and_line(
    text: str, place: str, adjudge: Run, folder: Path, systems: tuple[str, ...]
) -> None:
    (folder / "bad.run").write_text(text)
    assert adjudge(*systems, "--runs", "good.run", "bad.run", *EXACT).fault == place


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("--unjudged ignored", "unjudged"),
        ("--over systems", "over"),
        ("--level 95", "level"),
        ("--pairs pairs.xls", "--pairs"),
        ("-o good.run", "--output"),
        ("--runs missing.run", "missing.run"),
        ("--measures nDCQ@10", "measure: nDCG"),
    ],
)
def test_a_bad_option(arguments: str, fault: str, adjudge: Run, systems: tuple[str, ...]) -> None:
    assert adjudge(*systems, "--runs", "good.run", *EXACT, *arguments.split()).fault == fault
