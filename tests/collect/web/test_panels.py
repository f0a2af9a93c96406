"""Panels, open links and dry runs on the pages: links there and back, limits, what counts."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from adjudge.collect.web._joining import place_of
from sites import Site, small_project

PROLIFIC = "PROLIFIC_PID={}&STUDY_ID=st1&SESSION_ID=se+1%26x"


def back_link(text: str) -> str | None:
    found = re.search(r'id="back" href="([^"]*)"', text)
    return None if found is None else unescape(found[1])


def test_a_project_for_prolific_from_settings_to_the_link_back(site: Site) -> None:
    ada = site.set_up()
    acting = site.services.acting_for(site.services.accounts.get_all()[0])
    slug = acting.projects.create(small_project(code_finished="")).slug
    ada.get(f"/projects/{slug}")
    assert "no completion code" not in ada.words
    ada.get(f"/projects/{slug}/settings")
    ada.post(f"/projects/{slug}/settings/panel", panel="prolific")
    ada.get(f"/projects/{slug}/settings?done=panel")
    assert "The settings for the panel are made" in ada.words
    ada.post(f"/projects/{slug}/state", state="open")
    ada.get(f"/projects/{slug}")
    assert "Prolific: whoever is screened out has to be paid for the time" in ada.words
    assert unescape(re.search(r'id="panel-link">([^<]*)<', ada.text)[1]) == (  # type: ignore[index]
        f"{site.url}/j/{slug}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    acting.projects.set_policy(slug, {"pay_failed": "0.30"})
    ada.get(f"/projects/{slug}")
    assert "Prolific:" not in ada.words
    policy = acting.projects.get_policy(slug)[0]
    assert policy.training_tries == 2

    judge = site.browser()
    judge.get(f"/j/{slug}?{PROLIFIC.format('p1')}&return_link=https://evil.example/")
    assert "If you do not pass it, you get 0.30 USD for your time." in judge.words
    assert "you have 2 tries" in judge.words
    judge.post(f"/j/{slug}/begin")
    judge.get(f"/j/{slug}")
    while judge.is_judging:
        judge.answer(slug, wrong=True).go_on(slug)
    assert f"Your completion code: {policy.code_failed}" in judge.words
    link = f"https://app.prolific.com/submissions/complete?cc={policy.code_failed}"
    assert back_link(judge.text) == link
    assert "evil" not in judge.text
    ada.get(f"/projects/{slug}/judges/{acting.judges.get_all(slug)[0].judge}")
    assert "Participant p1 STUDY_ID: st1 SESSION_ID: se 1&x" in ada.words
    export = ada.client.get(f"/projects/{slug}/results/export/panel-outcomes").text
    first = acting.judges.get_all(slug)[0].judge
    assert f"p1,se 1&x,st1,{first},failed,{policy.code_failed},0.30,USD," in export
    assert "screen-out payment" in export


def test_a_panel_of_another_name_and_another_link(site: Site) -> None:
    back = "http://localhost:9/{outcome}?c={code}&w={participant}&s={session}&again={session}"
    slug = site.open_project(participant_parameter="workerId", return_link=back, max_pages=1)
    judge = site.browser()
    judge.get(f"/j/{slug}?PROLIFIC_PID=x&session=1")
    assert not site.services.judges.get_all(slug), "that is not the name of its participants"
    judge.get(f"/j/{slug}?workerId=%22%3E%3Cscript%3E&session=%2F..%2F%3Fcode%3D1%23")
    judge.post(f"/j/{slug}/begin")
    judge.get(f"/j/{slug}")
    judge.train(slug).answer(slug).go_on(slug)
    escaped = "%2F..%2F%3Fcode%3D1%23"
    assert back_link(judge.text) == (
        f"http://localhost:9/finished?c=DONE-1&w=%22%3E%3Cscript%3E&s={escaped}&again={escaped}"
    )
    opener = site.browser().join(slug).train(slug)
    opener.answer(slug).go_on(slug)
    assert "DONE-1" in opener.words
    assert back_link(opener.text) is None, "she came from no panel"


def test_arrivals_from_one_address_are_limited_and_earlier_judges_stay(site: Site) -> None:
    slug = site.open_project(address_per_minute=2)
    first = site.browser().join(slug)
    panel = site.browser()
    panel.get(f"/j/{slug}?participant=p1")

    def refused(response: httpx.Response) -> None:
        assert 50 <= int(response.headers["retry-after"]) <= 60
        assert re.search(r"please open it again in \d\d seconds\.", response.text)

    third = site.browser()
    third.get(f"/j/{slug}")
    refused(third.post(f"/j/{slug}/begin", expect=429))
    assert "Please come back in a moment" in third.words
    refused(third.get(f"/j/{slug}?participant=p2&s=1", expect=429))
    assert f'href="/j/{slug}?participant=p2&amp;s=1">Try again<' in third.text
    first.get(f"/j/{slug}")
    assert first.is_judging
    site.browser().get(f"/j/{slug}?participant=p1")
    again = site.browser()
    again.get(f"/j/{slug}?participant=p1&session=forged")  # she comes in, and nothing is written
    assert site.services.projects.get_log(slug, event="came-again") == []
    elsewhere = site.browser(**{"X-Forwarded-For": "203.0.113.7"}).join(slug)
    assert elsewhere.is_judging
    assert len(site.services.judges.get_all(slug)) == 3


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("testclient", "testclient"),
    ],
)
def test_what_counts_as_one_address(address: str, place: str) -> None:
    assert place_of(address) == place
