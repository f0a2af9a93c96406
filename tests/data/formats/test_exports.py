"""Which column is the label, the topic and the document."""

from __future__ import annotations

import pytest

from adjudge.data.formats.format import Options
from adjudge.data.formats.tables import choose_question, pair_columns
from adjudge.errors import BadData
from faults import fault_of


def test_the_only_question_needs_no_name() -> None:
    assert choose_question(["q", "q"], Options(), "f", "answer") == "q"


def test_no_question_is_an_error() -> None:
    with pytest.raises(BadData) as caught:
        choose_question([], Options(), "f.csv", "answer")
    assert fault_of(caught.value) == "f.csv: no-question"


def test_a_prefix_may_be_said() -> None:
    found = ["b", "a.b"]
    assert choose_question(found, Options(question="b"), "f", "answer") == "b"
    assert choose_question(found, Options(question="a.b"), "f", "answer") == "a.b"
    assert choose_question(found, Options(question="Answer.a.b"), "f", "answer") == "a.b"
    assert choose_question(found, Options(question="OUTPUT:b"), "f", "answer") == "b"


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["query", "docno"], {"topic": "query", "document": "docno"}),
        (["Topic_ID", "Doc ID", "url"], {"topic": "Topic_ID", "document": "Doc ID"}),
        (["query", "URL"], {"topic": "query", "document": "URL"}),
        (["image_url", "text"], {}),
        (["q"], {"topic": "q"}),
        ([], {}),
    ],
)
def test_inputs_are_topic_and_document_by_name_only(names: list[str], pair: dict[str, str]) -> None:
    assert pair_columns(names) == pair
