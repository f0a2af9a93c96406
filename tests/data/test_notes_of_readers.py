"""What readers leave out or guess: warned of once, and kept with the data."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from adjudge import fit
from adjudge.cli._endings import advise_with_flags
from adjudge.data.comparisons import Comparisons
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.errors import BadData, Note, ReadingWarning, Remedy, name_columns, remedies_of

FILES = {
    Judgments: "item,judge,label\na,x,1\na,y,\nb,x,0\n",
    ModelAnswers: "item,judge,label,cost\na,x,1,.1\na,y,,.1\nb,x,0,.1\n",
    Comparisons: "left,right,label,judge\na,b,left,x\na,b,,y\nb,c,right,x\n",
    Gold: "item,gold\na,1\n,0\nb,0\n",
}


@pytest.mark.parametrize("kind", FILES)
def test_rows_that_were_skipped_are_warned_of_and_kept(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "some.csv"
    path.write_text(FILES[kind])
    with pytest.warns(ReadingWarning, match="1 bad row left out, at some.csv, line 3") as warned:
        found = kind.read(path, skip_bad=True)
    assert [Path(one.filename).name for one in warned] == ["test_notes_of_readers.py"]
    assert len(found.notes) == 1
    assert found.notes[0] in str(warned[0].message)


def test_several_files_report_what_each_left_out(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(FILES[ModelAnswers].replace("x", name))
    with pytest.warns(ReadingWarning, match="2 bad rows left out") as warned:
        answers = ModelAnswers.read([tmp_path / "a.csv", tmp_path / "b.csv"], skip_bad=True)
    assert "a.csv, line 3" in str(warned[0].message)
    assert "b.csv, line 3" in str(warned[0].message)
    assert (len(answers.judgments), len(answers.bad)) == (4, 2)
    (tmp_path / "c.csv").write_text(FILES[Comparisons])
    (tmp_path / "d.csv").write_text(FILES[Comparisons])
    with pytest.warns(ReadingWarning) as warned:
        pairs = Comparisons.read(tmp_path / "c.csv", tmp_path / "d.csv", skip_bad=True)
    assert len(warned) == len(pairs.notes) == 2


def test_settings_are_said_to_be_those_of_the_function_that_takes_them(tmp_path: Path) -> None:
    """``fit`` takes no ``skip_bad``: what reads for it does."""
    path = tmp_path / "some.csv"
    path.write_text(FILES[Judgments])
    table = pd.read_csv(path)
    for given, reader in ((path, "Judgments.read"), (table, "Judgments.from_table")):
        with pytest.raises(BadData) as refused:
            fit(given)
        assert refused.value.code == "missing-label"
        assert refused.value.remedies == (Remedy("skip-bad-rows"),)
        assert refused.value.__notes__ == [f"These are settings of {reader}."]
        assert str(refused.value).endswith("; skip_bad=True leaves out such rows")


REMEDIES = [
    (name_columns("item"), 'columns={"item": NAME}', "--item COLUMN"),
    (name_columns(label="my label"), 'columns={"label": "my label"}', "--label 'my label'"),
    (Remedy("labels", "a<b"), "scale=Scale.parse('a<b')", "--labels 'a<b'"),
    (Remedy("labels"), "scale=", "--labels"),
    (Remedy("encoding", "latin-1"), "encoding='latin-1'", "--encoding latin-1"),
    (Remedy("drop-label", ("-1",)), "drop_labels=['-1']", "--drop-label -1"),
    (Remedy("relevant", "1,2"), "Scale.with_relevant(['1', '2'])", "--relevant 1,2"),
    (Remedy("bin", 5), "Judgments.in_bins(5)", "--bin 5"),
    (Remedy("header", False), "header=False", "--no-header"),
    (Remedy("question"), "question=NAME", "--question NAME"),
    (Remedy("format"), "format=NAME", "--format NAME"),
    (Remedy("skip-bad-rows"), "skip_bad=True", "--skip-bad-rows"),
]


@pytest.mark.parametrize(("remedy", "python", "flag"), REMEDIES)
def test_each_front_end_has_its_own_words_for_a_remedy(
    remedy: Remedy, python: str, flag: str
) -> None:
    error = BadData("is odd", source="a.csv", code="odd", remedies=[remedy])
    assert (error.code, error.sentence) == ("odd", "a.csv: is odd")
    assert str(error) == f"a.csv: is odd; {python} {remedy.effect}"
    note = pickle.loads(pickle.dumps(Note("is odd", [remedy])))  # as workers send it
    assert remedies_of(note) == (remedy,)
    assert advise_with_flags(note) == f"is odd; {flag} {remedy.effect}"
