"""Flags as the requester sees and sets them, and as the server acts on them when told to."""

from __future__ import annotations

from pathlib import Path

from adjudge.collect.consensus import refit
from sites import Site, served
from waiting import wait_until


def test_who_answers_faster_than_anyone_reads_stands_on_the_judges_page(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    judge = site.browser().join(slug).train(slug)
    judge.answer(slug)  # at once, as no person does
    ada.get(f"/projects/{slug}/judges")
    assert "1 judge to look at, by the rules in the settings" in ada.words
    assert "too fast to have read them" in ada.words
    assert "Flags alone do not block anybody." in ada.words
    (row,) = site.services.judges.get_all(slug)
    ada.get(f"/projects/{slug}/judges/{row.judge}")
    assert "speed : " in ada.words
    ada.get(f"/projects/{slug}/settings")
    assert "Flag judges who take fewer seconds per item" in ada.words
    site.services.projects.set_policy(slug, {"flag_seconds": 0.0})
    ada.get(f"/projects/{slug}/judges")
    assert "to look at" not in ada.words


def test_the_advice_on_who_is_flagged_is_to_watch(site: Site) -> None:
    ada = site.set_up()
    slug = site.open_project()
    judge = site.browser().join(slug).train(slug)
    judge.answer(slug)  # at once, as no person does
    (row,) = site.services.judges.get_all(slug)
    refit._fit_one(site.services, slug, "majority-vote")
    (kept,) = refit.read_judges(site.services, slug, "majority-vote")
    project = refit._project(site.services, slug)
    advised = [{**kept, "advice": "keep", "why": "always right"}]
    refit._put(site.services, project, "majority-vote", judges=advised)
    for page in ("judges", f"judges/{row.judge}", "results?model=majority-vote"):
        ada.get(f"/projects/{slug}/{page}")
        assert "watch" in ada.words
        assert f"{row.flags[0].reason}; always right" in ada.words
    ada.get(f"/projects/{slug}/judges?advice=keep")
    assert "0 of 1 judge" in ada.words


def test_the_server_blocks_who_is_flagged_only_when_told_to(tmp_path: Path) -> None:
    with served(tmp_path, sweep_seconds=0.05) as site:
        slugs = [site.open_project(), site.open_project(flags_block=True)]
        for slug in slugs:
            site.browser().join(slug).train(slug).answer(slug)

        def stages() -> list[str]:
            return [site.services.judges.get_all(slug)[0].stage for slug in slugs]

        wait_until(lambda: stages()[1] == "blocked", 300, "the flagged judge is blocked")
        assert stages()[0] != "blocked"
