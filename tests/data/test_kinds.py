"""Declared kinds of judges: people and LLMs."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge
from adjudge import BadSetting, Judgments
from adjudge.models.dependence import kind_balance, measure_dependence
from adjudge.simulation import demo


def of_kind(table: Judgments, kind: str) -> Judgments:
    return table.with_kind_rule(".", kind)


def test_a_rule_declares_the_judges_that_it_finds() -> None:
    table = demo(3).judgments
    mixed = table.with_kind_rule("^judge-00", "person").with_kind_rule("^llm", "LLM")
    names = table.judges.to_pylist()
    assert mixed.kind is not None
    assert mixed.kind.tolist() == [
        0 if name.startswith("judge-00") else 1 if name.startswith("llm") else -1 for name in names
    ]
    assert table.kind is None


@pytest.mark.parametrize(
    ("pattern", "kind", "setting"),
    [("(", "model", "kind"), ("nobody", "model", "kind"), (".", "alien", "kind")],
)
def test_rules_that_cannot_be(pattern: str, kind: str, setting: str) -> None:
    with pytest.raises(BadSetting) as caught:
        demo(3).judgments.with_kind_rule(pattern, kind)
    assert caught.value.setting == setting


def test_llm_judges_are_trusted_less_than_people() -> None:
    """The same labels: LLMs are assumed to err together, so labels and judges are less sure."""
    made = demo(3)
    unknown = adjudge.fit(made.judgments)
    people, models = (adjudge.fit(of_kind(made.judgments, kind)) for kind in ("person", "model"))
    assert models.probability.mean() < unknown.probability.mean() < people.probability.mean()
    accuracy = [
        np.mean(fitted.judges["accuracy"].to_pylist()) for fitted in (models, unknown, people)
    ]
    assert accuracy == sorted(accuracy)
    dependence = [measure_dependence(f.judgments, None, f.families) for f in (people, models)]
    assert dependence[0].correlation < dependence[1].correlation
    assert any("declared:" in note for note in models.notes)
    assert not any("declared:" in note for note in unknown.notes)


def test_balance_counts_judgments() -> None:
    rows = {"item": ["a", "b", "c", "d"], "judge": ["x", "x", "x", "gpt"], "label": [0, 1, 0, 1]}
    table = Judgments.from_table(rows)
    assert kind_balance(table) == 0.0
    assert kind_balance(table.with_kind_rule("gpt", "model")) == 0.25
    both = table.with_kind_rule("gpt", "model").with_kind_rule("x", "person")
    assert kind_balance(both) == -0.5
