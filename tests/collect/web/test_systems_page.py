"""Search systems compared by the labels of a project, and again when the labels are new."""

from __future__ import annotations

from pathlib import Path

import adjudge
from adjudge.collect.consensus import refit, systems
from adjudge.data.runs import Run
from adjudge.evaluation.ranking.rank import rank_systems
from sites import Site


def test_systems_are_compared_again_when_a_judge_is_blocked(site: Site, tmp_path: Path) -> None:
    ada, slug = site.set_up(), site.open_project(queries=8, training=False, block_below=0.0)
    for wrong in (False, True):
        judge = site.browser().join(slug)
        while judge.is_judging:
            judge.answer(slug, wrong=wrong).go_on(slug)
    files = []
    for name, order in (("up", (0, 1, 2)), ("down", (2, 1, 0))):
        path = tmp_path / f"{name}.txt"
        rows = [
            f"q{query} Q0 q{query}/d{document} {place} {-place} {name}\n"
            for query in range(8)
            for place, document in enumerate(order)
        ]
        path.write_text("".join(rows))
        files.append(path)
    page = f"/projects/{slug}/results/systems"
    ada.get(page)
    ada.post(f"{page}/upload", files=[("files", (path.name, path.read_bytes())) for path in files])

    def compared() -> list[float]:
        assert systems.find_due(site.services) == [slug]
        assert systems._main(site.services, slug)
        assert systems.find_due(site.services) == []
        kept = systems.read_compared(site.services, slug)
        assert kept is not None
        exports = site.services.exports
        judgments, gold = exports.get_judgments(slug, golds=True), exports.get_gold(slug)
        consensus = adjudge.fit(judgments, model=refit.DEFAULT, gold=gold)
        runs = [Run.read(path) for path in files]
        found = rank_systems(consensus, runs, systems.MEASURES, next_items=0).systems
        values = [row["value"] for row in kept.systems]
        assert values == found["value"].to_pylist()
        return values

    before = compared()
    refit._fit_one(site.services, slug, refit.DEFAULT)
    systems._main(site.services, slug)
    notice = "older than the latest decisions"
    assert notice not in ada.get(page).text
    lost = next(row for row in site.services.judges.get_all(slug) if not row.gold_right)
    site.services.judges.block(slug, lost.judge)
    assert notice in ada.get(page).text
    refit._fit_one(site.services, slug, refit.DEFAULT)
    assert "are being compared" in ada.get(page).text
    systems._keep(site.services, slug, 0.0, [], problem="")  # one that began earlier
    assert compared() != before
    assert notice not in ada.get(page).text


def test_a_comparison_that_an_earlier_version_was_asked_for_is_not_asked_for_ever(
    site: Site,
) -> None:
    _, slug = site.set_up(), site.open_project()
    site.services.settings.keep(f"systems-asked:{slug}", {"at": 1.0, "files": []})
    assert systems.find_due(site.services) == [slug]
    systems._main(site.services, slug)
    assert systems.find_due(site.services) == []
    kept = systems.read_compared(site.services, slug)
    assert kept is not None
    assert kept.problem
