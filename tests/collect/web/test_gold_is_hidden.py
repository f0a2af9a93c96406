"""Whether a script in the browser could tell gold from work: a classifier tries, and must not.

As tests/collect/load/test_hidden_gold.py does in every run; here with texts of many lengths, and on
twice the rows.
"""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import sqlalchemy as sa
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjudge import Scale
from adjudge.collect.store.schema import page_rows, pages
from adjudge.collect.values.project import GoldEntry, Item, Project
from sites import Site, served

pytestmark = [pytest.mark.slow, pytest.mark.full]

TOPICS, RESULTS, JUDGES, SHEETS = 150, 6, 24, 8  # sheets: pages of each judge


def project() -> Project:
    """Two golds among the results of each query, with words that say nothing."""
    rng = np.random.default_rng(5)
    words = np.array(["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"])

    def some() -> str:
        return " ".join(rng.choice(words, size=rng.integers(3, 9)))

    items, golds = [], []
    for topic in range(TOPICS):
        query = some()
        for result in range(RESULTS):
            name = f"t{topic}/r{result}"
            items.append(
                Item(name=name, topic=f"t{topic}", query=query, title=some(), text=some(),
                     url=f"https://example.com/{rng.integers(1_000_000)}")
            )  # fmt: skip
            if result < 2:
                golds.append(GoldEntry(item=name, accepted=("a", "b"), role="screening"))
    order = rng.permutation(len(items))
    return Project(
        name="Hidden",
        scale=Scale(labels=("a", "b")),
        items=tuple(items[place] for place in order),
        golds=tuple(golds),
        policy={"training": False, "judgments_per_item": 8, "screening_golds": 5},
    )


def collected(site: Site, slug: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of every row of every page, whether it was gold, and whose page it was."""
    features, public, judge_of = [], [], []
    for number in range(JUDGES):
        judge = site.browser().join(slug)
        for _ in range(SHEETS):
            began = time.perf_counter()
            judge.get(f"/j/{slug}")
            took = time.perf_counter() - began
            for row, values in _rows(judge.text).items():
                features.append([*values, took])
                public.append((judge.page, row))
                judge_of.append(number)
            labels = {f"label-{row}": "a" for row in judge.rows}
            key = re.search(r'name="key" value="([^"]+)"', judge.text)[1]  # type: ignore[index]
            judge.post(f"/j/{slug}/pages/{judge.page}", key=key, **labels)
    with site.parts.database.read() as on:
        query = sa.select(pages.c.public, page_rows.c.row, page_rows.c.gold).join(
            pages, pages.c.id == page_rows.c.page
        )
        gold = {(row.public, row.row): row.gold is not None for row in on.execute(query)}
    return np.array(features), np.array([gold[key] for key in public]), np.array(judge_of)


def _rows(text: str) -> dict[int, list[float]]:
    """All that a script could measure of each row but its words, and with them their lengths.

    By its words a result can be known again, by gold or work alike: that is no sign of either.
    """
    found: dict[int, list[float]] = {}
    groups = text.split('<section class="group"')[1:]
    for place, group in enumerate(groups):
        marks = [match.start() for match in re.finditer(r'<li class="card result"', group)]
        for within, (begin, end) in enumerate(pairwise([*marks, len(group)])):
            part = group[begin:end].split("</li>")[0]
            row = int(re.search(r'data-row="(\d+)"', part)[1])  # type: ignore[index]
            bones = re.sub(r">[^<]+<", "><", re.sub(r'"[^"]*"', '""', part))
            found[row] = [
                row, place, within, len(marks), len(groups), within == 0, within == len(marks) - 1,
                len(bones), bones.count("<"), bones.count("="), bones.count(" "),
                bones.count("\n"), crc32(bones.encode()) % 97,
            ]  # fmt: skip
    return found


def test_a_classifier_stays_at_chance(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        features, gold, judge = collected(site, site.open_project(project()))
    assert 0.15 < gold.mean() < 0.25, "a fifth is gold"
    assert len(gold) > 0.95 * JUDGES * SHEETS * 25
    golds, work = int(gold.sum()), int((~gold).sum())
    error = np.sqrt((golds + work + 1) / (12 * golds * work))  # of the area, by chance
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=60, random_state=0),
    ):
        guessed = cross_val_predict(
            model, features, gold, groups=judge, cv=GroupKFold(8), method="predict_proba"
        )[:, 1]
        area = roc_auc_score(gold, guessed)
        print(f"{type(model).__name__}: area {area:.3f}, chance {error:.4f} from one half")
        assert abs(area - 0.5) < 4 * error, type(model).__name__
