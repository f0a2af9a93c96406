"""Bradley and Terry's model: by hand, next to evalica's scores, on simulated data, bad input."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chisquare

from adjudge import BradleyTerry, Comparisons, CrowdBradleyTerry, Elo, WinRate
from adjudge.errors import BadData
from adjudge.kernels import pair_gibbs
from adjudge.models.pairs import _uncertainty as uncertainty
from adjudge.models.pairs.cells import count_cells
from simulated_pairs import make_comparisons
from sizes import sized


def won(*pairs: str, judge: str = "me") -> Comparisons:
    """Comparisons such as "a>b" and "a=b"."""
    rows = [(pair[0], pair[2], "left" if pair[1] == ">" else "tie", judge) for pair in pairs]
    names = ("left", "right", "label", "judge")
    return Comparisons.from_table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def test_three_wins_of_four_by_hand() -> None:
    found = BradleyTerry(regularisation=0).fit(won("a>b", "a>b", "a>b", "b>a"))
    assert found.score == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert found.spread == pytest.approx([np.sqrt(4 / 3) / 2] * 2)  # of a difference, halved
    assert found.above(0, 1) == pytest.approx(0.829, abs=0.001)


@pytest.mark.parametrize("model", [BradleyTerry(), CrowdBradleyTerry(), Elo(), WinRate()])
def test_a_table_is_fitted_as_its_comparisons_are(model: Any) -> None:
    table = pd.DataFrame({"left": list("aab"), "right": list("bcc"), "label": ["left"] * 3})
    assert (
        model.fit(table).score.tolist() == model.fit(Comparisons.from_table(table)).score.tolist()
    )


@pytest.mark.parametrize("ties", ["half", "davidson"])
@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_the_iteration_ends_where_a_general_optimiser_does(ties, prior) -> None:
    made = make_comparisons(np.linspace(-1, 1, 6), 300, tied=1.0, lean=np.array([0.5]), seed=2)
    model = BradleyTerry(ties=ties, regularisation=prior, position=True, tolerance=1e-11)
    found = model.fit(made.comparisons)
    given = made.comparisons

    def lost(x):
        theta, lean = x[:6], x[6]
        tied = np.exp(x[7]) if ties == "davidson" else 0.0
        d = 0.5 * (theta[given.left] - theta[given.right] + lean)
        sign = np.array([1.0, -1.0, 0.0])[given.outcome]
        log_chance = sign * d - np.log(2 * np.cosh(d) + tied)
        log_chance += np.where(given.outcome == 2, np.log(tied) if tied else 0.0, 0.0)
        held = prior * np.log(4 * np.cosh(0.5 * theta) ** 2).sum() + (prior == 0) * theta.sum() ** 2
        return -log_chance.sum() + held

    best = minimize(lost, np.zeros(8), method="BFGS", options={"gtol": 1e-9}).x
    tolerance = 1e-5 if prior == 0 or ties == "half" else 2e-3  # ties have half a one a priori
    assert found.score == pytest.approx(best[:6] - best[:6].mean(), abs=tolerance)
    assert found.parameters["position"][0] == pytest.approx(best[6], abs=tolerance)


def test_llmfao_as_evalica_has_it(shared_data: Path) -> None:
    """evalica counts a tie as half a win, and scores sum to 1; its Newman has ties of their own."""
    given = Comparisons.read(shared_data / "pairs" / "crowd-comparisons.csv")
    with (shared_data / "pairs" / "llmfao-golden.csv").open() as file:
        golden = {
            (row["algorithm"], row["item"]): float(row["score"]) for row in csv.DictReader(file)
        }
    names = given.items.to_pylist()

    def of(algorithm: str) -> np.ndarray:
        return np.array([golden[algorithm, name] for name in names])

    plain = {"regularisation": 0.0, "copies": False}
    strength = np.exp(BradleyTerry(**plain).fit(given).score)
    assert strength / strength.sum() == pytest.approx(of("bradley_terry"), abs=1e-9)
    davidson = BradleyTerry(ties="davidson", **plain).fit(given)
    logs = np.log(of("newman"))
    assert davidson.score == pytest.approx(logs - logs.mean(), abs=1e-6)
    assert davidson.tied / 2 == pytest.approx(0.7398538, abs=1e-6)
    assert Elo(resamples=2).fit(given).score == pytest.approx(of("elo"), abs=1e-9)
    assert WinRate(resamples=2).fit(given).score == pytest.approx(of("average_win_rate"), abs=1e-9)


def test_who_never_lost_has_a_finite_wide_score() -> None:
    found = BradleyTerry().fit(won("a>b", "a>c", "b>c", "c>b", "b>c"))
    low, high = found.interval
    assert found.score.argmax() == 0
    assert np.isfinite(found.score).all()
    assert (high - low)[0] > 2
    assert "only won, or only lost" in found.notes[0]
    with pytest.raises(BadData, match="strengths are not finite"):
        BradleyTerry(regularisation=0).fit(won("a>b", "a>c"))


def test_groups_that_were_never_compared_are_reported() -> None:
    found = CrowdBradleyTerry().fit(won("a>b", "b>a", "c>d", "d>c"))
    assert found.notes[0].startswith(
        "the comparisons fall into 2 groups that were never compared with each other "
        "(such as 'a' and 'c')"
    )
    assert found.above(0, 2) == pytest.approx(0.5, abs=0.01)
    with pytest.raises(BadData, match="fall into 2 groups"):
        BradleyTerry(regularisation=0).fit(won("a>b", "b>a", "c>d", "d>c"))


def test_one_pair_by_one_judge() -> None:
    for model in (BradleyTerry(), CrowdBradleyTerry(), Elo(), WinRate()):
        table = model.fit(won("a>b")).ranking.to_pydict()
        assert table["item"] == ["a", "b"]
        assert table["rank"] == [1, 2]


def test_only_cannot_say_is_refused() -> None:
    table = {"left": ["a"], "right": ["b"], "label": ["cannot say"]}
    with pytest.raises(BadData) as caught:
        BradleyTerry().fit(Comparisons.from_table(table))
    assert caught.value.expected == "comparisons"


def test_cells_are_counted_as_a_loop_would() -> None:
    made = make_comparisons(np.zeros(5), 400, right=np.ones(3), tied=1.0, seed=5).comparisons
    cells = count_cells(made, judges=True, sides=True)
    counted: dict[tuple[int, ...], int] = {}
    for left, right, judge, outcome in zip(
        made.left, made.right, made.judge, made.outcome, strict=True
    ):
        low, high = min(left, right), max(left, right)
        said = outcome if left < right or outcome == 2 else 1 - outcome
        key = (low, high, judge, 1 if left < right else -1, said)
        counted[key] = counted.get(key, 0) + 1
    ours = {
        (a, b, j, s, o): cells.wins[c, o]
        for c, (a, b, j, s) in enumerate(
            zip(cells.a, cells.b, cells.judge, cells.side, strict=True)
        )
        for o in range(3)
        if cells.wins[c, o]
    }
    assert ours == counted


def test_cells_add_up_weights_and_leave_out_undecided_answers() -> None:
    table = {
        "left": ["a", "b", "a", "a"],
        "right": ["b", "a", "b", "b"],
        "label": ["left", "left", "cannot say", "tie"],
        "judge": ["me", "me", "me", "you"],
    }
    weight = np.array([1.0, 2.0, 4.0, 8.0])
    cells = count_cells(Comparisons.from_table(table), judges=True, weight=weight)
    assert cells.judge.tolist() == [0, 1]
    assert cells.wins.tolist() == [[1.0, 2.0, 0.0], [0.0, 0.0, 8.0]]


def test_one_item_that_only_lost_is_reported_among_very_many_cells() -> None:
    made = make_comparisons(np.zeros(9), 9_000, right=np.full(99, 0.7), seed=1).comparisons
    assert not any("only lost" in note for note in CrowdBradleyTerry().fit(made).notes)
    outcome = made.outcome.copy()
    outcome[made.left == 3], outcome[made.right == 3] = 1, 0
    notes = CrowdBradleyTerry().fit(replace(made, outcome=outcome)).notes
    assert any("only lost" in note for note in notes)


def test_answers_of_judges_are_counted_as_a_loop_would() -> None:
    made = make_comparisons(np.arange(4.0), 300, right=np.array([0.9, 0.4]), tied=0.5, seed=2)
    given, found = made.comparisons, CrowdBradleyTerry().fit(made.comparisons)
    for number, row in enumerate(found.judges.to_pylist()):
        mine = [n for n in range(len(given)) if given.judge[n] == number]
        said = [(given.left[n], given.right[n], given.outcome[n]) for n in mine]
        decided = [(left, right, out) for left, right, out in said if out < 2]
        agreed = [
            found.score[left] > found.score[right]
            if out == 0
            else found.score[left] < found.score[right]
            for left, right, out in decided
        ]
        assert row["comparisons"] == len(mine)
        assert row["agreement"] == pytest.approx(np.mean(agreed))
        assert row["tie_share"] == pytest.approx(1 - len(decided) / len(mine))
        assert row["first_chosen"] == pytest.approx(np.mean([out == 0 for *_, out in decided]))


def test_copies_of_a_judge_count_as_one_judge() -> None:
    made = make_comparisons(np.linspace(-1, 1, 8), 900, right=np.full(5, 0.9), seed=3).comparisons
    last = made.select(made.judge == 4).to_table().to_pydict()
    more = [
        Comparisons.from_table(last | {"judge": [f"copy{n}"] * len(last["left"])}) for n in "ab"
    ]
    everybody = Comparisons.join([made, *more])
    alone = BradleyTerry(copies=False).fit(made).score
    loud = BradleyTerry(copies=False).fit(everybody).score
    declared = BradleyTerry().fit(everybody.with_family_rule("(?:copy|judge4)()"))
    assert declared.weight is not None
    assert declared.weight.min() == pytest.approx(1 / 3, abs=0.02)
    assert np.abs(declared.score - alone).max() < 0.25 * np.abs(loud - alone).max()


def test_reversed_and_random_judges_are_found() -> None:
    right = np.array([0.95] * 14 + [0.05] * 3 + [0.5] * 3)
    found = []
    for seed in range(3):
        score = np.random.default_rng(seed).normal(0, 1.5, 25)
        made = make_comparisons(score, 5000, right=right, seed=seed)
        fitted = CrowdBradleyTerry(copies=False).fit(made.comparisons)
        assert np.corrcoef(fitted.score, score)[0, 1] > 0.97
        found += fitted.judges["verdict"].to_pylist()
    words = np.array(found).reshape(3, -1)
    assert (words[:, :14] == "informative").all()
    assert (words[:, 14:17] == "reversed").all()
    assert (words[:, 17:] == "uninformative").sum() >= 8  # of 9


def test_position_bias_is_recovered_within_its_error() -> None:
    held = 0
    for seed in range(20):
        score = np.random.default_rng(seed).normal(0, 1, 15)
        made = make_comparisons(score, 800, lean=np.array([0.6]), tied=0.5, seed=seed)
        value, low, high = (
            BradleyTerry(ties="davidson", position=True)
            .fit(made.comparisons)
            .parameters["position"]
        )
        held += low < 0.6 < high
        assert value == pytest.approx(0.6, abs=0.45)
    assert held >= 15


def covered(model: BradleyTerry, draw: Callable[[np.ndarray, int], Comparisons]) -> float:
    """How often intervals hold the simulated strengths."""
    inside = []
    for seed in range(100):
        score = np.random.default_rng(seed).normal(0, 1, 15)
        low, high = model.fit(draw(score, seed)).interval
        true = score - score.mean()
        inside.append((low < true) & (true < high))
    return float(np.mean(inside))


@pytest.mark.parametrize("count", [300, 1500])
@pytest.mark.parametrize("tied", [0.0, 0.3, 0.8, 2.0])
@pytest.mark.parametrize(("ties", "most"), [("half", 0.96), ("davidson", 0.94)])
def test_intervals_hold_with_ties(tied: float, count: int, ties: Any, most: float) -> None:
    """Those of ties="half" are somewhat wide: they hold for ties of more than one kind."""

    def draw(score: np.ndarray, seed: int) -> Comparisons:
        return make_comparisons(score, count, tied=tied, seed=seed).comparisons

    assert 0.87 < covered(BradleyTerry(ties=ties, copies=False), draw) < most


@pytest.mark.parametrize("count", [300, 1500])
def test_intervals_hold_with_ties_of_another_kind(count: int) -> None:
    """Rao and Kupper (1967): a tie where the difference is too small to be seen."""

    def draw(score: np.ndarray, seed: int) -> Comparisons:
        made = make_comparisons(score, count, seed=seed).comparisons
        ahead = score[made.left] - score[made.right]
        chance = np.random.default_rng([seed, 1]).random(count)
        outcome = np.where(chance < expit(ahead - 0.5), 0, 2)
        outcome[chance > expit(ahead + 0.5)] = 1
        return replace(made, outcome=outcome.astype(np.int8))

    assert 0.87 < covered(BradleyTerry(copies=False), draw) < 0.98


@pytest.mark.parametrize("method", ["newman", "gibbs"])
def test_ties_as_half_a_win_keep_scores_and_widen_intervals(method: Any) -> None:
    made = make_comparisons(np.linspace(-2, 2, 8), 2000, tied=2.0, seed=4).comparisons
    length = {"chains": 2, "warmup": 100, "draws": 200}
    half = BradleyTerry(**length).fit(made)
    aware = BradleyTerry(ties="davidson", **length).fit(made)
    assert half.score == pytest.approx(BradleyTerry().fit(made).score, abs=1e-6)
    assert half.shrinkage < 0.7
    for own, other in ((half.interval, aware.interval), (half.interval, (half.score, half.score))):
        assert (own[0] <= other[0]).all()
        assert (own[1] >= other[1]).all()
    assert half.above(4, 3) == pytest.approx(aware.above(4, 3))
    assert half.tied == 0


@pytest.mark.slow
def test_intervals_cover_ninety_per_cent() -> None:
    inside = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        score = rng.logistic(0, 1, 20)
        made = make_comparisons(score, 600, tied=0.8, seed=seed)
        low, high = BradleyTerry(ties="davidson").fit(made.comparisons).interval
        inside.append((low < score - score.mean()) & (score - score.mean() < high))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(("x", "tied", "many"), [(0.3, 0.0, 1.0), (1.5, 1.2, 3.0), (0.7, 3.5, 2.0)])
def test_precisions_have_their_mean_and_variance(x: float, tied: float, many: float) -> None:
    """The density is a mixture of normals: its mean precision is what its derivative says."""
    rng = np.random.default_rng(1)
    drawn = np.array([pair_gibbs._precision(many, x, tied, rng) for _ in range(20_000)])

    def log(y: float) -> float:
        return -many * np.log(2 * np.cosh(y) + tied)

    slope = (log(x + 1e-4) - log(x - 1e-4)) / 2e-4
    # d/dx log E exp(-w x^2 / 2 + l x), under the tilted draws, is E(-w x + l)
    assert (-drawn[:, 0] * x + drawn[:, 1]).mean() == pytest.approx(slope, rel=0.02)


def test_draws_agree_with_the_point_and_go_to_arviz() -> None:
    made = make_comparisons(np.linspace(-1, 1, 8), 1500, tied=0.8, lean=np.array([0.3]), seed=4)
    settings = {"ties": "davidson", "position": True}
    point = BradleyTerry(**settings).fit(made.comparisons)
    drawn = BradleyTerry(method="gibbs", warmup=200, draws=400, **settings).fit(made.comparisons)
    assert drawn.score == pytest.approx(point.score, abs=0.05)
    assert drawn.spread == pytest.approx(point.spread, rel=0.15)
    assert drawn.samples is not None
    assert max(drawn.samples.r_hat().values()) < 1.05
    again = BradleyTerry(method="gibbs", warmup=200, draws=400, **settings).fit(made.comparisons)
    assert np.array_equal(drawn.score, again.score)
    data = drawn.samples.to_dataset()
    assert data["score"].dims == ("chain", "draw", "item")
    assert {"tied", "position"} <= set(data.data_vars)


@pytest.mark.slow
def test_ranks_of_the_truth_among_draws_are_uniform() -> None:
    """Simulation-based calibration: items, ties, position and judges from their priors."""
    ranks: dict[str, list[int]] = {"score": [], "right": [], "tied": [], "position": []}
    sets = sized(30, full=400)
    bins = 10 if sets >= 60 else 5  # five and more expected in each
    every, kept = sized((5, 49), full=(10, 99))  # draw of a chain; ten ranks a bin are enough
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        score, right = rng.logistic(0, 1, 6), rng.beta(8, 2, 4)
        tied, centre = np.exp(rng.normal()), rng.normal()
        lean = rng.normal(centre, 0.5, 4)
        made = make_comparisons(
            score, sized(120, full=240), right=right, lean=lean, tied=tied, seed=seed
        )
        length = {"warmup": sized(100, full=200), "draws": kept * every}
        model = CrowdBradleyTerry(method="gibbs", chains=1, **length, copies=False, seed=seed)
        samples = model.fit(made.comparisons).samples
        assert samples is not None
        thin = slice(None, None, every)
        ranks["score"].append(int((samples.score[0, thin, 0] < score[0] - score.mean()).sum()))
        ranks["right"].append(int((samples.judge["right"][0, thin, 0] < right[0]).sum()))
        for name, truth in (("tied", tied), ("position", centre)):
            if name in samples.hyper:
                ranks[name].append(int((samples.hyper[name][0, thin] < truth).sum()))
    for name, found in ranks.items():
        counts = np.bincount(np.array(found) * bins // (kept + 1), minlength=bins)
        assert chisquare(counts).pvalue > 0.001, (name, counts)


@pytest.mark.slow
def test_intervals_of_a_crowd_cover_ninety_per_cent() -> None:
    """Judges of unknown skill and lean; what is not known of their skill widens intervals."""
    inside = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 5])
        score = rng.normal(0, 1, 20)
        right, lean = rng.beta(8, 2, 40), rng.normal(0.2, 0.3, 40)
        made = make_comparisons(score, 800, right=right, lean=lean, tied=0.5, seed=seed)
        low, high = CrowdBradleyTerry(copies=False).fit(made.comparisons).interval
        inside.append((low < score - score.mean()) & (score - score.mean() < high))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_draws_of_many_items_spread_as_the_covariance_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    right = rng.beta(8, 2, 5)
    made = make_comparisons(rng.normal(0, 1, 12), 400, right=right, tied=0.5, seed=3)
    model = CrowdBradleyTerry(copies=False)
    dense = model.fit(made.comparisons).spread
    monkeypatch.setattr(uncertainty, "_DENSE", 0)
    monkeypatch.setattr(uncertainty, "_DRAWN", 2_000)
    found = model.fit(made.comparisons)
    assert found.covariance is None
    assert found.spread == pytest.approx(dense, rel=0.1)
