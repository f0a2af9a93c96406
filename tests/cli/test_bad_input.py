"""Bad input gets one clear line, exit code 2, and no output at all."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Run

HEAD = "item,judge,label\n"
GOOD = HEAD + "a,x,1\na,y,0\nb,x,0\nb,y,0\nc,x,1\n"
LONG = "i" * 10_000

# What a file holds, the place that the error names, and the options that could help.
FILES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "missing column": ("item,judge,comment\na,x,1\n", "bad.csv, column label", ("columns",)),
    "0 bytes": ("", "bad.csv", ()),
    "no known header": ("foo,bar\n1,2\n", "bad.csv, line 1", ("columns", "format")),
    "half text": (
        HEAD + "a,x,1\nb,x,2\nc,x,good\n", "bad.csv, line 4, column label", ("labels",)
    ),
    "no item id": (
        HEAD + "a,x,1\n,x,1\n", "bad.csv, line 3, column item", ("skip-bad-rows",)
    ),
    "a NUL in the header": ("it\0em,judge,label\na,x,1\n", "bad.csv, line 1", ("encoding",)),
    "a quote never closed": (HEAD + 'a,x,1\n"b,x,1\n', "bad.csv, line 3", ()),
    "a long bad label": (
        HEAD + f"a,x,1\nb,x,{'z' * 10_000}\n", "bad.csv, line 3, column label", ("labels",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file(
    name: str, adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    text, place, remedies = FILES[name]
    (folder / "bad.csv").write_bytes(text.encode())
    ended = adjudge("consensus", "bad.csv", "-o", "out.csv")
    assert ended.fault == place
    assert len(ended.err) < 1000
    assert tuple(remedy.setting for remedy in ended.error.remedies) == remedies
    assert all(f"--{name}" in ended.err for name in remedies if name != "columns")
    assert names(folder) == ["bad.csv"]


@pytest.mark.parametrize("command", ["judges", "agreement", "evaluate", "compare", "report"])
def test_every_command_refuses_a_bad_file(command: str, adjudge: Run, folder: Path) -> None:
    (folder / "bad.csv").write_text(HEAD + "a,x,1\n,x,1\n")
    assert adjudge(command, "bad.csv").fault == "bad.csv, line 3, column item"


# Arguments, and where the fault is: the setting and what is proposed, or the place.
SETTINGS: dict[str, tuple[str, str]] = {
    "no such file": ("none.csv", "none.csv"),
    "a label off the scale": ("good.csv --labels 1<2", "good.csv, line 3, column label"),
    "a model misspelt": ("good.csv --model dawid-sken", "model: dawid-skene"),
    "a format misspelt": ("good.csv --format mturc", "format: mturk"),
    "a format to write misspelt": ("good.csv --to qrel", "format: qrels"),
    "a format that holds no labels": ("good.csv --to mturk", "--to"),
    "an encoding misspelt": ("good.csv --encoding latin-2000", "encoding: latin-1"),
    "gold off the scale": ("good.csv --gold off.csv", "off.csv, line 3, column gold"),
    "contradictory gold": ("good.csv --gold twice.csv", "twice.csv, line 4, column gold"),
    "judgments as gold": ("good.csv --gold good.csv", "good.csv"),
    "no gold file": ("good.csv --gold none.csv", "none.csv"),
    "an unknown rule for ties": ("good.csv --set ties=never", "ties"),
    "topics that are not there": ("good.csv --by-topic", "by_topic"),
    "a setting of other models": (
        "good.csv --model majority-vote --set iterations=3", "setting of majority-vote"
    ),
    "a setting misspelt": (
        "good.csv -m dawid-skene --set diagnal=3", "setting of dawid-skene: diagonal"
    ),
    "a setting without a value": ("good.csv --set diagonal", "--set"),
    "a setting that is no number": ("good.csv --set strength=big", "--set"),
    "a setting that is not an integer": ("good.csv --set iterations=1.5", "--set"),
    "a setting that is neither true nor false": ("good.csv --set by_topic=perhaps", "--set"),
    "a setting out of range": ("good.csv --set strength=0", "strength"),
    "JSON and a table on standard output": ("good.csv --json -o -", "--json"),
    "JSON and a format on standard output": ("good.csv --json --to jsonl", "--json"),
    "an output of no known kind": ("good.csv -o labels.xls", "--output"),
    "an output over the input": ("good.csv -o ./good.csv", "--output"),
    "an output over the gold": ("good.csv --gold off.csv --judges off.csv", "--judges"),
    "two outputs in one place": ("good.csv -o x.csv --judges x.csv", "--judges"),
    "an output in no folder": ("good.csv -o no/labels.csv", "no"),
    "a kind of judge without its kind": ("good.csv --kind ^a", "--kind"),
    "an unknown relevant label": ("good.csv --relevant 5", "relevant"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_a_bad_setting(
    name: str, adjudge: Run, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "off.csv").write_text("item,gold\na,1\nb,7\n")
    (folder / "twice.csv").write_text("item,gold\na,1\nb,0\na,0\n")
    arguments, fault = SETTINGS[name]
    ended = adjudge("consensus", *arguments.split(), "-q")
    assert ended.fault == fault
    assert names(folder) == ["good.csv", "off.csv", "twice.csv"]
    assert (folder / "good.csv").read_text() == GOOD


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("good.csv", "--gold"),
        ("labels.csv", "--gold"),
        ("gold.csv", "gold.csv"),
        ("labels.csv --gold gold.csv --folds 2", "--folds"),
        ("good.csv --gold gold.csv --folds 2", "folds"),
    ],
)
def test_neither_labels_nor_gold_to_evaluate(
    arguments: str, fault: str, adjudge: Run, folder: Path
) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "gold.csv").write_text("item,gold\na,1\n")
    (folder / "labels.csv").write_text("item,label,probability\na,1,1\n")
    assert adjudge("evaluate", *arguments.split()).fault == fault


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


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_named_parquet_are_one_line(adjudge: Run, folder: Path, seed: int) -> None:
    (folder / "x.parquet").write_bytes(random.Random(seed).randbytes(3_000))
    assert adjudge("consensus", "x.parquet").fault == "x.parquet"
    text = bytes(b or 32 for b in random.Random(seed).randbytes(3_000))
    (folder / "x.csv").write_bytes(b"item,judge,label\n" + text)
    assert adjudge("consensus", "x.csv").err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "half.jsonl",
            '{"item": "\\ud800", "judge": "x", "label": 1}\n',
            "error: half.jsonl: there is half of a character in it, \\ud800 (a lone surrogate)\n",
        ),
        (
            "nan.csv",
            "item,judge,label\na,x,nan\nb,y,1\nc,z,0\n",
            "error: nan.csv, line 3, column label: 'nan' next to numbers looks like a label that "
            "is missing; --labels '0<1' names the scale; --skip-bad-rows leaves out such rows\n",
        ),
        (
            "many.csv",
            "item,judge,label\n" + "".join(f"i{n},j{n % 7},w{n // 3}\n" for n in range(96_003)),
            "error: many.csv, column label: 32,001 different labels are more than the 32,000 that "
            "can be\n",
        ),
    ],
)
def test_a_file_that_cannot_be(
    adjudge: Run, folder: Path, name: str, text: str, message: str
) -> None:
    (folder / name).write_text(text)
    ended = adjudge("consensus", name)
    assert (ended.code, ended.err) == (2, message)


def test_the_way_that_is_named_works(adjudge: Run, folder: Path) -> None:
    (folder / "nan.csv").write_text("item,judge,label\na,x,nan\nb,y,1\nc,z,0\n")
    given = ("nan.csv", "-m", "majority-vote", "--labels", "0<1", "--skip-bad-rows")
    ended = adjudge("consensus", *given)
    assert ended.code == 0, ended.err
    assert len(ended.out.splitlines()) == 3
