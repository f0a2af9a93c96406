from __future__ import annotations

from decimal import Decimal

import pytest

from adjudge.collect.rules.policy import Policy
from adjudge.collect.web._forms import Form
from adjudge.collect.web._policy_form import fields, settings
from adjudge.errors import BadSetting


def sent(policy: Policy, **changes: str) -> Form:
    """The form as a browser sends it back, with some fields changed."""
    data: dict[str, list[str]] = {}
    for field in fields(policy):
        if field.kind == "flag":
            if field.value:
                data[field.name] = ["yes"]
        elif field.kind == "several":
            data[field.name] = list(field.value)
        else:
            data[field.name] = [str(field.value)]
    for name, value in changes.items():
        data[name] = [value]
    return Form({name: values[0] for name, values in data.items() if values}, data)


def test_a_form_that_is_sent_back_unchanged_changes_nothing() -> None:
    for policy in (
        Policy(),
        Policy(closing="adaptive", most_judgments=9, budget=Decimal("2.50"), budget_judgments=7),
        Policy(max_pages=3, training_mix={"Good": 0.25, "Bad": 0.75}, training=False, trust="beta"),
    ):
        assert settings(sent(policy), policy) == {}


def test_changes_are_read_by_the_kind_of_the_setting() -> None:
    policy = Policy()
    form = sent(
        policy, judgments_per_item="3", warn_below="0.8", pay_per_page="0.35", max_pages="7",
        training_mix="Good: 0.5, Bad: 0.5", consent="Do you **agree**?", closing="adaptive",
        most_judgments="9", budget="2.50", budget_judgments="",
    )  # fmt: skip
    del form.fields["training"]  # type: ignore[attr-defined]
    changed = policy.changed(settings(form, policy))
    assert changed.judgments_per_item == 3
    assert changed.warn_below == 0.8
    assert changed.pay_per_page == Decimal("0.35")
    assert changed.max_pages == 7
    assert (changed.closing, changed.most_judgments) == ("adaptive", 9)
    assert (changed.budget, changed.budget_judgments) == (Decimal("2.50"), None)
    assert changed.training_mix == {"Good": 0.5, "Bad": 0.5}
    assert changed.consent == "Do you **agree**?"
    assert changed.training is False


@pytest.mark.parametrize(
    ("name", "text"),
    [("judgments_per_item", "many"), ("judgments_per_item", "2.5"), ("warn_below", ""),
     ("pay_per_page", "lots"), ("training_mix", "Good: x")],
)  # fmt: skip
def test_a_value_that_cannot_be_read_is_named(name: str, text: str) -> None:
    policy = Policy()
    with pytest.raises(BadSetting) as caught:
        policy.changed(settings(sent(policy, **{name: text}), policy))
    assert caught.value.setting == name
