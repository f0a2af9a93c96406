"""The page of the plan, in a browser without scripts, and over the API."""

from __future__ import annotations

import re
from decimal import Decimal

from adjudge.collect.consensus import planner
from adjudge.collect.consensus.planner import PlanRow, ProjectPlan
from sites import Site


def row(number: int, accuracy: float) -> PlanRow:
    return PlanRow(
        per_item=number, accuracy=accuracy, low=accuracy - 0.01, high=accuracy + 0.01,
        judgments=10 * number, golds=2 * number, pages=number, cost=f"{0.2 * number:.2f}",
    )  # fmt: skip


def test_a_plan_is_asked_for_shown_and_used(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(queries=8)
    here = f"/projects/{slug}/results/plan"
    ada.get(here)
    assert "It needs a pilot" in ada.words
    form = {"accuracy": "0.8", "pay_per_page": "0.25", "gold_share": "0.25"}
    ada.post(here, **form, expect=422)
    assert "a plan needs a pilot" in ada.words
    site.browser().join(slug).train(slug).answer(slug)
    for bad, words in (
        ({"accuracy": "x"}, "accuracy = 'x': expected a number"),
        ({"accuracy": "1"}, "accuracy = 1.0: expected a share"),
        ({"gold_share": "inf"}, "share of gold = 'inf': expected a number"),
        ({"pay_per_page": "-1"}, "“Pay per page” = '-1': expected an amount"),
    ):
        ada.post(here, **{**form, **bad}, expect=422)
        assert words in ada.words
    ada.post(f"{here}/use", expect=409)
    ada.get(here)
    ada.post(here, **form)
    ada.get(here)
    assert "A plan for an accuracy of 80% is being made in the background" in ada.words
    assert '<noscript><meta http-equiv="refresh"' in ada.text
    assert 'hx-trigger="every 2s"' in ada.text
    assert 'name="accuracy" value="0.8"' in ada.text
    asked = planner.read_asked(site.services, slug)
    assert asked is not None
    made = ProjectPlan(
        wish=asked.wish, made="2026-01-02 03:04", items=24, currency="USD", per_item=3,
        rows=tuple(row(n, 0.6 + 0.08 * n) for n in range(1, 5)), golds_a_judge=7, pass_mark=0.8,
        typical=0.9, guessing=0.5, golds_needed=12, golds_there=16, notes=("A note.",),
    )  # fmt: skip
    planner._keep(site.services, asked, made)
    ada.get(here)
    assert "http-equiv" not in ada.text
    assert "hx-get" not in ada.text.partition("<main")[2]
    for words in ("Plan for an accuracy of 80%", "Judgments per item 3", "Cost 0.60 USD",
                  "3 enough 0.840 0.830 to 0.850 30 6 3 0.60 USD", "A note.", "Gold 12",
                  "“Pay per page” from 0.20 to 0.25",
                  "“Other items” from 2 to 3",
                  "“Trusted judgments per item” from 2 to 3"):  # fmt: skip
        assert words in ada.words, words
    assert not re.search(r"\w_\w", ada.words), "no setting by its name in the code"
    assert "<svg" in ada.text
    ada.post(f"{here}/use")
    policy, _ = site.services.projects.get_policy(slug)
    assert (policy.judgments_per_item, policy.pay_per_page) == (3, Decimal("0.25"))
    assert policy.screening_share == 0.25
    ada.get(f"{here}?done=plan-used")
    assert "The policy follows this plan." in ada.words
