"""The section on people and models: present where they can be separated, and only there."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from adjudge import Judgments, MajorityVote
from adjudge.report import Results, gather, report_html
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


def test_the_section_is_the_audit(panel: Results) -> None:
    page = report_html(panel)
    text = section(page)
    for part in ("llm-judge-8b", "Verdicts:", "Next to people", "Numbers from their labels"):
        assert part in text
    assert 'href="#people-and-models"' in page
    assert panel.audit is not None
    assert panel.audit["llm-judge-8b"].alternative == "passed"


def test_without_models_there_is_no_section(fitted_page: str) -> None:
    assert section(fitted_page) == ""
