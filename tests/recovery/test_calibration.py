"""Simulation-based calibration: draws of a parameter rank its true value uniformly.

Parameters are drawn from the prior, judgments from the parameters, and the posterior from the
judgments; over many such data sets the rank of the truth among its posterior draws is uniform if,
and only if, the sampler draws from the right posterior (Talts and others 2018, arXiv:1804.06788).
Without gold the hierarchical models cannot tell a truth from its mirror image, and put switched
truths back by the votes; the true parameters are put in the same order before they are ranked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from adjudge import Gold, Judgments, Scale, ThreadsEngine
from adjudge.models._gibbs import _find_switch
from adjudge.models.hierarchical_confusion import HierarchicalConfusion
from adjudge.models.hierarchical_relevance import HierarchicalRelevance
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.model import pick
from sizes import sized

pytestmark = pytest.mark.slow

SETS = sized(30, full=400)  # data sets; more find finer faults
BINS = 10 if SETS >= 100 else 5  # of the ranks, with five and more expected in each
DRAWS, THIN, WARMUP = sized((49, 4, 100), full=(99, 8, 200))  # ten ranks a bin are enough
ITEMS, JUDGES, EACH, TOPICS = 40, 6, 4, 3


def made(rng: np.random.Generator, pi: np.ndarray, theta: np.ndarray, topic: np.ndarray):
    """Judgments from parameters, and the truth of each item."""
    truths, labels = theta.shape[1:]
    truth = np.array([rng.choice(truths, p=pi[t]) for t in topic])
    judge = np.concatenate([rng.choice(len(theta), EACH, replace=False) for _ in range(ITEMS)])
    item = np.repeat(np.arange(ITEMS), EACH)
    label = np.array(
        [rng.choice(labels, p=theta[j, truth[i]]) for i, j in zip(item, judge, strict=True)]
    )
    names = tuple(str(y) for y in range(labels))
    table = Judgments(
        scale=Scale(labels=names, ordinal=True, relevant=names[1:]),
        items=pa.array([f"i{n}" for n in range(ITEMS)], pa.large_string()),
        judges=pa.array([f"j{n}" for n in range(len(theta))], pa.large_string()),
        offsets=np.arange(0, ITEMS * EACH + 1, EACH, dtype=np.int64),
        judge=judge.astype(np.int32),
        label=label.astype(np.int8),
        topics=pa.array([f"t{n}" for n in range(len(pi))], pa.large_string()),
        topic=topic.astype(np.int32),
    )
    return table, truth


def from_learnt_prior(rng: np.random.Generator, truths: int):
    """Hyper-parameters, prevalence and confusion from the hierarchical prior."""
    phi = rng.dirichlet(np.ones(truths), truths)
    kappa = rng.random(truths) ** (-1 / 1.5)
    phi_pi, kappa_pi = rng.dirichlet(np.ones(truths)), rng.random() ** (-1 / 1.5)
    tiny = 1e-9
    theta = np.stack(
        [rng.dirichlet(kappa[k] * phi[k] + tiny, JUDGES) for k in range(truths)], axis=1
    )
    pi = rng.dirichlet(kappa_pi * phi_pi + tiny, TOPICS)
    return phi, kappa, phi_pi, kappa_pi, pi, theta


def rank(value: float, draws: np.ndarray) -> int:
    return int((draws.ravel()[:DRAWS] < value).sum())


def check_uniform(ranks: dict[str, list[int]]) -> None:
    for name, values in ranks.items():
        binned = np.bincount(np.array(values) * BINS // (DRAWS + 1), minlength=BINS)
        assert chisquare(binned).pvalue > 1e-3, (name, binned.tolist())


@pytest.mark.parametrize("gold_share", [0.0, 0.3])
def test_hierarchical_relevance_is_calibrated(gold_share: float) -> None:
    rng = np.random.default_rng(20)
    ranks: dict[str, list[int]] = {}
    for number in range(SETS):
        phi, kappa, phi_pi, kappa_pi, pi, theta = from_learnt_prior(rng, 2)
        table, truth = made(rng, pi, theta, np.arange(ITEMS) % TOPICS)
        gold = None
        order = np.arange(2)
        if gold_share:
            known = rng.choice(ITEMS, int(gold_share * ITEMS), replace=False)
            gold = Gold.of({f"i{i}": int(truth[i]) for i in known})
        else:
            order = in_order(table, truth, seed=number)
        model = HierarchicalRelevance(chains=1, warmup=WARMUP, draws=DRAWS, thin=THIN, seed=number)
        draws = model.fit(table, gold).draws
        truths = {
            "phi_pi": phi_pi[order][1],
            "kappa_pi": kappa_pi,
            "phi_0": phi[order][0, 0],
            "phi_1": phi[order][1, 1],
            "kappa_0": kappa[order][0],
            "kappa_1": kappa[order][1],
        }
        for name, value in truths.items():
            ranks.setdefault(name, []).append(rank(value, draws.hyper[name]))
        own = draws.confusion[0, :, 0]
        ranks.setdefault("theta", []).append(rank(theta[0, order][1, 1], own[:, 1, 1]))
        ranks.setdefault("pi", []).append(rank(pi[1, order][1], draws.prevalence[0, :, 1, 1]))
    check_uniform(ranks)


def in_order(table: Judgments, truth: np.ndarray, seed: int) -> np.ndarray:
    """The order in which a chain that held the true labels would have put them back."""
    votes, _ = ThreadsEngine().load(table).posterior(None, own=True)
    pivot, _ = pick(votes, table, ties="random", seed=seed)
    truths = len(table.scale.truths)
    switch = np.zeros((truths, truths), dtype=np.int64)
    np.add.at(switch, (pivot, truth), 1)
    order = _find_switch(switch)
    return np.arange(truths) if order is None else order


def test_hierarchical_confusion_is_calibrated() -> None:
    rng = np.random.default_rng(30)
    ranks: dict[str, list[int]] = {}
    for number in range(SETS):
        phi, kappa, phi_pi, kappa_pi, pi, theta = from_learnt_prior(rng, 3)
        table, truth = made(rng, pi, theta, np.arange(ITEMS) % TOPICS)
        known = rng.choice(ITEMS, ITEMS // 2, replace=False)
        gold = Gold.of({f"i{i}": int(truth[i]) for i in known})
        model = HierarchicalConfusion(chains=1, warmup=WARMUP, draws=DRAWS, thin=THIN, seed=number)
        draws = model.fit(table, gold).draws
        for k in range(3):
            ranks.setdefault(f"phi {k}", []).append(rank(phi[k, 0], draws.hyper["phi"][0, :, k, 0]))
            ranks.setdefault(f"kappa {k}", []).append(rank(kappa[k], draws.hyper["kappa"][0, :, k]))
        prevalence = draws.hyper["phi_prevalence"][0, :, 2]
        ranks.setdefault("phi_prevalence", []).append(rank(phi_pi[2], prevalence))
        ranks.setdefault("kappa_pi", []).append(rank(kappa_pi, draws.hyper["kappa_prevalence"]))
        ranks.setdefault("theta", []).append(rank(theta[2, 1, 1], draws.confusion[0, :, 2, 1, 1]))
    check_uniform(ranks)


def test_hybrid_confusion_is_calibrated() -> None:
    rng = np.random.default_rng(40)
    ranks: dict[str, list[int]] = {}
    gamma = np.where(np.eye(3, dtype=bool), 3.0, 1.0)
    for number in range(SETS):
        pi = rng.dirichlet(np.ones(3))[None]
        theta = np.stack([rng.dirichlet(gamma[k], JUDGES) for k in range(3)], axis=1)
        table, _ = made(rng, pi, theta, np.zeros(ITEMS, dtype=np.int32))
        table = replace(table, topics=None, topic=None)
        model = HybridConfusion(chains=1, warmup=WARMUP, draws=DRAWS, thin=THIN, seed=number)
        draws = model.fit(table).draws
        ranks.setdefault("pi 0", []).append(rank(pi[0, 0], draws.prevalence[0, :, 0, 0]))
        ranks.setdefault("pi 2", []).append(rank(pi[0, 2], draws.prevalence[0, :, 0, 2]))
        for j, k, y in ((0, 0, 0), (1, 1, 1), (2, 2, 0), (5, 1, 2)):
            values = draws.confusion[0, :, j, k, y]
            ranks.setdefault(f"theta {j}{k}{y}", []).append(rank(theta[j, k, y], values))
    check_uniform(ranks)
