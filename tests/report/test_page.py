from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from adjudge import (
    DawidSkene,
    Gold,
    HierarchicalConfusion,
    HierarchicalRelevance,
    Judgments,
    MajorityVote,
    Scale,
)
from adjudge.evaluation import cross_validate, evaluate
from adjudge.models.calibrated import with_calibration
from adjudge.models.model import Model
from adjudge.report import FIGURES, Provenance, Results, gather, report_html, write_report
from adjudge.report.words import certainty
from adjudge.simulation import Crowd, Population, demo

PROVENANCE = Provenance(
    command="adjudge report 'a b.csv'", files=(("a b.csv", "ab12"),), made="some day"
)


@pytest.fixture(scope="module")
def small() -> Results:
    """A sampled fit with everything that can be drawn, of few judges: each has a panel to draw."""
    made = Crowd(items=40, population=Population.parse("skilled:5"), scale=Scale.infer("01")).make()
    model = HierarchicalRelevance(chains=2, warmup=20, draws=20)
    results = gather(model.fit(made.judgments), gold=made.truth)
    lacking = [name for name, figure in FIGURES.items() if figure.lacks(results) is not None]
    assert lacking == ["topic-disagreement"]
    return replace(results, provenance=PROVENANCE)


@pytest.fixture(scope="module")
def page(small: Results) -> str:
    """The report of a sampled fit, and of where it comes from."""
    return report_html(small)


def test_the_policy_allows_this_script_and_style_and_nothing_else(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = policy[1].replace("&#39;", "'")
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(script) == len(style) == 1
    for kind, text in (("script", script[0]), ("style", style[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in allowed


def test_nothing_in_it_names_another_address(page: str) -> None:
    addresses = set(re.findall(r"""(?:https?:)?//[\w.-]+\.[a-z]+""", page))
    assert addresses <= {"http://www.w3.org"}  # the name of SVG, which nobody asks for


def test_the_same_results_make_the_same_page(small: Results, page: str) -> None:
    assert report_html(small) == page


def test_it_says_how_to_have_it_again(page: str) -> None:
    assert "adjudge report &#39;a b.csv&#39;" in page
    assert "<code>ab12</code>" in page
    assert "<dt>seed</dt><dd>0</dd>" in page
    assert re.search(r"Made some day with adjudge \S+, Python [\d.]+", page)


def test_without_gold_a_note_replaces_the_scores(fitted_page: str) -> None:
    assert "Against gold" not in fitted_page
    assert "no gold: gold labels add accuracy" in fitted_page
    assert 'id="figure-calibration"' not in fitted_page


def test_labels_guided_by_gold_are_scored_by_a_fit_without_it(tmp_path: Path) -> None:
    made = demo(3)
    guided, blind = DawidSkene().fit(made.judgments, made.gold), DawidSkene().fit(made.judgments)
    results = gather(guided, gold=made.gold, blind=blind)
    assert results.evaluation is not None
    assert results.evaluation["accuracy"].value == evaluate(blind, made.gold)["accuracy"].value
    assert gather(guided, gold=made.gold).evaluation is None
    write_report(results, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "a second fit without gold" in page


def test_labels_calibrated_by_gold_are_scored_across_its_folds() -> None:
    """The probabilities that are scored are of the kind that is shown, not of a fit without."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    seen = np.where(rng.random(400) < 0.3, 1 - truth, truth)  # all are misled alike
    rows = [
        (f"i{n}", f"j{j}", int(seen[n] if rng.random() < 0.95 else 1 - seen[n]))
        for n in range(400)
        for j in range(12)
    ]
    table = Judgments.from_table(
        dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True))
    )
    gold = Gold.of({f"i{n}": int(truth[n]) for n in range(200)})
    model = with_calibration(DawidSkene())
    with_gold, blind = model.fit(table, gold), DawidSkene().fit(table)
    results = gather(with_gold, gold=gold, blind=blind, crossed=cross_validate(model, table, gold))
    found, before = results.evaluation, evaluate(blind, gold)
    assert found is not None
    assert not found.in_fit
    assert float(before["log_loss"]) > 0.9
    assert float(found["log_loss"]) < 0.7  # H(.3) = .61
    unknown = with_gold.known < 0
    assert found.posterior is not None
    shown, scored = with_gold.probability[unknown].mean(), found.posterior.max(axis=1).mean()
    assert scored == pytest.approx(shown, abs=0.03)
    answer = " ".join(certainty(results))
    assert "each by a fit without it (5 folds of the gold)" in answer
    assert "too sure" not in answer
    page = report_html(results)
    assert "split into 5 folds" in page
    assert "a second fit without gold" not in page


ODD = {
    "one judgment": {"item": ["a"], "judge": ["x"], "label": ["1"]},
    "one label": {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": ["1", "1", "1"]},
    "many labels": {
        "item": [f"i{n % 7}" for n in range(60)],
        "judge": [f"j{n % 5}" for n in range(60)],
        "label": [f"c{n % 30}" for n in range(60)],
    },
}


@pytest.mark.parametrize(
    ("chosen", "odd"),
    [
        (MajorityVote(), "one judgment"),
        (DawidSkene(), "many labels"),
        (HierarchicalConfusion(chains=2, warmup=5, draws=3), "one label"),
    ],
)
def test_odd_data_have_a_page_too(chosen: Model, odd: str) -> None:
    table = ODD[odd]
    scale = Scale.infer(set(table["label"]))  # thirty in sixty rows would be taken for ids
    judgments = Judgments.from_table(pa.table(table), scale=scale)
    judgments = judgments.with_items(pa.array(["nobody judged it"]))
    consensus = chosen.fit(judgments)
    assert "no judgment at all" in report_html(gather(consensus))


def section(page: str) -> str:
    found = re.search(r'<section id="people-and-models".*?</section>', page, re.DOTALL)
    return "" if found is None else re.sub(r"<[^>]+>", " ", found[0])


def test_the_section_on_llm_judges_is_the_audit() -> None:
    made = demo(3)
    table = made.judgments.to_table()
    kinds = ["model" if name.startswith("llm") else "person" for name in table["judge"].to_pylist()]
    judgments = Judgments.from_table(table.append_column("kind", pa.array(kinds)))
    panel = gather(MajorityVote().fit(judgments), gold=made.gold)
    page = report_html(panel)
    text = section(page)
    for part in ("llm-judge-8b", "Verdicts:", "Next to people", "Numbers from their labels"):
        assert part in text
    assert 'href="#people-and-models"' in page
    assert panel.audit is not None
    assert panel.audit["llm-judge-8b"].alternative == "passed"


def test_without_models_there_is_no_section(fitted_page: str) -> None:
    assert section(fitted_page) == ""
