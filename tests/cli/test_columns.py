"""What is read of a table: columns that are named or guessed, and what is said of guesses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from adjudge import Judgments
from adjudge.errors import ReadingWarning
from commands import Run
from servers import serving_files

ODD = "a;who;what;then;t\n1;x;good;ok;2020-01-01\n1;y;bad;ok;2020-01-02\n2;x;good;no;2020-01-03\n"
NAMED = {"item": "a", "judge": "who", "label": "what", "gold": "then", "time": "t"}


def looked(adjudge: Run, *arguments: object) -> dict[str, object]:
    ended = adjudge("look", *arguments, "--json")
    assert ended.code == 0, ended.err
    return dict(json.loads(ended.out))


def counts(about: dict[str, object]) -> tuple[object, ...]:
    return tuple(about[key] for key in ("judgments", "items", "judges", "labels"))


def test_columns_are_named(adjudge: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text(ODD.replace("ok", "good").replace("no\n", "bad\n"))
    given = [part for role in NAMED if role != "gold" for part in (f"--{role}", NAMED[role])]
    assert counts(looked(adjudge, "odd.csv", *given)) == (3, 2, 2, 2)
    ended = adjudge("consensus", "odd.csv", *given, "--gold", "then", "-m", "majority-vote")
    assert ended.code == 0, ended.err
    read = Judgments.read("odd.csv", columns={k: v for k, v in NAMED.items() if k != "gold"})
    assert (len(read), read.judges.to_pylist()) == (3, ["x", "y"])
    assert read.time is not None
    wrong = adjudge("look", "odd.csv", "--item", "nosuch", "--judge", "who", "--label", "what")
    assert "there is no column 'nosuch' for the item; the columns are a, who, what" in wrong.err


@pytest.mark.parametrize("query", ["Search query", "search_term", "keyword", "user query"])
def test_a_query_with_documents_is_their_topic(adjudge: Run, folder: Path, query: str) -> None:
    rows = [f"{q},p1,{j},{g}\n" for q, g in (("shoes", 1), ("lamp", 0)) for j in ("ann", "bob")]
    (folder / "s.csv").write_text(f"{query},product id,rater,relevance\n" + "".join(rows))
    about = looked(adjudge, "s.csv")
    assert counts(about) == (4, 2, 2, 2)
    assert dict(about["columns"])["topic"] == query  # type: ignore[call-overload]
    (folder / "g.csv").write_text(f"{query},product id,correct answer\nshoes,p1,1\nlamp,p1,0\n")
    assert looked(adjudge, "g.csv")["gold"] == 2


def test_documents_judged_again_may_want_their_topic(adjudge: Run, folder: Path) -> None:
    rows = "shoes,p1,ann,1\nlamp,p1,ann,0\n"
    (folder / "s.csv").write_text("asked,product id,rater,relevance\n" + rows)
    note = "documents were judged for several topics; --topic COLUMN names the column"
    assert note in str(looked(adjudge, "s.csv")["notes"])
    with pytest.warns(ReadingWarning, match='columns={"topic": NAME} names the column'):
        Judgments.read("s.csv")
    (folder / "s.csv").write_text("asked,item,rater,relevance\n" + rows)
    assert note not in str(looked(adjudge, "s.csv")["notes"])


def test_no_header_asks_where_columns_are_ambiguous(adjudge: Run, folder: Path) -> None:
    rows = "".join(f"a{n % 6},b{n // 6},{n % 2}\n" for n in range(36))
    (folder / "n.csv").write_text(rows)
    ended = adjudge("look", "n.csv")
    assert (ended.code, "--item 1 --judge 2 --label 3" in ended.err) == (2, True)
    named = ("--no-header", "--item", 1, "--judge", 2, "--label", 3)
    assert counts(looked(adjudge, "n.csv", *named)) == (36, 6, 6, 2)


def test_a_file_of_the_web(adjudge: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,x,1\na,y,0\nb,x,1\n")
    with serving_files(folder) as place:
        assert counts(looked(adjudge, f"{place}/j.csv")) == (3, 2, 2, 2)
        gone = adjudge("look", f"{place}/none.csv")
        assert (gone.code, "cannot be read" in gone.err) == (2, True)
        monkeypatch.setenv("ADJUDGE_FETCH_MB", "0")
        large = adjudge("look", f"{place}/j.csv")
        assert (large.code, "is larger than 0 MB" in large.err) == (2, True)


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
