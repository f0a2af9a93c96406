"""Appen full and aggregated reports."""

from __future__ import annotations

from pathlib import Path

from adjudge.data.formats import read
from reading import complaint, gold_in, judged, judgments_in

HEADER = (
    "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,"
    "_country,_region,_city,_ip,relevance,relevance_gold,relevance_gold_reason,query,title"
)


def report(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "f1.csv"
    path.write_text("\n".join([header, *lines]) + "\n", newline="")
    return path


def line(
    unit: str,
    judge: str,
    label: str,
    *,
    golden: str = "false",
    tainted: str = "false",
    gold: str = "",
    reason: str = "",
    start: str = "1/28/2016 19:02:00",
    end: str = "1/28/2016 19:02:18",
) -> str:
    first = f"{unit},{end},{golden},1,,{start},{tainted},neodev,0.9,{judge},USA,CA,Oakland,1.2.3.4"
    return f'{first},{label},{gold},{reason},red dress,"A dress, red"'


def test_full_report(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        line("u1", "j1", "2", golden="true", gold="2", reason="It fits"),
        line("u1", "j2", "1", golden="true", gold="2", reason="It fits"),
        line("u2", "j1", "0"),
    )
    content = read(path)
    assert content.format == "appen"
    assert judged(content) == {("u1", "j1", "2"), ("u1", "j2", "1"), ("u2", "j1", "0")}
    judgments = judgments_in(content)
    assert judgments.topics.to_pylist() == ["red dress"]
    assert judgments.time[0] == 1454007738.0
    assert judgments.seconds.tolist() == [18.0] * 3
    assert judgments.fields.to_pylist() == [{"query": "red dress", "title": "A dress, red"}] * 2
    assert gold_in(content).to_table().to_pylist() == [
        {"item": "u1", "topic": "red dress", "gold": "2", "reason": "It fits", "honeypot": True}
    ]
    assert content.notes == ()


def test_tainted_and_unanswered_are_left_out(tmp_path: Path) -> None:
    path = report(
        tmp_path, line("u1", "j1", "2"), line("u1", "j2", "1", tainted="true"), line("u1", "j3", "")
    )
    content = read(path)
    assert judged(content) == {("u1", "j1", "2")}
    assert content.notes == (
        "1 row left out: tainted, of a judge who lost trust",
        "1 row left out: no answer",
    )


def test_several_accepted_answers_are_no_gold(tmp_path: Path) -> None:
    path = report(
        tmp_path,
        line("u1", "j1", "2", golden="true", gold='"1\n2"'),
        line("u1", "j2", "1", golden="true", gold='"1\n2"'),
        line("u2", "j1", "0", golden="true", gold="0"),
    )
    content = read(path)
    assert gold_in(content).items.to_pylist() == ["u2"]
    assert content.notes == ("1 test question without gold: several answers accepted",)


def test_question_is_the_column_with_gold_or_the_one_named(tmp_path: Path) -> None:
    header = "_unit_id,_worker_id,_tainted,sentiment,airline,reason,sentiment_gold,reason_gold"
    path = report(tmp_path, "u1,j1,false,good,Delta,late,,", header=header)
    assert complaint(read, path) == "f1.csv: several-questions"
    content = read(path, question="reason")
    assert judged(content) == {("u1", "j1", "late")}
    assert judgments_in(content).fields.to_pylist() == [{"airline": "Delta"}]
    assert judged(read(path, question="airline")) == {("u1", "j1", "Delta")}
    assert complaint(read, path, question="mood") == "f1.csv: unknown-question"
