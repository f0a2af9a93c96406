"""Policy: settings checked."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from adjudge.collect.rules.policy import Policy, settings_by_part
from adjudge.collect.rules.settings import MIX
from adjudge.errors import BadSetting, UnknownName

AMOUNT = "an amount from 0 to 1,000,000, such as 0.20"


def test_a_policy_survives_json() -> None:
    policy = Policy(
        pay_per_page=Decimal("0.20"), training_mix={"a": 1.0}, channels=("open",),
        budget=Decimal("5.50"), most_judgments=9,
    )  # fmt: skip
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy
    assert policy.changed({"training_pairs": 10}).training_pairs == 10


def test_a_stored_mix_that_is_refused_now_is_the_default() -> None:
    stored = Policy(feedback=False).to_dict()
    for mix in ({"a": float("inf")}, {"a": 1e308, "b": 1e308}):
        assert Policy.from_stored({**stored, "training_mix": mix}) == Policy(feedback=False)


def test_every_setting_is_declared_with_its_meaning() -> None:
    named = [name for names in settings_by_part().values() for name in names]
    assert named == list(Policy().to_dict())
    for name, field in Policy.model_fields.items():
        assert field.title, name
        assert field.description, name


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("judgments_per_item", 0, "a whole number from 1 to 1,000"),
        ("training", 1, "true or false"),
        ("warn_below", 1.5, "a number from 0 to 1"),
        ("warn_below", float("nan"), "a number from 0 to 1"),
        ("block_below", 0.9, "at most warn_below, 0.7"),
        ("closing", "soon", "fixed or adaptive"),
        ("sure", 0.3, "a number from 0.5 to 1"),
        ("budget", "-1", AMOUNT),
        ("budget_judgments", 0, "a whole number from 1 to 1,000,000,000"),
        ("gold_runs_out", "x", "repeat, none or finish"),
        ("training_mix", "odd", MIX),
        ("training_mix", {"a": -1}, MIX),
        ("training_mix", {"a": float("inf")}, MIX),
        ("training_mix", {"a": 1e308, "b": 1e308}, MIX),
        ("training_mix", {"x" * 1_001: 1}, MIX),
        ("screening_mix", 1, MIX),
        ("lease_minutes", float("inf"), "a number from 0.1 to 43,200"),
        ("training_mix", {"a": True}, MIX),
        ("pay_per_page", True, AMOUNT),
        ("pay_per_page", "NaN", AMOUNT),
        ("channels", "open", "a list of open, invite, panel, api"),
        ("channels", ["door"], "a list of open, invite, panel, api"),
        ("consent", 3, "a text of at most 20,000 characters"),
        ("consent", "a\0", "a text without control characters"),
        ("code_failed", "x" * 201, "a text of at most 200 characters"),
    ],
)
def test_a_bad_value_is_refused(name: str, value: Any, right: str) -> None:
    with pytest.raises(BadSetting) as error:
        Policy.from_dict({name: value})
    assert (error.value.setting, error.value.expected) == (name, right)
    assert error.value.value is value


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"closing": "adaptive", "judgments_per_item": 1}, "least_judgments"),
        ({"closing": "adaptive", "judgments_by_arm": True}, "judgments_by_arm"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(BadSetting) as error:
        Policy().changed(settings)
    assert error.value.setting == name


@pytest.mark.parametrize("name", ["max_page", "self"])
def test_an_unknown_setting_is_refused(name: str) -> None:
    with pytest.raises(UnknownName) as error:
        Policy.from_dict({name: 3})
    assert (error.value.setting, error.value.value) == ("policy setting", name)
