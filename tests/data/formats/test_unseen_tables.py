"""Tables of kinds that people have: read for what they are, or asked about; never read wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, Remedy, name_columns
from format_samples import SAMPLES
from reading import judgments_in

Cell = Callable[[int, int], Any]
Rows = list[dict[str, Any]]
ITEMS = JUDGES = 12


def csv(rows: Rows, mark: str = ",", begin: str = "") -> str:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return begin + "".join(mark.join(map(str, line)) + "\n" for line in lines)


def pick(*labels: Any) -> Cell:
    """Labels in turn, which differ between the judges of an item."""
    return lambda item, judge: labels[(item + judge) % len(labels)]


BINARY, GRADES = pick(0, 1), pick(0, 1, 2)


def crowd(
    label: Cell = BINARY,
    item: str = "item",
    judge: str = "judge",
    **more: Cell,
) -> Rows:
    """The judgments of three judges on twelve items."""
    return [
        {item: f"i{i}", judge: f"w{j}", **{name: make(i, j) for name, make in more.items()}}
        | {"label": label(i, j)}
        for i in range(ITEMS)
        for j in range(3)
    ]


def wide(*columns: str, label: Cell = GRADES, **more: Cell) -> Rows:
    """A row per item; its labels in columns."""
    return [
        {"id": f"i{i}", **{name: label(i + (i // 4) * at, at) for at, name in enumerate(columns)}}
        | {name: make(i, 0) for name, make in more.items()}
        for i in range(ITEMS)
    ]


def gold(item: int, _: int) -> int:
    return item % 2


LIST = crowd()
BY_ITEM = {f"i{i}": {f"w{j}": (i + j) % 2 for j in range(3)} for i in range(ITEMS)}
COLUMNS = {name: [row[name] for row in LIST] for name in LIST[0]}
FULL = (36, 12, 3)  # judgments, items, judges
READ: dict[str, tuple[str, tuple[int, ...], str, int]] = {  # text, counts, scale, gold items
    **{
        f"judge {name}": (csv(crowd(judge=name)), FULL, "0 < 1", 0)
        for name in (
            *("model", "rater_id", "user", "assessor", "username", "annotator_name", "labeled_by"),
            *("turker_id", "reviewer_email", "llm_name", "person", "evaluatorID", "WORKER ID"),
        )
    },
    **{
        f"item {name}": (csv(crowd(item=name)), FULL, "0 < 1", 0)
        for name in ("sentence_id", "post_id", "question_id", "passage_id", "orig_id", "pair_id")
    },
    **{
        f"gold {name}": (csv(crowd(**{name: gold})), FULL, "0 < 1", 12)
        for name in (
            *("truth", "expert", "gold_label", "label_true", "ground_truth", "GT"),
            *("expert_label", "adjudicated_label", "correct_answer", "reference_label"),
        )
    },
    "gold marks true": (csv(crowd(pick("a", "b"), gold=pick("true", "false"))), FULL, "a, b", 0),
    "gold marks 1": (csv(crowd(pick("a", "b"), gold=gold)), FULL, "a, b", 0),
    "expert marks yes": (csv(crowd(pick("a", "b"), expert=pick("yes", "no"))), FULL, "a, b", 0),
    "confidence first": (csv(crowd(confidence=pick(1, 2, 3))), FULL, "0 < 1", 0),
    "floats": (csv(crowd(pick(0, 1.0, "2.0"))), FULL, "0 < 1 < 2", 0),
    "true and false": (csv(crowd(pick("TRUE", "FALSE"))), FULL, "FALSE, TRUE", 0),
    "decimal commas": (csv(crowd(pick("0,5", "1,5")), ";", "\ufeff"), FULL, "0.5 < 1.5", 0),
    "percents": (csv(crowd(pick("0%", "50%"))), FULL, "0 < 50", 0),
    "two sides": (csv(crowd(pick(-1, 1))), FULL, "-1 < 1", 0),
    "pasted twice": (csv(LIST + LIST), FULL, "0 < 1", 0),
    "row numbers": (csv([{"": n, **row} for n, row in enumerate(LIST)]), FULL, "0 < 1", 0),
    "judge and words": (csv(wide("rater_1", "rater_2")), (24, 12, 2), "0 < 1 < 2", 0),
    "judges and final": (csv(wide("coder1", "coder2", final=gold)), (24, 12, 2), "0 < 1 < 2", 0),
    "judges and gold": (csv(wide("coder1", "coder2", gold=gold)), (24, 12, 2), "0 < 1 < 2", 12),
    "judges and label": (csv(wide("coder1", "coder2", label_=gold)), (24, 12, 2), "0 < 1 < 2", 0),
    "judges and confidence": (
        csv(wide("judge1_label", "judge1_confidence", "judge2_label", "judge2_confidence")),
        *((24, 12, 2), "0 < 1 < 2", 0),
    ),
    "gaps": (csv(wide("coder1", "coder2", label=pick("", 0, 1))), (16, 11, 2), "0 < 1", 0),
    "votes": (
        csv([{"id": f"i{i}", "total": 5, "yes": i % 6, "no": 5 - i % 6} for i in range(ITEMS)]),
        *((60, 12, 1), "no, yes", 0),
    ),
    "json list": (json.dumps(LIST), FULL, "0 < 1", 0),
    "json lines": ("".join(json.dumps(row) + "\n" for row in LIST), FULL, "0 < 1", 0),
    "json columns": (json.dumps(COLUMNS), FULL, "0 < 1", 0),
    "json of pandas": (
        json.dumps({name: dict(enumerate(cells)) for name, cells in COLUMNS.items()}),
        *(FULL, "0 < 1", 0),
    ),
    "json split": (
        json.dumps({"columns": list(COLUMNS), "data": [list(row.values()) for row in LIST]}),
        *(FULL, "0 < 1", 0),
    ),
    "json by judge": (
        json.dumps({f"w{j}": {i: own[f"w{j}"] for i, own in BY_ITEM.items()} for j in range(3)}),
        *(FULL, "0 < 1", 0),
    ),
    "json inside items": (
        json.dumps([{"id": i, "annotations": own} for i, own in BY_ITEM.items()]),
        *(FULL, "0 < 1", 0),
    ),
    "json votes": (
        json.dumps(
            [{"id": i, "text": "t", "labels": [*own.values()]} for i, own in BY_ITEM.items()]
        ),
        *((36, 12, 1), "0 < 1", 0),
    ),
    "json votes with annotator": (
        json.dumps(
            [{"pairID": i, "annotator_labels": ["a", "b", "a"], "gold_label": "a"} for i in BY_ITEM]
        ),
        *((36, 12, 1), "a, b", 12),
    ),
    "json votes in objects": (
        json.dumps([{"id": i, "annotations": [{"label": n} for n in (0, 1, 0)]} for i in BY_ITEM]),
        *((36, 12, 1), "0 < 1", 0),
    ),
    "json lists with idx": (
        json.dumps(
            [
                {"idx": i, "annotator_ids": [*own], "annotations": [*own.values()]}
                for i, own in BY_ITEM.items()
            ]
        ),
        *(FULL, "0 < 1", 0),
    ),
    "json of objects by judge": (
        json.dumps(
            [
                {"id": i, **{f"annotator{n}": {"label": (i + n) % 2, "note": "x"} for n in (1, 2)}}
                for i in range(ITEMS)
            ]
        ),
        *((24, 12, 2), "0 < 1", 0),
    ),
    "judges and their labels": (
        csv(
            [
                {"task": i, "worker1": f"w{i % 3}", "answer1": i % 2}
                | {"worker2": f"w{i % 3 + 1}", "answer2": i % 3 % 2}
                for i in range(ITEMS)
            ]
        ),
        *((24, 12, 4), "0 < 1", 0),
    ),
    "answers": (SAMPLES["answers"][1].decode(), (3, 2, 2), "no, yes", 0),
}
ASKED: dict[str, tuple[str, str, str]] = {  # text, code, a setting that solves it
    **{
        f"labels {labels}": (csv(crowd(pick(*labels))), "negative-label", "drop-label")
        for labels in (
            *((-2, 0, 1, 2), (-1, 0, 1, 2), (-1, 1, 2, 3), (-2, -1, 1, 2, 3)),
            (-9999, 0, 1, 2),
        )
    },
    **{
        f"wide {' '.join(columns)}": (csv(wide(*columns)), "unclear-columns", setting)
        for columns, setting in (
            (("relevance_score", "style_score"), "questions-are"),
            (("label_alice", "label_bob"), "judges-are"),
            (("human", "model"), "judges-are"),
            (("label", "prediction"), "judges-are"),
            (("gpt_answer", "llama_answer"), "judges-are"),
            (("2023", "2024"), "transpose"),
            (("doc1", "doc2", "doc3"), "questions-are"),
        )
    },
    "counts without a sum": (
        csv([{"id": f"i{i}", "yes": i % 3, "no": 2 - i % 3} for i in range(ITEMS)]),
        *("unclear-columns", "counts"),
    ),
    "named votes": (
        csv([{"id": f"i{i}", "votes_yes": i % 4, "votes_no": i % 3} for i in range(ITEMS)]),
        *("unknown-format", "counts"),
    ),
    "documents of a search": (
        csv(
            [
                {"hit": f"h{i}", "worker": f"w{i % 3}", "query": f"q{i // 3}"}
                | {f"docid{k}": f"d{i}{k}" for k in (1, 2)}
                | {f"relevance{k}": (i + k) % 3 for k in (1, 2)}
                for i in range(ITEMS)
            ]
        ),
        *("unclear-columns", "questions-are"),
    ),
    "a row per judge": (
        csv(
            [
                {"annotator": f"w{j}", **{i: own[f"w{j % 3}"] for i, own in BY_ITEM.items()}}
                for j in range(5)
            ]
        ),
        *("unclear-columns", "transpose"),
    ),
    "label and truth": (
        csv(crowd(gold, answer=pick(0, 1))),
        *("label-or-gold", "columns"),
    ),
    "system and segment": (
        csv(
            [
                {"system": s, "segment_id": i, "rater": f"r{j}", "score": (i * 3 + j + k) % 5}
                for k, s in enumerate("abc")
                for i in range(8)
                for j in range(3)
            ]
        ),
        *("incomplete-item", "columns"),
    ),
    "task and its id": (
        csv(
            [
                {"worker": f"w{j}", "orig_id": i, "task": t, "response": (i + j + k) % 2}
                for k, t in enumerate("ab")
                for i in range(9)
                for j in range(3)
            ]
        ),
        *("incomplete-item", "columns"),
    ),
    "two queries per item": (
        csv(
            [
                {"hit": f"h{n // 4}", "query": f"q{n // 2}", "worker": f"w{n % 4}", "label": n % 2}
                for n in range(24)
            ]
        ),
        *("two-values", "columns"),
    ),
    "system and segment that explain only together": (
        csv(
            [
                {"system": s, "doc": "d", "seg_id": i, "rater": f"r{j}", "label": (i + k) % 2}
                for k, s in enumerate("ab")
                for i in range(10)
                for j in range(3)
            ]
        ),
        *("incomplete-item", "columns"),
    ),
    "ids that begin again": (
        csv(
            [
                {"id": i, "text": f"{t} {i}", "rater": f"r{j}", "label": (i + k) % 2}
                for k, t in enumerate(("a long text about a thing", "some words about another"))
                for i in range(12)
                for j in range(3)
            ]
        ),
        *("incomplete-item", "columns"),
    ),
    "ids of workers": (
        csv(
            [
                {"task": i, **{f"worker{k}": f"A{(i + k) % 4}" for k in (1, 2, 3)}}
                for i in range(ITEMS)
            ]
        ),
        *("unclear-columns", "judges-are"),
    ),
    "criteria in rows": (
        csv(
            [
                {"item": i, "rater": f"r{j}", "criterion": c, "score": (i + j + k) % 5}
                for k, c in enumerate(("tone", "style"))
                for i in range(9)
                for j in range(3)
            ]
        ),
        *("incomplete-item", "columns"),
    ),
    "long texts": (csv(crowd(lambda i, j: f"{i} {j} {'well said ' * 10}")), "free-text", "columns"),
    "short texts": (csv(crowd(lambda i, j: f"remark {i} {j}")), "no-labels", "columns"),
    "missing as NaN": (csv(crowd(pick(0, 1, "NaN"))), "missing-label", "skip-bad-rows"),
    "missing as nothing": (csv(crowd(pick(0, 1, ""))), "missing-label", "skip-bad-rows"),
    "words and numbers": (csv(crowd(pick(0, 1, "bad page"))), "mixed-labels", "labels"),
    "json by item": (json.dumps(BY_ITEM), "unclear-columns", "transpose"),
    **{
        f"json {key} {' '.join(names)}": (
            json.dumps([{"id": i, key: dict.fromkeys(names, i % 3)} for i in range(ITEMS)]),
            *("unclear-columns", setting),
        )
        for key, names, setting in (
            ("ratings", ("fluency", "style"), "questions-are"),
            ("ratings", ("ann", "bob"), "format"),
            ("votes", ("yes", "no"), "counts"),
        )
    },
    "json without ids": (
        json.dumps(
            [
                {"premise": i, "annotator_ids": [*own], "labels": [*own.values()]}
                for i, own in BY_ITEM.items()
            ]
        ),
        *("missing-column", "columns"),
    ),
    "no header": (
        "".join(f"{i // 4},0,d{i},{i % 3}\n" for i in range(24)),
        *("no-header", "header"),
    ),
    "students": (
        csv([{"name": f"s{i}", "age": 18 + i, "grade": i % 6} for i in range(ITEMS)]),
        *("unknown-format", "columns"),
    ),
    "leaderboard": (
        csv([{"model": f"m{i}", "mmlu": 50 + i, "arc": 40 + i} for i in range(ITEMS)]),
        *("survey", "transpose"),
    ),
}


def written(folder: Path, name: str, text: str) -> Path:
    kind = "json" if text.startswith(("[", "{")) else "csv"
    kind = "jsonl" if name == "json lines" else kind
    path = folder / f"table.{kind}"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", READ)
def test_a_table_is_read_for_what_it_is(name: str, tmp_path: Path) -> None:
    text, counts, scale, golds = READ[name]
    content = read(written(tmp_path, name, text))
    found = judgments_in(content)
    assert (len(found), found.item_count, found.judge_count) == counts
    assert str(found.scale) == scale
    assert (0 if content.gold is None else len(content.gold)) == golds


@pytest.mark.parametrize("name", ASKED)
def test_a_table_is_asked_about(name: str, tmp_path: Path) -> None:
    text, code, setting = ASKED[name]
    with pytest.raises(BadData) as caught:
        read(written(tmp_path, name, text))
    assert caught.value.code == code
    assert setting in {remedy.setting for remedy in caught.value.remedies}


@pytest.mark.parametrize(
    ("label", "note"),
    [
        (pick(0, 1, 9), "9 is far above"),
        (pick(0, 1, 88, 99), "88, 99 are far above"),
        (pick("yes", "no", "don't know"), "may mean a missing label"),
        (pick(-1, 0, 1), "-1 is taken"),
        (pick("bad", "good", "excellent"), "look ordered"),
    ],
)
def test_labels_that_may_mean_something_else_are_noted(
    label: Cell, note: str, tmp_path: Path
) -> None:
    notes = read(written(tmp_path, "csv", csv(crowd(label)))).notes
    assert [note in found for found in notes] == [True]


def test_judges_that_differ_in_case_alone_are_noted(tmp_path: Path) -> None:
    rows = [row | {"judge": row["judge"].upper()} for row in LIST[:3]] + LIST[3:]
    notes = read(written(tmp_path, "csv", csv(rows))).notes
    assert ["differ only in case" in found for found in notes] == [True]


def test_ids_that_begin_again_for_other_judges_are_noted(tmp_path: Path) -> None:
    rows = [
        {"id": i, "text": f"text {part} {i}", "rater": f"{part}{j}", "label": (i + j) % 2}
        for part in "ab"
        for i in range(ITEMS)
        for j in range(3)
    ]
    (note,) = read(written(tmp_path, "csv", csv(rows))).notes
    assert note.remedies == (name_columns(item="id,text"),)  # type: ignore[attr-defined]
    own = [row | {"text": f"{row['rater']} {row['text']}"} for row in rows]  # of each judge
    assert not read(written(tmp_path, "csv", csv(own))).notes


def test_gold_below_zero_is_noted_unless_it_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text(
        "".join(f"1 0 d{i} {i % 4 - 2}\n" for i in range(8) if i % 4 != 1)
    )
    (note,) = read(tmp_path / "a.qrels").notes
    assert note.remedies == (Remedy("drop-label", ("-2",)),)  # type: ignore[attr-defined]
    assert not read(tmp_path / "a.qrels", drop_labels=["-2"]).notes


def test_a_column_that_numbers_the_rows_is_noted(tmp_path: Path) -> None:
    rows: Sequence[dict[str, Any]] = [
        {"review_id": n, "product_id": f"p{n % 5}", "user": f"u{n % 7}", "stars": n % 5}
        for n in range(20)
    ]
    (note,) = read(written(tmp_path, "csv", csv(list(rows)))).notes
    assert note.remedies[0].value == (("item", "product_id"),)  # type: ignore[attr-defined]


def test_an_answer_makes_the_table_readable(tmp_path: Path) -> None:
    path = written(tmp_path, "json", json.dumps(BY_ITEM))
    found = Judgments.read(path, transpose=True)
    assert (len(found), found.item_count, found.judge_count) == FULL
    path = written(tmp_path, "json", ASKED["json ratings ann bob"][0])
    assert Judgments.read(path, format="nested").judges.to_pylist() == ["ann", "bob"]
    found = Judgments.read(path, questions_are="ratings.*")
    assert (len(found), found.item_count, found.judge_count) == (24, 24, 1)
    path = written(tmp_path, "csv", ASKED["labels (-2, 0, 1, 2)"][0])
    assert Judgments.read(path, drop_labels=["-2"]).scale.labels == ("0", "1", "2")
    path = written(tmp_path, "csv", ASKED["documents of a search"][0])
    found = Judgments.read(path, questions_are="relevance*")
    assert (len(found), found.item_count, found.judge_count, found.topic_count) == (24, 24, 3, 4)
    path = written(tmp_path, "csv", ASKED["named votes"][0])
    assert len(Judgments.read(path, counts=True)) == 30


def test_an_archive_has_its_scale_and_gold(tmp_path: Path) -> None:
    name, body = SAMPLES["archive"]
    (tmp_path / name).write_bytes(body)
    content = read(tmp_path / name)
    found = judgments_in(content)
    assert (len(found), found.item_count, found.judge_count) == (4, 3, 2)
    assert found.scale.relevant == ("yes",)
    assert content.gold is not None
    assert dict(zip(content.gold.items.to_pylist(), content.gold.texts(), strict=True)) == {
        "i3": "yes"
    }


@pytest.mark.parametrize(
    "header",
    [
        "judge,arm,kind,channel",
        "participant,session,study,judge,outcome,code,pay_due,currency,action,pages",
        "topic,query,need,category",
        "item,topic,document,query,title,url",
    ],
)
def test_an_export_without_judgments_names_one_with_them(header: str, tmp_path: Path) -> None:
    cells = ",".join(f"x{n}" for n in range(header.count(",") + 1))
    with pytest.raises(BadData, check=lambda fault: fault.code == "not-judgments"):
        read(written(tmp_path, "csv", f"{header}\n{cells}\n"))
