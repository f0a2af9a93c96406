"""What was once read wrong without a word: each is now right, asked for or reported."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from commands import Run

ROWS = "unitId,judgmentId,workerId,selected_answer\n" + "".join(
    f"u{n % 10},{3990340198 + n},w{n % 7},{'yes' if n % 3 else 'no'}\n" for n in range(60)
)


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def consensus(adjudge: Run, *arguments: object) -> tuple[int, str, list[dict[str, str]]]:
    ended = adjudge("consensus", *arguments, "-m", "majority-vote")
    return ended.code, ended.err, list(csv.DictReader(ended.out.splitlines()))


def test_an_id_is_never_a_label(adjudge: Run, folder: Path) -> None:
    code, err, rows = consensus(adjudge, written(folder, "own.csv", ROWS))
    assert code == 0, err
    assert {row["label"] for row in rows} <= {"yes", "no"}
    assert "column selected_answer is taken for the label" in err


def test_labels_that_are_as_many_as_rows_are_asked_about(adjudge: Run, folder: Path) -> None:
    text = "item,judge,label\n" + "".join(f"i{n % 9},j{n % 4},A{n}X\n" for n in range(40))
    code, err, _ = consensus(adjudge, written(folder, "ids.csv", text))
    assert code == 2
    assert "40 different labels in 40 rows" in err
    assert "--label" in err
    assert consensus(adjudge, "ids.csv", "--label", "label")[0] == 0  # they said it is meant


def test_unjudged_pairs_are_not_ratings(adjudge: Run, folder: Path) -> None:
    book = written(folder, "book.csv", "query,docid,ann,bob\nq,a,1,1\nq,b,,\nq,c,0,1\nq,d,,\n")
    code, err, rows = consensus(adjudge, book)
    assert (code, [row["document"] for row in rows]) == (0, ["a", "c"])
    assert "2 items without judgments left out (--with-unjudged keeps them)" in err
    assert len(consensus(adjudge, book, "--with-unjudged")[2]) == 4


def test_many_numbers_are_no_classes(adjudge: Run, shared_data: Path) -> None:
    more = shared_data / "more"
    ended = adjudge("consensus", more / "emotion.csv")
    assert "94 numeric grades from -100 to 100 are many for classes" in ended.err
    assert "a consensus reads them as numbers" in ended.err
    assert "--bin 5" in ended.err
    found = {row["item"]: float(row["label"]) for row in csv.DictReader(ended.out.splitlines())}
    truth = {
        row["question"]: float(row["truth"])
        for row in csv.DictReader((more / "emotion-truth.csv").read_text().splitlines())
    }
    apart = np.mean([abs(found[item] - value) for item, value in truth.items()])
    assert apart < 12.0  # the plain mean's is 12.02
    binned = adjudge("consensus", more / "emotion.csv", "--bin", 5, "-m", "majority-vote")
    assert "labels put into 5 grades: -80 < -40 < 0 < 40 < 80" in binned.err


def several(folder: Path, *files: str) -> list[Path]:
    return [written(folder, f"part{n}.csv", text) for n, text in enumerate(files)]


@pytest.mark.parametrize("manner", [(), ("--skip-bad-rows",)])
def test_several_files_are_reported_like_one(
    adjudge: Run, folder: Path, manner: tuple[str, ...]
) -> None:
    first, second = several(
        folder,
        "item,judge,label\na,x,relevant\na,y,relevant\nb,x,not\nb,y,not\n",
        "item,judge,label\na,z,Relevant\na,x,not\nb,z,not\n",
    )
    code, err, rows = consensus(adjudge, first, second, *manner)
    assert (code, {row["label"] for row in rows}) == (0, {"relevant", "not"}), err
    assert "'relevant' (2) and 'Relevant' (1) differ only in case" in err
    assert (
        "1 judgment repeats an item for the same judge; 1 pair of item and judge has different"
        in err
    )
