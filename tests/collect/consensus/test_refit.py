"""The consensus in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from adjudge import Gold, Judgments, MajorityVote
from adjudge.collect.consensus import refit
from adjudge.collect.consensus._learning import keep_hidden_gold
from adjudge.collect.services.exports import ExportService
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import CANNOT_JUDGE
from adjudge.errors import BadSetting
from adjudge.evaluation.diagnosis.diagnose import diagnose
from adjudge.report.words import inferred_probability
from collecting import Bench
from sites import served


def test_fits_follow_the_judgments(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        services = site.services
        slug = site.open_project(queries=20)
        assert refit.find_due(services) == []
        judge = site.browser().join(slug).train(slug)
        while services.projects.get(slug).judgments < 25:
            judge.answer(slug).go_on(slug)
        assert refit.find_due(services) == [(slug, refit.DEFAULT)], "enough judgments came"
        fit = refit._fit_one(services, slug, refit.DEFAULT)
        assert fit.state == "ready"
        assert refit.find_due(services) == []
        rows = refit.read_labels(services, slug, refit.DEFAULT, 0)
        assert len(rows) == fit.items
        assert {row["item"][0] for row in rows} == {"q"}, "gold is not among the labels"
        right = {
            item.name: "Good" if "good" in item.title else "Bad"
            for item in services.projects.read(slug).items
        }
        assert all(row["label"] == right[row["item"]] for row in rows)
        assert [row["entropy"] for row in rows] == sorted(
            (row["entropy"] for row in rows), reverse=True
        )
        assert [row["judge"] for row in refit.read_judges(services, slug, refit.DEFAULT)] == [
            services.judges.get_all(slug)[0].judge
        ]
        assert refit.read_table(services, slug, refit.DEFAULT).num_rows == fit.items
        assert refit.read_table(services, slug, "pmf") is None


def test_decisions_outdate_what_is_shown_and_exported(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        services, ada = site.services, site.set_up()
        slug = site.open_project()
        judge = site.browser().join(slug).train(slug)
        judge.answer(slug).go_on(slug)
        (row,) = services.judges.get_all(slug)
        gold = services.gold.get_all(slug)[0]
        item = next(one.item for one in services.items.get_all(slug)[0] if not one.gold)
        changes: list[Callable[[], object]] = [
            lambda: services.judges.block(slug, row.judge),
            lambda: services.judges.unblock(slug, row.judge),
            lambda: services.items.adjudicate(slug, item, "Good"),
            lambda: services.items.reopen(slug, item),
            lambda: services.gold.edit(slug, gold.item, active=False),
        ]
        pages = ("items", "judges", "consensus", "export")
        for change in changes:
            refit._fit_one(services, slug, "majority-vote", with_report=True)
            assert refit.find_due(services) == []
            assert not refit.is_outdated(services, slug)
            assert not any(
                "latest decisions" in ada.get(f"/projects/{slug}/{one}").text for one in pages
            )
            change()
            assert refit.find_due(services) == [(slug, "majority-vote")]
            assert refit.list_fits(services, slug)[0].outdated
        for one in pages:
            assert "latest decisions" in ada.get(f"/projects/{slug}/{one}").text, one
        report = ada.get(f"/projects/{slug}/consensus/report?model=majority-vote")
        assert "Out of date" in report.text
        sent = ada.get(f"/projects/{slug}/export/labels-consensus?model=majority-vote")
        assert sent.headers["adjudge-outdated"] == "true"
        assert 'filename="outdated-' in sent.headers["content-disposition"]
        assert "adjudge-outdated" not in ada.get(f"/projects/{slug}/export/answers").headers


def test_figures_of_lists_tables_and_reports_agree(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=4, golds=12, training=False, judgments_per_item=2)
    services, slug = bench.services, bench.slug
    for key in ("anna", "berta"):
        judge = bench.arrive(key).judge
        page = bench.page(judge)
        answers = [
            replace(one, seconds=2.0 + one.row, label=CANNOT_JUDGE if one.row == 25 else one.label)
            for one in bench.answers(page)
        ]
        bench.judging.submit(judge, page.page, page.key, answers)
    item = next(
        one for one in services.items.get_all(slug)[0] if one.state == "open" and not one.gold
    )
    services.items.adjudicate(slug, item.item, "Spam", gold=False)
    fit = refit._fit_one(services, slug, "majority-vote")
    (shown,) = refit.list_fits(services, slug)

    (listed,), progress = services.projects.get_all(), services.projects.get_progress(slug)
    assert listed.closed == progress.closed > 0
    held = services.exports.get_judgments(slug, golds=True)
    assert held is not None
    assert shown.used == len(held) > fit.judgments - 2, "answers to gold are among them"
    judges = diagnose(MajorityVote().fit(held)).judges
    median = dict(zip(judges["judge"].to_pylist(), judges["seconds"].to_pylist(), strict=True))
    assert {row.judge: row.seconds for row in services.judges.get_all(slug)} == median


def test_gold_is_not_among_the_labels_that_are_sure() -> None:
    table = {"item": list("aabbg"), "judge": list("xyxyx"), "label": [0, 1, 1, 1, 0]}
    consensus = MajorityVote().fit(Judgments.from_table(table), Gold.of({"g": 0}))
    assert len(consensus.probability) == 3
    assert len(inferred_probability(consensus)) == 2


def test_a_fit_that_fails_says_why_and_is_not_tried_for_ever(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        slug = site.open_project()
        judge = site.browser().join(slug).train(slug)
        judge.answer(slug)
        site.services.exports = NoJudgments(site.services.caller)
        refit.ask(site.services, slug, "vote")
        assert refit.find_due(site.services) == [(slug, "vote")]
        fit = refit._fit_one(site.services, slug, "vote")
        assert (fit.state, fit.problem) == ("failed", "vote = 1: expected 2")
        assert refit.find_due(site.services) == []


class NoJudgments(ExportService):
    """Exports that fail."""

    def get_judgments(self, *_: object, **__: object) -> None:
        raise BadSetting("vote", 1, "2")


def test_the_server_fits_in_a_separate_process(tmp_path: Path) -> None:
    with served(tmp_path, refit_seconds=0.2) as site:
        slug = site.open_project(queries=6)
        judge = site.browser().join(slug).train(slug)
        judge.answer(slug)
        refit.ask(site.services, slug, "majority-vote")
        limit = time.monotonic() + 300
        while not any(fit.state == "ready" for fit in refit.list_fits(site.services, slug)):
            assert time.monotonic() < limit, refit.list_fits(site.services, slug)
            time.sleep(0.1)
        assert refit.read_labels(site.services, slug, "majority-vote", 0)


def test_advice_knows_hidden_gold_and_not_what_was_adjudicated() -> None:
    table = {"item": list("abc") * 2, "judge": list("xxxyyy"), "label": [0, 1, 1, 0, 1, 0]}
    made = Judgments.from_table(table)
    fitted = MajorityVote().fit(made, Gold.of({"a": 0, "c": 1}))
    hidden = keep_hidden_gold(fitted, Gold.of({"a": 0}))
    assert fitted.known.tolist() == [0, -1, 1]
    assert hidden.known.tolist() == [0, -1, -1]
    assert keep_hidden_gold(fitted, None).known.tolist() == [-1, -1, -1]
    assert keep_hidden_gold(MajorityVote().fit(made), None).known is None
