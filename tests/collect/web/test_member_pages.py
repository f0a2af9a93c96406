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


def test_who_is_logged_in_joins_with_a_click_and_can_leave(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(small_project())
    site.services.accounts.add("otto", PASSWORD)
    ada.get(f"/projects/{slug}/settings/members")
    ada.post(f"/projects/{slug}/settings/members/links", role="viewer", days="3")
    ada.post(f"/projects/{slug}/settings/members/links", role="viewer", days="0", expect=422)
    ada.post(f"/projects/{slug}/settings/members/links", role="king", days="2", expect=422)
    ada.get(f"/projects/{slug}/settings/members")
    (address,) = re.findall(r'data-copy="(http[^"]+)"', ada.text)
    path = address.removeprefix(site.url)
    otto = site.browser()
    otto.get(path)
    after = re.search(r'href="(/login\?next=[^"]+)"', otto.text)
    assert after
    otto.get(after[1])
    ended = otto.post("/login", name="otto", password=PASSWORD, next=path)
    assert ended.headers["location"] == path
    otto.get(path)
    otto.post(path)
    otto.get(f"/projects/{slug}/settings/members")
    assert "Make a link" not in otto.words
    own = re.search(r'action="([^"]+/remove)"', otto.text)
    assert own
    member = own[1].split("/")[-2]
    ada.get(f"/projects/{slug}/settings/members")
    ada.post(f"/projects/{slug}/settings/members/{member}", role="manager")
    otto.get(f"/projects/{slug}/settings/members")
    assert "you are a manager" in otto.words
    otto.post(own[1])
    otto.get(f"/projects/{slug}", expect=404)


def test_a_revoked_link_is_no_link(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(small_project())
    ada.get(f"/projects/{slug}/settings/members")
    ada.post(f"/projects/{slug}/settings/members/links", role="viewer", days="3")
    (link,) = site.services.members.get_links(slug)
    ada.get(f"/projects/{slug}/settings/members")
    ada.post(f"/projects/{slug}/settings/members/links/{link.link}/revoke")
    stranger = site.browser()
    stranger.get(f"/member/{link.link}", expect=403)
    assert "not known, or was taken back" in stranger.words
