"""What somebody new meets on their way: no dead ends, no ids for names, no figure without its reach."""

from __future__ import annotations

import re

from sites import Site, small_project


def test_a_project_by_invitation_tells_of_no_link(site: Site) -> None:
    ada = site.set_up()
    slug = site.services.projects.create(small_project(channels=["invite", "api"])).slug
    ada.get(f"/projects/{slug}/begin")
    ended = ada.post(f"/projects/{slug}/begin", do="open")
    ada.get(ended.headers["location"].removeprefix(site.url))
    assert "The project is open to those whom you invite." in ada.words
    assert "Invite people by name : each gets a link of their own" in ada.words
    assert f'href="/projects/{slug}/judges#invites"' in ada.text
    for page in ("", "/judges"):
        ada.get(f"/projects/{slug}{page}")
        assert not re.search("(?i)link (below|above|on the overview)", ada.words), page
    assert "Invite people one by one below" in ada.words
    site.services.projects.set_policy(slug, {"channels": ["open", "invite"]})
    ada.get(f"/projects/{slug}/judges")
    assert "Send judges the link on the overview , or invite people one by one below" in ada.words


def test_who_is_invited_is_told_that_their_name_stands_beside_their_answers(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/judges")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace Hopper", days="3")
    ada.get(f"/projects/{slug}/judges")
    (link,) = re.findall(r'data-copy="(http[^"]+/i/[^"]+)"', ada.text)
    grace, other = site.browser(), site.browser()
    grace.get(link.removeprefix(site.url))
    other.get(f"/j/{slug}")
    words = "beside the name or id that they know you by"
    assert words in grace.words
    assert words not in other.words
    assert "You are asked for no name and no address." in other.words


def test_the_way_of_a_model_stands_on_the_page_of_judges(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    ada.get(f"/projects/{slug}/judges")
    assert f"adjudge judge-with-model {slug} --server {site.url} " in ada.words
    ada.get(f"/account?project={slug}")
    assert re.search(f'<option value="{slug}" selected>', ada.text)
    # What was typed stays when something is missing.
    ada.post("/account/tokens", name="a model", scope="judge", project="", days="7", expect=422)
    assert "a token to judge with belongs to one project: choose it" in ada.words.casefold()
    assert 'value="a model"' in ada.text
    assert 'value="7"' in ada.text
    ada.post("/account/tokens", name="a model", scope="judge", project=slug, days="7", expect=200)
    assert re.search(r"judge Lamps \d{4}", ada.words), "by the name of its project"
    token = re.search(r'id="secret">([^<]+)', ada.text)[1]  # type: ignore[index]
    came = site.browser(authorization=f"Bearer {token}").client.post(
        f"/api/v1/projects/{slug}/arrivals", json={"key": "llama3:8b", "kind": "model"}
    )
    assert came.status_code in (200, 201), came.text
    ada.get(f"/projects/{slug}/judges")
    assert re.search(r"llama3:8b model", ada.words)
    assert not re.search(r"\S:llama3:8b", ada.words)
    site.services.projects.set_policy(slug, {"channels": ["open"]})
    ada.get(f"/projects/{slug}/judges")
    assert "Scripts and models may not judge here" in ada.words


def test_an_accuracy_on_gold_has_its_interval_and_its_golds_their_titles(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project(queries=8, training=False, least_golds=50)
    ada.get(f"/projects/{slug}/items")
    assert "open 0 of 2" in ada.words
    ada.get(f"/projects/{slug}/gold")
    assert "0%" not in ada.words, "nobody answered: there is no doubt to speak of"
    judge = site.browser().join(slug)
    for _ in range(2):
        judge.answer(slug).go_on(slug)
    told = site.services.projects.get_progress(slug)
    assert told.gold_right == told.gold_seen > 2
    n, z = told.gold_seen, 1.645
    low = f"{n / (n + z * z):.0%} to 100%"  # Wilson's, where all are right
    ada.get(f"/projects/{slug}")
    assert f"100% {low}; {n} of {n} answers" in ada.words
    ada.get(f"/projects/{slug}/judges")
    assert f"100% {low} {n} of {n}" in ada.words
    (row,) = site.services.judges.get_all(slug)
    ada.get(f"/projects/{slug}/judges/{row.judge}")
    assert f"100% {low}; {n} of {n}" in ada.words
    answer = site.services.judges.get(slug, row.judge).golds[0]
    assert f"{answer.query} {answer.title}" in ada.words
