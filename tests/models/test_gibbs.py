"""The sampler: settings, starts, label switching, stopping, memory, what it keeps."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from adjudge import (
    BadData,
    BadSetting,
    Gold,
    HierarchicalConfusion,
    HierarchicalRelevance,
    HybridConfusion,
    Judgments,
    Scale,
    ThreadsEngine,
)
from adjudge.models._gibbs import (
    Chain,
    Prior,
    _find_switch,
    _run_chain,
    stride_of,
)
from adjudge.simulation import Crowd, Population, demo

SHORT = {"chains": 2, "warmup": 50, "draws": 60}


@pytest.fixture(scope="module")
def crowd():
    population = Population.parse("two-coin:30")
    return Crowd(items=400, population=population, topics=4, gold=0.2, per_item=5).make(seed=2)


def test_more_labels_than_two_are_sent_to_the_model_for_them() -> None:
    with pytest.raises(BadData) as caught:
        HierarchicalRelevance(**SHORT).fit(demo().judgments)
    assert str(caught.value) == (
        "hierarchical-relevance takes two labels, and these are 3: 0 < 1 < 2; collapse them "
        "(--binary), or take hierarchical-confusion, its form for any number"
    )


def test_chains_that_do_not_fit_into_memory_are_refused_before_they_start(crowd) -> None:
    with pytest.raises(BadSetting, match=r"chains = 100000000: expected at most \d+: each takes"):
        HierarchicalRelevance(chains=100_000_000).fit(crowd.judgments)


def test_all_gold_no_gold_one_judge_one_topic_and_a_topic_of_one_item(crowd) -> None:
    everything = HierarchicalRelevance(**SHORT).fit(crowd.judgments, crowd.truth)
    truth = crowd.truth.align(crowd.judgments)
    assert np.array_equal(everything.choice, truth)
    rows = {"item": list("abc"), "judge": ["x"] * 3, "label": [0, 1, 1]}
    alone = HierarchicalRelevance(**SHORT).fit(Judgments.from_table(rows))
    assert alone.posterior.shape == (3, 2)
    topics = {"topic": ["t", "t", "u"], "document": list("abc"), "judge": ["x", "y", "x"]}
    table = Judgments.from_table(topics | {"label": [0, 1, 1]})
    assert HierarchicalRelevance(**SHORT).fit(table).prevalence.shape == (2, 2)


def test_a_judge_who_gave_one_label_only_has_no_information() -> None:
    population = Population.parse("two-coin(8,2,8,2):10,lazy(1):1")
    made = Crowd(items=500, population=population, per_item=5).make(seed=1)
    fit = HierarchicalRelevance(**SHORT).fit(made.judgments)
    rows = fit.judges.to_pylist()
    lazy = next(r for r, kind in zip(rows, made.kinds, strict=True) if kind.startswith("lazy"))
    assert lazy["bits"] < 0.05
    assert lazy["sensitivity"] > 0.9
    assert lazy["specificity"] < 0.2
    assert lazy["p_chance"] > 0.1
    others = [r for r in rows if r is not lazy]
    assert np.mean([r["p_chance"] for r in others]) < 0.05


def test_the_same_seed_gives_the_same_bits_and_another_does_not(crowd) -> None:
    one = HierarchicalRelevance(**SHORT, seed=1).fit(crowd.judgments)
    same = HierarchicalRelevance(**SHORT, seed=1).fit(crowd.judgments)
    other = HierarchicalRelevance(**SHORT, seed=2).fit(crowd.judgments)
    assert np.array_equal(one.posterior, same.posterior)
    assert np.array_equal(one.draws.hyper["kappa_0"], same.draws.hyper["kappa_0"])
    assert not np.array_equal(one.posterior, other.posterior)


def test_intervals_cover_nine_times_in_ten() -> None:
    """90% intervals of judges' rates and of prevalence cover 85 to 95% over many crowds."""
    hits, count = 0, 0
    for seed in range(30):
        population = Population.parse("two-coin(8,2,8,2):20")
        made = Crowd(items=300, population=population, per_item=6, topics=3).make(seed=seed)
        fit = HierarchicalRelevance(chains=2, warmup=150, draws=200, seed=seed).fit(made.judgments)
        theta = fit.draws.confusion.reshape(-1, *fit.draws.confusion.shape[2:])
        low, high = np.quantile(theta, [0.05, 0.95], axis=0)
        for k in range(2):
            true = made.confusion[:, k, k]
            hits += ((low[:, k, k] <= true) & (true <= high[:, k, k])).sum()
            count += len(true)
    assert 0.85 <= hits / count <= 0.95


def test_label_switching_is_aligned() -> None:
    assert _find_switch(np.array([[9, 1], [2, 8]])) is None
    assert _find_switch(np.array([[1, 9], [8, 2]])).tolist() == [1, 0]
    assert _find_switch(np.array([[1, 9, 0], [0, 1, 9], [9, 0, 1]])).tolist() == [1, 2, 0]


def test_a_chain_started_in_the_mirror_image_is_aligned_and_counted(crowd) -> None:
    table = crowd.judgments
    truth = crowd.truth.align(table)
    sampler = ThreadsEngine().sampler(
        table, None, by_topic=True, seed=0, chains=1, pivot=truth.astype(np.int16)
    )
    prior = Prior(confusion=np.ones((2, 2)), prevalence=np.ones(2), learnt=True, exchangeable=True)
    plan = HybridConfusion(chains=1, warmup=0, draws=30, thin=1, seed=0)
    chain = Chain()
    mirrored = (1 - truth).astype(np.int16)
    _run_chain(sampler, 0, mirrored, prior, plan, 1, threading.Event(), chain)
    assert chain.relabelled >= 1
    mean = sampler.mean(0) / chain.swept
    assert mean.sum(axis=1) == pytest.approx(1)
    assert ((mean[:, 1] > 0.5) == truth).mean() > 0.8
    assert np.mean([theta[:, 1, 1].mean() for theta in chain.confusion]) > 0.5


def test_a_stopped_chain_keeps_its_draws(crowd) -> None:
    sampler = ThreadsEngine().sampler(
        crowd.judgments, None, seed=0, chains=1, pivot=np.zeros(400, dtype=np.int16)
    )
    stop = threading.Event()
    stop.set()
    chain = Chain()
    prior = Prior(confusion=np.ones((2, 2)), prevalence=np.ones(2))
    plan = HybridConfusion(chains=1, warmup=0, draws=30, thin=1, seed=0)
    _run_chain(sampler, 0, np.zeros(400, dtype=np.int16), prior, plan, 1, stop, chain)
    assert chain.done == 0


def test_progress_is_reported_while_chains_run(crowd) -> None:
    seen = []
    HierarchicalRelevance(chains=2, warmup=100, draws=3000).fit(
        crowd.judgments, progress=seen.append
    )
    assert {step.total for step in seen} == {6200}


def test_draws_go_to_arviz_and_to_a_file(crowd, tmp_path: Path) -> None:
    fit = HierarchicalConfusion(**SHORT).fit(crowd.judgments)
    data = fit.draws.to_dataset()
    assert dict(data.sizes)["chain"] == 2
    assert data["phi"].dims == ("chain", "draw", "truth", "label")
    assert data["confusion"].dims == ("chain", "draw", "judge", "truth", "label")
    fit.draws.save(tmp_path / "draws.nc")
    import xarray

    back = xarray.open_dataset(tmp_path / "draws.nc", group="posterior", engine="h5netcdf")
    assert np.allclose(back["kappa"], fit.draws.hyper["kappa"])
    assert back["judge"].values.tolist() == fit.judgments.judges.to_pylist()
    assert list(tmp_path.iterdir()) == [tmp_path / "draws.nc"]
    inference = fit.draws.to_arviz()
    assert "kappa" in inference["posterior"] or "kappa" in inference.posterior


def test_diagnostics_equal_arviz(crowd) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    fit = HierarchicalRelevance(**SHORT).fit(crowd.judgments)
    for row in fit.draws.diagnostics():
        values = fit.draws.hyper[row["name"]]
        assert row["r_hat"] == pytest.approx(float(arviz.rhat(values)), rel=1e-6)
        assert row["ess_bulk"] == pytest.approx(float(arviz.ess(values, method="bulk")), rel=0.02)


def test_chains_that_disagree_are_named(crowd) -> None:
    fit = HierarchicalRelevance(chains=3, warmup=0, draws=8, seed=1).fit(crowd.judgments)
    assert any(note.startswith("R-hat above 1.01 for ") for note in fit.notes)
    assert fit.converged is False


def test_large_draws_are_thinned_to_a_budget() -> None:
    plan = HybridConfusion(chains=4, warmup=0, draws=1000, thin=1, seed=0)
    assert stride_of(plan, judges=100, topics=10, truths=2, labels=2) == 1
    stride = stride_of(plan, judges=100_000, topics=10, truths=5, labels=5)
    assert 4 * 1000 / stride * 100_000 * 25 * 4 <= 64 * 2**20 * 1.1


def test_priors_of_hybrid_confusion() -> None:
    scale = Scale.parse("0<1<2")
    assert HybridConfusion().prior(scale).tolist() == [[3, 1, 1], [1, 3, 1], [1, 1, 3]]
    decayed = HybridConfusion(diagonal=4.0, decay=0.5).prior(scale)
    assert decayed.tolist() == [[4, 2, 1], [2, 4, 2], [1, 2, 4]]
    given = ((5.0, 1.0, 2.0), (1.0, 5.0, 1.0), (1.0, 1.0, 5.0))
    assert HybridConfusion(gamma=given).prior(scale).tolist() == [list(row) for row in given]
    with pytest.raises(BadSetting, match="3 rows of 3: a row a truth"):
        HybridConfusion(gamma=((1.0, 2.0),)).prior(scale)
    with pytest.raises(BadSetting, match="an ordinal scale; cat, dog is nominal"):
        HybridConfusion(decay=0.5).prior(Scale.parse("cat,dog"))
    with pytest.raises(BadSetting, match="pseudo-counts above 0"):
        HybridConfusion(gamma=((0.0, 1.0), (1.0, 1.0)))


def test_variational_is_near_the_sampler(crowd) -> None:
    sampled = HierarchicalConfusion(chains=2, warmup=200, draws=300).fit(crowd.judgments)
    fast = HierarchicalConfusion(method="variational").fit(crowd.judgments)
    assert fast.draws is None
    assert fast.converged
    assert (fast.choice == sampled.choice).mean() > 0.95
    assert np.abs(fast.confusion - sampled.confusion).mean() < 0.05


def test_gold_guides_the_sampler() -> None:
    crowd = Crowd(items=400, population=Population.parse("adversary:7,skilled:3"), gold=0.25)
    made = crowd.make(seed=5)
    truth = made.truth.align(made.judgments)
    rest = made.gold.align(made.judgments) < 0
    alone = HierarchicalRelevance(**SHORT).fit(made.judgments)
    guided = HierarchicalRelevance(**SHORT).fit(made.judgments, made.gold)
    assert (alone.choice == truth)[rest].mean() < 0.3
    assert (guided.choice == truth)[rest].mean() > 0.9
    assert guided.draws.relabelled == 0


def test_binary_truth_from_graded_labels_is_sampled() -> None:
    made = demo()
    table = made.judgments.with_scale(made.judgments.scale.with_binary_truth())
    fit = HierarchicalConfusion(**SHORT).fit(table, Gold.of({"item-0000001": 2}))
    assert fit.confusion.shape == (40, 2, 3)
    assert fit.choice[0] == 1


def test_topics_have_intervals_that_hold_their_prevalence(crowd) -> None:
    fit = HierarchicalRelevance(**SHORT).fit(crowd.judgments)
    rows = fit.topics.to_pylist()
    assert [row["topic"] for row in rows] == crowd.judgments.topics.to_pylist()
    assert sum(row["items"] for row in rows) == 400
    for row in rows:
        assert row["p_1_low"] < row["p_1"] < row["p_1_high"]
        assert row["p_0"] + row["p_1"] == pytest.approx(1)
    pooled = HybridConfusion(**SHORT).fit(crowd.judgments).topics.to_pylist()
    assert [(row["topic"], row["items"]) for row in pooled] == [("all", 400)]
