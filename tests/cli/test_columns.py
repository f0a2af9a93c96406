"""Columns named by a person, tables of odd shapes, folders, patterns and addresses."""

from __future__ import annotations

import json
from pathlib import Path

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
