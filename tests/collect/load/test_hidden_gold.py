"""Nothing on a page separates gold from work: a classifier on all that scripts see is at chance.

Real pages as a browser gets them, of projects whose gold is among the queries that are judged
and of projects whose gold has queries of its own. What is known beforehand (a text seen before) is
no part of it: each result has a text of its own, and texts are all of one length.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import sqlalchemy as sa
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjudge.collect.store import schema
from adjudge.collect.values.project import GoldEntry, Item, Project
from collecting import LABELS, SCALE
from sites import Browser, Site, served

pytestmark = pytest.mark.slow

JUDGES, PAGES = 16, 8
GROUP, SPACES = 2, 13  # the places of these features
Seen = tuple[np.ndarray, ...]  # of each row: features, whether gold, whose page, which group


def like_project(gold_topics: str) -> Project:
    """A project whose golds differ from its work in nothing but that their answer is known.

    By ``gold_topics`` they stand among the work of every query, or in queries of their own, as
    many in each as the work has.
    """
    rng = np.random.default_rng(5)
    kinds = [(f"t{t}", d >= 6) for t in range(40) for d in range(8)]
    if gold_topics == "apart":
        kinds = [(f"t{t}", t % 4 == 0) for t in range(64) for d in range(5)]
    items, entries = [], []
    for place in rng.permutation(len(kinds)):
        topic, gold = kinds[place]
        word = f"{rng.integers(10**8):08d}"
        items.append(
            Item(
                name=f"i{word}", topic=topic, query=f"query {int(topic[1:]):03d}", need="A need.",
                title=f"title {word}", text=f"text {word}", url=f"https://example.com/{word}",
            )
        )  # fmt: skip
        if gold:
            label = LABELS[int(rng.integers(4))]
            entries.append(GoldEntry(item=f"i{word}", accepted=(label,), role="screening"))
    return Project(
        name="Alike", scale=SCALE, guidelines="# G", items=tuple(items), golds=tuple(entries),
        policy={"require_consent": False, "training": False, "judgments_per_item": 1000,
                "warn_below": 0.0, "block_below": 0.0, "feedback": False,
                "address_per_minute": 0},
    )  # fmt: skip


def features(html: str, seconds: float) -> tuple[str, list[list[float]]]:
    """The page's key to the store, and for each row all that a script could measure of it."""
    groups = re.split(r'<section class="group"', html)[1:]
    count = html.count('data-row="')
    found = []
    for place, group in enumerate(groups):
        rows = re.split(r'(?=<li class="card result")', group)[1:]
        for at, row in enumerate(rows):
            number = int(re.search(r'data-row="(\d+)"', row)[1])  # type: ignore[index]
            ids = re.findall(r'\bid="([^"]*)"', row)
            names = re.findall(r'\bname="([^"]*)"', row)
            values = re.findall(r'="([^"]*)"', row)
            bones = re.sub(r">[^<]+<", "><", re.sub(r'"[^"]*"', '""', row.split("</li>")[0]))
            found.append(
                [
                    number, number / count, place, len(groups), at, len(rows), at / len(rows),
                    at == 0, at == len(rows) - 1, len(group) / len(rows), len(row),
                    row.count("<"), row.count("\n"), row.count(" "), row.count('"'), row.count("="),
                    len(ids), sum(map(len, ids)), len(names), sum(map(len, names)), len(values),
                    sum(map(len, values)), row.count("class="), row.count("data-"),
                    row.count("required"), row.count("checked"), row.count("disabled"),
                    row.count("hx-"), row.count("<!--"), row.count("&"), seconds, len(html),
                    len(bones), bones.count(" "), bones.count("\n"), crc32(bones.encode()) % 97,
                ]
            )  # fmt: skip
    return re.search(r'data-page="([^"]+)"', html)[1], found  # type: ignore[index]


def seen_pages(site: Site, slug: str) -> Seen:
    """Features of each row that judges saw, whether it was gold, whose page, which group."""
    rows, truth, whose, group = [], [], [], []
    for judge in range(JUDGES):
        browser = site.browser()
        browser.join(slug)
        for _ in range(PAGES):
            begun = time.perf_counter()
            browser.get(f"/j/{slug}")
            page, found = features(browser.text, time.perf_counter() - begun)
            gold = gold_rows(site, page)
            assert len(gold) == len(found)
            rows += found
            truth += gold
            whose += [judge] * len(gold)
            group += [len(truth) + int(row[GROUP]) for row in found]  # no two the same
            answer(browser, slug)
    return np.array(rows, dtype=float), np.array(truth), np.array(whose), np.array(group)


def answer(browser: Browser, slug: str) -> None:
    key = re.search(r'name="key" value="([^"]+)"', browser.text)[1]  # type: ignore[index]
    given = {f"label-{row}": LABELS[row % 4] for row in browser.rows}
    browser.post(f"/j/{slug}/pages/{browser.page}", key=key, **given)


def gold_rows(site: Site, page: str) -> list[bool]:
    """Whether each row of a page is gold, by the store."""
    with site.parts.database.read() as on:
        found = on.execute(
            sa.select(schema.page_rows.c.gold)
            .join(schema.pages, schema.pages.c.id == schema.page_rows.c.page)
            .where(schema.pages.c.public == page)
            .order_by(schema.page_rows.c.row)
        ).scalars()
        return [gold is not None for gold in found]


def chance_interval(
    truth: np.ndarray, scores: np.ndarray, group: np.ndarray
) -> tuple[float, float]:
    """The AUC, and four standard deviations of what chance makes of it.

    By chance: the rows of a group stay together, and groups of a size swap what they are.
    """
    rng = np.random.default_rng(0)
    rank = rankdata(scores)
    gold, work = truth.sum(), (~truth).sum()

    def auc(of: np.ndarray) -> float:
        return float((rank[of].sum() - gold * (gold + 1) / 2) / (gold * work))

    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(starts, append=len(group))
    by_chance = []
    for _ in range(400):
        shuffled = np.empty_like(truth)
        for size in np.unique(sizes):
            rows = starts[sizes == size][:, None] + np.arange(size)  # (group, row)
            shuffled[rows] = truth[rng.permutation(rows)]
        by_chance.append(auc(shuffled))
    return auc(truth), 4 * float(np.std(by_chance))


CLASSIFIERS = {
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "trees": lambda: RandomForestClassifier(80, min_samples_leaf=5, random_state=0),
}


@pytest.fixture(scope="module", params=["among", "apart"])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Pages of a project, by where its gold is."""
    with served(tmp_path_factory.mktemp(request.param)) as site:
        return seen_pages(site, site.open_project(like_project(request.param)))


def score_classifier(
    made: Callable[[], Any], rows: np.ndarray, seen: Seen
) -> list[tuple[float, float]]:
    """Score how well a classifier finds gold on pages of other judges, with the noise of that.

    Once for each half of the judges, learnt from the other half. Not for both together: since all
    pages have the same share of gold, what is too often gold in one half is too seldom gold in
    the other, and the halves' scores are not independent of each other.
    """
    _, truth, whose, group = seen
    found = []
    for learn, test in GroupKFold(2).split(rows, truth, whose):
        scores = made().fit(rows[learn], truth[learn]).predict_proba(rows[test])[:, 1]
        found.append(chance_interval(truth[test], scores, group[test]))
    return found


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_gold_cannot_be_distinguished_from_work(seen: Seen, classifier: str) -> None:
    rows, truth, _, _ = seen
    assert 0.15 < truth.mean() < 0.25  # a fifth is gold
    for auc, noise in score_classifier(CLASSIFIERS[classifier], rows, seen):
        print(f"\n{classifier}: AUC {auc:.3f} of {len(truth) // 2:,} rows, noise {noise:.3f}")
        assert abs(auc - 0.5) <= noise


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_leak_would_be_found(seen: Seen, classifier: str) -> None:
    """One more space in the markup of each gold, and the test above fails."""
    rows, truth, _, _ = seen
    leaky = rows.copy()
    leaky[:, SPACES] += truth
    for auc, noise in score_classifier(CLASSIFIERS[classifier], leaky, seen):
        assert auc > 0.5 + noise
