"""The audit of a project's LLM judges: that of the library, of what the project exports."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import adjudge
from adjudge.collect.consensus import refit
from collecting import LABELS, Bench
from sites import Site

pytestmark = pytest.mark.slow

# Far from the bounds of verdicts: ids are random, and their order changes the draws of intervals.
_SURE = {"careful": 1.0, "fair": 0.85, "lost": 0.1, "anna": 0.95, "berta": 0.9}
_PEOPLE = ("anna", "berta")
_Judged = tuple[Bench, dict[str, str]]


@pytest.fixture
def judged(site: Site) -> _Judged:
    """A project judged by two people and three LLM judges, who guess where they are not sure."""
    bench = Bench(
        site.parts.database,
        topics=16,
        golds=80,
        role="screening",
        training=False,
        judgments_per_item=5,
        screening_golds=10,
        screening_pairs=10,
        block_below=0.0,
        warn_below=0.0,
        channels=["open", "api"],
    )
    draw = random.Random(5)
    ids = {}
    for name, sure in _SURE.items():
        how = {} if name in _PEOPLE else {"channel": "api", "kind": "model"}
        ids[name] = bench.arrive(name, **how).judge
        while (page := bench.judging.page(ids[name])) is not None:
            answers = [
                one if draw.random() < sure else replace(one, label=draw.choice(LABELS))
                for one in bench.answers(page)
            ]
            bench.judging.submit(ids[name], page.page, page.key, answers)
    return bench, ids


def test_verdicts_are_those_of_the_library_on_the_export(
    site: Site, judged: _Judged, tmp_path: Path
) -> None:
    bench, ids = judged
    ada, page = site.set_up(), f"/projects/{bench.slug}/judges/audit"
    assert "careful" in ada.get(page).text, "not audited yet"
    refit._fit_one(site.services, bench.slug, "majority-vote", with_report=True)
    _, kept = refit.find_audit(site.services, bench.slug)
    assert kept is not None
    clear = [kept.verdicts[ids[name]] for name in ("careful", "lost")]
    assert clear == ["ready", "not ready"]
    archive = tmp_path / "archive.zip"
    archive.write_bytes(ada.get(f"/projects/{bench.slug}/results/export/archive").content)
    found = adjudge.audit(archive, people="|".join(ids[name] for name in _PEOPLE))
    assert list(kept.verdicts.items()) == [(one.judge, one.verdict) for one in found.judges]

    ada.get(page)
    rows = dict(
        re.findall(r'<tr><td class="text"><a href="#audit-\d">(\w+)</a>(.*)</tr>', ada.text)
    )
    assert list(rows) == ["careful", "fair", "lost"]
    for name, row in rows.items():
        one = found[ids[name]]
        figures = re.findall(r'<td class="num">([^<]*)</td>', row)
        expected = (f"{one.gold}", f"{one.scores['accuracy'].value:.2f}", f"{one.kappa.value:.2f}")
        assert tuple(figures[:3]) == expected
        assert one.verdict in row
    links = {
        name: ada.get(f"/projects/{bench.slug}/judges/{ids[name]}").text.count(page) for name in ids
    }
    assert links == {name: 1 if name in _PEOPLE else 2 for name in ids}, "with that of the section"


def test_a_stale_audit_says_so_and_blocked_judges_are_left_out(site: Site, judged: _Judged) -> None:
    bench, ids = judged
    ada, page = site.set_up(), f"/projects/{bench.slug}/judges/audit"
    refit._fit_one(site.services, bench.slug, "majority-vote", with_report=True)
    notice = '<div class="notice" role="status">'
    assert notice not in ada.get(page).text
    site.services.judges.block(bench.slug, ids["lost"])
    assert notice in ada.get(page).text
    refit._fit_one(site.services, bench.slug, "majority-vote", with_report=True)
    assert notice not in ada.get(page).text
    _, kept = refit.find_audit(site.services, bench.slug)
    assert kept is not None
    assert set(kept.verdicts) == {ids["careful"], ids["fair"]}
    assert f'judges/{ids["lost"]}"' in ada.text, "it is named as not audited"


def test_a_project_of_people_has_none(site: Site) -> None:
    ada, slug = site.set_up(), site.open_project(training=False)
    site.browser().join(slug).answer(slug)
    refit._fit_one(site.services, slug, "majority-vote", with_report=True)
    made, kept = refit.find_audit(site.services, slug)
    assert (bool(made), kept) == (True, None)
    ada.get(f"/projects/{slug}/judges/audit")
    assert 'class="audit"' not in ada.text
