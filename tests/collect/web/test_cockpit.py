"""The requester's list of judges: names, both accuracies, advice, messages, bulk, invitations."""

from __future__ import annotations

import csv
import io
import re

import pytest

from adjudge.collect.consensus import refit
from sites import Browser, Site, small_project
from unpacking import unpacked

Crowd = tuple[Site, str, Browser, dict[str, Browser]]


@pytest.fixture
def crowd(site: Site) -> Crowd:
    """Three judges: one by an invitation, one of a panel, one by the open link who errs."""
    ada = site.set_up()
    slug = site.open_project(
        small_project(queries=8, judgments_per_item=3, training=False, least_golds=50)
    )
    ada.get(f"/projects/{slug}/judges")
    ada.post(f"/projects/{slug}/judges/invites", notes="Grace Hopper\n=cmd|x", days="3")
    ada.get(f"/projects/{slug}/judges")
    links = re.findall(r'data-copy="(http[^"]+)"', ada.text)
    people = {name: site.browser() for name in ("grace", "panel", "eve")}
    # The newest invitation comes first.
    people["grace"].get(links[1].removeprefix(site.url))
    people["panel"].get(f"/j/{slug}?participant=P-77")
    people["eve"].get(f"/j/{slug}")
    for name, one in people.items():
        one.post(f"/j/{slug}/begin")
        one.get(f"/j/{slug}")
        for _ in range(3):
            one.answer(slug, wrong=name == "eve").go_on(slug)
    return site, slug, ada, people


def test_the_report_calls_judges_by_their_names(crowd: Crowd) -> None:
    site, slug, _, _ = crowd
    eve = next(row.judge for row in site.services.judges.get_all(slug) if not row.gold_right)
    site.services.judges.rename(slug, eve, "Grace Hopper")  # the second of that name
    refit._fit_one(site.services, slug, "dawid-skene", with_report=True)
    report = refit.read_report(site.services, slug, "dawid-skene")
    assert report is not None
    (grace,) = [row.judge for row in site.services.judges.get_all(slug)
                if row.name == "Grace Hopper" and row.judge != eve]  # fmt: skip
    (data,) = re.findall(r">([A-Za-z0-9+/=]{200,})<", report.html)
    texts, arrays = unpacked(data)
    called = {"P-77": 1.0, f"Grace Hopper ({eve})": 0.0, f"Grace Hopper ({grace})": 1.0}
    on_gold = arrays["judge_gold_accuracy"].tolist()
    assert dict(zip(texts["judges"], on_gold, strict=True)) == called


def test_a_message_is_shown_until_it_is_read(crowd: Crowd) -> None:
    site, slug, ada, people = crowd
    ids = {row.name: row.judge for row in site.services.judges.get_all(slug)}
    chosen = [ids["Grace Hopper"], ids["P-77"]]
    ada.post(f"/projects/{slug}/judges/bulk", judge=chosen, do="message", text="Mind the <shade>.")
    grace = people["grace"]
    grace.get(f"/j/{slug}")
    assert "Mind the <shade>." in grace.words
    grace.answer(slug).go_on(slug)
    assert "Mind the <shade>." in grace.words, "a page that is sent does not take it away"
    ada.get(f"/projects/{slug}/judges")
    assert ada.words.count("message not read") == 2
    grace.post(f"/j/{slug}/read")
    grace.get(f"/j/{slug}")
    assert "Mind the" not in grace.words
    people["eve"].get(f"/j/{slug}")
    assert "Mind the" not in people["eve"].words
    events = [entry.event for entry in site.services.projects.get_log(slug, judge=chosen[0])]
    assert events.count("messaged") == events.count("message-read") == 1
    assert site.services.projects.audit(slug) == []


def test_several_are_blocked_and_unblocked_at_once(crowd: Crowd) -> None:
    site, slug, ada, people = crowd
    ids = [row.judge for row in site.services.judges.get_all(slug)]
    ada.post(f"/projects/{slug}/judges/bulk", judge=[ids[0], "nobody"], do="block", expect=404)
    assert all(row.stage != "blocked" for row in site.services.judges.get_all(slug))
    asked = ada.post(
        f"/projects/{slug}/judges/bulk", judge=ids, do="block", text="A pause.", expect=200
    )
    assert f"Block {len(ids)} judges?" in asked.text
    assert all(row.stage != "blocked" for row in site.services.judges.get_all(slug))
    sure = {"judge": ids, "do": "block", "text": "A pause.", "sure": "yes"}
    ada.post(f"/projects/{slug}/judges/bulk", **sure)
    rows = site.services.judges.get_all(slug)
    assert {row.stage for row in rows} == {"blocked"}
    assert {row.reason for row in rows} == {"Blocked by hand: A pause."}, "the requester's words"
    people["eve"].get(f"/j/{slug}")
    assert "The requester has stopped your work on this project: A pause." in people["eve"].words
    ada.post(f"/projects/{slug}/judges/bulk", judge=ids, do="unblock")
    assert {row.stage for row in site.services.judges.get_all(slug)} == {"working"}
    ada.post(f"/projects/{slug}/judges/bulk", do="block", expect=422)
    ada.post(f"/projects/{slug}/judges/bulk", judge=ids, do="promote", expect=422)


def test_links_are_short_and_come_as_csv(crowd: Crowd) -> None:
    site, slug, ada, _ = crowd
    sent = ada.client.get(f"/projects/{slug}/judges/links.csv")
    rows = list(csv.DictReader(io.StringIO(sent.content.decode("utf-8-sig"))))
    assert [row["for"] for row in rows] == ["Grace Hopper", "'=cmd|x"], "no formula"
    assert [row["came"] for row in rows] == ["yes", "no"]
    site.services.judges.invite(slug, ["＝1+1", "+x(1)", "@x"])
    sent = ada.client.get(f"/projects/{slug}/judges/links.csv")
    rows = list(csv.DictReader(io.StringIO(sent.content.decode("utf-8-sig"))))
    assert {row["for"] for row in rows} >= {"'＝1+1", "'+x(1)", "'@x"}, "wide ones neither"
    assert all(len(row["link"]) <= len(site.url) + 19 for row in rows)
    ada.get(f"/projects/{slug}/settings")
    assert "Invitations" not in ada.words, "they are with the judges"
