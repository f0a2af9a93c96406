"""Carpenter (2011): the hierarchical model of relevance coding, three runs submitted to TREC.

Data: TREC 2011 crowdsourcing, task 2 (binary), with 2,275 gold items given and 1,000 held out. The
paper has no scores, since the track had not scored yet, and its 1,000 items are not known: here
they are drawn, half of them relevant, again for every seed, as in the PMF paper. A run's responses
are scored in part (section 9.3): 0.72 is 0.72 responses of 1 and 0.28 of 0; AP and nDCG rank the
test items of each topic by the posterior mean, as all submitted runs did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws, rank_r_hat
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData
from adjudge.evaluation.measures import Cells
from adjudge.models.hierarchical_relevance import HierarchicalRelevance
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress, Step
from adjudge.replications._data import (
    Split,
    fingerprint,
    get_both,
    measure_peak,
    real_file,
    split_gold,
    trec_2011,
)
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup

# Section 9.3, page 9: expected precision and recall of uniform probabilities.
QUANTISED, FRACTIONAL = 0.75, 0.66
# Section 6, page 5: the run, and what it took.
CHAINS, WARMUP, DRAWS = 3, 1000, 1000
MEMORY = 2.5  # gigabytes
_SAMPLES = 300  # draws of each judge of figure 3
_LEAST = 1e-6  # chance of a truth, so that one held impossible costs no more than 13.8 nats
RUNS = {
    "1 unsupervised, 0/1": ("unsupervised", True),
    "2 semi-supervised, 0/1": ("semi-supervised", True),
    "3 semi-supervised, fractions": ("semi-supervised", False),
    "unsupervised, fractions": ("unsupervised", False),
    "majority vote, 0/1": ("vote", True),
    "majority vote, fractions": ("vote", False),
}


def _model(seed: int, quick: bool) -> HierarchicalRelevance:
    """The published run; quick, a tenth of it."""
    part = 10 if quick else 1
    return HierarchicalRelevance(
        chains=CHAINS, warmup=WARMUP // part, draws=DRAWS // part, seed=seed
    )


def _simulate(seeds: int, size: int) -> Any:
    """Section 9.3: uniform probabilities as responses, rounded and as they are."""
    found: dict[str, list[list[float]]] = {"quantised": [], "fractional": []}
    for seed in range(seeds):
        rng = np.random.default_rng([93, seed])
        chance = rng.random(size)
        relevant = rng.random(size) < chance
        for name, response in (("quantised", (chance > 0.5)), ("fractional", chance)):
            cells = Cells.of(relevant, response)
            found[name].append([float(cells.precision), float(cells.recall)])
    return found


def _unsupervised(path: Path, quick: bool, progress: Progress | None) -> Any:
    """The fit without gold at the published chains and draws, and figures 2, 3 and 4."""
    from adjudge.report.plots.clouds import judge_clouds
    from adjudge.report.plots.hyper import hyper_priors
    from adjudge.report.plots.rates import sensitivity_specificity

    consensus, took = _timed(path, None, quick, progress)
    draws = _draws(consensus)
    return {
        **took,
        "judges": _judges(consensus),
        "hyper": {
            name: values.reshape(-1)[:: max(1, values.size // 200)].round(5).tolist()
            for name, values in draws.hyper.items()
        },
        "charts": {
            "rates": sensitivity_specificity(consensus.judges).to_dict(),
            "clouds": judge_clouds(consensus, draws, samples=_SAMPLES).to_dict(),
            "hyper": hyper_priors(draws).to_dict(),
        },
    }


def _semi_supervised(path: Path, quick: bool, progress: Progress | None) -> Any:
    """The fit with the training gold of the first split, and figure 1."""
    from adjudge.report.plots.voted import estimate_both, voted_relevance

    judgments, gold = get_both(trec_2011(path))
    consensus, took = _timed(path, split_gold(judgments, gold, 0).train, quick, progress)
    pairs = estimate_both(consensus)
    return {
        **took,
        "voted": _by_vote(pairs.voted, pairs.estimated),
        "extreme": [float(np.abs(v - 0.5).mean()) for v in (pairs.voted, pairs.estimated)],
        "charts": {"voted": voted_relevance(consensus).to_dict()},
    }


def _timed(
    path: Path, gold: Gold | None, quick: bool, progress: Progress | None
) -> tuple[Consensus, dict[str, Any]]:
    """A fit, and what it took: seconds, memory, R-hat of every parameter, switched draws."""
    judgments, _ = get_both(trec_2011(path))
    start = time.perf_counter()
    consensus = _model(0, quick).fit(judgments, gold, progress=progress)
    took = {"seconds": time.perf_counter() - start, "memory": measure_peak()}
    draws = _draws(consensus)
    return consensus, {
        **took,
        "r_hat": _r_hats(draws, rank_r_hat),
        "gelman_rubin": _r_hats(draws, _gelman_rubin),
        "relabelled": draws.relabelled,
    }


def _draws(consensus: Consensus) -> Draws:
    if consensus.draws is None:
        raise BadData("the fit kept no draws", wanted="a sampled model")
    return consensus.draws


def _gelman_rubin(values: NDArray[np.float64]) -> float:  # (chain, draw)
    """The potential scale reduction of A. Gelman and D. B. Rubin (1992), as it was when they wrote.

    Whole chains, no ranks: sqrt(((n - 1) / n W + B / n) / W). doi:10.1214/ss/1177011136
    """
    count = values.shape[1]
    within = float(values.var(axis=1, ddof=1).mean())
    between = float(values.mean(axis=1).var(ddof=1))  # B / n
    return float(np.sqrt((count - 1) / count + between / within)) if within > 0 else float("nan")


def _r_hats(draws: Draws, statistic: Callable[[NDArray[np.float64]], float]) -> dict[str, float]:
    """R-hat of every hyper-parameter, and the worst of all topics' and all judges' rates."""
    rates = {
        "prevalence": draws.prevalence[..., 1],
        "specificity": draws.confusion[..., 0, 0],
        "sensitivity": draws.confusion[..., 1, 1],
    }
    found = {name: statistic(values) for name, values in draws.hyper.items()}
    for name, values in rates.items():  # (chain, draw, topic or judge)
        each = values.astype(np.float64)
        found[name] = max(statistic(each[:, :, at]) for at in range(each.shape[2]))
    return found


def _judges(consensus: Consensus) -> dict[str, list[Any]]:
    """Each judge's judgments, share of ones, and rates with their sd, most judgments first."""
    judgments, draws = consensus.judgments, _draws(consensus)
    count = judgments.counts_per_judge
    order = np.argsort(-count, kind="stable")
    ones = np.bincount(judgments.judge, judgments.label == 1, minlength=len(count))
    drawn = draws.confusion.reshape(-1, *draws.confusion.shape[2:]).astype(np.float64)
    rates = {"specificity": drawn[:, :, 0, 0], "sensitivity": drawn[:, :, 1, 1]}
    columns: dict[str, NDArray[Any]] = {"judgments": count, "ones": ones / np.maximum(count, 1)}
    for name, values in rates.items():
        columns[name] = values.mean(axis=0).round(5)
        columns[f"{name}_sd"] = values.std(axis=0).round(5)
    columns["p_chance"] = (drawn[:, :, 0, 0] + drawn[:, :, 1, 1] <= 1.0).mean(axis=0)
    return {
        "judge": judgments.judges.take(order).to_pylist(),
        **{name: values[order].tolist() for name, values in columns.items()},
    }


def _by_vote(voted: NDArray[np.float64], estimated: NDArray[np.float64]) -> list[dict[str, float]]:
    """Items by their vote, in twentieths: how many, and the estimate's mean and quartiles."""
    place = np.rint(voted * 20).astype(np.int64)
    rows = []
    for at in np.unique(place):
        part = estimated[place == at]
        low, high = np.quantile(part, [0.25, 0.75])
        rows.append(
            {
                "voted": float(at / 20),
                "items": len(part),
                "estimated": float(part.mean()),
                "low": float(low),
                "high": float(high),
            }
        )
    return rows


def _split_scores(path: Path, seed: int, quick: bool, progress: Progress | None) -> Any:
    """Every run on the test items of one split, and each topic's AP and nDCG."""
    judgments, gold = get_both(trec_2011(path))
    split = split_gold(judgments, gold, seed)
    chances: dict[str, NDArray[np.float64]] = {}
    fits: dict[str, tuple[Any, Gold | None]] = {
        "vote": (MajorityVote(seed=seed), None),
        "unsupervised": (_model(seed, quick), None),
        "semi-supervised": (_model(seed, quick), split.train),
    }
    labels: dict[str, NDArray[np.int16]] = {}
    seconds: dict[str, list[float]] = {}
    for done, (name, (model, given)) in enumerate(fits.items(), start=1):
        start, worked = time.perf_counter(), time.process_time()
        fit = model.fit(judgments, given)
        seconds[name] = [time.perf_counter() - start, time.process_time() - worked]
        chances[name], labels[name] = fit.posterior[split.test, 1], fit.choice[split.test]
        if progress is not None:
            progress(Step("runs", done, len(fits), name))
    documents = judgments.items.take(split.test).to_pylist()
    topics = _topics_of(judgments, split.test)
    ranked = {name: _by_topic(split, documents, topics, score) for name, score in chances.items()}
    return {
        "runs": {
            run: _scored(split, labels[name] if whole else chances[name], ranked[name])
            for run, (name, whole) in RUNS.items()
        },
        "topics": ranked,
        "seconds": seconds,
    }


def _topics_of(judgments: Judgments, items: NDArray[np.int64]) -> NDArray[Any]:  # (item,)
    """The topic of each item, by name."""
    if judgments.topics is None or judgments.topic is None:
        raise BadData("the hierarchical paper needs topics", wanted="TREC 2011 task 2")
    return np.array(judgments.topics.to_pylist())[judgments.topic[items]]


def _scored(
    split: Split, response: NDArray[Any], ranked: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """The scores of a run: responses counted in part, and the means over topics."""
    relevant = split.truth == 1
    given = response.astype(np.float64)
    cells = Cells.of(relevant, given)
    chance = np.clip(np.where(relevant, given, 1.0 - given), _LEAST, 1 - _LEAST)  # of the truth
    found = {
        "accuracy": float(np.mean((given > 0.5) == relevant)),
        "precision": float(cells.precision),
        "recall": float(cells.recall),
        "specificity": float(cells.specificity),
        "log loss": float(-np.log(chance).mean()),
        "RMSE": float(np.sqrt(((relevant - given) ** 2).mean())),
        "TP": float(cells.true_positive),
        "FP": float(cells.false_positive),
        "FN": float(cells.false_negative),
        "TN": float(cells.true_negative),
    }
    for measure in ("AP", "nDCG"):
        found[measure] = float(np.mean([values[measure] for values in ranked.values()]))
    return found


def _by_topic(
    split: Split, documents: list[str], topics: NDArray[Any], score: NDArray[np.float64]
) -> dict[str, dict[str, float]]:
    """AP and nDCG of the test items of each topic that has some of either class."""
    import ir_measures

    qrels, run = [], []
    for topic in np.unique(topics):
        rows = np.flatnonzero(topics == topic)
        if len(np.unique(split.truth[rows])) < 2:
            continue  # any order of its items is as good as any other
        for row in rows:
            qrels.append(ir_measures.Qrel(str(topic), documents[row], int(split.truth[row])))
            run.append(ir_measures.ScoredDoc(str(topic), documents[row], float(score[row])))
    found: dict[str, dict[str, float]] = {}
    measures = [ir_measures.AP, ir_measures.nDCG]
    for value in ir_measures.iter_calc(measures, qrels, run):
        found.setdefault(value.query_id, {})[str(value.measure)] = float(value.value)
    return found


def _parts(setup: Setup) -> list[ReplicationPart]:
    """The paper as parts: the simulation, two timed fits, and a split each."""
    path = real_file("trec-rf10", setup.data)
    quick = setup.quick
    data = {"data": fingerprint(path), "quick": quick}
    seeds = setup.count(full=20, quick=3)
    size = 100_000 if quick else 1_000_000
    return [
        ReplicationPart(
            name="simulation",
            settings={"seeds": seeds, "size": size},
            work=lambda _: _simulate(seeds, size),
        ),
        *(
            ReplicationPart(
                name=name,
                settings={**data, "r_hat": ["ranks", "1992"]},
                work=partial(work, path, quick),
            )
            for name, work in (
                ("unsupervised", _unsupervised),
                ("semi-supervised", _semi_supervised),
            )
        ),
        *(
            ReplicationPart(
                name=f"split-{seed + 1:02d}",
                settings={**data, "seed": seed},
                work=partial(_split_scores, path, seed, quick),
            )
            for seed in range(seeds)
        ),
    ]


def _gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    from adjudge.replications.hierarchical._result import gather

    return gather(setup, partials)


REPLICATION = Replication(
    name="hierarchical",
    title="A hierarchical model of relevance coding",
    source=(
        'B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding", '
        "TREC crowdsourcing track."
    ),
    parts=_parts,
    gather=_gather,
)
