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
    # The newest invitation stands first.
    people["grace"].get(links[1].removeprefix(site.url))
    people["panel"].get(f"/j/{slug}?participant=P-77")
    people["eve"].get(f"/j/{slug}")
    for name, one in people.items():
        one.post(f"/j/{slug}/begin")
        one.get(f"/j/{slug}")
        for _ in range(3):
            one.answer(slug, wrong=name == "eve").go_on(slug)
    return site, slug, ada, people


def test_names_come_from_invitations_and_panels_and_can_be_changed(crowd: Crowd) -> None:
    site, slug, ada, _ = crowd
    rows = {row.name: row for row in site.services.judges.get_all(slug)}
    (eve,) = set(rows) - {"Grace Hopper", "P-77"}
    assert eve == rows[eve].judge, "nothing is known of who came by the open link"
    ada.post(f"/projects/{slug}/judges/{eve}/name", name="  The   careless one ")
    ada.get(f"/projects/{slug}/judges?search=careless")
    assert "The careless one" in ada.words
    assert "1 of 3 judges" in ada.words
    ada.get(f"/projects/{slug}/judges/table?sort=name")
    order = [ada.words.index(name) for name in ("Grace Hopper", "P-77", "The careless one")]
    assert order == sorted(order)
    ada.get(f"/projects/{slug}/judges/table?sort=name&turned=1")
    assert ada.words.index("The careless one") < ada.words.index("P-77")
    ada.get(f"/projects/{slug}/judges?stage=blocked")
    assert "0 of 3 judges" in ada.words
    ada.get(f"/projects/{slug}/judges/table?search=P-77")
    assert "P-77" in ada.words
    assert "Grace" not in ada.words
    ada.post(f"/projects/{slug}/judges/{eve}/name", name="")
    assert site.services.judges.get(slug, eve).row.name == eve


def test_both_accuracies_and_the_advice_stand_in_the_list(crowd: Crowd) -> None:
    site, slug, ada, _ = crowd
    ada.get(f"/projects/{slug}/judges")
    assert "In the consensus" in ada.words
    refit._fit_one(site.services, slug, "dawid-skene")
    ada.get(f"/projects/{slug}/judges?sort=consensus")
    rows = refit.read_judges(site.services, slug, "dawid-skene")
    assert {row["advice"] for row in rows} <= {"keep", "train", "drop", "watch"}
    best = max(rows, key=lambda row: row["accuracy"])
    assert f"{best['accuracy']:.0%}" in ada.words
    assert best["why"] in ada.words
    ada.get(f"/projects/{slug}/judges/{best['judge']}")
    assert "The two agree, by" in ada.words
    assert best["advice"] == "keep"
    assert "Advice watch" in ada.words, "they answered faster than anybody reads"
    site.services.projects.set_policy(slug, {"flag_seconds": 0.0})
    ada.get(f"/projects/{slug}/judges/{best['judge']}")
    assert "Advice keep" in ada.words


def test_the_consensus_page_has_the_same_figures_on_gold(crowd: Crowd) -> None:
    """A scale without grades, gold that is hidden among the work: as on the page of judges."""
    site, slug, ada, _ = crowd
    refit._fit_one(site.services, slug, "dawid-skene")
    ada.get(f"/projects/{slug}/results?model=dawid-skene")
    told = {row.name: row for row in site.services.judges.get_all(slug)}
    for name, row in told.items():
        assert row.gold_seen
        share, counts = (
            f"{row.gold_right / row.gold_seen:.0%}",
            f"{row.gold_right} of {row.gold_seen}",
        )
        assert re.search(rf"{share} \d+% to \d+%; {counts}", ada.words), name
    assert {row.gold_right / row.gold_seen for row in told.values()} == {0.0, 1.0}
    first = refit.read_labels(site.services, slug, "dawid-skene", 0)[0]["item"]
    item = site.services.items.get(slug, first)
    assert f"<bdi>{item.query}</bdi></td>" in ada.text
    assert f"<bdi>{item.title}</bdi></a>" in ada.text, "by its title, not by its id"


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


def test_mistakes_stay_on_the_page_and_blocking_asks_first(crowd: Crowd) -> None:
    site, slug, ada, _ = crowd
    judge = site.services.judges.get_all(slug)[0].judge
    here = f"/projects/{slug}/judges"
    for path, form in (
        ("/bulk", {"do": "message", "text": "To whom?"}),
        ("/bulk", {"do": "message", "judge": judge, "text": " "}),
        (f"/{judge}/message", {"text": ""}),
        (f"/{judge}/message", {"text": "x" * 2_001}),
    ):
        wrong = ada.post(here + path, **form, expect=422)
        assert 'role="alert"' in wrong.text, path
        assert 'aria-label="Project"' in wrong.text, "the page is still that of the judges"
    kept = ada.post(f"{here}/bulk", do="message", judge=judge, text=" ", expect=422).text
    assert kept.count(" checked") == 1
    asked = ada.post(f"{here}/{judge}/block", reason="So.", expect=200)
    assert "Block 1 judge?" in asked.text
    assert site.services.judges.get(slug, judge).row.stage != "blocked"
    ada.post(f"{here}/{judge}/block", reason="So.", sure="yes")
    assert site.services.judges.get(slug, judge).row.stage == "blocked"
    ada.post(f"{here}/{judge}/unblock")


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
