"""What nobody should be given, given: one sentence that names the place, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

import adjudge
from adjudge import BadData, BadSetting
from commands import Run

TABLE = {"item": ["a", "b", "b"], "judge": ["x", "y", "x"], "label": [1, 0, 1]}


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


def test_text_instead_of_a_number_and_tables_to_predict() -> None:
    with pytest.raises(
        BadSetting,
        match=r"settings of dawid-skene = \"iterations='a'\": expected numbers and texts",
    ):
        adjudge.fit(TABLE, model="dawid-skene", iterations="a")
    fitted = adjudge.fit(TABLE, model="dawid-skene")
    assert len(fitted.predict({"item": ["n"], "judge": ["x"], "label": [1]}).choice) == 1
    with pytest.raises(BadData):
        fitted.predict({"item": ["n"], "judge": ["x"], "label": ["new"]})


def test_numbers_too_large_to_square() -> None:
    table = {"item": list("aabb"), "judge": list("xyxy"), "label": [1.5, 1e300, 2, -1e300]}
    with pytest.raises(BadData, match="the numbers are too far apart to be fitted"):
        adjudge.fit(table, model="continuous")
