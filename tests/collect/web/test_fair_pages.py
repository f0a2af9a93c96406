"""What a judge is told of time, pay, what is left, and of answers that another tab had sent."""

from __future__ import annotations

import re

from sites import Site


def test_time_pay_and_what_is_left_stand_on_every_page(site: Site) -> None:
    slug = site.open_project(judgments_per_item=1, lease_minutes=45)
    judge = site.browser()
    judge.get(f"/j/{slug}")
    assert "You have 45 minutes for a page" in judge.words
    judge.join(slug)
    assert "earned 0.00 USD" in judge.words, "also before anything is earned"
    assert re.search(r"time for this page: 4[45] minutes", judge.words)
    judge.train(slug)
    assert "left after this: about 2 pages" in judge.words
    judge.answer(slug).go_on(slug)
    assert "earned 0.20 USD" in judge.words
    assert "left after this: about 1 page " in judge.words
    judge.answer(slug).go_on(slug)
    assert "left after this: nothing" in judge.words


def test_an_unpaid_project_never_speaks_of_pay(site: Site) -> None:
    slug = site.open_project(pay_per_page="0", training_pass=1.0)
    judge = site.browser()
    judge.get(f"/j/{slug}")
    seen = judge.words
    judge.join(slug)
    seen += judge.words
    while judge.is_judging:
        judge.answer(slug, wrong=True).go_on(slug)
        seen += judge.words
    assert "The training was not passed" in judge.words
    assert "You cannot go on to the work itself." in judge.words
    for word in (" paid", "Pay ", "earn", "USD"):
        assert word not in seen, word


def test_a_second_tab_is_told_that_its_answers_were_sent_already(site: Site) -> None:
    slug = site.open_project(screening=False)
    judge = site.browser().join(slug).train(slug)
    page, second = judge.page, judge.answers(wrong=True)
    first = judge.answers()
    judge.answer(slug)
    sent = judge.post(f"/j/{slug}/pages/{page}", **first)
    assert "again" not in sent.headers["location"], "a double click is told nothing"
    draft = judge.client.post(f"/j/{slug}/pages/{page}/draft",
                              data={"proof": judge.proof, **second})  # fmt: skip
    assert (draft.status_code, draft.headers["x-page"]) == (409, "answered")
    sent = judge.post(f"/j/{slug}/pages/{page}", **second)
    judge.get(sent.headers["location"])
    assert "This page was sent already" in judge.words
    assert "6 answers of this tab differ from it and are not stored" in judge.words
    judge.get(f"/j/{slug}/pages/{page}?again=<b>")
    assert "was sent already" not in judge.words


def test_who_opens_the_link_when_all_is_judged_is_told_so_before_anything(site: Site) -> None:
    slug = site.open_project(judgments_per_item=1, code_nothing_left="LATE-1")
    judge = site.browser().join(slug).train(slug)
    while judge.is_judging:
        judge.answer(slug).go_on(slug)
    late = site.browser()
    late.get(f"/j/{slug}")
    assert "Everything in this project is judged." in late.words
    assert "begin" not in late.words
    participant = site.browser()
    participant.get(f"/j/{slug}?participant=p1")
    assert "Everything in this project is judged." in participant.words
    participant.post(f"/j/{slug}/begin")
    participant.get(f"/j/{slug}")
    assert "Your completion code: LATE-1" in participant.words
