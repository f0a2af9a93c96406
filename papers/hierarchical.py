"""Carpenter (2011): the hierarchical model of relevance coding, three runs submitted to TREC.

Data: TREC 2011 crowdsourcing, task 2 (binary), with 2,275 gold items given and 1,000 held out. The
paper has no scores, since the track had not scored yet, and its 1,000 items are not known: here
they are drawn for every seed, half of them relevant, as in the PMF paper. A run's responses are
scored in part (section 9.3): 0.72 is 0.72 responses of 1 and 0.28 of 0. AP and nDCG rank the test
items of each topic by the posterior mean, as all submitted runs did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

from adjudge import Consensus, Draws, Gold, HierarchicalRelevance, Judgments, MajorityVote
from adjudge.data.draws import rank_r_hat
from adjudge.evaluation.measures import Cells, log_loss, rmse
from adjudge.report.plots.judges import sensitivity_specificity
from adjudge.report.plots.labels import estimate_both, voted_relevance
from papers.data import Split, describe, read_binary, split_gold
from papers.results import Figure, Finding, Options, Replication, compare, read_published
from papers.stats import Interval, hold_all, listed, measure_memory, of_draws, over_runs

SIMULATED: dict[str, float] = read_published("hierarchical")["section-9"]  # uniform probabilities
Data = tuple[Judgments, Gold]
CHAINS, WARMUP, DRAWS = 3, 1000, 1000  # section 6, page 5
MEMORY = 2.5  # gigabytes that JAGS needed: section 6, page 5
RUNS = {  # the model, and whether its labels are submitted instead of probabilities
    "1 unsupervised, 0/1": ("unsupervised", True),
    "2 semi-supervised, 0/1": ("semi-supervised", True),
    "3 semi-supervised, fractions": ("semi-supervised", False),
    "unsupervised, fractions": ("unsupervised", False),
    "majority vote, 0/1": ("vote", True),
    "majority vote, fractions": ("vote", False),
}
CELLS = ("TP", "FP", "FN", "TN")


def _model(seed: int, part: int) -> HierarchicalRelevance:
    return HierarchicalRelevance(
        chains=CHAINS, warmup=WARMUP // part, draws=DRAWS // part, seed=seed
    )


def simulate(seed: int, size: int) -> dict[str, dict[str, float]]:
    """Section 9.3: uniform probabilities as responses, rounded and as they are."""
    rng = np.random.default_rng([93, seed])
    chance = rng.random(size)
    relevant = rng.random(size) < chance
    found = {}
    for name, response in (("quantised", chance > 0.5), ("fractional", chance)):
        cells = Cells.of(relevant, response)
        found[name] = {"precision": float(cells.precision), "recall": float(cells.recall)}
    return found


def fit(
    judgments: Judgments, gold: Gold | None, part: int
) -> tuple[Consensus, Draws, dict[str, float]]:
    """A fit of the published length, its draws, its memory and its largest R-hat."""
    consensus, memory = measure_memory(lambda: _model(0, part).fit(judgments, gold))
    draws: Any = consensus.draws
    took = {
        "memory, GB": memory / 1e9,
        "worst R-hat, 1992": worst_r_hat(draws, gelman_rubin),
        "worst R-hat, ranks": worst_r_hat(draws, rank_r_hat),
    }
    return consensus, draws, took


def gelman_rubin(values: NDArray[np.float64]) -> float:  # (chain, draw)
    """The potential scale reduction of A. Gelman and D. B. Rubin (1992), in use at the time.

    Entire chains, no ranks: sqrt(((n - 1) / n W + B / n) / W). doi:10.1214/ss/1177011136
    """
    count = values.shape[1]
    within = float(values.var(axis=1, ddof=1).mean())
    between = float(values.mean(axis=1).var(ddof=1))  # B / n
    return float(np.sqrt((count - 1) / count + between / within)) if within > 0 else float("nan")


def worst_r_hat(draws: Draws, statistic: Callable[[NDArray[np.float64]], float]) -> float:
    """The largest R-hat of all hyper-parameters, topics and judges."""
    rates = (draws.prevalence[..., 1], draws.confusion[..., 0, 0], draws.confusion[..., 1, 1])
    each = np.concatenate(rates, axis=2).astype(np.float64)  # (chain, draw, topic or judge)
    found = [statistic(values) for values in draws.hyper.values()]
    return max([*found, *(statistic(each[:, :, at]) for at in range(each.shape[2]))])


def judge_rates(judgments: Judgments, draws: Draws) -> Any:
    """Each judge's judgments, share of ones, and rates with sd; most judgments first."""
    drawn = draws.confusion.reshape(-1, *draws.confusion.shape[2:]).astype(np.float64)
    rates = {"specificity": drawn[:, :, 0, 0], "sensitivity": drawn[:, :, 1, 1]}
    count = judgments.counts_per_judge
    ones = np.bincount(judgments.judge, judgments.label == 1, minlength=len(count))
    columns = {
        "judge": judgments.judges.to_pylist(),
        "judgments": count,
        "ones": ones / np.maximum(count, 1),
        **{name: values.mean(axis=0).round(5) for name, values in rates.items()},
        **{f"{name}_sd": values.std(axis=0).round(5) for name, values in rates.items()},
        "p_chance": np.mean(np.add(*rates.values()) <= 1.0, axis=0),
    }
    order = np.argsort(-count, kind="stable")
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


def drop_busiest(judgments: Judgments, choice: NDArray[np.int16], part: int) -> dict[str, int]:
    """How many labels change without the five busiest judges, and with another seed."""
    busy = np.argsort(-judgments.counts_per_judge, kind="stable")[:5]
    kept = judgments.select(judgments=~np.isin(judgments.judge, busy), keep_empty=True)
    changed = _model(0, part).fit(kept).choice != choice
    again = _model(1, part).fit(judgments).choice != choice
    return {"items": len(choice), "without": int(changed.sum()), "again": int(again.sum())}


def estimate_by_vote(consensus: Consensus) -> tuple[Any, Interval]:
    """Estimates by vote, in twentieths; how much further from one half estimates are."""
    pairs = estimate_both(consensus)
    frame = pd.DataFrame({"voted": np.rint(pairs.voted * 20) / 20, "estimated": pairs.estimated})
    table = frame.groupby("voted").estimated.agg(["size", "mean", "sem"]).reset_index()
    table.columns = ["voted", "items", "estimated", "error"]
    return table, over_runs(np.abs(pairs.estimated - 0.5) - np.abs(pairs.voted - 0.5))


def score_split(
    data: Data, seed: int, part: int
) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Scores of every run, and seconds, on one split."""
    judgments, gold = data
    split = split_gold(judgments, gold, seed)
    fits: dict[str, tuple[Any, Gold | None]] = {
        "vote": (MajorityVote(seed=seed), None),
        "unsupervised": (_model(seed, part), None),
        "semi-supervised": (_model(seed, part), split.train),
    }
    documents = judgments.items.take(split.test).to_pylist()
    names: Any = judgments.topics
    of: Any = judgments.topic
    topic = [names[at].as_py() for at in of[split.test]] if judgments.topic_count else None
    responses: dict[tuple[str, bool], NDArray[Any]] = {}
    topics, seconds = {}, {}
    for name, (model, given) in fits.items():
        start, worked = time.perf_counter(), time.process_time()
        done = model.fit(judgments, given)
        took = time.perf_counter() - start, time.process_time() - worked
        seconds[name] = dict(zip(("seconds", "CPU seconds"), took, strict=True))
        chance = done.posterior[split.test, 1]
        responses[name, False], responses[name, True] = chance, done.choice[split.test]
        if topic:
            topics[name] = rank_topics(split, documents, topic, chance)
    runs = {
        run: score(split, responses[key]) | (topics[key[0]].mean().to_dict() if topic else {})
        for run, key in RUNS.items()
    }
    del seconds["vote"]
    return runs, seconds


def score(split: Split, response: NDArray[Any]) -> dict[str, float]:
    """The scores of responses, counted in part."""
    relevant, given = split.truth == 1, response.astype(np.float64)
    cells = Cells.of(relevant, given)
    chances = np.stack([1.0 - given, given], axis=1)
    return {
        "accuracy": float(np.mean((given > 0.5) == relevant)),
        "precision": float(cells.precision),
        "recall": float(cells.recall),
        "specificity": float(cells.specificity),
        "log loss": float(log_loss(split.truth, chances)),
        "RMSE": float(rmse(relevant, given)),
        "TP": float(cells.true_positive),
        "FP": float(cells.false_positive),
        "FN": float(cells.false_negative),
        "TN": float(cells.true_negative),
    }


def rank_topics(
    split: Split, documents: list[str], topics: list[str], chance: NDArray[np.float64]
) -> Any:
    """AP and nDCG of each topic with test items of both classes: a row per topic."""
    columns = {"query_id": topics, "doc_id": documents, "relevance": split.truth, "score": chance}
    frame = pd.DataFrame(columns)
    frame = frame[frame.groupby("query_id").relevance.transform("nunique") == 2]
    qrels, run = frame.drop(columns="score"), frame.drop(columns="relevance")
    found = ir_measures.iter_calc([ir_measures.AP, ir_measures.nDCG], qrels, run)
    rows = [(m.query_id, str(m.measure), float(m.value)) for m in found]
    return pd.DataFrame(rows, columns=["topic", "measure", "value"]).pivot(
        index="topic", columns="measure", values="value"
    )


def replicate(options: Options) -> Replication:
    """The runs scored, section 9.3, what the fits took, figures 1 and 2, and the claims."""
    part = 10 if options.quick else 1  # a quick chain is a tenth as long
    seeds = range(options.count(full=20, quick=3))
    data = read_binary(options)
    judgments = data[0]
    alone, draws, took = fit(judgments, None, part)
    given, _, took_given = fit(judgments, split_gold(*data, 0).train, part)
    runs, seconds = zip(*(score_split(data, seed, part) for seed in seeds), strict=True)
    judges = judge_rates(judgments, draws)
    by_vote, extreme = estimate_by_vote(given)
    costs = {"unsupervised": took, "semi-supervised": took_given}
    every = compare(runs)
    is_cell = every.column.isin(CELLS)
    took_all = [{name: row | costs[name] for name, row in one.items()} for one in seconds]
    tables = {"runs": every[~is_cell], "confusion": every[is_cell].assign(decimals=1)}
    figures = {
        "figure-1": Figure(by_vote, voted_relevance(given)),
        "figure-2": Figure(judges, sensitivity_specificity(alone.judges)),
    }
    values: dict[str, Any] = {"seeds": len(seeds), "part": part}
    if options.judgments:
        about = describe(options, *data)
        return Replication(tables=tables, figures=figures, findings={}, values=values, about=about)
    simulated = [simulate(seed, 1_000_000 // part) for seed in seeds]
    published = {name: {"precision": v, "recall": v} for name, v in SIMULATED.items()}
    jags = {name: {"memory, GB": MEMORY} for name in costs}
    hyper = {name: values.reshape(-1) for name, values in draws.hyper.items()}
    changed = drop_busiest(judgments, alone.choice, part)
    values["relevant"] = float(data[1].align(judgments)[data[1].align(judgments) >= 0].mean())
    return Replication(
        tables={
            **tables,
            "simulation": compare(simulated, published),
            "cost": compare(took_all, jags, apart="another program on another machine"),
        },
        figures=figures,
        findings=check_posterior(costs, by_vote, extreme, hyper)
        | check_judges(judges, changed)
        | check_scores(runs),
        values=values,
    )


def check_posterior(
    costs: Any, by_vote: Any, extreme: Interval, hyper: Mapping[str, NDArray[np.float64]]
) -> dict[str, Finding]:
    """What the paper says of its posterior."""
    old, new = (
        {name: row[f"worst R-hat, {kind}"] for name, row in costs.items()}
        for kind in ("1992", "ranks")
    )
    rising = by_vote[by_vote["items"] >= 30]
    steps = np.diff(rising.estimated)
    errors = np.hypot(rising.error.to_numpy()[1:], rising.error.to_numpy()[:-1])
    gaps = {
        f"at {vote:.2f}": Interval(step, step - 1.96 * error, step + 1.96 * error)
        for vote, step, error in zip(rising.voted[1:], steps, errors, strict=True)
    }
    precision = {
        f"{name} less kappa_0": of_draws(hyper[name] - hyper["kappa_0"])
        for name in ("kappa_1", "kappa_pi")
    }
    return {
        "r-hat": Finding(
            max(old.values()) < 1.05,
            f"worst: {listed(old)}",
            readings=f"with ranks and split chains: {listed(new)}",
        ),
        "rises": Finding.above(gaps),
        "extreme": Finding.above({"": extreme}),
        "kappa": Finding.above(precision, form="+.1f"),
        "prevalence": Finding.above(
            {"mean prevalence": of_draws(hyper["phi_pi"])}, 0.5, form=".3f"
        ),
    }


def check_judges(judges: Any, changed: Mapping[str, int]) -> dict[str, Finding]:
    """What the paper says of the judges."""
    rates = judges[["specificity", "sensitivity"]].to_numpy()
    rng = np.random.default_rng(7)
    again = rng.integers(len(rates), size=(2000, len(rates)))
    spread = of_draws(rates[again, 0].std(axis=1) - rates[again, 1].std(axis=1))
    certain = judges.specificity_sd + judges.sensitivity_sd
    rho = [float(spearmanr(judges.judgments.iloc[a], certain.iloc[a])[0]) for a in again[:500]]
    below = of_draws(rho)
    busy = judges.head(5)
    index = busy.specificity + busy.sensitivity - 1  # Youden's index: 0 at chance
    half = 1.96 * np.hypot(busy.specificity_sd, busy.sensitivity_sd)
    chance = [Interval(i, i - h, i + h) for i, h in zip(index, half, strict=True)]
    adverse = judges[judges.p_chance > 0.5]
    sure = int((judges.p_chance > 0.95).sum())
    two = busy.ones[:2]
    return {
        "spread": Finding.above({"sd of specificity less sensitivity": spread}),
        "certainty": Finding(
            below.high < -0.5, f"rank correlation {below.mean:.2f}", below.show(".2f")
        ),
        "one-label": Finding(
            bool(two.min() < 0.01 and two.max() > 0.99),
            f"{two.iloc[0]:.1%} and {two.iloc[1]:.1%} ones",
            readings=f"of the five busiest: {', '.join(f'{share:.1%}' for share in busy.ones)}",
        ),
        "chance": Finding(
            hold_all(one.within(0.1) for one in chance),
            f"Youden's index {min(index):+.3f} to {max(index):+.3f}",
            max(chance, key=lambda one: one.high).show(),
        ),
        "below": Finding(
            sure <= 0.05 * len(adverse),
            f"{sure} of {len(adverse)} judges below the diagonal, with probability above .95",
        ),
        "drop-busiest": Finding(
            changed["without"] < 0.01 * changed["items"],
            f"{changed['without']:,} of {changed['items']:,} labels change",
            readings=f"with another seed {changed['again']:,} labels change",
        ),
    }


def check_scores(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, Finding]:
    """How the runs score, which the paper could not say, and section 9.3."""

    def gap(run: str, other: str, what: str) -> Interval:
        return over_runs([one[run][what] - one[other][what] for one in runs])

    one, two, three = tuple(RUNS)[:3]
    vote = "majority vote, 0/1"
    binary = [name for name in RUNS if name.endswith("0/1")]
    both = ("precision", "recall")
    rounded, part = (pd.DataFrame([scored[run] for scored in runs]).mean() for run in (two, three))
    return {
        "squared-error": Finding.above({f"({name})": gap(name, three, "RMSE") for name in binary}),
        "accuracy": Finding.above(
            {"unsupervised less vote": gap(one, vote, "accuracy"),
             "semi-supervised less unsupervised": gap(two, one, "accuracy")}
        ),
        "ranking": Finding.above({f"({n} less vote)": gap(n, vote, "AP") for n in (one, two)}),
        "fractions": Finding(
            all(part[k] < rounded[k] for k in both),
            ", ".join(f"{k} {rounded[k]:.3f} to {part[k]:.3f}" for k in both),
            "",
            f"both {SIMULATED['quantised']:g} to {SIMULATED['fractional']:g}",
            True,
        ),
    }  # fmt: skip
