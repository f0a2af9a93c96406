"""Comparisons and grades in one model: slopes, known answers, recovery, coverage, either alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kendalltau, somersd

from adjudge import Comparisons, CrowdBradleyTerry, Gold, GradedBradleyTerry, Judgments, Scale
from adjudge.data.preferences import Preferences
from adjudge.errors import BadData
from adjudge.models.model import Step
from adjudge.models.pairs import _grading as grading
from adjudge.models.pairs import _uncertainty as uncertainty
from adjudge.models.pairs._strengths import Rules
from adjudge.models.pairs.cells import count_cells
from simulated_pairs import make_comparisons
from sizes import sized

CUTS = np.array([-1.0, 0.0, 1.0])
RULES = Rules(davidson=True, position=True, prior=1.0, agree=(8.0, 2.0), lean_spread=0.5)
ALONE = GradedBradleyTerry(copies=False)


def make_grades(
    score: np.ndarray, each: int, seed: int, *, judges: int = 8, shift: float = 0.5
) -> Judgments:
    """So many grades an item, by judges of their own shift and sharpness, no judge twice."""
    rng = np.random.default_rng([seed, 2])
    shifts, sharp = rng.normal(0, shift, judges), np.exp(rng.normal(0.2, 0.3, judges))
    item = np.repeat(np.arange(len(score)), each)
    judge = np.concatenate([rng.permutation(judges)[:each] for _ in score])
    x = sharp[judge][:, None] * (score[item][:, None] - CUTS - shifts[judge][:, None])
    label = (rng.logistic(size=len(item))[:, None] < x).sum(axis=1)
    table = {
        "item": [f"item{i}" for i in item],
        "judge": [f"grader{j}" for j in judge],
        "label": [str(value) for value in label],
    }
    return Judgments.from_table(table, scale=Scale.parse("0<1<2<3"))


def made(seed: int, *, items: int = 40, compared: int = 300) -> tuple[np.ndarray, Comparisons]:
    """Strengths, and comparisons by judges of every skill."""
    rng = np.random.default_rng([seed, 1])
    score = rng.normal(0, 1.2, items)
    right, lean = rng.beta(8, 2, 10), rng.normal(0.2, 0.3, 10)
    found = make_comparisons(score, compared, right=right, lean=lean, tied=0.6, seed=seed)
    return score, found.comparisons


def truth_of(found: Preferences, score: np.ndarray) -> np.ndarray:
    """The scores behind items, in the order of what was found, about their mean."""
    own = score[[int(name.removeprefix("item")) for name in found.comparisons.items.to_pylist()]]
    return np.asarray(own - own.mean())


def test_slopes_are_those_of_differences() -> None:
    score, pairs = made(0, items=9, compared=60)
    grades = make_grades(score, 3, 0)
    both = Comparisons.join([pairs, pairs.select(np.zeros(len(pairs), dtype=bool))])
    rng = np.random.default_rng(0)
    given = grading.BothKinds(
        cells=count_cells(both, judges=True, sides=True, weight=rng.random(len(both)) + 0.5),
        grades=grading.Grades(
            item=grades.item.astype(np.int64),
            judge=grades.judge.astype(np.int64),
            label=grades.label.astype(np.int64),
            weight=rng.random(len(grades)) + 0.5,
            count=4,
        ),
        rules=RULES,
    )
    spreads = grading._Spreads(other=rng.random(9) + 1, unit=rng.random(len(grades)))
    place = given.start() + rng.normal(0, 0.4, len(given.start()))
    _, slopes = given.lost(place, spreads)
    ends = [
        [given.lost(place + sign * 1e-5 * unit, spreads)[0] for sign in (1, -1)]
        for unit in np.eye(len(place))
    ]
    differences = (np.array(ends)[:, 0] - np.array(ends)[:, 1]) / 2e-5
    np.testing.assert_allclose(slopes, differences, atol=1e-6, rtol=1e-6)


def test_information_is_the_mean_square_of_slopes() -> None:
    """Of one grade: summed over what it could be, from slopes that were checked above."""
    rng = np.random.default_rng(1)
    levels = grading.GradedStrengths(
        theta=np.array([0.4]),
        lean=np.zeros(1),
        odds=np.zeros(1),
        position=0.0,
        log_tied=0.0,
        shift=np.array([0.3]),
        sharp=np.array([0.2]),
        common=0.1,
        cut=np.array([-0.8, 0.3, 1.6]),
        spreads=grading._Spreads(other=np.ones(1), unit=np.zeros(1)),
        converged=True,
    )
    steep, x = levels.steep[0], levels.steep[0] * (0.4 - 0.3 - levels.cut)
    above = np.concatenate([[1.0], expit(x), [0.0]])
    chance = above[:-1] - above[1:]

    def log(point: np.ndarray) -> np.ndarray:  # theta, log steep, cuts -> (grade,)
        edges = np.exp(point[1]) * (point[0] - 0.3 - point[2:])
        up = np.concatenate([[1.0], expit(edges), [0.0]])
        return np.asarray(np.log(up[:-1] - up[1:]))

    point = np.concatenate([[0.4, np.log(steep)], levels.cut])
    slopes = np.array([(log(point + 1e-6 * e) - log(point - 1e-6 * e)) / 2e-6 for e in np.eye(5)])
    expected = (slopes * chance) @ slopes.T * 1.5
    zero = np.zeros(1, dtype=np.int64)
    grades = grading.Grades(
        item=zero, judge=zero, label=rng.integers(4, size=1), weight=np.array([1.5]), count=4
    )
    pairs = Comparisons.from_table({"left": ["a"], "right": ["b"], "label": ["left"]})
    given = grading.BothKinds(
        cells=count_cells(pairs, judges=True),
        grades=grades,
        rules=replace(RULES, davidson=False),
    )
    computed = grading.grade_information(given, levels)
    assert computed.strength[0] == pytest.approx(expected[0, 0], rel=1e-5)
    assert computed.both[0] == pytest.approx(expected[0, 1], rel=1e-5)
    assert computed.sharp[0] == pytest.approx(expected[1, 1], rel=1e-5)
    np.testing.assert_allclose(computed.strength_cut[0], expected[0, 2:], rtol=1e-4)
    np.testing.assert_allclose(computed.sharp_cut[0], expected[1, 2:], rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(computed.cut, expected[2:, 2:], rtol=1e-4, atol=1e-8)


def test_the_fit_ends_where_a_general_optimiser_does() -> None:
    """Comparisons alone, by the posterior written out: also that of CrowdBradleyTerry."""
    right, lean = np.array([0.9, 0.8, 0.6]), np.array([0.5, 0.0, -0.3])
    made = make_comparisons(np.linspace(-1, 1, 6), 300, right=right, lean=lean, tied=0.8, seed=3)
    given = made.comparisons

    def lost(x: np.ndarray) -> float:
        theta, lean, odds, centre, log_tied = np.split(x, [6, 9, 12, 13])
        shown = np.where(given.shown_first == 0, 1, -1) * lean[given.judge]
        ahead, sign = theta[given.left] - theta[given.right], np.array([1, -1, 0])[given.outcome]
        even = np.where(given.outcome == 2, np.exp(log_tied), 1.0)
        chances = [
            even * np.exp(sign * d / 2) / (2 * np.cosh(d / 2) + np.exp(log_tied))
            for d in (ahead + shown, shown - ahead)
        ]
        share = expit(odds)[given.judge]
        log = np.log(share * chances[0] + (1 - share) * chances[1]).sum()
        log += np.log(expit(theta) * expit(-theta)).sum()
        log += (8 * np.log(expit(odds)) + 2 * np.log(expit(-odds))).sum()
        return float(-log + 2 * ((lean - centre) ** 2).sum() + (centre**2 + log_tied**2).sum() / 2)

    best = minimize(lost, np.zeros(14), method="BFGS", options={"gtol": 1e-6}).x
    for model in (CrowdBradleyTerry(copies=False), GradedBradleyTerry(copies=False)):
        found = model.fit(given)
        assert found.score == pytest.approx(best[:6] - best[:6].mean(), abs=1e-3)
        assert found.lean == pytest.approx(best[6:9], abs=1e-3)
        assert found.right == pytest.approx(expit(best[9:12]), abs=1e-3)
        assert found.tied == pytest.approx(np.exp(best[13]), abs=1e-3)
        assert found.grades is None


def test_one_judge_two_grades_by_hand() -> None:
    """Grades that fall half above and half below leave items of like grades alike, in order."""
    table = {"item": list("aabbccdd"), "judge": ["x", "y"] * 4, "label": list("11110000")}
    found = ALONE.fit(None, Judgments.from_table(table))
    assert found.score[0] == pytest.approx(found.score[1], abs=1e-4)
    assert found.score[0] == pytest.approx(-found.score[2], abs=1e-3)
    assert found.score[0] > 0
    cut = found.parameters["cut 0 | 1"][0]
    assert cut == pytest.approx(0, abs=1e-3)
    assert found.grades is not None
    np.testing.assert_allclose(found.grades.sum(axis=1), 1)
    assert found.grades[0, 1] == pytest.approx(found.grades[2, 0], abs=1e-3)
    assert found.ranking["grade"].to_pylist() == ["1", "1", "0", "0"]
    assert found.ranking["p_1"][0].as_py() == pytest.approx(found.grades[0, 1])


@pytest.mark.slow
def test_both_find_more_than_either_and_cover() -> None:
    """Rank correlation with the truth, log loss of new grades, and intervals, on made data."""
    taus, losses, inside = [], [], []
    for seed in range(sized(12, full=60)):
        score, pairs = made(seed)
        grades = make_grades(score, 3, seed)
        fresh = make_grades(score, 1, seed + 1000)
        tau, loss = [], []
        for compared, graded in ((pairs, grades), (pairs, None), (None, grades)):
            found = ALONE.fit(compared, graded)
            truth = truth_of(found, score)
            tau.append(kendalltau(found.score, truth)[0])
            if graded is not None:
                assert found.grades is not None
                at = pa.compute.index_in(fresh.items, value_set=found.comparisons.items)
                chance = found.grades[at.to_numpy()[fresh.item], fresh.label]
                loss.append(-np.log2(chance).mean())
            if compared is pairs and graded is not None:
                low, high = found.interval
                inside.append((low < truth) & (truth < high))
        taus.append(tau)
        losses.append(loss)
    both, by_pairs, by_grades = np.mean(taus, axis=0)
    assert both > by_pairs + 0.1
    assert both > by_grades + 0.02
    assert np.mean(losses, axis=0)[0] < np.mean(losses, axis=0)[1]
    assert np.mean(inside) == pytest.approx(0.9, abs=sized(0.05, full=0.03))


def test_graders_and_cuts_are_recovered() -> None:
    rng = np.random.default_rng(4)
    score, pairs = made(4, items=150, compared=6_000)
    grades = make_grades(score, 6, 4)
    found = ALONE.fit(pairs, grades)
    assert found.converged
    truth = np.random.default_rng([4, 2]).normal(0, 0.5, 8)
    rows = {row["judge"]: row for row in found.judges.to_pylist()}
    shift = np.array([rows[f"grader{j}"]["shift"] for j in range(8)])
    assert np.corrcoef(shift, truth)[0, 1] > 0.9
    assert rows["grader0"]["skill"] is None  # who compared nothing
    assert rows["judge0"]["shift"] is None  # who graded nothing
    assert rows["grader0"]["judgments"] == grades.to_table()["judge"].to_pylist().count("grader0")
    cuts = [found.parameters[f"cut {k} | {k + 1}"][0] for k in range(3)]
    level = truth.mean() - score.mean()  # shifts are about 0 only in the long run
    assert np.abs(np.array(cuts) - CUTS - level).max() < 0.3
    assert found.parameters["sharpness of grades"][0] == pytest.approx(np.exp(0.2), abs=0.35)
    shuffled = rng.permutation(len(pairs))
    again = ALONE.fit(pairs.select(shuffled), grades)
    assert again.score == pytest.approx(found.score, abs=1e-2)


def test_draws_of_many_items_spread_about_as_the_covariance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score, pairs = made(5, items=20)
    grades = make_grades(score, 6, 5)
    dense = ALONE.fit(pairs, grades)
    monkeypatch.setattr(uncertainty, "_DENSE", 0)
    drawn = ALONE.fit(pairs, grades)
    assert drawn.covariance is None
    assert drawn.spread == pytest.approx(dense.spread, rel=0.25)  # graders are taken as known
    assert (drawn.spread.mean() < 1.05 * dense.spread.mean()).all()


def test_copies_of_a_grader_count_as_one_judge() -> None:
    score, pairs = made(6)
    grades = make_grades(score, 4, 6)
    first = grades.judges.to_pylist().index("grader0")
    rows = grades.select(judgments=grades.judge == first).to_table().to_pydict()
    more = [
        Judgments.from_table({**rows, "judge": [name] * len(rows["item"])}, scale=grades.scale)
        for name in ("copy1", "copy2", "copy3")
    ]
    loud = Judgments.concat([grades, *more]).with_family_rule("(?:copy|grader0)()")
    alone = ALONE.fit(pairs, grades).score
    once = GradedBradleyTerry().fit(pairs, loud)
    thrice = ALONE.fit(pairs, loud).score
    names = once.comparisons.items.to_pylist()
    place = [names.index(name) for name in ALONE.fit(pairs, grades).comparisons.items.to_pylist()]
    assert np.abs(once.score[place] - alone).max() < 0.5 * np.abs(thrice[place] - alone).max()
    assert any("one family, as declared" in note for note in once.notes)


def test_input_that_is_refused() -> None:
    pairs = Comparisons.from_table({"left": ["a"], "right": ["b"], "label": ["left"]})
    words = Judgments.from_table(
        {"item": ["a", "b", "c"], "judge": ["x"] * 3, "label": ["cat", "dog", "cow"]}
    )
    with pytest.raises(BadData) as caught:
        ALONE.fit(pairs, words)
    assert caught.value.expected == "grades"
    others = Judgments.from_table({"item": ["c", "d"], "judge": ["x"] * 2, "label": ["0", "1"]})
    with pytest.raises(BadData) as caught:
        ALONE.fit(pairs, others)
    assert caught.value.expected == "the same items"
    unsaid = Comparisons.from_table({"left": ["a"], "right": ["b"], "label": ["cannot say"]})
    with pytest.raises(BadData) as caught:
        ALONE.fit(unsaid)
    assert caught.value.expected == "comparisons"


def preferred(graded: Judgments, per_topic: int, seed: int) -> Comparisons:
    """What graders would say of pairs of one topic: the better grade, or a tie."""
    rng = np.random.default_rng(seed)
    topic = np.array([name.split("_")[0] for name in graded.items.to_pylist()])
    label = np.full((graded.judge_count, graded.item_count), -1)
    label[graded.judge, graded.item] = graded.label
    rows = []
    for name in np.unique(topic):
        own = np.flatnonzero(topic == name)
        for _ in range(per_topic):
            a, b = rng.choice(own, 2, replace=False)
            j = rng.integers(graded.judge_count)
            if min(label[j, a], label[j, b]) >= 0:
                rows.append((a, b, j, int(np.sign(label[j, a] - label[j, b]))))
    left, right, judge, ahead = np.array(rows).T
    return Comparisons(
        items=graded.items,
        judges=graded.judges,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        judge=judge.astype(np.int32),
        outcome=np.array([1, 2, 0], dtype=np.int8)[ahead + 1],
        first=np.full(len(rows), -1, dtype=np.int8),
    )


def by_some(judgments: Judgments, items: np.ndarray, judges: list[str]) -> Judgments:
    """The judgments of some judges on some items."""
    codes = [judgments.judges.to_pylist().index(name) for name in judges]
    return judgments.select(judgments=np.isin(judgments.judge, codes), items=items)


@pytest.mark.slow
def test_both_beat_either_on_real_judgments(shared_data: Path) -> None:
    """llmjudge: some models grade, others are made to prefer; NIST's grades are the truth."""
    path = shared_data / "panels" / "llmjudge.csv"
    everything = Judgments.read(path)
    best = Gold.read(path).align(everything)
    names, items = sorted(everything.judges.to_pylist()), everything.items.to_pylist()
    topics = np.array([name.split("_")[0] for name in items])
    truth = dict(zip(items, best.tolist(), strict=True))
    taus, losses = [], []
    for seed in range(sized(2, full=10)):
        rng = np.random.default_rng(seed)
        panel = rng.permutation(names)[:6].tolist()
        chosen = np.isin(topics, rng.permutation(np.unique(topics))[:6])
        graded = by_some(everything, chosen, panel[:2])
        pairs = preferred(by_some(everything, chosen, panel[2:]), 150, seed)
        tau, loss = [], []
        for compared, grades in ((pairs, graded), (pairs, None), (None, graded)):
            found = ALONE.fit(compared, grades)
            own = found.comparisons.items.to_pylist()
            gold = np.array([truth[name] for name in own])
            topic = np.array([name.split("_")[0] for name in own])
            within = [(gold[topic == t], found.score[topic == t]) for t in np.unique(topic)]
            # Of pairs with two grades of gold; scores that are equal tell nothing of a pair.
            tau.append(np.nanmean([somersd(*part).statistic for part in within]))
            if found.grades is not None:
                loss.append(-np.log2(found.grades[np.arange(len(own)), gold]).mean())
        taus.append(tau)
        losses.append(loss)
    both, by_pairs, by_grades = np.mean(taus, axis=0)
    assert both > max(by_pairs, by_grades)
    assert np.mean(losses, axis=0)[0] < np.mean(losses, axis=0)[1]


@pytest.mark.parametrize("model", [CrowdBradleyTerry(), GradedBradleyTerry()])
def test_fits_of_judges_say_how_far_they_have_come(model: CrowdBradleyTerry) -> None:
    steps: list[Step] = []
    model.fit(made(1)[1], progress=steps.append)
    assert len(steps) > 1
    assert all(0 < step.done <= step.total for step in steps)
