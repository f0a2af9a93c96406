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
from pathlib import Path
from typing import Any

import altair as alt
import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

from adjudge import BadData, Consensus, Draws, Gold, HierarchicalRelevance, Judgments, MajorityVote
from adjudge.data.draws import rank_r_hat
from adjudge.evaluation.measures import Cells
from adjudge.report.plots.chains import hyper_priors
from adjudge.report.plots.judges import judge_clouds, sensitivity_specificity
from adjudge.report.plots.labels import estimate_both, voted_relevance
from adjudge.report.theme import LIGHT
from papers.data import Split, find_file, read_trec_2011, split_gold
from papers.results import Figure, Finding, Options, Replication, check, compare
from papers.stats import listed, peak_memory, reset_peak_memory

# Section 9.3, page 9: expected precision and recall of uniform probabilities.
SIMULATED = {"quantised": 0.75, "fractional": 0.66}
CHAINS, WARMUP, DRAWS = 3, 1000, 1000  # section 6, page 5
MEMORY = 2.5  # gigabytes that JAGS needed: section 6, page 5
_LEAST = 1e-6  # probability of the truth, so that a mistake costs at most 13.8 nats
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


def fit(path: Path, gold: Gold | None, part: int) -> tuple[Consensus, Draws, dict[str, float]]:
    """A fit of the published length, its draws, its memory and its largest R-hat."""
    judgments, _ = read_trec_2011(path)
    reset_peak_memory()
    consensus = _model(0, part).fit(judgments, gold)
    memory = peak_memory()
    draws = consensus.draws
    if draws is None:
        raise BadData("the fit kept no draws", expected="a sampled model")
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
    specificity, sensitivity = drawn[:, :, 0, 0], drawn[:, :, 1, 1]
    count = judgments.counts_per_judge
    ones = np.bincount(judgments.judge, judgments.label == 1, minlength=len(count))
    columns = {
        "judge": judgments.judges.to_pylist(),
        "judgments": count,
        "ones": ones / np.maximum(count, 1),
        "specificity": specificity.mean(axis=0).round(5),
        "specificity_sd": specificity.std(axis=0).round(5),
        "sensitivity": sensitivity.mean(axis=0).round(5),
        "sensitivity_sd": sensitivity.std(axis=0).round(5),
        "p_chance": (specificity + sensitivity <= 1.0).mean(axis=0),
    }
    order = np.argsort(-count, kind="stable")
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


def estimates_by_vote(consensus: Consensus) -> tuple[Any, dict[str, float]]:
    """Estimates by vote, in twentieths, and the mean distance of both from one half."""
    pairs = estimate_both(consensus)
    frame = pd.DataFrame({"voted": np.rint(pairs.voted * 20) / 20, "estimated": pairs.estimated})
    by_vote = frame.groupby("voted").estimated
    table = by_vote.agg(items="size", estimated="mean").reset_index()
    table["low"], table["high"] = (by_vote.quantile(q).to_numpy() for q in (0.25, 0.75))
    extreme = {"votes": pairs.voted, "estimates": pairs.estimated}
    return table, {name: float(np.abs(v - 0.5).mean()) for name, v in extreme.items()}


def score_split(path: Path, seed: int, part: int) -> tuple[Any, Any, dict[str, dict[str, float]]]:
    """Scores of every run, each topic's AP and nDCG, and seconds, on one split."""
    data: tuple[Any, Gold] = read_trec_2011(path)
    judgments, gold = data
    split = split_gold(judgments, gold, seed)
    fits: dict[str, tuple[Any, Gold | None]] = {
        "vote": (MajorityVote(seed=seed), None),
        "unsupervised": (_model(seed, part), None),
        "semi-supervised": (_model(seed, part), split.train),
    }
    documents = judgments.items.take(split.test).to_pylist()
    names = [judgments.topics[at].as_py() for at in judgments.topic[split.test]]
    responses: dict[tuple[str, bool], NDArray[Any]] = {}
    topics, seconds = {}, {}
    for name, (model, given) in fits.items():
        start, worked = time.perf_counter(), time.process_time()
        done = model.fit(judgments, given)
        took = time.perf_counter() - start, time.process_time() - worked
        seconds[name] = dict(zip(("seconds", "CPU seconds"), took, strict=True))
        chance = done.posterior[split.test, 1]
        responses[name, False], responses[name, True] = chance, done.choice[split.test]
        topics[name] = rank_topics(split, documents, names, chance)
    runs = {
        run: score(split, responses[key]) | topics[key[0]].mean().to_dict()
        for run, key in RUNS.items()
    }
    del seconds["vote"]
    return runs, pd.concat(topics, axis=1), seconds


def score(split: Split, response: NDArray[Any]) -> dict[str, float]:
    """The scores of responses, counted in part."""
    relevant, given = split.truth == 1, response.astype(np.float64)
    cells = Cells.of(relevant, given)
    chance = np.clip(np.where(relevant, given, 1.0 - given), _LEAST, 1 - _LEAST)  # of the truth
    return {
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
    """The runs scored, section 9.3, what the fits took, figures 1 to 4, and the claims."""
    path = find_file("trec-rf10", options.data)
    part = 10 if options.quick else 1  # a quick chain is a tenth as long
    seeds = range(options.count(full=20, quick=3))
    simulated = [simulate(seed, 1_000_000 // part) for seed in seeds]
    alone, draws, took = fit(path, None, part)
    told, _, took_told = fit(path, split_gold(*read_trec_2011(path), 0).train, part)
    runs, topics, seconds = zip(*(score_split(path, seed, part) for seed in seeds), strict=True)
    by_topic = pd.concat(topics).groupby(level=0).mean().stack().reset_index()
    judges = judge_rates(alone.judgments, draws)
    by_vote, extreme = estimates_by_vote(told)
    costs = {"unsupervised": took, "semi-supervised": took_told}
    hyper = {name: values.reshape(-1) for name, values in draws.hyper.items()}
    shown = pd.DataFrame({n: v[:: max(1, v.size // 200)].round(5) for n, v in hyper.items()})
    clouds = judge_clouds(alone, draws, samples=300)
    every = compare(runs)
    is_cell = every.column.isin(CELLS)
    published = {name: {"precision": v, "recall": v} for name, v in SIMULATED.items()}
    jags = {name: {"memory, GB": MEMORY} for name in costs}
    took_all = [{name: row | costs[name] for name, row in one.items()} for one in seconds]
    return Replication(
        tables={
            "runs": every[~is_cell],
            "confusion": every[is_cell].assign(digits=1),
            "simulation": compare(simulated, published),
            "cost": compare(took_all, jags, exact=list(took)),
        },
        figures={
            "figure-1": Figure(by_vote, voted_relevance(told)),
            "figure-2": Figure(judges, sensitivity_specificity(alone.judges)),
            "figure-3": Figure(_cloud_data(clouds.to_dict()), clouds),
            "figure-4": Figure(shown, hyper_priors(draws)),
            "topics": Figure(by_topic, _topic_chart(by_topic)),
        },
        findings=findings(costs, by_vote, extreme, shown, judges, runs),
        values={"seeds": len(seeds), "part": part},
    )


def findings(
    costs: Mapping[str, Mapping[str, float]],
    by_vote: Any,
    extreme: Mapping[str, float],
    hyper: Any,
    judges: Any,
    runs: Sequence[Mapping[str, Mapping[str, float]]],
) -> dict[str, Finding]:
    """What the paper says of its posterior, its judges and its scores."""
    mean = {run: pd.DataFrame([one[run] for one in runs]).mean() for run in RUNS}
    posterior = _posterior_findings(costs, by_vote, extreme, hyper)
    return posterior | _judge_findings(judges) | _score_findings(mean)


def _posterior_findings(costs: Any, by_vote: Any, extreme: Any, hyper: Any) -> dict[str, Finding]:
    old, new = (
        {name: row[f"worst R-hat, {kind}"] for name, row in costs.items()}
        for kind in ("1992", "ranks")
    )
    rising = by_vote[by_vote["items"] >= 30].set_index("voted").estimated
    steps = np.diff(rising)
    kappa = hyper[["kappa_0", "kappa_1", "kappa_pi"]]
    phi = hyper[["phi_0", "phi_1", "phi_pi"]].mean()
    return {
        "r-hat": Finding(
            max(old.values()) < 1.05,
            f"Worst of all parameters: {listed(old)}",
            readings=f"With ranks and split chains: {listed(new)}",
        ),
        "rises": Finding(
            bool((steps[1:-1] > 0).all()),
            f"Mean estimate by vote: {listed(rising)}; {(steps > 0).sum()} of {len(steps)} steps "
            f"up, the ends {steps[0]:+.3f} and {steps[-1]:+.3f}",
        ),
        "extreme": Finding(
            extreme["estimates"] > extreme["votes"],
            f"Mean distance from one half: {listed(extreme)}",
        ),
        "kappa": Finding(
            bool(kappa.kappa_0.quantile(0.975) < kappa.quantile(0.025).iloc[1:].min()),
            ", ".join(f"{n} {v.mean():.1f} ± {v.std(ddof=0):.1f}" for n, v in kappa.items()),
        ),
        "prevalence": Finding(bool(phi.phi_pi > 0.5), f"Means: {listed(phi)}"),
    }


def _judge_findings(judges: Any) -> dict[str, Finding]:
    spread = judges[["specificity", "sensitivity"]].std(ddof=0)
    rho = float(spearmanr(judges.judgments, judges.specificity_sd + judges.sensitivity_sd)[0])
    index = judges.specificity + judges.sensitivity - 1  # Youden's index: 0 at chance
    size, busy = index.abs(), judges.head(5)
    rows = (f"{judge.judgments:,} judgments, {judge.ones:.1%} ones" for judge in busy.itertuples())
    return {
        "spread": Finding(
            bool(spread.specificity > spread.sensitivity),
            f"Sd of posterior means: {listed(spread)}; {(index <= 0).sum()} of {len(judges)} "
            "judges are on or below the line of chance",
        ),
        "certainty": Finding(rho < -0.5, f"Rank correlation: {rho:.2f}"),
        "one-label": Finding(
            bool((busy.ones < 0.01).any() and (busy.ones > 0.99).any()),
            f"The five busiest: {'; '.join(rows)}",
        ),
        "chance": Finding(
            bool(size[:5].max() < 0.1),
            f"{', '.join(f'{value:+.3f}' for value in index[:5])} of the five busiest; mean size "
            f"{size[5:10].mean():.3f} of the next five, {size.mean():.3f} of all",
        ),
    }


def _score_findings(mean: Mapping[str, Any]) -> dict[str, Finding]:
    """How the runs score, which the paper could not say, and section 9.3."""
    one, two, three = tuple(RUNS)[:3]
    three_runs = {"vote": "majority vote, 0/1", "unsupervised": one, "semi-supervised": two}
    accuracy, ap = (
        {name: mean[run][score] for name, run in three_runs.items()} for score in ("accuracy", "AP")
    )
    rmse = {run: row.RMSE for run, row in mean.items()}
    both = ("precision", "recall")
    return {
        "squared-error": Finding(
            rmse[three] < min(value for run, value in rmse.items() if run[0] in "12m"),
            f"RMSE: {listed(rmse)}",
        ),
        "accuracy": Finding(
            accuracy["vote"] < accuracy["unsupervised"] < accuracy["semi-supervised"],
            f"Accuracy: {listed(accuracy)}",
        ),
        "ranking": Finding(
            min(ap["unsupervised"], ap["semi-supervised"]) > ap["vote"], f"Mean AP: {listed(ap)}"
        ),
        "fractions": check(
            lambda pair: all(pair[1][k] < pair[0][k] for k in both),
            lambda pair: ", ".join(f"{k} {pair[0][k]:.3f} to {pair[1][k]:.3f}" for k in both),
            (mean[two], mean[three]),
            published=tuple(dict.fromkeys(both, value) for value in SIMULATED.values()),
        ),
    }


def _cloud_data(specification: Mapping[str, Any]) -> Any:
    """The draws in the panels of figure 3."""
    rows = []
    for panel in specification["concat"]:
        points = panel["layer"][0]["data"]
        values = points.get("values") or specification["datasets"][points["name"]]
        title = panel["title"]
        name = title if isinstance(title, str) else title["text"]
        rows += [{"judge": name, **value} for value in values]
    return pd.DataFrame(rows)


def _topic_chart(by_topic: Any) -> Any:
    """The model against the vote, one point per topic, one panel per measure."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("vote:Q", title="majority vote", scale=scale)
    y = alt.Y("semi-supervised:Q", title="semi-supervised model", scale=scale)
    points = alt.Chart().mark_circle(color=LIGHT.blue, size=40, opacity=0.6).encode(x=x, y=y)
    ends = {"x": alt.datum(0), "y": alt.datum(0), "x2": alt.datum(1), "y2": alt.datum(1)}
    same = alt.Chart().mark_rule(color=LIGHT.ink, strokeDash=[5, 4]).encode(**ends)
    layers = alt.layer(points, same, data=by_topic).properties(width=270, height=270)
    return layers.facet(alt.Facet("measure:N", title=None))
