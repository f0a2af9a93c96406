"""The judge's way through, in a browser without scripts."""

from __future__ import annotations

import re

import pytest

from adjudge.collect.values.judging import LONGEST_COMMENT
from sites import REASON, Browser, Site


def test_a_judge_comes_agrees_trains_and_judges_to_the_end(site: Site) -> None:
    slug = site.open_project(judgments_per_item=1)
    judge = site.browser()
    judge.get(f"/j/{slug}")
    assert "The training is not paid." in judge.words
    assert "at least 3 of your 4 answers" in judge.words
    assert "You earn 0.20 USD for every full page;" in judge.words
    assert not site.services.judges.get_all(slug), "a look is no arrival"
    judge.join(slug)
    assert 'data-kind="training"' in judge.text
    judge.train(slug)
    while judge.is_judging:
        assert "Can't judge" in judge.words
        assert "Page broken" in judge.words
        judge.answer(slug).go_on(slug)
    assert "Thank you: you are done" in judge.words
    assert "Your completion code: DONE-1" in judge.words
    assert "Pay 0.60 USD" in judge.words
    progress = site.services.projects.get_progress(slug)
    assert progress.closed == progress.items == 12
    assert progress.trusted == 12


def work(site: Site, slug: str) -> Browser:
    return site.browser().join(slug).train(slug)


def test_a_missed_gold_is_shown_and_can_be_contested(site: Site) -> None:
    slug = site.open_project(screening_golds=2, least_golds=50)
    judge = work(site, slug)
    page = judge.page
    judge.answer(slug, wrong=True)
    assert "Your answer" in judge.words
    assert REASON in judge.words
    assert "I disagree" in judge.words
    row = re.search(r'name="row" value="(\d+)"', judge.text)[1]  # type: ignore[index]
    judge.post(f"/j/{slug}/pages/{page}/contest", row=row, text="This lamp is <b>fine</b>.")
    judge.get(f"/j/{slug}/pages/{page}")
    assert "You disagreed." in judge.words
    contest = site.services.gold.get_contests(slug)[0]
    assert contest.text == "This lamp is <b>fine</b>."


def test_the_page_allows_comments_as_long_as_the_service_stores(site: Site) -> None:
    slug = site.open_project()
    judge = work(site, slug)
    assert f'name="comment-1" maxlength="{LONGEST_COMMENT}"' in judge.text
    long = {"comment-1": "x" * LONGEST_COMMENT}
    judge.post(f"/j/{slug}/pages/{judge.page}/draft", **judge.answers(), **long, expect=204)
    longer = {"comment-1": "x" * (LONGEST_COMMENT + 1)}
    judge.post(f"/j/{slug}/pages/{judge.page}/draft", **judge.answers(), **longer, expect=422)


def test_a_page_with_something_missing_comes_back_with_what_was_answered(site: Site) -> None:
    slug = site.open_project()
    judge = work(site, slug)
    given = judge.answers()
    last = judge.rows[-1]
    del given[f"label-{last}"]
    page = judge.page
    judge.post(f"/j/{slug}/pages/{page}", **given, **{"comment-1": "hm"}, expect=422)
    assert f"there is no answer to result {last}." in judge.words
    assert judge.text.count(" checked") == len(judge.rows) - 1
    assert judge.page == page
    assert site.services.projects.get_progress(slug).trusted == 0


def test_a_draft_is_kept_and_shown_on_another_device(site: Site) -> None:
    slug = site.open_project()
    judge = work(site, slug)
    page, given = judge.page, judge.answers()
    judge.post(f"/j/{slug}/pages/{page}/draft", **given, **{"comment-2": "a thought"}, expect=204)
    link = re.search(r'<span class="wrap">(http[^<]+/join/[^<]+)</span>', judge.text)[1]  # type: ignore[index]
    other = site.browser()
    other.get(link.removeprefix(site.url))
    assert other.page == page
    assert other.text.count(" checked") == len(judge.rows)
    assert ">a thought</textarea>" in other.text
    assert site.services.projects.get_progress(slug).trusted == 0


def test_a_judge_whose_project_was_deleted_is_a_stranger(site: Site) -> None:
    slug = site.open_project()
    judge = work(site, slug)
    site.services.projects.set_state(slug, "closed")
    site.services.projects.delete(slug)
    judge.get(f"/j/{slug}", expect=404)


@pytest.mark.parametrize("prefix", ["", "/judging"])
def test_every_link_and_form_of_a_page_leads_somewhere(tmp_path, prefix: str) -> None:  # type: ignore[no-untyped-def]
    from sites import served

    with served(tmp_path, prefix=prefix) as site:
        slug = site.open_project()
        judge = site.browser()
        judge.get(f"/j/{slug}")
        judge.post(f"/j/{slug}/begin")
        judge.get(f"/j/{slug}")
        for link in re.findall(r'(?:href|src)="(/[^"]*)"', judge.text):
            assert link.startswith(f"{prefix}/")
            assert judge.client.get(site.url.removesuffix(prefix) + link).status_code == 200
        for form in re.findall(r'action="([^"]*)"', judge.text):
            assert form.startswith(f"{prefix}/j/")
