"""The pages of items, and the report in the app."""

from __future__ import annotations

import re

import pytest

from adjudge.collect.consensus import refit
from adjudge.collect.web._pages import bar_ends
from sites import Browser, Site


def judged(site: Site) -> tuple[Browser, str]:
    requester, slug = site.set_up(), site.open_project(training=False, gold_before_closing=False)
    site.browser().join(slug).answer(slug)
    site.browser().join(slug).answer(slug, wrong=True)
    return requester, slug


def first_disputed(site: Site, slug: str) -> str:
    return site.services.items.get_all(slug, which="disputed")[0][0].item


def test_items_are_found_and_decided(site: Site) -> None:
    requester, slug = judged(site)
    item = first_disputed(site, slug)
    requester.get(f"/projects/{slug}/items?filter=disputed&sort=newest")
    assert f"item={item.replace('/', '%2F')}" in requester.text
    requester.get(f"/projects/{slug}/items?search=no+such+thing")
    assert "No item matches" in requester.words
    requester.get(f"/projects/{slug}/item?item={item}")
    assert "Good" in requester.words
    assert "trusted" in requester.words
    act = {"item": item}
    requester.post(f"/projects/{slug}/item", **act, do="adjudicate", expect=422)
    assert "label is missing" in requester.words
    requester.post(
        f"/projects/{slug}/item",
        **act,
        do="adjudicate",
        label="Bad",
        reason="<b>",
        **{"as-gold": "yes"},
    )
    requester.get(f"/projects/{slug}/item?item={item}&done=adjudicated")
    assert "the fit takes it for gold" in requester.words
    assert "&lt;b&gt;" in requester.text
    for do, state, more in (
        ("reopen", "closed", {}), ("more", "open", {"more": "1"}), ("skip", "skipped", {}),
        ("gold", "skipped", {"accepted": "Bad"}),
    ):  # fmt: skip
        requester.post(f"/projects/{slug}/item", **act, do=do, **more)
        found = site.services.items.get(slug, item)
        assert found.state == state, do
    assert found.gold
    requester.post(f"/projects/{slug}/item", **act, do="skip", expect=422)
    assert "edit the gold instead" in requester.words
    requester.get(f"/projects/{slug}/results/disagreements")
    requester.get(f"/projects/{slug}/item?item=nothing", expect=404)


def test_the_report_opens_in_the_app(site: Site) -> None:
    requester, slug = judged(site)
    requester.get(f"/projects/{slug}/results/report?model=majority-vote")
    assert "No report of majority-vote yet" in requester.words
    item = first_disputed(site, slug)
    site.services.items.adjudicate(slug, item, "Bad")
    refit._fit_one(site.services, slug, "majority-vote", with_report=True)
    requester.get(f"/projects/{slug}/results?model=majority-vote")
    assert "Open the report" in requester.words
    answer = requester.get(f"/projects/{slug}/results/report?model=majority-vote")
    assert "<svg" in answer.text
    shown = re.sub(r"<[^>]+>", " ", answer.text)
    assert re.search(r"\s16\s+gold items", shown), "not by what was adjudicated: that was disputed"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-scripts" in policy
    assert "unsafe" not in policy
    assert "script-src 'sha256-" in policy


@pytest.mark.parametrize(
    ("counts", "ends"),
    [
        ({"Good": 3}, []),
        ({"Good": 1, "Bad": 3}, [("Good", 25)]),
        ({"Good": 1, "Fair": 1, "Bad": 1}, [("Fair", 67), ("Good", 33)]),
    ],
)
def test_longer_parts_of_a_bar_lie_below_shorter_ones(
    counts: dict[str, int], ends: list[tuple[str, int]]
) -> None:
    assert bar_ends(counts) == ends
