"""Judgments as campaigns and platforms hand them out: a file a judge, several options an answer."""

from __future__ import annotations

import csv
import json
import random
import shlex
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from commands import Run


@pytest.fixture
def panel(shared_data: Path, folder: Path) -> Path:
    """A tenth of LLMJudge's pairs in one table, and as they were submitted: qrels, a judge each."""
    with (shared_data / "panels" / "llmjudge.csv").open() as file:
        rows = list(csv.DictReader(file))
    kept = set(list(dict.fromkeys(row["item"] for row in rows))[::10])
    rows = [row for row in rows if row["item"] in kept]
    lines = [f"{row['item']},{row['judge']},{row['label']}\n" for row in rows]
    (folder / "panel.csv").write_text("item,judge,label\n" + "".join(lines))
    judges = defaultdict(list)
    for row in rows:
        topic, document = row["item"].split("_", 1)
        judges[row["judge"]].append(f"{topic} 0 {document} {row['label']}\n")
    (folder / "submissions").mkdir()
    for number, (judge, given) in enumerate(judges.items()):
        random.Random(number).shuffle(given)  # as each team wrote them
        ending = ("", ".txt", ".qrels")[number % 3]
        (folder / "submissions" / f"{judge}{ending}").write_text("".join(given))
    return folder


def test_a_folder_of_submissions_is_a_panel(adjudge: Run, panel: Path) -> None:
    for place, labels in (("panel.csv", "one.csv"), ("submissions", "many.csv")):
        ended = adjudge("consensus", place, "-o", labels)
        assert ended.code == 0, ended.err
    assert "33 files of format qrels are taken together, one judge each" in ended.err
    found = []
    for labels in ("one.csv", "many.csv"):
        with (panel / labels).open() as file:
            found.append({row["item"].replace("/", "_"): row for row in csv.DictReader(file)})
    one, many = found
    assert len(one) == 443
    assert {item: row["label"] for item, row in one.items()} == {
        item: row["label"] for item, row in many.items()
    }
    for item, row in one.items():
        for column in ("probability", "p_0", "p_3", "n_eff"):
            assert float(many[item][column]) == pytest.approx(float(row[column]), abs=1e-9)
    judges = [json.loads(adjudge("look", p, "--json").out) for p in ("panel.csv", "submissions")]
    for key in ("judgments", "items", "judges", "scale"):
        assert judges[0][key] == judges[1][key]


@pytest.mark.parametrize(
    ("name", "unit", "answer"),
    [
        ("crowdflower-multi-select.csv", "_unit_id", "relations"),
        ("own-platform-multiple-choice.csv", "unitId", "selected_answer"),
    ],
)
def test_what_look_proposes_asks_one_question_an_option(
    adjudge: Run, shared_data: Path, folder: Path, name: str, unit: str, answer: str
) -> None:
    path = shared_data / "files" / name
    about = json.loads(adjudge("look", path, "--json").out)
    words = shlex.split(about["next"])
    assert words[0] == "adjudge"
    ended = adjudge(*words[1:])
    assert ended.code == 0, ended.err
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    asked = Counter(row[unit] for row in rows)

    def chosen(cell: str) -> list[str]:
        return json.loads(cell) if cell.startswith("[") else cell.split()

    options = {option for row in rows for option in chosen(row[answer])}
    assert about["questions"] == len(options) == about["labels"]
    with (folder / words[words.index("-o") + 1]).open() as file:
        labels = {row["item"]: row for row in csv.DictReader(file)}
    assert set(labels) == {f"{one}/{option}" for one in asked for option in options}
    assert {row["label"] for row in labels.values()} == {"0", "1"}
    for item, row in labels.items():
        assert int(row["judgments"]) == asked[item.partition("/")[0]]
