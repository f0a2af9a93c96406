"""Plain judgments and gold come back as they were, whatever their ids hold."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.formats import Content, read, write
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from reading import gold_in, judgments_in
from sizes import sized

_MOST = min(settings.default.max_examples, sized(12, full=400))  # each writes and reads a file
_PIECE = st.text(
    st.one_of(
        st.sampled_from("\"',;\t\n\r =+-@\\/\u2028\ufeffé漢🙂"),
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
    ),
    max_size=5,
)
_ID = st.builds(lambda before, after: f"{before}x{after}", _PIECE, _PIECE)


def _seen(text: str) -> str:
    """A label as readers take it: marks that nobody sees are left out, letters put together."""
    shown = re.sub("[\u200b-\u200f\u2060\ufeff\u00ad]", "", text)
    return unicodedata.normalize("NFC", shown).strip()


_LABEL = _ID.map(_seen)
_TIME = st.integers(0, 4_000_000_000_000_000).map(lambda micro: micro / 1e6)
_SECONDS = st.floats(0, 1e9, allow_subnormal=False)
_ROW = st.tuples(_ID, _ID, _LABEL, _TIME, st.one_of(st.none(), _SECONDS))
_SUFFIX = {"csv": ".csv", "tsv": ".tsv", "jsonl": ".jsonl", "parquet": ".parquet"}


def _round_trip(content: Content, folder: Path, name: str) -> Content:
    path = folder / f"judgments{_SUFFIX[name]}"
    write(content, path, format=name)
    return read(path)


@pytest.mark.parametrize("name", sorted(_SUFFIX))
@settings(deadline=None, max_examples=_MOST)
@given(rows=st.lists(_ROW, min_size=1, max_size=8), data=st.data())
def test_judgments_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: list[Any], data: st.DataObject
) -> None:
    item, judge, label, time, seconds = zip(*rows, strict=True)
    table = pa.table(
        {
            "item": item,
            "judge": judge,
            "label": label,
            "time": pa.array(time, pa.float64()),
            "seconds": pa.array([1.5, *seconds[1:]], pa.float64()),
        }
    )
    judgments = Judgments.from_table(table)
    # ids that differ in blanks around them alone are one item
    gold_items = data.draw(st.lists(st.sampled_from(judgments.items.to_pylist()), unique=True))
    gold = Gold.of(dict.fromkeys(gold_items, label[0])) if gold_items else None
    content = Content(judgments=judgments, gold=gold)
    again = _round_trip(content, tmp_path_factory.mktemp("plain"), name)
    assert judgments_in(again).to_table().to_pylist() == judgments.to_table().to_pylist()
    assert judgments_in(again).scale == judgments.scale
    before = {} if gold is None else dict(zip(gold.items.to_pylist(), gold.texts(), strict=True))
    now = again.gold
    after = {} if now is None else dict(zip(now.items.to_pylist(), now.texts(), strict=True))
    assert after == before


@pytest.mark.parametrize("name", sorted(_SUFFIX))
@settings(deadline=None, max_examples=_MOST * 3 // 4)
@given(rows=st.lists(st.tuples(_ID, _ID, _ID, st.integers(0, 3)), min_size=1, max_size=8))
def test_topics_and_documents_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: list[Any]
) -> None:
    topic, document, judge, label = zip(*rows, strict=True)
    topic = tuple(text.replace("/", "|") for text in topic)  # else two pairs may be one item
    table = pa.table({"topic": topic, "document": document, "judge": judge, "label": label})
    judgments = Judgments.from_table(table)
    again = _round_trip(Content(judgments=judgments), tmp_path_factory.mktemp("plain"), name)
    assert judgments_in(again).to_table().to_pylist() == judgments.to_table().to_pylist()


@pytest.mark.parametrize("name", sorted(_SUFFIX))
@settings(deadline=None, max_examples=_MOST * 3 // 4)
@given(truths=st.dictionaries(_ID, _LABEL, min_size=1, max_size=8))
def test_gold_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, truths: dict[str, object]
) -> None:
    again = _round_trip(Content(gold=Gold.of(truths)), tmp_path_factory.mktemp("plain"), name)
    assert (
        dict(zip(gold_in(again).items.to_pylist(), gold_in(again).texts(), strict=True)) == truths
    )


def test_the_csv_that_is_written(tmp_path: Path) -> None:
    table = pa.table(
        {"topic": ["7", "7"], "document": ["a,b", "=c"], "judge": ["w", 'v"'], "label": ["1", "0"]}
    )
    content = Content(judgments=Judgments.from_table(table), gold=Gold.of({"7/=c": 1}))
    write(content, tmp_path / "out.csv", format="csv")
    assert (tmp_path / "out.csv").read_text() == (
        'topic,document,judge,label,gold\n7,"a,b",w,1,\n7,\'=c,"v""",0,1\n'
    )
