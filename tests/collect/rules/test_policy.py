"""Policy: settings checked."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from adjudge.collect.rules.policy import Policy
from adjudge.errors import BadSetting, UnknownName

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_defaults_are_the_papers() -> None:
    policy = Policy()
    assert policy.pairs_per_page == 25
    assert policy.screening_share == 0.2
    assert (policy.training_pairs, policy.judgments_per_item, policy.trust) == (20, 5, "share")


def test_a_policy_survives_json() -> None:
    policy = Policy(
        pay_per_page=Decimal("0.20"), training_mix={"a": 1.0}, channels=("open",),
        budget=Decimal("5.50"), most_judgments=9,
    )  # fmt: skip
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy
    assert policy.changed({"training_pairs": 10}).training_pairs == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"judgments_per_item": 0},
            "judgments_per_item = 0: wanted a whole number from 1 to 1,000",
        ),
        ({"judgments_per_item": "5"}, "judgments_per_item = '5': wanted a whole number from 1 to"),
        ({"training": 1}, "training = 1: wanted true or false"),
        ({"warn_below": 1.5}, "warn_below = 1.5: wanted a number from 0 to 1"),
        ({"block_below": 0.9}, "block_below = 0.9: wanted at most warn_below, 0.7"),
        ({"closing": "soon"}, "closing = 'soon': wanted fixed or adaptive"),
        ({"sure": 0.3}, "sure = 0.3: wanted a number from 0.5 to 1"),
        (
            {"closing": "adaptive", "judgments_per_item": 1},
            "least_judgments = 2: wanted at most the most, 1",
        ),
        (
            {"closing": "adaptive", "judgments_by_arm": True},
            "judgments_by_arm = True: wanted false with adaptive closing",
        ),
        ({"most_judgments": 0}, "most_judgments = 0: wanted a whole number from 1 to 1,000"),
        ({"budget": "-1"}, "budget = '-1': wanted an amount from 0 to 1,000,000"),
        ({"budget_judgments": 0}, "budget_judgments = 0: wanted a whole number from 1 to 1,000,0"),
        ({"trust": "gut"}, "trust = 'gut': wanted share or beta"),
        ({"gold_runs_out": "x"}, "gold_runs_out = 'x': wanted repeat, none or finish"),
        ({"training_mix": "odd"}, "training_mix = 'odd': wanted any, uniform, or a share for each"),
        ({"training_mix": {"a": 0}}, "training_mix = {'a': 0}: wanted at least one share above 0"),
        ({"training_mix": {"a": -1}}, "training_mix of a = -1: wanted a share of at least 0"),
        ({"pay_per_page": "x"}, "pay_per_page = 'x': wanted an amount such as 0.20"),
        ({"pay_per_page": "-1"}, "pay_per_page = '-1': wanted an amount from 0 to 1,000,000"),
        ({"pay_per_page": "NaN"}, "pay_per_page = 'NaN': wanted an amount from 0 to 1,000,000"),
        ({"channels": "open"}, "channels = 'open': wanted a list of open, invite, panel, api"),
        ({"channels": ["door"]}, "there is no channel 'door'. Known: open, invite, panel, api"),
        ({"max_pages": 0}, "max_pages = 0: wanted a whole number from 1 to 1,000,000"),
        ({"lease_minutes": 0}, "lease_minutes = 0: wanted a number from 0.1 to 43,200"),
        ({"consent": 3}, "consent = 3: wanted a text"),
        ({"max_page": 3}, "there is no policy setting 'max_page'; did you mean 'max_pages'?"),
    ],
)
def test_bad_settings_are_told(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((BadSetting, UnknownName)) as error:
        Policy.from_dict(settings)
    assert str(error.value).startswith(message)


def test_every_setting_is_documented_with_its_default() -> None:
    page = (DOCS / "collect" / "how-it-works.md").read_text(encoding="utf-8")
    for field in dataclasses.fields(Policy):
        default = Policy().to_dict()[field.name]
        shown = json.dumps(default).strip('"')
        if default in (None, ""):
            shown = "none" if default is None else "(empty)"
        assert f"| `{field.name}` | `{shown}` |" in page, field.name
