"""The pages of gold by design and of suggestions, in a browser without scripts."""

from __future__ import annotations

import re

import pytest

from adjudge.collect.consensus import refit
from sites import Browser, Site


@pytest.fixture
def ada(site: Site) -> Browser:
    return site.set_up()


def judged(site: Site) -> str:
    """A project in which three judges judged everything, as it should be."""
    slug = site.open_project(queries=3, judgments_per_item=3, screening_golds=1, screening_pairs=3)
    for _ in range(3):
        judge = site.browser().join(slug).train(slug)
        while judge.is_judging:
            judge.answer(slug).go_on(slug)
    return slug


def test_gold_is_suggested_approved_and_declined(site: Site, ada: Browser) -> None:
    slug = judged(site)
    here = f"/projects/{slug}/settings/gold/suggestions"
    ada.get(here)
    assert "There is no consensus yet to suggest anything." in ada.words
    ada.post(f"{here}/fit")
    ada.get(f"{here}?done=asked")
    assert "suggestions appear here when it is ready" in ada.words
    assert '<noscript><meta http-equiv="refresh"' in ada.text
    refit._fit_one(site.services, slug, refit.DEFAULT)
    ada.get(here)
    assert "http-equiv" not in ada.text
    items = re.findall(r'name="item" value="([^"]+)"', ada.text)
    assert len(items) == 9
    assert all(item.startswith("q") for item in items), "no gold among them"
    right = {"Good": "good lamp", "Bad": "bad lamp"}
    for label, title in right.items():
        assert re.search(rf"A {title}, q\d d\d .*? Label {label} Probability 0.[789]", ada.words)
    judges = {row.judge for row in site.services.judges.get_all(slug)}
    first = ada.text.partition("<h3")[2].partition("<form")[0]
    assert set(re.findall(r'/judges/([^"]+)"', first)) == judges, "who gave the label"

    item, other = items[0], items[1]
    label = "Good" if f"A good lamp, {item.replace('/', ' ')}" in ada.words else "Bad"
    before = site.services.projects.get_progress(slug)
    ada.post(here, item=item, do="approve", role="both", reason="So.", expect=422)
    assert "expected at least one accepted label" in ada.words
    assert 'value="So."' in ada.text, "what was written is not lost"
    ada.post(here, item=item, do="approve", accepted=[label], role="queen", expect=422)
    ada.post(here, item=item, do="approve", accepted=[label], role="both", reason="It says so.")
    ada.get(f"{here}?done=approved")
    assert "The item is gold now" in ada.words
    gold = next(gold for gold in site.services.gold.get_all(slug) if gold.item == item)
    assert (gold.accepted, gold.role, gold.reason) == ((label,), "both", "It says so.")
    after = site.services.projects.get_progress(slug)
    assert after.items == before.items - 1
    approved = site.services.projects.get_log(slug, event="gold-approved")[0]
    assert (approved.actor, approved.figures["item"]) == ("ada", item)
    ada.post(here, item=other, do="decline")
    ada.get(here)
    left = re.findall(r'name="item" value="([^"]+)"', ada.text.partition("<details")[0])
    assert not {item, other} & set(left)
    assert "Declined: 1" in ada.words
    assert site.services.projects.get_log(slug, event="gold-declined")[0].figures == {"item": other}
    refit._fit_one(site.services, slug, refit.DEFAULT)
    ada.get(here)
    assert other not in re.findall(
        r'name="item" value="([^"]+)"', ada.text.partition("<details")[0]
    ), "nor after another fit"
    ada.post(here, item=other, do="again")
    ada.get(here)
    assert other in re.findall(r'name="item" value="([^"]+)"', ada.text)
    ada.post(here, item=item, do="decline", expect=422)
    assert "is gold already" in ada.words
    ada.post(here, item="nowhere", do="decline", expect=404)
    assert site.services.projects.audit(slug) == []


def test_a_judge_who_judged_an_item_is_not_screened_with_it(site: Site) -> None:
    slug = site.open_project(queries=8, screening_golds=2, judgments_per_item=3, golds=4)
    judge = site.browser().join(slug).train(slug)
    judge.answer(slug)
    table = site.services.exports.get_table(slug).to_pylist()
    met = [row["item"] for row in table if row["kind"] == "work" and not row["gold"]]
    for item in met:
        site.services.gold.approve(slug, item, accepted=["Good"], role="screening")
    unseen = {gold.item for gold in site.services.gold.get_all(slug)} - {
        row["item"] for row in table
    }
    judge.go_on(slug)
    judge.answer(slug)
    shown = [row["item"] for row in site.services.exports.get_table(slug).to_pylist()[len(table) :]]
    # Gold that she has not met comes first; what she judged as work comes back only after it.
    assert unseen <= set(shown) or not set(shown) & set(met)
    assert site.services.projects.audit(slug) == []
