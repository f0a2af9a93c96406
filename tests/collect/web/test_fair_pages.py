"""What a judge sees of time, pay, what is left, and of answers that another tab had sent."""

from __future__ import annotations

from sites import Site


def test_a_second_tab_learns_that_its_answers_were_sent_already(site: Site) -> None:
    slug = site.open_project(screening=False)
    judge = site.browser().join(slug).train(slug)
    page, second = judge.page, judge.answers(wrong=True)
    first = judge.answers()
    judge.answer(slug)
    sent = judge.post(f"/j/{slug}/pages/{page}", **first)
    assert "again" not in sent.headers["location"], "a double click gets no message"
    draft = judge.client.post(f"/j/{slug}/pages/{page}/draft",
                              data={"proof": judge.proof, **second})  # fmt: skip
    assert (draft.status_code, draft.headers["x-page"]) == (409, "answered")
    sent = judge.post(f"/j/{slug}/pages/{page}", **second)
    judge.get(sent.headers["location"])
    assert "This page was sent already" in judge.words
    assert "6 answers of this tab differ" in judge.words
    judge.get(f"/j/{slug}/pages/{page}?again=<b>")
    assert "was sent already" not in judge.words
