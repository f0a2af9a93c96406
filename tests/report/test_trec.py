"""The figures of B. Carpenter (2011) on the data he had: they show what his show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge import HierarchicalRelevance
from adjudge.data.formats import read
from adjudge.report import Results, draw, gather
from adjudge.report.plots.chains import learnt_priors
from adjudge.report.plots.judges import _choose_judges, _draw_rates
from charts import spec_with_data


@pytest.fixture(scope="module")
def trec(shared_data: Path) -> Results:
    """His subset: no broken links, relevant or not, unsupervised; shorter chains than his."""
    content = read(shared_data / "trec-rf10" / "judgments.tsv", kind="judgments")
    judgments, gold = content.judgments, content.gold
    assert judgments is not None
    assert gold is not None
    broken = np.array([gold.values[code] == "-2" for code in gold.value])
    where = set(gold.items.filter(broken).to_pylist())
    kept = np.array([name not in where for name in judgments.items.to_pylist()])
    judgments = judgments.select(items=kept).without_labels("-2")
    model = HierarchicalRelevance(chains=2, warmup=300, draws=300, seed=1)
    return gather(model.fit(judgments.collapse()))  # without gold, which no figure of his has


def points(results: Results) -> list[dict[str, Any]]:
    """The points of the figure of rates, busiest judge first."""
    spec = spec_with_data(draw("sensitivity-specificity", results))
    rows: list[dict[str, Any]] = next(
        layer["data"]["values"] for layer in spec["layer"] if layer.get("name") == "judges"
    )
    return rows


def test_it_is_his_data(trec: Results) -> None:
    judgments = trec.consensus.judgments
    assert (len(judgments), judgments.item_count, judgments.judge_count) == (89_624, 19_033, 762)


def test_judges_with_most_labels_lie_on_the_line_of_chance(trec: Results) -> None:
    rows = points(trec)
    assert rows[0]["judgments"] == max(row["judgments"] for row in rows)
    beyond = [row["sensitivity"] + row["specificity"] - 1 for row in rows]
    assert max(abs(skill) for skill in beyond[:5]) < 0.05  # the five busiest: chance
    assert np.median(beyond) > 0.4  # the others: far from it


def test_the_two_busiest_give_one_label_only(trec: Results) -> None:
    draws = trec.consensus.draws
    assert draws is not None
    chosen = _choose_judges(trec.consensus.judgments.counts_per_judge)
    for judge in chosen[-2:]:
        specificity, sensitivity = _draw_rates(draws, int(judge), 300)
        assert abs(float(np.mean(specificity + sensitivity)) - 1) < 0.02
        assert min(float(specificity.mean()), float(sensitivity.mean())) < 0.02
    spreads = [float(np.std(_draw_rates(draws, int(judge), 300)[0])) for judge in chosen]
    assert max(spreads[-4:]) < min(spreads[:4])  # certainty grows with the number of judgments


def test_specificity_varies_more_than_sensitivity(trec: Results) -> None:
    rows = points(trec)
    specificity = np.std([row["specificity"] for row in rows])
    sensitivity = np.std([row["sensitivity"] for row in rows])
    assert specificity > 1.5 * sensitivity
    assert trec.consensus.draws is not None
    priors = {prior.name: prior for prior in learnt_priors(trec.consensus.draws)}
    low, high = priors["specificity of judges"].kappa, priors["sensitivity of judges"].kappa
    assert np.quantile(low, 0.99) < np.quantile(high, 0.01)  # as in his figure 4
    assert np.quantile(low, 0.99) < np.quantile(priors["prevalence in topics"].kappa, 0.01)


def test_estimates_rise_with_votes_and_are_more_extreme(trec: Results) -> None:
    spec = spec_with_data(draw("voted-estimated", trec))
    line = next(layer for layer in spec["layer"] if layer.get("name") == "trend")["data"]["values"]
    middle = [row["estimated"] for row in line if 0.1 < row["voted"] < 1]
    assert middle == sorted(middle)
    low = [row for row in line if 0.15 < row["voted"] < 0.45]
    assert all(row["estimated"] < row["voted"] for row in low)


def test_confusion_has_the_spread_between_judges(trec: Results) -> None:
    rows = spec_with_data(draw("confusion", trec))["data"]["values"]
    sd = {(row["truth"], row["label"]): row["sd"] for row in rows}
    assert sd["0", "0"] > sd["1", "1"]
