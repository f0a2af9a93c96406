"""adjudge look: every real export outside the project, by its counts."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Run


# Of each file: kind, judgments, items, judges, labels; counts are those of the files' own list.
def test_an_export_without_answers_is_asked_about(adjudge: Run, shared_data: Path) -> None:
    ended = adjudge("look", shared_data / "files" / "label-studio-export.csv")
    assert ended.code == 2
    assert "which column holds the answers is not clear" in ended.err
    assert "--label COLUMN" in ended.err


def test_unjudged_pairs_are_counted(adjudge: Run, shared_data: Path) -> None:
    book = shared_data / "files" / "quepid-book.json.zip"
    about = json.loads(adjudge("look", book, "--json").out)
    assert (about["judged_items"], about["unjudged_items"]) == (1358, 1062)
    assert about["notes"] == ["22 judgments left out: unrateable"]
    assert about["next"] == f"adjudge consensus {book} -o labels.csv"


def test_rows_without_a_label_are_listed(adjudge: Run, folder: Path) -> None:
    (folder / "j.csv").write_text("item,judge,label\na,x,1\na,y,\nb,x,0\nb,y,0\n")
    about = json.loads(adjudge("look", "j.csv", "--json").out)
    missing = "j.csv, line 3, column label: there is no label; expected one of 0 < 1"
    assert (about["judgments"], about["bad_rows"], about["notes"]) == (3, 1, [missing])
    assert about["next"] == "adjudge consensus j.csv --skip-bad-rows -o labels.csv"
    assert adjudge(*about["next"].split()[1:]).code == 0
    ended = adjudge("consensus", "j.csv")
    assert (ended.code, ended.err) == (
        2,
        f"error: {missing}; --skip-bad-rows leaves out such rows\n",
    )


def test_labels_that_look_ordered_are_reported_with_the_option(adjudge: Run, folder: Path) -> None:
    labels = ("bad", "fair", "good", "excellent", "perfect")
    rows = [f"i{n},j{j},{labels[(n + j) % 5]}" for n in range(5) for j in range(3)]
    (folder / "rated.csv").write_text("\n".join(["item,judge,label", *rows]) + "\n")
    hint = "look ordered and are taken without an order; --labels"
    order = "bad<fair<good<excellent<perfect"
    result = adjudge("look", "rated.csv", "--json").json
    assert any(note.endswith(f"{hint} '{order}' names the scale") for note in result["notes"])
    assert result["ordinal"] is False
    assert f"{hint} '{order}' names the scale\n" in adjudge("consensus", "rated.csv").err
    said = adjudge("consensus", "rated.csv", "--labels", order)
    assert "look ordered" not in said.err
    assert "labels bad < fair < good < excellent < perfect" in said.err
