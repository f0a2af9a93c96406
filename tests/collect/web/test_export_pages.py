"""The page of exports: what can be made is a link that works, the rest says why beforehand."""

from __future__ import annotations

import re

from adjudge.collect.consensus import refit
from sites import Browser, Site


def links(browser: Browser) -> list[str]:
    return re.findall(r'href="(/projects/[^"]+/export/[^"]+)"', browser.text)


def judged(site: Site) -> tuple[Browser, str]:
    """A project whose first page one judge has answered."""
    requester, slug = site.set_up(), site.open_project(training=False)
    site.browser().join(slug).answer(slug)
    return requester, slug


def test_every_link_is_a_file_and_missing_exports_say_why(site: Site) -> None:
    requester, slug = judged(site)
    requester.get(f"/projects/{slug}/results/export")
    assert "No item has a label yet." in requester.words
    assert "a consensus has to be fitted first" in requester.words
    assert not [link for link in links(requester) if "/export/labels-" in link]
    refit._fit_one(site.services, slug, "majority-vote")
    requester.get(f"/projects/{slug}/results/export")
    assert "give each label a grade, below" in requester.words
    assert '<a href="#grades">' in requester.text
    first = requester.words.partition("More formats")[0]
    assert re.search("Labels as CSV.*qrels.*missing.*Quepid.*missing.*JSON Lines", first)
    assert "download>" not in requester.text  # a link that fails has to show the message
    assert not [link for link in links(requester) if "qrels" in link]
    requester.post(
        f"/projects/{slug}/results/export/grades", label=["Good", "Bad"], grade=["1", "0"]
    )
    requester.get(f"/projects/{slug}/results/export")
    offered = links(requester)
    assert any("labels-qrels?model=majority-vote" in link for link in offered)
    assert len(offered) > 30
    for link in offered:
        answer = requester.client.get(link)
        assert answer.status_code == 200, (link, answer.text[-500:])
        assert answer.headers["content-disposition"].startswith("attachment"), link
    assert requester.client.get(f"/projects/{slug}/results/export/no-such").status_code == 404


def test_new_items_join_the_topics_of_their_queries(site: Site) -> None:
    """A file without ids of topics extends the stored queries and adds none."""
    requester, slug = judged(site)
    requester.get(f"/projects/{slug}")
    body = b"query,title,url\nlamp number 1,Another,https://example.com/new\n"
    requester.post(f"/projects/{slug}/upload", files={"files": ("more.csv", body)}, do="create")
    new = [i for i in site.services.projects.read(slug).items if i.title == "Another"]
    assert [(item.topic, item.document) for item in new] == [("q1", "https://example.com/new")]
