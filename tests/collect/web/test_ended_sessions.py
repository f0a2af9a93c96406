"""Sessions that end on the server, and browsers that become another judge only when asked."""

from __future__ import annotations

import re
import time

import pytest
import sqlalchemy as sa

from adjudge.collect.store.schema import items
from sites import PASSWORD, Browser, Site


def copy_of(site: Site, browser: Browser) -> Browser:
    """Somebody else with the same cookie."""
    thief = site.browser()
    thief.client.cookies.set("adjudge_session", browser.client.cookies["adjudge_session"])
    return thief


def test_logging_out_ends_the_session_for_every_copy_of_its_cookie(site: Site) -> None:
    ada = site.set_up()
    thief = copy_of(site, ada)
    thief.get("/projects")
    other = site.log_in("ada")
    thief = copy_of(site, ada)
    ada.get("/projects")
    ada.post("/logout")
    assert thief.get("/projects", expect=303).headers["location"].startswith("/login")
    other.get("/projects")  # logged in elsewhere, and not logged out there
    site.log_in("ada")


def test_ended_sessions_are_forgotten_when_their_cookie_would_be(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = site.set_up()
    ada.get("/projects")
    ada.post("/logout")
    assert len(site.services.settings.find("session-ended:")) == 1
    real, hours = time.time, site.settings.session_hours
    ada.get("/login")
    monkeypatch.setattr(time, "time", lambda: real() + 3600 * hours + 60)
    ada.post("/login", name="ada", password=PASSWORD)
    ada.get("/projects")
    ada.post("/logout")
    assert len(site.services.settings.find("session-ended:")) == 1


def test_an_invitation_that_is_void_ends_the_session_that_came_by_it(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(channels=["invite"])
    ada.get(f"/projects/{slug}/settings")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace", days="3")
    ada.get(f"/projects/{slug}/judges")
    (link,) = re.findall(r">(http[^<]+/i/[^<]+)</code>", ada.text)
    grace = site.browser()
    grace.get(link.removeprefix(site.url))
    grace.post(f"/j/{slug}/begin")
    grace.get(f"/j/{slug}")
    grace.train(slug)
    (resume,) = set(re.findall(r"/join/[\w.-]+", grace.text))
    assert grace.is_judging
    page, given = grace.page, grace.answers()
    key = site.services.judges.get_invites(slug)[0].invite
    ada.post(f"/projects/{slug}/judges/invites/{key}/revoke")
    with site.parts.database.read() as on:
        leased = on.execute(sa.select(sa.func.sum(items.c.leased))).scalar()
    assert leased == 0, "the open page goes back"
    grace.post(f"/j/{slug}/pages/{page}", expect=403, **given)
    assert "was taken back" in grace.words
    grace.get(f"/j/{slug}", expect=403)
    grace.get(f"/j/{slug}", expect=404)  # a stranger from here on
    assert not grace.is_judging
    for path in (link.removeprefix(site.url), resume):
        site.browser().get(path, expect=403)
    assert site.services.projects.get_progress(slug).trusted == 0


def panel(browser: Browser, slug: str, participant: str) -> Browser:
    browser.get(f"/j/{slug}?participant={participant}")
    return browser


def test_a_link_with_another_participant_asks_before_the_browser_becomes_them(site: Site) -> None:
    slug = site.open_project()
    judge = panel(site.browser(), slug, "p1")
    judge.post(f"/j/{slug}/begin")
    panel(judge, slug, "p1")
    assert "Go on as another judge?" not in judge.words
    panel(judge, slug, "p2")
    assert "Go on as another judge?" in judge.words
    assert len(site.services.judges.get_all(slug)) == 1, "nobody is made before they say so"
    judge.get(f"/j/{slug}")
    assert judge.is_judging, "still the first"
    panel(judge, slug, "p2")
    (ticket,) = re.findall(r'name="ticket" value="([^"]+)"', judge.text)
    judge.post(f"/j/{slug}/another", ticket=ticket[:-4] + "abcd", expect=403)
    panel(judge, slug, "p2")
    judge.post(f"/j/{slug}/another", ticket=ticket)
    judge.get(f"/j/{slug}")
    assert "the id that your link carries" in judge.words
    assert {row.channel for row in site.services.judges.get_all(slug)} == {"panel"}
    assert len(site.services.judges.get_all(slug)) == 2


def test_the_link_to_go_on_elsewhere_asks_too(site: Site) -> None:
    slug = site.open_project()
    one, two = site.browser().join(slug).train(slug), site.browser().join(slug)
    (link,) = set(re.findall(r"/join/[\w.-]+", one.text))
    two.get(link)
    assert "Go on as another judge?" in two.words
    site.browser().get(link)  # a browser that is nobody yet is not asked
