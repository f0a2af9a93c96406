"""A requester sees what adaptive closing saves, and what is left of the budget."""

from __future__ import annotations

import re
from html import unescape

from adjudge.collect.consensus import refit
from sites import Site


def test_savings_and_budget_are_shown_to_who_pays(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(
        queries=6, closing="adaptive", judgments_per_item=5, screening=False, training=False,
        budget="1.20", sure=0.8,
    )  # fmt: skip
    overview = ada.get(f"/projects/{slug}").text
    assert "Adaptive closing" not in overview, "nothing is closed yet"
    for _ in range(2):
        judge = site.browser().join(slug)
        for _ in range(3):
            judge.answer(slug).go_on(slug)
    progress = site.services.projects.get_progress(slug)
    assert progress.savings is not None
    assert progress.budget is not None
    assert progress.budget.spent
    refit._fit_one(site.services, slug, refit.DEFAULT)
    overview = ada.get(f"/projects/{slug}").text
    shown = " ".join(unescape(re.sub(r"<[^>]+>", " ", overview)).split())
    assert "The budget is spent, or in judges' hands" in shown
    assert "Budget 1.20 USD 1.20 USD earned, 0.00 USD in judges' hands" in shown
    assert "Judgments per closed item" in shown
    assert re.search(r"Saved so far \d+% \d+ judgments, \d\.\d\d USD", shown)
    assert "From the fit of " in shown
    late = site.browser().join(slug)
    assert "budget of this project was spent" in late.get(f"/j/{slug}").text
