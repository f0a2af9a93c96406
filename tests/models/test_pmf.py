"""Pmf: its factors, its votes, its choice of rank, and what it recommends."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import (
    BadData,
    BadSetting,
    Consensus,
    Gold,
    Judgments,
    MajorityVote,
    Pmf,
    Scale,
    ThreadsEngine,
)
from adjudge.models._factorisation import (
    FitPlan,
    FittedFactors,
    _squared_error,
    choose_rank,
    factorise,
)
from adjudge.models._sparse import Sparse, SparseRows, sparse_of
from adjudge.models.completion import recommend_judges
from adjudge.simulation import demo
from strategies import judgments, shuffled


def made_matrix(
    items: int, judges: int, rank: int, density: float, noise: float, seed: int
) -> Sparse:
    """A low-rank matrix seen in part, with noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(items, rank)) @ rng.normal(size=(rank, judges)) / np.sqrt(rank)
    seen = rng.random((items, judges)) < density
    row, column = np.nonzero(seen)
    value = truth[seen] + noise * rng.normal(size=len(row))
    mean = float(value.mean())
    return Sparse(
        SparseRows.of(row, column, value - mean, items),
        SparseRows.of(column, row, value - mean, judges),
        mean,
        np.arange(items),
        np.arange(judges),
    )


def objective(matrix: Sparse, fit: FittedFactors, ridge: float) -> float:
    """The objective by its formula."""
    left = matrix.by_item.value - np.sum(
        fit.own[matrix.row] * fit.held[matrix.by_item.column], axis=1
    )
    return float(np.sum(left**2) + ridge * (np.sum(fit.own**2) + np.sum(fit.held**2))) / 2


@given(
    data=st.data(),
    ridge=st.sampled_from([1e-3, 0.1, 2.0]),
    seed=st.integers(0, 99),
)
def test_the_objective_never_rises_and_is_the_formula(
    data: st.DataObject, ridge: float, seed: int
) -> None:
    matrix = sparse_of(data.draw(judgments()))
    rank = data.draw(st.integers(1, min(matrix.shape)))
    plan = FitPlan(rank=rank, regularisation=ridge, seed=seed, iterations=15)
    fit = factorise(matrix, plan)
    steps = np.array(fit.objective)
    assert np.all(np.diff(steps) <= 1e-9 * np.abs(steps[:-1]) + 1e-12)
    assert steps[-1] == pytest.approx(objective(matrix, fit, ridge), rel=1e-6, abs=1e-9)


def gradient(matrix: Sparse, fit: FittedFactors, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """The gradient by its formula, from dense arrays."""
    seen, value = np.zeros(matrix.shape), np.zeros(matrix.shape)
    seen[matrix.row, matrix.by_item.column] = 1.0
    value[matrix.row, matrix.by_item.column] = matrix.by_item.value
    left = seen * (fit.own @ fit.held.T - value)
    return left @ fit.held + ridge * fit.own, left.T @ fit.own + ridge * fit.held


@pytest.mark.parametrize("ridge", [0.1, 2.0])
def test_a_fit_runs_until_the_gradient_is_zero(ridge: float) -> None:
    matrix = made_matrix(300, 60, 6, 0.3, 0.5, seed=4)
    plan = FitPlan(rank=8, regularisation=ridge, iterations=5000, tolerance=1e-6)
    fit = factorise(matrix, plan)
    assert fit.converged
    slopes = gradient(matrix, fit, ridge)
    pull = ridge * np.sqrt(np.sum(fit.own**2) + np.sum(fit.held**2))
    assert np.sqrt(sum(np.sum(slope**2) for slope in slopes)) < 2e-6 * pull
    # And no solved side could do better: ridge regressions of single rows change nothing.
    for row in range(0, matrix.shape[0], 50):
        part = matrix.row == row
        held = fit.held[matrix.by_item.column[part]]
        best = np.linalg.solve(
            held.T @ held + ridge * np.eye(plan.rank), held.T @ matrix.by_item.value[part]
        )
        assert fit.own[row] == pytest.approx(best, abs=1e-3)


def test_a_simulated_low_rank_matrix_is_recovered() -> None:
    noise = 0.3
    matrix = made_matrix(2000, 200, 3, 0.35, noise, seed=1)
    out = np.random.default_rng(5).random(len(matrix)) < 0.1
    train = matrix.part(~out)
    fit = factorise(train, FitPlan(rank=3, regularisation=0.5, iterations=50))
    rmse = np.sqrt(_squared_error(matrix, out, fit, train.mean) / out.sum())
    assert noise * 0.95 < rmse < noise * 1.05


def test_cross_validation_finds_the_rank_and_says_what_it_tried() -> None:
    matrix = made_matrix(300, 60, 3, 0.4, 0.2, seed=3)
    plan = FitPlan(rank=1, regularisation=1.0, iterations=15)
    steps = []
    chosen, tried = choose_rank(
        matrix,
        plan,
        ranks=(1, 3),
        regularisations=(0.1, 20.0),
        folds=3,
        progress=steps.append,
    )
    assert (chosen.rank, chosen.regularisation) == (3, 0.1)
    assert [(t.rank, t.regularisation) for t in tried] == [
        (rank, ridge) for rank in (1, 3) for ridge in (20.0, 0.1)
    ]
    assert min(t.rmse for t in tried) == tried[3].rmse < 0.3 < tried[1].rmse
    assert (steps[-1].done, steps[-1].total) == (12, 12)
    again, _ = choose_rank(
        matrix, plan, ranks=(1, 3), regularisations=(0.1, 20.0), folds=3, threads=2
    )
    assert again == chosen


def test_repeats_are_averaged_and_labels_without_a_truth_left_out() -> None:
    scale = Scale(
        labels=("-2", "0", "1", "2"),
        ordinal=True,
        truths=("0", "1"),
        truth_of=(-1, 0, 1, 1),
        relevant=("1", "2"),
    )
    table = Judgments.from_table(
        {
            "item": ["b", "b", "a", "a", "b"],
            "judge": ["y", "y", "y", "x", "x"],
            "label": [0, 1, 2, -2, 2],
        },
        scale=scale,
    )
    matrix = sparse_of(table)
    assert matrix.mean == 1.5  # of 2, 2 and the mean of 0 and 1
    assert table.items.take(pa.array(matrix.item_order)).to_pylist() == ["a", "b"]
    assert matrix.by_item.offsets.tolist() == [0, 1, 3]
    assert matrix.by_item.column.tolist() == [1, 0, 1]
    assert matrix.by_item.value.tolist() == [0.5, 0.5, -1.0]
    assert matrix.by_judge.value.tolist() == [0.5, 0.5, -1.0]


def dense() -> tuple[Judgments, Gold]:
    """Twenty items, of which four judges are right and one is always wrong; all judge most."""
    rows = []
    for item in range(20):
        for judge in range(5):
            if (item + judge) % 7:
                truth = item % 2
                rows.append((f"i{item:02}", f"j{judge}", 1 - truth if judge == 4 else truth))
    columns = dict(zip(("item", "judge", "label"), zip(*rows, strict=True), strict=True))
    gold = Gold.of({f"i{item:02}": item % 2 for item in range(12)})
    return Judgments.from_table(columns), gold


def by_judge(consensus: Consensus, column: str) -> dict[str, object]:
    table = consensus.judges
    return dict(zip(table["judge"].to_pylist(), table[column].to_pylist(), strict=True))


def test_weights_filter_and_flip_use_the_gold() -> None:
    table, gold = dense()
    truth, right = np.arange(20) % 2, ("j0", "j1", "j2", "j3")
    plain = Pmf(regularisation=0.1).fit(table)
    assert np.array_equal(plain.choice, truth)
    assert plain.probability == pytest.approx(np.full(20, 0.8))  # four of five votes
    turned = Pmf(regularisation=0.1, weights=True).fit(table, gold)
    assert turned.probability == pytest.approx(np.ones(20))
    assert by_judge(turned, "flipped") == {"j4": True} | dict.fromkeys(right, False)
    assert "1 judge is more often wrong than right: turned round" in turned.notes
    kept = Pmf(regularisation=0.1, alpha=0.7, flip=False).fit(table, gold)
    assert by_judge(kept, "kept") == {"j4": False} | dict.fromkeys(right, True)
    assert kept.probability == pytest.approx(np.ones(20))
    assert not kept.fallback.any()
    assert "1 of 5 judges dropped by accuracy:0.7" in kept.notes


def test_a_filter_that_drops_everybody_falls_back_and_says_so() -> None:
    rng = np.random.default_rng(0)
    table = Judgments.from_table(
        {
            "item": np.repeat(np.arange(40), 3),
            "judge": rng.integers(0, 6, 120),
            "label": rng.integers(0, 2, 120),
        }
    )
    gold = Gold.of({str(item): int(rng.integers(0, 2)) for item in range(20)})
    nobody = Pmf(alpha=1.0).fit(table, gold)
    assert "the filter accuracy:1 drops every judge: it is not applied" in nobody.notes
    assert nobody.labels["fallback"].to_pylist() == [
        int(item) >= 20 for item in nobody.labels["item"].to_pylist()
    ]


def test_one_label_only_is_a_unanimous_vote() -> None:
    scale = Scale(labels=("0", "1", "2"), ordinal=True)
    table = Judgments.from_table(
        {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": [1, 1, 1]}, scale=scale
    )
    assert Pmf().fit(table).posterior.tolist() == [[0.0, 1.0, 0.0]] * 2


def test_a_judge_or_item_without_judgments_does_not_vote() -> None:
    table, _ = dense()
    more = table.with_items(pa.array(["new"]))
    wider = Judgments(
        scale=more.scale,
        items=more.items,
        judges=pa.concat_arrays([more.judges, pa.array(["silent"], pa.large_string())]),
        offsets=more.offsets,
        judge=more.judge,
        label=more.label,
    )
    settled = Pmf(rank=5, regularisation=0.1)
    assert settled.fit(wider).posterior[:-1] == pytest.approx(settled.fit(table).posterior)
    assert settled.fit(wider).posterior[-1].tolist() == [0.5, 0.5]


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_order_changes_no_bit_of_a_weighted_vote(data: st.DataObject) -> None:
    table = data.draw(judgments(labels=2))
    judged = np.flatnonzero(table.counts_per_item)
    gold = Gold.of({table.items[int(judged[0])].as_py(): 1})
    moved, where = shuffled(table, data.draw(st.integers(0, 999)))
    one = Pmf(weights=True, alpha=0.6).fit(table, gold)
    other = Pmf(weights=True, alpha=0.6).fit(moved, gold)
    assert np.array_equal(one.posterior, other.posterior[where])
    assert np.array_equal(one.choice, other.choice[where])


def test_completion_is_the_products_by_blocks() -> None:
    made = demo()
    factors = Pmf(iterations=3).factors(made.judgments, engine=ThreadsEngine(threads=1))
    full = factors.complete()
    assert full.shape == (400, 40)
    assert factors.complete(slice(10, 20)) == pytest.approx(full[10:20])
    assert full[7, 9] == pytest.approx(
        factors.mean + float(factors.items[7] @ factors.judges[9]), rel=1e-12
    )
    shares = factors.votes()
    labels = factors.cuts.label(full)
    expected = np.stack([(labels == k).mean(axis=1) for k in range(3)], axis=1)
    assert shares == pytest.approx(expected)
    known = made.truth.align(made.judgments)
    accuracy, items = factors.accuracy(known)
    assert items == 400
    assert accuracy == pytest.approx((labels == known[:, None]).mean(axis=0))


def test_recommended_are_those_who_would_agree() -> None:
    table, gold = dense()
    pmf = Pmf(regularisation=0.1)
    factors, consensus = pmf.factors(table), pmf.fit(table, gold)
    asked = recommend_judges(factors, consensus, "i02")
    assert asked.num_rows == 0  # everybody has judged it
    asked = recommend_judges(factors, consensus, "i03")  # j4 alone has not, and is always wrong
    assert asked["judge"].to_pylist() == ["j4"]
    assert asked["label"].to_pylist() == ["0"]
    assert asked["agreement"][0].as_py() < 0.2
    with pytest.raises(BadData, match="there is no item 'z' in these judgments"):
        recommend_judges(factors, consensus, "z")
    with pytest.raises(BadSetting):
        recommend_judges(factors, consensus, "i03", count=0)
    with pytest.raises(BadData, match="other items"):
        recommend_judges(factors, MajorityVote().fit(demo().judgments), "i03")


def test_data_that_cannot_be_factorised_are_refused() -> None:
    table, _ = dense()
    with pytest.raises(BadSetting) as caught:
        Pmf(rank=6).fit(table)
    assert str(caught.value) == (
        "rank = 6: expected at most 5, the smaller side of the matrix of 20 items and 5 judges"
    )
    with pytest.raises(BadSetting) as caught:
        Pmf(alpha=0.7).fit(table)
    assert str(caught.value) == (
        "alpha = 0.7: expected gold to measure accuracy by: no judged item has any"
    )
    pets = Judgments.from_table(
        {"item": ["a", "b", "c"], "judge": ["x", "x", "x"], "label": ["cat", "dog", "eel"]}
    )
    with pytest.raises(BadData) as nominal:
        Pmf().fit(pets)
    assert str(nominal.value) == (
        "pmf needs labels that are numbers or have an order, and cat, dog, eel is nominal; "
        "if they have one, name it, such as --labels 'cat<dog<eel'"
    )


def test_auto_chooses_and_fits() -> None:
    table, _ = dense()
    consensus = Pmf(rank="auto", regularisation="auto", iterations=5).fit(table)
    assert np.array_equal(consensus.choice, np.arange(20) % 2)
    assert consensus.notes[0].startswith("rank 5, regularisation ")
