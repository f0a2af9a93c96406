"""Appen full and aggregated reports."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
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


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1)
ids = names.filter(lambda text: text.strip() != "")
risky = st.sampled_from(["=1+1", "'=1", "@a", "-b", "+c", "\tx", "-1", "''-", 'a"b', "a,b", "a\nb"])
cells = st.lists(
    st.tuples(ids | risky, ids | risky, st.sampled_from(["0", "1", "2"])), min_size=1, max_size=12
)


@given(cells, st.dictionaries(st.integers(0, 11), st.sampled_from(["0", "1", "2"])), st.booleans())
def test_full_report_round_trip(
    rows: list[tuple[str, str, str]], truths: dict[int, str], timed: bool
) -> None:
    items, judges, labels = (pa.array(part, pa.string()) for part in zip(*rows, strict=True))
    judgments = Judgments.from_table(pa.table({"item": items, "judge": judges, "label": labels}))
    if timed:
        count = len(judgments)
        judgments = replace(
            judgments,
            time=np.where(np.arange(count) % 3, 1.6e9 + np.arange(count), np.nan),
            seconds=np.where(np.arange(count) % 2, 5.0, np.nan),
        )
    known = judgments.items.to_pylist()
    given_gold = {known[n]: truth for n, truth in truths.items() if n < len(known)}
    gold = Gold.of(given_gold) if given_gold else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.csv"
        write(Content(judgments=judgments, gold=gold), path, format="appen")
        content = read(path)
    assert content.format == "appen"
    back = judgments_in(content)
    columns = ["item", "judge", "label", *(["time"] if timed else [])]
    assert sorted(map(str, back.to_table().select(columns).to_pylist())) == sorted(
        map(str, judgments.to_table().select(columns).to_pylist())
    )
    found = (
        {}
        if content.gold is None
        else dict(zip(content.gold.items.to_pylist(), content.gold.texts(), strict=True))
    )
    assert found == given_gold
    assert all("one judge on one item" in note for note in content.notes)
    assert content.bad == ()


def test_aggregated_report(tmp_path: Path) -> None:
    judgments = Judgments.from_table(
        pa.table(
            {
                "item": ["i1", "i1", "i2"],
                "judge": ["a", "b", "a"],
                "label": ["1", "0", "1"],
                "time": ["2016-01-28T19:02:18Z", "2016-01-29T00:00:00Z", None],
            }
        )
    )
    judgments = replace(judgments, fields=pa.table({"title": ["T1", "T2"]}))
    labels = pa.table(
        {
            "item": ["i1", "i2", "@i3"],
            "label": ["1", "0", "1"],
            "probability": [0.75, 1.0, 0.5],
            "judgments": [2, 1, 0],
        }
    )
    path = tmp_path / "a1.csv"
    content = Content(labels=labels, judgments=judgments, gold=Gold.of({"i2": "1"}))
    write(content, path, format="appen-aggregated")
    assert path.read_text().splitlines() == [
        "_unit_id,_golden,_unit_state,_trusted_judgments,_last_judgment_at,label,label:confidence,"
        "title,label_gold,label_gold_reason",
        "i1,false,finalized,2,1/29/2016 00:00:00,1,0.75,T1,,",
        "i2,true,golden,1,,0,1,T2,1,",
        "'@i3,false,finalized,0,,1,0.5,,,",
    ]
    back = read(path)
    assert back.format == "appen-aggregated"
    assert dict(zip(gold_in(back).items.to_pylist(), gold_in(back).texts(), strict=True)) == {
        "i1": "1", "i2": "0", "@i3": "1",
    }  # fmt: skip
    write(Content(labels=labels.select(["item", "label"])), path, format="appen-aggregated")
    assert path.read_text().splitlines()[1] == "i1,false,finalized,,,1,,,"
