"""Measures of runs as targets: expansions against the measure itself, judged@k."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import Judgments, Run
from adjudge.data.consensus import Consensus
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.estimation._rankings import RankingTarget
from adjudge.evaluation.estimation.estimate import Plan
from adjudge.models.majority_vote import MajorityVote
from gold_panels import made_panel
from rankings import system


@pytest.fixture(scope="module")
def panel() -> tuple[Consensus, np.ndarray, list[Run]]:
    judgments, gold = made_panel(items=240)
    truth = gold.align(judgments)
    rng = np.random.default_rng(2)
    runs = [
        system(judgments, truth, quality, rng, name=n) for n, quality in (("a", 2.0), ("b", 1.0))
    ]
    return MajorityVote().fit(judgments), truth, runs


def ranked(panel: tuple[Consensus, np.ndarray, list[Run]], name: str, runs: int) -> RankingTarget:
    target = Plan().target(name, panel[0], panel[2][:runs])
    assert isinstance(target, RankingTarget)
    return target


@pytest.mark.parametrize("name", ["nDCG@10", "P@5", "AP", "Bpref", "RR", "R@10", "RBP(p=0.8)"])
def test_flips_are_the_measure_with_one_truth_changed(
    panel: tuple[Consensus, np.ndarray, list[Run]], name: str
) -> None:
    target = ranked(panel, name, 2)
    truth = panel[1][target.item]
    found = target.measure.flips(target.pool, truth[None], target.sign)
    for member in (0, 7, 31, 100, 239):
        for k in range(3):
            changed = truth.copy()
            changed[member] = k
            values = target.measure.values(target.pool, changed[None])[0]  # (system, topic)
            expected = float(target.sign @ values[:, target.topics[member]])
            assert found[member, k] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG@10", "P@5", "AP", "Bpref"])
def test_what_is_known_of_all_items_is_the_measure(
    panel: tuple[Consensus, np.ndarray, list[Run]], name: str
) -> None:
    target = ranked(panel, name, 2)
    truth = panel[1][target.item]
    found = target.expand(np.eye(3)[truth], None)
    values = target.measure.values(target.pool, truth[None])[0].mean(axis=1)
    assert found.value == pytest.approx(values[0] - values[1])
    assert found.rest == pytest.approx(0.0, abs=1e-15)
    assert found.of_topic is not None
    assert found.of_topic.sum() == pytest.approx(found.value)


def test_precision_is_a_sum_and_average_precision_is_not(
    panel: tuple[Consensus, np.ndarray, list[Run]],
) -> None:
    belief = panel[0].posterior * 0.7 + 0.1
    precision = ranked(panel, "P@5", 1)
    found = precision.expand(belief[precision.item], None)
    relevant = belief[precision.item][:, 1:].sum(axis=1)
    assert found.rest == pytest.approx(0.0, abs=1e-15)
    assert found.value == pytest.approx(float(relevant[precision.strata() == 1].sum()) / 5 / 12)
    average = ranked(panel, "AP", 1)
    assert average.expand(belief[average.item], None).rest > 0


def test_documents_in_places_that_count(panel: tuple[Consensus, np.ndarray, list[Run]]) -> None:
    target = ranked(panel, "P@5", 1)
    assert int(target.strata().sum()) == 12 * 5


def test_judged_at_k_counts_what_nobody_judged() -> None:
    table = {
        "topic": ["q"] * 3,
        "document": ["a", "b", "c"],
        "judge": ["x"] * 3,
        "label": [1, 0, 1],
    }
    consensus = MajorityVote().fit(Judgments.from_table(table))
    rows = {"topic": ["q"] * 4, "document": ["a", "u", "b", "v"], "score": [4.0, 3.0, 2.0, 1.0]}
    run = Run.from_table(rows, name="r")
    for way in ("not-relevant", "condensed"):
        target = Plan(unjudged=way).target("P@2", consensus, [run])  # type: ignore[arg-type]
        assert isinstance(target, RankingTarget)
        assert target.judged == {"r": 0.5}


def test_a_run_that_nobody_judged_is_complained_of() -> None:
    table = {"topic": ["q"] * 2, "document": ["a", "b"], "judge": ["x"] * 2, "label": [1, 0]}
    consensus = MajorityVote().fit(Judgments.from_table(table))
    run = Run.from_table({"topic": ["q"], "document": ["z"], "score": [1.0]}, source="r.run")
    with pytest.raises(BadData, match="document 'z' of topic 'q' is not in the judgments"):
        Plan().target("P@2", consensus, [run])


def test_a_measure_without_a_run_and_one_too_many(
    panel: tuple[Consensus, np.ndarray, list[Run]],
) -> None:
    with pytest.raises(BadSetting) as caught:
        Plan().target("nDCG@10", panel[0], [])
    wanted = "one run, or two whose difference is wanted, such as --run A --run B"
    assert str(caught.value) == f"no --run: wanted {wanted}"
    with pytest.raises(BadSetting, match="3 runs"):
        Plan().target("nDCG@10", panel[0], [panel[2][0]] * 3)
    with pytest.raises(BadSetting, match="share:1 has no run"):
        Plan().target("share:1", panel[0], panel[2])
    with pytest.raises(BadSetting, match="AP, Bpref, nDCG"):
        Plan().target("ERR@10", panel[0], panel[2])
