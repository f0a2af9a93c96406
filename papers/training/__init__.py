"""Le and others (2010): how the label mix of training questions shapes judges, five arms.

The paper hired people; this is a simulation. Its judges learn the mix that they are shown
(``crowd.Assumptions`` has everything that is assumed about them), and the same policy and routing
functions as in the collection server decide. Tables 1 to 4 and figure 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adjudge import HybridConfusion, Judgments, MajorityVote, Scale
from adjudge.collect.rules.policy import Policy
from adjudge.simulation import number_names
from papers.charts import curves, published_and_obtained
from papers.results import Figure, Finding, Options, Replication, check, compare, read_published
from papers.stats import gap, hold_all, is_above, listed, standard_error
from papers.training.crowd import LABELS, ArmCollection, Assumptions, Material, run_experiment

SCALE = Scale(labels=LABELS, ordinal=False)
ARMS = ("1", "2", "3", "4", "5")
UNIFORM = "3"  # the most uniform mix
QUERIES = 256  # with 5 results each
MIX = (14.5, 82.67, 2.5, 0.33)  # of the results, in percent: section 3, page 2
BASELINE = 0.8267  # accuracy of answering Not Matching throughout: section 5.3, page 3
_PAPER = read_published("training")
TABLE_1: dict[str, list[float]] = _PAPER["table-1"]  # percent of each label in an arm's training
GOLDS = {arm: tuple(round(1.5 * share) for share in shares) for arm, shares in TABLE_1.items()}
ACCURACY = "Accuracy (overall)"
PRECISION, RECALL = "Precision (Not Matching)", "Recall (Not Matching)"
FALSE_ALARM = "P(says Not Matching | it is not)"
TABLE_2, TABLE_3, TABLE_4 = (_PAPER[name] for name in ("table-2", "table-3", "table-4"))
FIGURE_2: dict[str, float] = _PAPER["figure-2"]
# Implied by table 3: with precision p, recall r and 82.67% Not Matching, r (1 - p) / p * .8267 /
# .1733 of the other results are called Not Matching too. It is lowest in the uniform arm: skill.
TABLE_3[FALSE_ALARM] = [
    round(recall * (1 - precision) / precision * BASELINE / (1 - BASELINE), 3)
    for precision, recall in zip(TABLE_3[PRECISION], TABLE_3[RECALL], strict=True)
]
# The paper's thresholds are not published. These let about three in four pass the training, as in
# table 2 (116 of 149); the rest is as published, and the server's default.
POLICY = Policy(training_pass=0.6, warn_below=0.6, block_below=0.5)
# "Each worker has to complete 20 query-result pairs successfully": 20 right of at most 40, where
# the others pass by a share of 20; and training counts for trust too.
BY_NUMBER = POLICY.changed(
    {"training_rule": "correct", "training_tries": 2, "trust_training": True}
)
VOTE, HYBRID = "vote", "hybrid"
MAIN, LEARNING, CORRECT = "as assumed", "judges who learn", "as assumed, 20 right to pass"
CONTROL = "no anchoring, ethical judges only"
CROWDS: dict[str, Assumptions] = {
    MAIN: Assumptions(),
    # Errors are half as large again at first, and shrink: at the middle arm's mix, after 20 pairs
    # of training, to about what the others have from the start.
    LEARNING: Assumptions(learning=0.1, errors=1.5),
    CORRECT: Assumptions(),
    "no anchoring": Assumptions(anchoring=(0.0, 0.0)),
    "anchoring 0.5": Assumptions(anchoring=(0.5, 0.5)),
    "anchoring 1": Assumptions(anchoring=(1.0, 1.0)),
    CONTROL: Assumptions(anchoring=(0.0, 0.0), ethical=1.0, spammers=0.0, clickers=0.0),
}
_MODELS = {VOTE: "majority vote", HYBRID: "HybridConfusion"}

Runs = Sequence[Mapping[str, Any]]  # experiment: arm: "funnel", "judges" or model: measure


def run_arms(crowd: Assumptions, policy: Policy, seed: int) -> dict[str, Any]:
    """One experiment: the funnel, the judges' mean measures and the aggregates of every arm."""
    made, collections = run_experiment(policy, crowd, GOLDS, queries=QUERIES, mix=MIX, seed=seed)
    return {arm: _outcome(made, found, seed) for arm, found in collections.items()}


def _outcome(made: Material, collection: ArmCollection, seed: int) -> dict[str, Any]:
    judges = list(collection.judges.values())
    trained = sum(judge.trained for judge in judges)
    failed = sum(judge.stage == "failed" for judge in judges)
    share = 100 * (trained - failed) / trained if trained else float("nan")
    counts = (len(judges), trained, trained - failed, failed, share)
    truth = made.truth
    each = [measure(np.array(j.labels), truth[j.items]) for j in judges if j.items]
    judgments = trusted_judgments(collection)
    return {
        "funnel": dict(zip(TABLE_2, map(float, counts), strict=True)),
        "judges": {name: float(np.nanmean([one[name] for one in each])) for name in TABLE_3},
        VOTE: measure(MajorityVote(seed=seed).fit(judgments).choice, truth),
        HYBRID: measure(HybridConfusion(method="em", seed=seed).fit(judgments).choice, truth),
    }


def measure(labels: NDArray[np.signedinteger], truth: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy over all labels; precision and recall of Not Matching, NaN where there is none."""
    said, true = labels == LABELS.index("Not Matching"), truth == LABELS.index("Not Matching")
    both = float((said & true).sum())
    return {
        ACCURACY: float((labels == truth).mean()),
        PRECISION: both / float(said.sum()) if said.any() else float("nan"),
        RECALL: both / float(true.sum()) if true.any() else float("nan"),
        FALSE_ALARM: float(said[~true].mean()) if not true.all() else float("nan"),
    }


def trusted_judgments(collection: ArmCollection) -> Judgments:
    """The judgments of judges who were not blocked."""
    judges = [j for j in collection.judges.values() if j.items and j.stage != "blocked"]
    item, label = (
        np.concatenate([getattr(j, name) for j in judges]) for name in ("items", "labels")
    )
    judge = np.repeat(np.arange(len(judges), dtype=np.int32), [len(j.items) for j in judges])
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(collection.items))
    return Judgments(
        scale=SCALE,
        items=number_names("item", len(collection.items), 4),
        judges=number_names("judge", len(judges), 3),
        offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
        judge=judge[order],
        label=label[order].astype(SCALE.label_dtype),
    )


def replicate(options: Options) -> Replication:
    """Tables 1 to 4 and figure 2 for several crowds, and the claims."""
    runs = {}
    for name, crowd in CROWDS.items():
        seeds = options.count(full=40, quick=4)
        if name not in (MAIN, LEARNING, CONTROL):
            seeds = min(seeds, 2 if options.quick else 20)
        policy = BY_NUMBER if name == CORRECT else POLICY
        runs[name] = [run_arms(crowd, policy, seed) for seed in range(1, seeds + 1)]
    return gather(runs)


def gather(runs: Mapping[str, Runs]) -> Replication:
    """Tables, figures and claims from the experiments of all crowds."""
    shown = {name: own for name, own in runs.items() if name != CORRECT}
    return Replication(
        tables={
            **paper_tables(runs[MAIN]),
            "table-3-learning": arm_table(runs[LEARNING], "judges", TABLE_3),
            "table-4-learning": arm_table(runs[LEARNING], VOTE, TABLE_4),
            "table-2-correct": arm_table(runs[CORRECT], "funnel", TABLE_2, digits=1),
            "crowds": crowd_table(runs, _MODELS),
        },
        figures={
            "figure-2-plot": figure_2(runs[MAIN]),
            "strength-plot": strength_figure(shown, _MODELS),
        },
        findings=findings(runs[MAIN], runs[LEARNING], runs[CONTROL]),
        values={
            "experiments": len(runs[MAIN]),
            "labels": LABELS,
            "crowd": asdict(CROWDS[MAIN]),
            "learner": CROWDS[LEARNING],
            "policy": POLICY,
        },
    )


def values(runs: Runs, arm: str, what: str, name: str) -> NDArray[np.float64]:  # (experiment,)
    """One measure of one arm, in every experiment."""
    return np.array([run[arm][what][name] for run in runs], dtype=np.float64)


def _by_arm(row: Iterable[Any]) -> dict[str, Any]:
    return {f"arm {arm}": value for arm, value in zip(ARMS, row, strict=True)}


def paper_tables(runs: Runs) -> dict[str, Any]:
    """Tables 1 to 4 and figure 2 of the paper."""
    golds = {arm: 100 * np.array(GOLDS[arm]) / sum(GOLDS[arm]) for arm in ARMS}
    shares, told = (
        {label: _by_arm(table[arm][at] for arm in ARMS) for at, label in enumerate(LABELS)}
        for table in (golds, TABLE_1)
    )
    accuracy = {ACCURACY: [FIGURE_2.get(arm, np.nan) for arm in ARMS]}
    return {
        "table-1": compare([shares], told, digits=1),
        "table-2": arm_table(runs, "funnel", TABLE_2, digits=1),
        "table-3": arm_table(runs, "judges", TABLE_3),
        "table-4": arm_table(runs, VOTE, accuracy | TABLE_4),
    }


def arm_table(
    runs: Runs, what: str, published: Mapping[str, Sequence[float]], digits: int = 3
) -> Any:
    """A table with a column for each arm; a server's report has only the paper's measures."""
    told = {n: _by_arm(row) for n, row in published.items() if n in runs[0][ARMS[0]][what]}
    found = {(n, f"arm {arm}"): values(runs, arm, what, n) for n in told for arm in ARMS}
    return compare(found, told, digits=digits)


def figure_2(runs: Runs) -> Figure:
    """Aggregate accuracy by arm, obtained and published; the line is the baseline."""
    found = {(f"arm {arm}", "accuracy"): values(runs, arm, VOTE, ACCURACY) for arm in ARMS}
    told = {f"arm {arm}": {"accuracy": value} for arm, value in FIGURE_2.items()}
    cells = compare(found, told)
    return Figure(cells, published_and_obtained(cells, rule=BASELINE))


def crowd_table(runs: Mapping[str, Runs], models: Mapping[str, str]) -> Any:
    """The aggregate accuracy of every crowd, by arm and model."""
    return compare(
        {
            (f"{crowd}, {model}", f"arm {arm}"): values(own, arm, key, ACCURACY)
            for crowd, own in runs.items()
            for key, model in models.items()
            for arm in ARMS
        }
    )


def strength_figure(runs: Mapping[str, Runs], models: Mapping[str, str]) -> Figure:
    """Mean accuracy by arm, one line per crowd, one panel per model; ± 2 standard errors."""
    rows = [
        (crowd, model, arm, found.mean(), 2 * standard_error(found))
        for crowd, own in runs.items()
        for key, model in models.items()
        for arm in ARMS
        for found in [values(own, arm, key, ACCURACY)]
    ]
    data = pd.DataFrame(rows, columns=["crowd", "model", "arm", "mean", "spread"])
    legend = alt.Legend(labelLimit=300)
    colour = alt.Color("crowd:N", sort=list(runs), title=None, legend=legend)
    x = alt.X("arm:N", title="arm", axis=alt.Axis(labelAngle=0))
    return Figure(data, curves(data, x, colour, y="accuracy", panel="model", width=260))


def findings(main: Runs, learning: Runs, control: Runs) -> dict[str, Finding]:
    """Every sentence of sections 5.2 and 5.3, for the crowd that anchors and for one that learns.

    A claim holds by the first crowd; the second is another reading.
    """

    def by_arm(
        test: Callable[[Any], bool], what: str, name: str, table: Mapping[str, Sequence[float]]
    ) -> Finding:
        means, other = (_means(runs, what, name) for runs in (main, learning))
        told = pd.Series(table[name], index=list(ARMS))
        return check(test, listed_arms, means, published=told, readings={LEARNING: other})

    contradicted = by_arm(_peaks, VOTE, RECALL, TABLE_4)
    return {
        **_aggregate_findings(main, learning, control),
        "accuracy-rises": by_arm(
            lambda means: bool(means.is_monotonic_increasing), "judges", ACCURACY, TABLE_3
        ),
        "judge-precision": by_arm(_peaks, "judges", PRECISION, TABLE_3),
        "skill": by_arm(lambda means: means.idxmin() == UNIFORM, "judges", FALSE_ALARM, TABLE_3),
        "aggregate-precision": by_arm(_peaks, VOTE, PRECISION, TABLE_4),
        "aggregate-recall": replace(contradicted, holds=None),  # the paper's own table denies it
        "recall-exceeds": check(
            lambda ahead: bool(ahead["5"] > 0 and ahead.idxmax() == "5"),
            listed_arms,
            _recall_lead(main),
            published=pd.Series(np.subtract(TABLE_4[RECALL], TABLE_4[PRECISION]), index=list(ARMS)),
            readings={LEARNING: _recall_lead(learning)},
        ),
    }


def _recall_lead(runs: Runs) -> Any:  # by arm
    return _means(runs, VOTE, RECALL) - _means(runs, VOTE, PRECISION)


def _means(runs: Runs, what: str, name: str) -> Any:  # by arm
    return pd.Series({arm: np.nanmean(values(runs, arm, what, name)) for arm in ARMS})


def _peaks(means: Any) -> bool:
    return bool(means.idxmax() == UNIFORM)


def listed_arms(means: Mapping[str, float]) -> str:
    """Means by arm as text."""
    return listed({f"arm {arm}": value for arm, value in means.items()})


def lead_over(runs: Runs, arms: Iterable[str]) -> Mapping[str, tuple[float, float]]:
    """How far the uniform arm's aggregate is ahead of others: mean and standard error."""
    uniform = values(runs, UNIFORM, VOTE, ACCURACY)
    return {arm: gap(uniform, values(runs, arm, VOTE, ACCURACY)) for arm in arms}


def is_ahead(gaps: Mapping[str, tuple[float, float]]) -> bool | None:
    """Whether every difference is above 0; None where one is within two standard errors."""
    return hold_all(is_above(*one) for one in gaps.values())


def listed_gaps(gaps: Mapping[str, tuple[float, float]]) -> str:
    """Differences and their standard errors as text."""
    pairs = gaps.items()
    return "arm 3 less " + ", ".join(f"arm {a} {g:+.4f} ± {e:.4f}" for a, (g, e) in pairs)


def _aggregate_findings(main: Runs, learning: Runs, control: Runs) -> dict[str, Finding]:
    def lead(arms: Sequence[str], published: Any) -> Finding:
        ours, other = (lead_over(runs, arms) for runs in (main, learning))
        readings = {LEARNING: other}
        return check(is_ahead, listed_gaps, ours, published=published, readings=readings)

    pairs = [
        gap(*(values(control, arm, VOTE, ACCURACY) for arm in both))
        for both in combinations(ARMS, 2)
    ]
    largest = max(pairs, key=lambda pair: abs(pair[0]))
    return {
        "uniform-best": lead("125", {"5": (FIGURE_2["3"] - FIGURE_2["5"], 0.0)}),
        "uniform-next": lead("4", None),
        "no-anchoring": Finding(
            hold_all(_is_small(*pair) for pair in pairs),
            f"{listed_arms(_means(control, VOTE, ACCURACY))}; the largest difference is "
            f"{abs(largest[0]):.4f} ± {largest[1]:.4f}",
        ),
    }


def _is_small(mean: float, error: float) -> bool | None:
    """Whether a difference is below .01; None where it may or may not be."""
    if abs(mean) + 2 * error < 0.01:
        return True
    return False if abs(mean) - 2 * error > 0.01 else None
