"""Files of comparisons, each as its tool writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge import Comparisons
from adjudge.data.formats import Content, read, write
from adjudge.errors import BadData

FILES = {
    "plain.csv": "left,right,label,judge\na,b,left,ann\nb,c,tie,bob\n",
    "winner-loser.csv": "winner,loser\na,b\nb,c\n",
    "evalica.csv": "left,right,winner\na,b,left\nb,c,tie\n",
    "crowd-kit.csv": "worker,left,right,label\nann,a,b,a\nbob,b,c,b\n",
    "llmfao.csv": "id,prompt,model_x,model_y,worker,winner,left,right\n0,8,1,2,5,left,a,b\n"
    "1,8,2,3,6,tie,b,c\n",
    "arena.jsonl": '{"model_a": "a", "model_b": "b", "winner": "model_a", "judge": "ann", '
    '"turn": 1, "conversation_a": [{"role": "user", "content": "hi"}]}\n'
    '{"model_a": "b", "model_b": "c", "winner": "tie (bothbad)", "judge": "bob", "turn": 1}\n',
    "arena.json": '[{"model_a": "a", "model_b": "b", "winner": "model_a"},\n'
    ' {"model_a": "b", "model_b": "c", "winner": "tie"}]\n',
}


def kept(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FILES)
def test_read_and_detected(tmp_path: Path, name: str) -> None:
    content = read(kept(tmp_path, name, FILES[name]))
    assert content.format == "pairs"
    assert content.judgments is None
    found = content.comparisons
    assert found is not None
    assert found.items.to_pylist() == ["a", "b", "c"]
    assert found.left.tolist() == [0, 1]
    assert found.outcome.tolist() == ([0, 0] if name in DECIDED else [0, 2])


DECIDED = ("winner-loser.csv", "crowd-kit.csv")


def test_a_file_without_judges_is_a_judge(tmp_path: Path) -> None:
    path = kept(tmp_path, "gpt4.csv", FILES["evalica.csv"])
    assert Comparisons.read(path).judges.to_pylist() == ["gpt4"]


def test_mt_bench_has_two_games_a_record(tmp_path: Path) -> None:
    record = {
        "question_id": 81,
        "model_1": "alpaca",
        "model_2": "claude",
        "g1_winner": "model_2",
        "g2_winner": "tie",
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
    }
    lines = json.dumps(record) + "\n" + json.dumps(record | {"g2_winner": "error"}) + "\n"
    found = read(kept(tmp_path, "verdicts.jsonl", lines))
    assert found.format == "mt-bench"
    table = found.comparisons.to_table().to_pydict()
    assert table["label"] == ["right", "tie", "right", "cannot say"]
    assert table["first"] == ["left", "right", "left", "right"]
    assert table["judge"][0] == "gpt-4/pair-v2"
    assert table["topic"][0] == "81/1"


def test_alt_test_holds_judgments_and_comparisons(tmp_path: Path) -> None:
    text = json.dumps({"ann": {"82__gpt__llama__1": "model_b"}, "bob": {"9__gpt__llama__2": "tie"}})
    path = kept(tmp_path, "people.json", text)
    assert read(path).judgments is not None
    table = Comparisons.read(path).to_table().to_pydict()
    assert table == {
        "left": ["gpt", "gpt"],
        "right": ["llama", "llama"],
        "judge": ["ann", "bob"],
        "label": ["right", "tie"],
        "topic": ["82/1", "9/2"],
    }
    other = kept(tmp_path, "other.json", json.dumps({"ann": {"82": "model_b"}}))
    with pytest.raises(BadData, match="expected a pair question__left__right__turn, got '82'"):
        Comparisons.read(other)


@pytest.mark.parametrize("format", ["pairs", "csv", "tsv", "jsonl", "parquet"])
def test_there_and_back(tmp_path: Path, format: str) -> None:
    before = Comparisons.read(kept(tmp_path, "plain.csv", FILES["plain.csv"]))
    path = tmp_path / f"again.{'csv' if format == 'pairs' else format}"
    write(Content(comparisons=before), path, format=format)
    after = Comparisons.read(path)
    assert after.items.to_pylist() == before.items.to_pylist()
    assert after.outcome.tolist() == before.outcome.tolist()
    assert after.judges.to_pylist() == before.judges.to_pylist()


def test_bad_rows_by_line_and_skipped(tmp_path: Path) -> None:
    text = "left,right,label,judge\na,b,left,ann\na,a,left,ann\na,b,perhaps,ann\n"
    path = kept(tmp_path, "bad.csv", text)
    with pytest.raises(BadData) as caught:
        read(path)
    assert (caught.value.place, caught.value.value) == ("bad.csv, line 3, column right", "a")
    content = read(path, skip_bad=True)
    assert len(content.comparisons) == 1
    assert [row.place for row in content.bad] == [
        "bad.csv, line 3, column right",
        "bad.csv, line 4, column label",
    ]
