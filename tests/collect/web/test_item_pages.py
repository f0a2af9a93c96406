"""The pages of items, and the report in the app."""

from __future__ import annotations

import re

from adjudge.collect.consensus import refit
from sites import Browser, Site


def judged(site: Site) -> tuple[Browser, str]:
    requester, slug = site.set_up(), site.open_project(training=False)
    site.browser().join(slug).answer(slug)
    site.browser().join(slug).answer(slug, wrong=True)
    return requester, slug


def first_disputed(site: Site, slug: str) -> str:
    return site.services.items.get_all(slug, which="disputed")[0][0].item


def test_items_are_found_and_decided(site: Site) -> None:
    requester, slug = judged(site)
    item = first_disputed(site, slug)
    requester.get(f"/projects/{slug}/items?filter=disputed&sort=newest")
    assert f"item={item.replace('/', '%2F')}" in requester.text
    requester.get(f"/projects/{slug}/items?search=no+such+thing")
    assert "No item matches" in requester.words
    requester.get(f"/projects/{slug}/item?item={item}")
    assert "Good" in requester.words
    assert "trusted" in requester.words
    act = {"item": item}
    requester.post(f"/projects/{slug}/item", **act, do="adjudicate", expect=422)
    assert "label is missing" in requester.words
    requester.post(
        f"/projects/{slug}/item",
        **act,
        do="adjudicate",
        label="Bad",
        reason="<b>",
        **{"as-gold": "yes"},
    )
    requester.get(f"/projects/{slug}/item?item={item}&done=adjudicated")
    assert "the fit takes it for gold" in requester.words
    assert "&lt;b&gt;" in requester.text
    for do, state, more in (
        ("reopen", "closed", {}), ("more", "open", {"more": "1"}), ("skip", "skipped", {}),
        ("gold", "skipped", {"accepted": "Bad"}),
    ):  # fmt: skip
        requester.post(f"/projects/{slug}/item", **act, do=do, **more)
        found = site.services.items.get(slug, item)
        assert found.state == state, do
    assert found.gold
    requester.post(f"/projects/{slug}/item", **act, do="skip", expect=422)
    assert "edit the gold instead" in requester.words
    requester.get(f"/projects/{slug}/results/disagreements")
    requester.get(f"/projects/{slug}/item?item=nothing", expect=404)


def test_gold_is_listed_with_its_label_and_its_answers(site: Site) -> None:
    _, slug = judged(site)
    found, total = site.services.items.get_all(slug, which="gold")
    assert total == len(found) == 16
    asked = {row.item: row.counts for row in found if row.counts}
    assert asked
    for row in found:
        right = "Good" if int(row.item[1:]) % 2 == 0 else "Bad"
        assert (row.label, row.probability) == (right, None)
        whole = site.services.items.get(slug, row.item).judgments
        assert sum(row.counts.values()) == len(whole)


def test_who_said_what_stands_beside_each_disagreement(site: Site) -> None:
    requester, slug = judged(site)
    for number, row in enumerate(site.services.judges.get_all(slug)):
        site.services.judges.rename(slug, row.judge, f"Judge number {number}")
    item = site.services.items.get(slug, first_disputed(site, slug))
    names = site.services.judges.get_names(slug)
    requester.get(f"/projects/{slug}/results/disagreements")
    said = [f"{one.label} : {names[one.judge]}" for one in item.judgments]
    assert len(said) == 2
    start = requester.words.index(item.title)
    for words in said:
        assert words in requester.words[start : start + 200]


_LINKED = re.compile(
    r'<a (?:data-drawer )?href="[^"]*/(?:item|gold/edit)\?item=[^"]*">.*?</a>', re.DOTALL
)


def test_every_item_that_is_named_leads_to_its_page(site: Site) -> None:
    requester, slug = judged(site)
    item = first_disputed(site, slug)
    site.services.items.adjudicate(slug, item, "Bad", reason="Seen.")
    site.services.items.reopen(slug, item)
    refit._fit_one(site.services, slug, "majority-vote")
    judge = site.services.judges.get_all(slug)[0].judge
    items = site.services.projects.read(slug).items
    told = 0
    paths = ("items", "results/disagreements", "results", f"judges/{judge}", "settings/log")
    for path in (
        *paths,
        *(f"settings/gold{part}" for part in ("", "/suggestions", "/edit?item=g0")),
    ):
        requester.get(f"/projects/{slug}/{path}")
        shown = re.sub(r"<input[^>]*>|<(script|style).*?</\1>", "", requester.text)
        told += len(_LINKED.findall(shown))
        for one in items:
            assert one.title not in _LINKED.sub("", shown), path
            assert f">{one.name}<" not in _LINKED.sub("", shown), path
    assert told > 60


def test_the_report_opens_in_the_app(site: Site) -> None:
    requester, slug = judged(site)
    requester.get(f"/projects/{slug}/results/report?model=majority-vote")
    assert "No report of majority-vote yet" in requester.words
    item = first_disputed(site, slug)
    site.services.items.adjudicate(slug, item, "Bad")
    refit._fit_one(site.services, slug, "majority-vote", with_report=True)
    requester.get(f"/projects/{slug}/results?model=majority-vote")
    assert "Open the report" in requester.words
    answer = requester.get(f"/projects/{slug}/results/report?model=majority-vote")
    assert "<svg" in answer.text
    told = re.sub(r"<[^>]+>", " ", answer.text)
    assert re.search(r"\s16\s+gold items", told), "not by what was adjudicated: that was disputed"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-scripts" in policy
    assert "unsafe" not in policy
    assert "script-src 'sha256-" in policy
