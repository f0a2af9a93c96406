"""Gold that is wrong, arms, the plan and suggested gold, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from adjudge.collect.consensus import refit
from sites import LABELS, Site, served
from visitors import Visitors, as_logged_in, begin, check, follow, judge, train

pytestmark = pytest.mark.slow


def requester(site: Site, visitors: Visitors) -> Page:
    """A page of a requester who has logged in."""
    site.set_up()
    return as_logged_in(visitors, site)


def test_a_contest_leads_to_an_edit_which_unblocks_and_informs_the_judge(
    site: Site, visitors: Visitors
) -> None:
    slug = site.open_project(queries=12, screening_golds=2, warn_below=0.1, block_below=0.05)
    for gold in site.services.gold.get_all(slug):
        if gold.role == "screening":  # wrong, all of it
            (other,) = set(LABELS) - set(gold.accepted)
            site.services.gold.edit(slug, gold.item, accepted=[other])
    page = visitors.come()
    begin(page, site, slug)
    train(page)
    page.get_by_role("link", name="Go on").press("Enter")
    judge(page)
    page.get_by_text("I disagree").first.press("Enter")
    page.get_by_label("Why is your answer right?").first.fill("I saw it shine, and it is lovely.")
    page.get_by_role("button", name="Send").first.press("Enter")
    expect(page.get_by_text("You disagreed.").first).to_be_visible()
    page.get_by_role("link", name="Go on").press("Enter")
    page.get_by_role("button", name="I have read them, go on").press("Enter")
    judge(page)
    page.get_by_role("link", name="See how it ended").press("Enter")
    expect(page.get_by_role("heading", name="Your work here has ended")).to_be_visible()
    assert site.services.judges.get_all(slug)[0].stage == "blocked"
    assert site.services.projects.get_progress(slug).trusted == 0

    ada = requester(site, visitors)
    ada.goto(f"{site.url}/projects/{slug}/settings/gold")
    contest = site.services.gold.get_contests(slug)[0]
    expect(ada.get_by_text("I saw it shine, and it is lovely.")).to_be_visible()
    first = ada.locator("table tbody tr").first
    expect(first).to_contain_text(f"best judges: {contest.given}")
    follow(ada.get_by_role("link", name="change the gold"))
    expect(ada.get_by_text("I saw it shine, and it is lovely.")).to_be_visible()
    ada.get_by_label(contest.accepted[0], exact=True).uncheck()
    ada.get_by_label(contest.given, exact=True).check()
    follow(ada.get_by_role("button", name="Change, and grade every answer again"))
    expect(ada.get_by_text("Every answer to it was graded again")).to_be_visible()
    expect(ada.get_by_role("heading", name="Judges disagree")).to_have_count(0)
    assert site.services.judges.get_all(slug)[0].stage == "working"
    before = site.services.projects.get_progress(slug).trusted
    assert before > 0

    page.goto(f"{site.url}/j/{slug}")
    expect(
        page.get_by_text("A known answer was corrected: your work counts again.")
    ).to_be_visible()
    expect(page.get_by_text("You were right to disagree.")).to_be_visible()
    check(page, "unblocked")
    judge(page)
    expect(page.get_by_role("link", name="Go on")).to_be_visible()
    assert site.services.projects.get_progress(slug).trusted > before
    assert site.services.projects.audit(slug) == []


def test_arms_are_reported_gold_is_suggested_and_a_plan_is_made_and_used(
    tmp_path: Path, visitors: Visitors
) -> None:
    with served(tmp_path) as site:
        ada, slug = report_arms(site, visitors)
        suggest(site, ada, slug)
    # Had it a background from the beginning, it would have fitted again and again while judges
    # work, each time in a process that takes seconds to start; the plan is made in one.
    with served(tmp_path, refit_seconds=0.5) as site:
        make_plan(site, ada, slug)


def report_arms(site: Site, visitors: Visitors) -> tuple[Page, str]:
    """A project with arms, their report, and its requester."""
    slug = site.open_project(queries=8, screening_golds=2, least_golds=50, judgments_per_item=4)
    ada = requester(site, visitors)
    ada.goto(f"{site.url}/projects/{slug}/settings/experiments")
    ada.get_by_text("Set the experiments").first.click()
    ada.get_by_label("Preset").select_option("feedback-or-none")
    ada.get_by_role("button", name="Use the preset").click()
    expect(ada.get_by_text("The experiments are set")).to_be_visible()
    for number in range(4):
        person = site.browser().join(slug).train(slug)
        for _ in range(4):
            if person.is_judging:
                person.answer(slug, wrong=number == 3).go_on(slug)
    ada.goto(f"{site.url}/projects/{slug}/settings/experiments")
    funnel = ada.get_by_role("region", name="From arriving to finishing")
    for arm in ("feedback", "no-feedback"):
        expect(funnel.get_by_role("row", name=arm, exact=False).first).to_be_visible()
    for table in ("Judges, against", "Majority vote, against"):
        region = ada.get_by_role("region", name=table, exact=False)
        for measure in ("Accuracy", "Precision Good", "Recall Bad"):
            expect(region.get_by_role("rowheader", name=measure)).to_be_visible()
        expect(region.get_by_text(" to ").first).to_be_visible()  # intervals
    chart = ada.get_by_role("img", name="Accuracy of judges and of their majority vote")
    expect(chart).to_be_visible()
    assert chart.locator("circle").count() == 2
    return ada, slug


def suggest(site: Site, ada: Page, slug: str) -> None:
    """From judgments to gold that is suggested."""
    ada.goto(f"{site.url}/projects/{slug}/settings/gold/suggestions")
    follow(ada.get_by_role("button", name="Fit the consensus"))
    expect(ada.get_by_text("The consensus is being fitted")).to_be_visible()
    refit._fit_one(site.services, slug, refit.DEFAULT)  # as the background does: test_refit
    expect(ada.get_by_role("button", name="Make it gold").first).to_be_visible()
    # While a fit is waited for, the list is replaced, and with it what is being typed.
    expect(ada.locator("#suggestions[hx-trigger]")).to_have_count(0)
    check(ada, "gold-suggestions")
    card = ada.locator("section.card").first
    item = card.locator("input[name=item]").get_attribute("value")
    card.get_by_label("Reason", exact=False).fill("Its title says so.")
    card.get_by_label("Role").select_option("both")
    follow(card.get_by_role("button", name="Make it gold"))
    expect(ada.get_by_text("The item is gold now")).to_be_visible()
    gold = next(gold for gold in site.services.gold.get_all(slug) if gold.item == item)
    assert (gold.role, gold.reason) == ("both", "Its title says so.")
    follow(ada.get_by_role("button", name="Decline").first)
    expect(ada.get_by_text("Declined: 1")).to_be_visible()
    follow(ada.get_by_role("link", name="Design and forecast"))
    follow(ada.get_by_role("button", name="Only show what it would give"))
    expect(ada.get_by_role("heading", name="What it would give")).to_be_visible()
    refit._fit_one(site.services, slug, refit.DEFAULT)  # with the new gold, for which it was asked


def make_plan(site: Site, ada: Page, slug: str) -> None:
    """A plan that the background makes, and its use."""
    ada.goto(f"{site.url}/projects/{slug}/results/plan")
    ada.get_by_label("Target accuracy").fill("0.6")
    ada.get_by_role("button", name="Plan", exact=True).click()
    expect(
        ada.get_by_role("status").filter(has_text="being made in the background")
    ).to_be_visible()
    check(ada, "plan-asked")
    expect(ada.get_by_role("heading", name="Plan for an accuracy of 60%")).to_be_visible()
    expect(ada.get_by_role("img", name="Accuracy of labels against judgments")).to_be_visible()
    expect(ada.get_by_text("being made in the background")).to_have_count(0)
    follow(ada.get_by_role("button", name="Use in the policy"))
    expect(ada.get_by_text("The policy is changed to what the plan recommends.")).to_be_visible()
    assert site.services.projects.get_policy(slug)[0].judgments_per_item < 4
