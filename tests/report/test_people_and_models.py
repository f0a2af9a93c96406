"""The section on people and models: there where they are told apart, and only there."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from adjudge import Judgments, MajorityVote
from adjudge.report import Results, gather, report_html
from adjudge.report.words import findings
from adjudge.simulation import demo


@pytest.fixture(scope="module")
def panel() -> Results:
    made = demo(3)
    table = made.judgments.to_table()
    kinds = ["model" if name.startswith("llm") else "person" for name in table["judge"].to_pylist()]
    judgments = Judgments.from_table(table.append_column("kind", pa.array(kinds)))
    return gather(MajorityVote().fit(judgments), gold=made.gold)


def section(page: str) -> str:
    found = re.search(r'<section id="people-and-models".*?</section>', page, re.DOTALL)
    return "" if found is None else re.sub(r"<[^>]+>", " ", found[0])


def test_everything_is_in_the_section(panel: Results) -> None:
    page = report_html(panel)
    text = section(page)
    for part in (
        "people with people",
        "people with models",
        "How often each is right on gold",
        "What gold bought",
        "without gold",
        "May a model replace people?",
        "llm-judge-8b",
    ):
        assert part in text
    assert 'href="#people-and-models"' in page
    assert "Estimates" in text
    assert "The share of relevant items (1, 2) is 0." in text
    assert "The mean grade is 0." in text
    assert "more labels for an interval as narrow" in text
    assert "gold has honeypots, which were chosen and not drawn" in text


def test_the_summary_says_it_too(panel: Results) -> None:
    told = {finding.question: finding for finding in findings(panel)}["People and models?"]
    assert told.answer[0] == "39 people and 1 model judged."
    assert told.answer[1].startswith("May replace people, by the alternative annotator test")


def test_estimates_have_their_place(panel: Results) -> None:
    text = section(report_html(replace(panel, estimates=("The share of <2> is 0.3.",))))
    assert "Estimates" in text
    assert "The share of &lt;2&gt; is 0.3." in text


def test_without_estimates_there_is_no_part_for_them(panel: Results) -> None:
    assert "Estimates" not in section(report_html(replace(panel, estimates=())))


def test_without_models_there_is_no_section(fitted: Results, fitted_page: str) -> None:
    assert section(fitted_page) == ""
    assert "People and models?" not in {finding.question for finding in findings(fitted)}
