"""Bad input gets one clear line, exit code 2, and no output at all."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import Run

HEAD = "item,judge,label\n"
GOOD = HEAD + "a,x,1\na,y,0\nb,x,0\nb,y,0\nc,x,1\n"
LONG = "i" * 10_000

FILES: dict[str, tuple[str | bytes, str]] = {
    "missing column": (
        "item,judge,comment\na,x,1\n",
        "bad.csv, column label: no column 'label'; the columns are item, judge, comment; also "
        "accepted: answer, rating, response, judgment, judgement, grade, relevance, relevancy, "
        "score, value, vote, choice, verdict, decision, annotation, category, class, stars; "
        "--label COLUMN names the column",
    ),
    "0 bytes": ("", "bad.csv: the file is empty (0 bytes)"),
    "blank lines only": ("\n\n", "bad.csv: there is nothing in the file"),
    "a header only": (HEAD, "bad.csv: there are no judgments: the table has a header and no rows"),
    "no known header": (
        "foo,bar\n1,2\n",
        "bad.csv, line 1: no known format fits a file that begins 'foo,bar'; expected a header "
        "such as 'item,judge,label' (or topic and document); its columns are foo, bar; --item "
        "COLUMN --judge COLUMN --label COLUMN names the column; --format NAME names the format",
    ),
    "gold only": (
        "item,gold\na,1\n",
        "bad.csv: there are no judgments in this file: it holds gold (read as csv)",
    ),
    "half numbers, half text": (
        HEAD + "a,x,1\nb,x,2\nc,x,good\n",
        "bad.csv, line 4, column label: 'good' is text, but the labels before it are numbers "
        "(1, 2); wanted labels of one kind; --labels names the scale",
    ),
    "an empty item id": (
        HEAD + "a,x,1\n,x,1\n",
        "bad.csv, line 3, column item: the item id is empty; --skip-bad-rows leaves out such rows",
    ),
    "a blank judge id": (
        HEAD + "a,x,1\nb, ,1\n",
        "bad.csv, line 3, column judge: the judge id is empty; --skip-bad-rows leaves "
        "out such rows",
    ),
    "an empty label": (
        HEAD + "a,x,1\nb,x,\n",
        "bad.csv, line 3, column label: there is no label; wanted one of 1; --skip-bad-rows leaves "
        "out such rows",
    ),
    "a NUL byte": (
        HEAD + "a,x,1\nb\0,x,1\n",
        "bad.csv, line 3, column item: a NUL byte in an id; --skip-bad-rows leaves out such rows",
    ),
    "a NUL byte in the header": (
        "it\0em,judge,label\na,x,1\n",
        "bad.csv, line 1: there is a NUL byte in the header; --encoding utf-16 names "
        "another encoding",
    ),
    "a row cut short": (
        HEAD + "a,x,1\nb,x\n",
        "bad.csv, line 3: expected 3 cells as in the header, got 2",
    ),
    "a bad row after a quoted newline": (
        HEAD + '"a\nb",x,1\nc,,1\n',
        "bad.csv, line 4, column judge: the judge id is empty; --skip-bad-rows leaves "
        "out such rows",
    ),
    "a quote never closed": (
        HEAD + 'a,x,1\n"b,x,1\n',
        "bad.csv, line 3: a quote opened in this row is never closed",
    ),
    "a long bad label": (
        HEAD + f"a,x,1\nb,x,{'z' * 10_000}\n",
        f"bad.csv, line 3, column label: '{'z' * 27}...{'z' * 27}' (10,000 characters) is text, "
        "but the labels before it are numbers (1); wanted labels of one kind; --labels names the "
        "scale",
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["consensus", "judges", "agreement"])
def test_a_bad_file(
    command: str, name: str, adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    text, message = FILES[name]
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "bad.csv").write_bytes(content)
    ended = adjudge(command, "bad.csv", "-o", "out.csv")
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {message}\n")
    assert names(folder) == ["bad.csv"]


SETTINGS: dict[str, tuple[list[str], str]] = {
    "no such file": (["none.csv"], "none.csv: there is no such file"),
    "a label off the scale": (
        ["good.csv", "--labels", "1<2"],
        "good.csv, line 3, column label: '0' is not on the scale 1 < 2; --skip-bad-rows leaves out "
        "such rows",
    ),
    "a model misspelt": (
        ["good.csv", "--model", "dawid-sken"],
        "there is no model 'dawid-sken'; did you mean 'dawid-skene'? Known: {models}",
    ),
    "a format misspelt": (
        ["good.csv", "--format", "mturc"],
        "there is no format 'mturc'; did you mean 'mturk'? Known: {formats}",
    ),
    "a format to write misspelt": (
        ["good.csv", "--to", "qrel"],
        "there is no format 'qrel'; did you mean 'qrels'? Known: {formats}",
    ),
    "a format that holds no labels": (
        ["good.csv", "--to", "mturk"],
        "--to = 'mturk': wanted a format that holds labels: {labels}",
    ),
    "an encoding misspelt": (
        ["good.csv", "--encoding", "latin-2000"],
        "there is no encoding 'latin-2000'; did you mean 'latin-1'? Known: utf-8, latin-1, utf-16, "
        "cp1252",
    ),
    "gold off the scale": (
        ["good.csv", "--gold", "off.csv"],
        "off.csv, line 3, column gold: '7' is not on the scale 0 < 1; --skip-bad-rows leaves out "
        "such rows",
    ),
    "contradictory gold": (
        ["good.csv", "--gold", "twice.csv"],
        "twice.csv, line 4, column gold: item 'a' has gold '0' here but '1' at line 2; wanted one",
    ),
    "judgments as gold": (
        ["good.csv", "--gold", "good.csv"],
        "good.csv: there is no gold in this file: it holds judgments (read as csv)",
    ),
    "no gold file": (["good.csv", "--gold", "none.csv"], "none.csv: there is no such file"),
    "a rule for ties that is none": (
        ["good.csv", "--ties", "never"],
        "ties = 'never': wanted random, lower or higher",
    ),
    "topics that are not there": (
        ["good.csv", "--by-topic"],
        "by_topic = True: wanted judgments with topics: these have none",
    ),
    "a setting that the model has not": (
        ["good.csv", "--model", "majority-vote", "--iterations", "3"],
        "--iterations = 3: wanted a model that has it; majority-vote has no iterations",
    ),
    "a setting misspelt": (
        ["good.csv", "-m", "dawid-skene", "--set", "diagnal=3"],
        "there is no setting of dawid-skene 'diagnal'; did you mean 'diagonal'? Known: iterations, "
        "tolerance, diagonal, prevalence, weigh_copies, by_topic, ties, seed",
    ),
    "a setting without a value": (
        ["good.csv", "--set", "diagonal"],
        "--set = 'diagonal': wanted NAME=VALUE, such as diagonal=5",
    ),
    "a setting that is no number": (
        ["good.csv", "--set", "strength=big"],
        "--set = 'strength=big': wanted a number",
    ),
    "a setting that is no whole number": (
        ["good.csv", "--set", "iterations=1.5"],
        "--set = 'iterations=1.5': wanted a whole number",
    ),
    "a setting that is neither true nor false": (
        ["good.csv", "--set", "by_topic=perhaps"],
        "--set = 'by_topic=perhaps': wanted true or false",
    ),
    "a setting out of range": (
        ["good.csv", "--set", "strength=0"],
        "strength = 0.0: wanted more than 0",
    ),
    "JSON and a table on standard output": (
        ["good.csv", "--json", "-o", "-"],
        "--json = True: wanted -o FILE, since standard output cannot have both",
    ),
    "JSON and a format on standard output": (
        ["good.csv", "--json", "--to", "jsonl"],
        "--json = True: wanted -o FILE, since standard output cannot have both",
    ),
    "an output of no known kind": (
        ["good.csv", "-o", "labels.xls"],
        "--output = 'labels.xls': wanted a name that ends in .csv, .tsv, .jsonl, .parquet",
    ),
    "an output over the input": (
        ["good.csv", "-o", "./good.csv"],
        "--output = 'good.csv': wanted another place than the file that is read",
    ),
    "an output over the gold": (
        ["good.csv", "--gold", "off.csv", "--judges", "off.csv"],
        "--judges = 'off.csv': wanted another place than the file that is read",
    ),
    "two outputs in one place": (
        ["good.csv", "-o", "x.csv", "--judges", "x.csv"],
        "--judges = 'x.csv': wanted another place than that of --output",
    ),
    "an output in no folder": (
        ["good.csv", "-o", "no/labels.csv"],
        "no: there is no such folder to write into",
    ),
    "a relevant label that is none": (
        ["good.csv", "--relevant", "5"],
        "relevant = '5': wanted labels of the scale 0 < 1",
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_bad_setting(
    name: str, adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    from adjudge import MODELS
    from adjudge.data.formats import formats

    (folder / "good.csv").write_text(GOOD)
    (folder / "off.csv").write_text("item,gold\na,1\nb,7\n")
    (folder / "twice.csv").write_text("item,gold\na,1\nb,0\na,0\n")
    arguments, message = SETTINGS[name]
    wanted = message.format(
        models=", ".join(MODELS),
        formats=", ".join(formats()),
        labels=", ".join(e.name for e in formats().values() if "labels" in e.writes),
    )
    ended = adjudge("consensus", *arguments, "-q")
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {wanted}\n")
    assert names(folder) == ["good.csv", "off.csv", "twice.csv"]
    assert (folder / "good.csv").read_text() == GOOD


def test_a_parquet_file_cut_short(adjudge: Run, folder: Path) -> None:
    table = pa.table({"item": ["a"] * 99, "judge": ["x"] * 99, "label": ["1"] * 99})
    pq.write_table(table, folder / "whole.parquet")
    whole = (folder / "whole.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    ended = adjudge("consensus", "cut.parquet")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: cut.parquet: this is not a complete Parquet file (Parquet magic bytes not found in "
        "footer. Either the file is corrupted or this is not a parquet file.)\n"
    )


def test_a_bad_line_of_jsonl(adjudge: Run, folder: Path) -> None:
    good = json.dumps({"item": "a", "judge": "x", "label": 1})
    (folder / "bad.jsonl").write_text(f"{good}\n{{nonsense\n")
    ended = adjudge("consensus", "bad.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: bad.jsonl, line 2: expected a JSON object, got '{nonsense' (Expecting property "
        "name enclosed in double quotes: line 1 column 2 (char 1))\n"
    )


def test_neither_labels_nor_gold_to_evaluate(adjudge: Run, folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "gold.csv").write_text("item,gold\na,1\n")
    (folder / "labels.csv").write_text("item,label,probability\na,1,1\n")
    for arguments, message in (
        (["good.csv"], "no --gold: wanted a file of gold, since good.csv holds none"),
        (["labels.csv"], "no --gold: wanted a file of gold, since labels.csv holds none"),
        (["gold.csv"], "gold.csv: there are no labels or judgments: it holds gold (read as csv)"),
        (
            ["labels.csv", "--gold", "gold.csv", "--folds", "2"],
            "--folds = 2: wanted judgments to fit, and labels.csv holds none",
        ),
        (
            ["good.csv", "--gold", "gold.csv", "--folds", "2"],
            "folds = 2: wanted from 2 to the number of gold items, 1",
        ),
    ):
        ended = adjudge("evaluate", *arguments)
        assert (ended.code, ended.out, ended.err) == (2, "", f"error: {message}\n")


ODD_BUT_GOOD: dict[str, bytes] = {
    "a byte-order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
    "quoted newlines": GOOD.replace("a,", '"a\na",').encode(),
    "10,000 characters": GOOD.replace("a,", f"{LONG},").encode(),
    "one item": (HEAD + "a,x,1\na,y,0\n").encode(),
    "one judge": (HEAD + "a,x,1\nb,x,0\n").encode(),
    "one judgment": (HEAD + "a,x,1\n").encode(),
    "one label": (HEAD + "a,x,1\na,y,1\nb,x,1\n").encode(),
    "markup": (HEAD + "[/],[red],1\n:b:,[/x],0\n").encode(),
}


@pytest.mark.parametrize("name", ODD_BUT_GOOD)
def test_odd_but_good_files(name: str, adjudge: Run, at_terminal: Run, folder: Path) -> None:
    (folder / "odd.csv").write_bytes(ODD_BUT_GOOD[name])
    for command in ("consensus", "judges", "agreement"):
        found = adjudge(command, "odd.csv", "--json")
        assert (found.code, found.err) == (0, "")
        assert json.loads(found.out)
    for model in ("majority-vote", "dawid-skene", "single-confusion"):
        ended = at_terminal("consensus", "odd.csv", "--model", model)
        assert ended.code == 0, ended.err
    assert at_terminal("judges", "odd.csv").code == 0
    assert at_terminal("agreement", "odd.csv", "--resamples", "9").code == 0


def test_latin_1_by_name(adjudge: Run, folder: Path) -> None:
    (folder / "l.csv").write_bytes((HEAD + "café,x,1\nb,x,0\n").encode("latin-1"))
    ended = adjudge("consensus", "l.csv", "--encoding", "latin-1", "-m", "majority-vote")
    assert ended.rows[0]["item"] == "café"


def test_bad_gold_rows_can_be_skipped(adjudge: Run, folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "off.csv").write_text("item,gold\na,1\nb,7\n")
    ended = adjudge("consensus", "good.csv", "--gold", "off.csv", "--skip-bad-rows")
    assert ended.code == 0
    assert ended.err.splitlines()[:2] == [
        "off.csv: 1 bad row left out:",
        "  off.csv, line 3, column gold: '7' is not on the scale 0 < 1",
    ]


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_named_parquet_are_one_line(adjudge: Run, folder: Path, seed: int) -> None:
    (folder / "x.parquet").write_bytes(random.Random(seed).randbytes(3_000))
    ended = adjudge("consensus", "x.parquet")
    assert ended.code == 2
    assert ended.err == ("error: x.parquet: this is not a complete Parquet file\n")
    text = bytes(b or 32 for b in random.Random(seed).randbytes(3_000))
    (folder / "x.csv").write_bytes(b"item,judge,label\n" + text)
    assert adjudge("consensus", "x.csv").err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "left,right,judge,winner\na,b,x,a\n",
            "comparisons (read as pairs); 'adjudge rank-pairs' ranks by them",
        ),
        (
            "7 Q0 d1 1 2.5 bm25\n7 Q0 d2 2 1.5 bm25\n",
            "run (read as run); 'adjudge rank' takes runs",
        ),
    ],
)
def test_files_of_other_commands_are_sent_there(
    adjudge: Run, folder: Path, text: str, told: str
) -> None:
    (folder / "f.txt").write_text(text)
    ended = adjudge("consensus", "f.txt")
    assert (ended.code, ended.err) == (
        2,
        f"error: f.txt: there are no judgments in this file: it holds {told}\n",
    )
