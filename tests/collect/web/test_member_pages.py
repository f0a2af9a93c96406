"""The page of members, the page of a link, and what a page shows to each role."""

from __future__ import annotations

import re

from sites import PASSWORD, Site, small_project


def test_a_link_makes_an_account_that_sees_what_its_role_may(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(small_project())
    ada.get(f"/projects/{slug}/settings/members")
    ada.post(f"/projects/{slug}/settings/members/links", role="reviewer", note="Grace", days="3")
    ada.get(f"/projects/{slug}/settings/members")
    (address,) = re.findall(r'data-copy="(http[^"]+)"', ada.text)
    grace = site.browser()
    grace.get(address.removeprefix(site.url))
    assert "You are invited to this project as a reviewer" in grace.words
    path = address.removeprefix(site.url) + "/account"
    grace.post(path, expect=422, name="grace", password="short", again="short")
    assert "at least 10 characters" in grace.words
    grace.post(path, expect=422, name="ada", password=PASSWORD, again=PASSWORD)
    assert "there is a requester" in grace.words
    grace.post(path, name="grace", password=PASSWORD, again=PASSWORD)
    grace.get("/projects")
    assert "New project" not in grace.words
    grace.get(f"/projects/{slug}/item?item=q0/d0")
    assert "you are a reviewer" in grace.words
    assert "Adjudicate" in grace.words
    assert "Make it gold" not in grace.words
    grace.post(f"/projects/{slug}/item", item="q0/d0", do="adjudicate", label="Good")
    grace.post(f"/projects/{slug}/item", item="q0/d0", do="skip", expect=403)
    assert site.services.items.get_final(slug)["q0/d0"].by == "grace"
    grace.get(f"/projects/{slug}/settings")
    assert '<fieldset class="bare" disabled>' in grace.text
    assert "Delete for good" not in grace.text
    grace.post(f"/projects/{slug}/settings/policy", judgments_per_item="9", expect=403)
    grace.get(f"/projects/{slug}/judges")
    late = site.browser()
    late.get(address.removeprefix(site.url), expect=409)
    assert "Somebody came by this link already" in late.words
