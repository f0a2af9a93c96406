"""Liu and Wang (2012): a spectrum of models with a true label and confusion, figures 3 to 7.

The paper's data are private, and only the numbers in its text are known here: what it says in words
is checked as claims. Its synthetic data are simulated with matrices of our own (see
``papers.panels``), its monitoring set is a simulated panel of the same shape, and the
same curves are drawn on the real ``web-relevance`` judgments.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import binomtest

import adjudge
from adjudge import BadData, Consensus, Gold, Judgments
from adjudge.report.theme import LIGHT
from papers.charts import curves
from papers.data import both, find_file, read_content
from papers.panels import GRADES, monitoring_panel, three_judges
from papers.results import Figure, Finding, Options, Replication, check, compare
from papers.stats import gap, hold_all, is_above, listed, standard_error

HYBRID, DAWID_SKENE, SINGLE, VOTE = MODELS = (
    "HybridConfusion",
    "DawidSkene",
    "SingleConfusion",
    "MajorityVote",
)
MEMORY, MEMORYLESS = "memory", "memoryless"
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000)  # items
DIAGONALS = (3, 10)  # the paper's beta
RATINGS = (5, 10, 20, 30, 50, 80, 110)  # judgments per item of the panel
# Accuracy and kappa of the panel's judges. It is hard, as the paper says of its own: with .65 every
# model is right on every item from 20 judgments on. The others are better and more alike, or differ
# more.
PANEL = (0.5, 10.0)
OTHER_PANELS = {"alike": (0.65, 20.0), "varied": (0.5, 2.0)}
# Section 3.1, in words: the vote's prevalence "is consistently around (0.1, 0.15, 0.75)", and
# HybridConfusion and DawidSkene "can exactly recover the true pi with enough data".
TRUE_PREVALENCE, VOTED = (0.05, 0.15, 0.8), (0.1, 0.15, 0.75)
FASTER = 4.0  # times that DawidSkene is faster than HybridConfusion: "about"
SIGN_TEST = 0.05  # p of HybridConfusion above the vote is below it: section 4
_SCARCE = 1000  # items up to which data are scarce: the paper calls 2,000 and 3,000 abundant
_CLOSE = 0.01

Sampler = Mapping[str, Any]
Source = Callable[[int], tuple[Judgments, NDArray[Any]]]  # seed: judgments and true labels
Parts = dict[int, Any]  # items, or judgments per item: results


def stack_runs(runs: Sequence[Judgments]) -> Judgments:
    """The judgments of all runs: items and judges of run r are called ``r/name``, its topic ``r``.

    Fitting the stack by topic is fitting every run.
    """

    def named(names: Sequence[Any]) -> Any:
        parts = [
            pc.binary_join_element_wise(
                pa.scalar(str(at), pa.large_string()), own, pa.scalar("/", pa.large_string())
            )
            for at, own in enumerate(names)
        ]
        return pa.concat_arrays(parts)

    first = np.cumsum([0, *(run.judge_count for run in runs)])  # judges before each run
    counts = np.concatenate([run.counts_per_item for run in runs])
    return Judgments(
        scale=runs[0].scale,
        items=named([run.items for run in runs]),
        judges=named([run.judges for run in runs]),
        offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
        judge=np.concatenate(
            [run.judge + np.int32(before) for run, before in zip(runs, first, strict=False)]
        ),
        label=np.concatenate([run.label for run in runs]),
        topics=pa.array([str(at) for at in range(len(runs))], pa.large_string()),
        topic=np.repeat(np.arange(len(runs), dtype=np.int32), [run.item_count for run in runs]),
    )


def as_one_judge(stack: Judgments) -> Judgments:
    """The stack as if one judge had made all judgments of a run: one matrix for all judges."""
    topic: Any = stack.topic
    return replace(stack, judges=stack.topics, judge=topic[stack.item])


def fit(model: str, stack: Judgments, sampler: Sampler, diagonal: float = 3.0) -> Consensus:
    """One of the four models, fitted to all runs of a stack."""
    if model == HYBRID:
        hybrid = adjudge.HybridConfusion(diagonal=diagonal, by_topic=True, **sampler)
        return hybrid.fit(stack)
    if model == VOTE:
        # With a gold label on every item, Dawid-Skene counts matrices, and predicts by them.
        voted = adjudge.MajorityVote(by_topic=True, seed=sampler["seed"]).fit(stack).choice
        labels = Gold(items=stack.items, value=voted.astype(np.int32), values=stack.scale.truths)
        count = adjudge.DawidSkene(by_topic=True, diagonal=1.0, iterations=1, seed=sampler["seed"])
        return count.fit(stack, labels)
    # Likelihoods of runs add up: a run gains less than a millionth if the stack gains less than
    # a millionth of a run.
    tolerance = 1e-6 / max(1, stack.topic_count)
    free = adjudge.DawidSkene(
        diagonal=diagonal, by_topic=True, tolerance=tolerance, iterations=3000, seed=sampler["seed"]
    )
    return free.fit(as_one_judge(stack) if model == SINGLE else stack)


def predict(model: str, fitted: Consensus, stack: Judgments) -> NDArray[np.int16]:  # (item,)
    """The labels of other items from what was learnt: the paper's memory mode."""
    return fitted.predict(as_one_judge(stack) if model == SINGLE else stack).choice


def confusion(
    model: str, fitted: Consensus, judges: int
) -> NDArray[np.float64]:  # (run, judge, truth, label)
    """The confusion of each judge of each run, where every run has this number of judges."""
    found = fitted.confusion
    if model == SINGLE:
        return np.repeat(found[:, None], judges, axis=1)
    return found.reshape(-1, judges, *found.shape[1:])


def _switched(fitted: Consensus) -> int:
    """How many runs had label switching, which the fit put right."""
    said = re.search(r"traded places in ([\d,]+) of", " ".join(fitted.notes))
    return int(said.group(1).replace(",", "")) if said else 0


def fit_synthetic(items: int, diagonal: float, runs: int, sampler: Sampler) -> dict[str, Any]:
    """Section 3: three judges on each item; accuracy, prevalence, and error of each matrix."""
    made = [three_judges(items, seed) for seed in range(1, runs + 1)]
    stack = stack_runs([run.judgments for run in made])
    truth = np.stack([run.truth.value for run in made])  # (run, item)
    rates = made[0].confusion  # (judge, truth, label), the same in every run
    found = {}
    for model in MODELS:
        start = time.process_time()
        fitted = fit(model, stack, sampler, diagonal)
        found[model] = {
            "seconds": time.process_time() - start,
            "accuracy": (fitted.choice.reshape(truth.shape) == truth).mean(axis=1),
            "prevalence": fitted.prevalence,
            "error": np.abs(confusion(model, fitted, len(rates)) - rates).mean(axis=(2, 3)),
            "switched": _switched(fitted),
        }
    return found


def fit_with_memory(source: Source, ratings: int, runs: int, sampler: Sampler) -> dict[str, Any]:
    """Section 4: accuracy on test items with and without memory of the training items.

    A run draws ``ratings`` judgments per item and splits the items 2:1. Also the mean and sd of
    the matrices learnt, over judges and runs.
    """
    train, test, truths = [], [], []
    for seed in range(1, runs + 1):
        judgments, truth = source(seed)
        rng = np.random.default_rng([seed, ratings])
        kept = draw_ratings(judgments, ratings, rng)
        chosen = np.zeros(judgments.item_count, dtype=np.bool_)
        chosen[rng.permutation(len(chosen))[: round(2 / 3 * len(chosen))]] = True
        # Every judge stays in the training set, so that one without judgments gets the prior mean.
        train.append(judgments.select(judgments=kept, items=chosen, keep_empty=True))
        test.append(judgments.select(judgments=kept, items=~chosen, keep_empty=True))
        truths.append(truth[~chosen])
    seen, new = stack_runs(train), stack_runs(test)
    working = new.select()  # without the judges who judged no test item: less to draw
    alone = working if working.item_count == new.item_count else new
    ends = np.cumsum([len(truth) for truth in truths])[:-1]

    def accuracy(choice: NDArray[np.int16]) -> NDArray[np.float64]:  # (run,)
        pairs = zip(np.split(choice, ends), truths, strict=True)
        return np.array([(part == truth)[truth >= 0].mean() for part, truth in pairs])

    found: dict[str, Any] = {MEMORY: {}, MEMORYLESS: {}, "mean": {}, "sd": {}}
    for model in MODELS:
        fitted = fit(model, seen, sampler)
        found["mean"][model] = fitted.confusion.mean(axis=0)
        found["sd"][model] = fitted.confusion.std(axis=0, ddof=1)
        found[MEMORY][model] = accuracy(predict(model, fitted, new))
        found[MEMORYLESS][model] = accuracy(fit(model, alone, sampler).choice)
    return found


def draw_ratings(
    judgments: Judgments, ratings: int, rng: np.random.Generator
) -> NDArray[np.bool_]:  # (judgment,)
    """Which judgments stay: a random choice of this number per item, or all it has."""
    item = judgments.item
    order = np.lexsort((rng.random(len(item)), item))
    place = np.empty(len(item), dtype=np.int64)
    place[order] = np.arange(len(item)) - judgments.offsets[item]
    return np.asarray(place < ratings)


def _panel(accuracy: float, kappa: float, seed: int) -> tuple[Judgments, NDArray[Any]]:
    """A new panel for each run, so that no single panel decides."""
    made = monitoring_panel(seed, accuracy=accuracy, kappa=kappa)
    return made.judgments, made.truth.value


def _web(options: Options) -> Source | None:
    """The real judgments, the same for every run; None where they are missing."""
    try:
        judgments, gold = both(read_content(find_file("web-relevance", options.data)))
    except BadData:  # the rest of this paper does not need them
        return None
    return lambda _: (judgments, gold.align(judgments))


def replicate(options: Options) -> Replication:
    """Figures 3 to 7, and the claims."""
    quick, runs = options.quick, options.count(full=100, quick=20)
    published = {"chains": 3, "warmup": 1000, "draws": 100, "thin": 10, "seed": 1}
    shorter = {**published, "warmup": 200, "thin": 2}  # gives the same on a few hundred judges
    if quick:
        published = {"chains": 2, "warmup": 100, "draws": 50, "thin": 2, "seed": 1}
        shorter = {**published, "warmup": 50, "thin": 1}
    synthetic = {
        diagonal: {
            items: fit_synthetic(items, float(diagonal), runs, published)
            for items in (SIZES if not quick else (5, 20, 100, 1000, 3000))
        }
        for diagonal in DIAGONALS
    }

    def with_memory(source: Source, ratings: Sequence[int], runs: int = runs) -> Parts:
        return {many: fit_with_memory(source, many, runs, shorter) for many in ratings}

    panel = with_memory(partial(_panel, *PANEL), RATINGS if not quick else (5, 10, 20, 50))
    web = _web(options)
    more = {
        name: with_memory(partial(_panel, *judges), (5, 10, 20, 50))
        for name, judges in OTHER_PANELS.items()
        if not quick
    }
    if web:
        few = options.count(full=20, quick=4)
        more["web-relevance"] = with_memory(web, (2, 6) if quick else (2, 3, 4, 5, 6), few)
    return gather(synthetic, panel, more, runs)


def gather(
    synthetic: dict[int, Parts], panel: Parts, more: dict[str, Parts], runs: int
) -> Replication:
    """Tables, figures and claims; ``more`` has panels of other judges and the real judgments."""
    parts, few = synthetic[3], panel[min(panel)]
    shares = dict(enumerate(TRUE_PREVALENCE, start=1))
    told = {f"{VOTE}, label {k}": {f"N = {n}": VOTED[k - 1] for n in parts} for k in shares}
    for model in (HYBRID, DAWID_SKENE):
        told |= {f"{model}, label {k}": {"N = 3000": share} for k, share in shares.items()}
    matrices = list(product((DAWID_SKENE, HYBRID), range(len(GRADES)), range(len(GRADES))))
    figure_7 = compare(
        {(f"{m}, {GRADES[t]}", GRADES[k]): [few["mean"][m][t][k]] for m, t, k in matrices}, digits=2
    )
    figure_7["sd"] = [few["sd"][m][t][k] for m, t, k in matrices]
    return Replication(
        tables={
            "figure-3a": compare(_by_size(parts, "accuracy")),
            "figure-3b": compare(_by_size(synthetic[10], "accuracy")),
            "figure-4": compare(_by_size(parts, "prevalence", "label"), told),
            "figure-5": compare(_by_size(parts, "error", "judge")),
            "figure-6": compare(_by_mode(panel)),
            **{name: compare(_by_mode(found)) for name, found in more.items()},
            "figure-7": figure_7,
        },
        figures={
            "figure-3a-plot": _curves(_by_size(parts, "accuracy"), "accuracy"),
            "figure-3b-plot": _curves(_by_size(synthetic[10], "accuracy"), "accuracy"),
            "figure-4-plot": _prevalence_figure(_by_size(parts, "prevalence", "label")),
            "figure-5-plot": _curves(_by_size(parts, "error", "judge"), "error"),
            "figure-6a-plot": _panel_figure(),
            "figure-6-plot": _mode_curves(panel),
            **{f"{name}-plot": _mode_curves(found) for name, found in more.items()},
            "figure-7-plot": _matrix_figure(figure_7),
        },
        findings=findings(synthetic, panel, more),
        values={"runs": runs, "accuracy": PANEL[0], "kappa": PANEL[1]},
    )


def _by_size(parts: Parts, what: str, of: str = "") -> dict[tuple[str, str], Any]:
    """Values of all runs by model (and label or judge) and number of items."""
    found = {}
    for model in MODELS:
        for items, part in parts.items():
            values = np.asarray(part[model][what])  # (run,) or (run, label or judge)
            for at, column in enumerate(values.reshape(len(values), -1).T, start=1):
                found[f"{model}, {of} {at}" if of else model, f"N = {items}"] = column
    return found


def _by_mode(parts: Parts) -> dict[tuple[str, str], Any]:
    """Accuracies of all runs by model and mode, and number of judgments per item."""
    return {
        (f"{model}, {mode}", f"R = {ratings}"): part[mode][model]
        for mode in (MEMORYLESS, MEMORY)
        for model in MODELS
        for ratings, part in parts.items()
    }


def _frame(values: Mapping[tuple[str, str], Any]) -> Any:
    """One row per curve and number: model, panel, number, mean, two standard errors."""
    rows = []
    for (row, column), runs in values.items():
        model, _, panel = row.partition(", ")
        spread = 2 * standard_error(runs)
        rows.append((model, panel, int(column.split()[-1]), float(np.mean(runs)), spread))
    return pd.DataFrame(rows, columns=["model", "panel", "number", "mean", "spread"])


_COLOUR = alt.Color(
    "model:N", title=None, scale=alt.Scale(domain=list(MODELS), range=LIGHT.categories[:4])
)


def _curves(values: Mapping[tuple[str, str], Any], y: str, x: str = "items") -> Figure:
    data = _frame(values)
    angle = -45 if x == "items" else 0
    axis = alt.Axis(values=sorted(set(data.number)), grid=False, labelAngle=angle, format="d")
    scale = alt.Scale(type="log", nice=False, padding=12)
    across = alt.X("number:Q", title=x, scale=scale, axis=axis)
    top = 1.0 if y == "accuracy" else None
    return Figure(data, curves(data, across, _COLOUR, y=y, panel="panel", top=top, height=250))


def _mode_curves(parts: Parts) -> Figure:
    return _curves(_by_mode(parts), "accuracy", "judgments per item")


def _prevalence_figure(values: Mapping[tuple[str, str], Any]) -> Figure:
    """Bars of the prevalence found, one panel per model; rules mark the true prevalence."""
    data = _frame(values)
    colours = alt.Scale(range=[LIGHT.red, LIGHT.yellow, LIGHT.sky])
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("number:N", title="items", axis=alt.Axis(labelAngle=-60)),
            y=alt.Y("mean:Q", title="prevalence", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("panel:N", title=None, scale=colours),
            order=alt.Order("panel:N"),
        )
    )
    edges = np.cumsum(TRUE_PREVALENCE)[:2]
    rule = alt.Chart().mark_rule(color=LIGHT.ink, strokeDash=[4, 3])
    rules = [rule.encode(y=alt.datum(float(edge))) for edge in edges]
    layers = alt.layer(bars, *rules, data=data).properties(width=180, height=200)
    return Figure(data, layers.facet(alt.Facet("model:N", title=None, sort=list(MODELS))))


def _panel_figure() -> Figure:
    """The first panel: items by judges, both sorted by mean grade, and the truth at the end."""
    made = monitoring_panel(1, accuracy=PANEL[0], kappa=PANEL[1])
    given = made.judgments
    data = pd.DataFrame({"item": given.item, "judge": given.judge, "grade": given.label + 1})
    items, judges = (
        data.groupby(side).grade.mean().rank(method="first").astype(int)
        for side in ("item", "judge")
    )
    data = data.assign(item=data.item.map(items), judge=data.judge.map(judges))
    truth = pd.DataFrame({"item": items, "judge": len(judges) + 1, "grade": made.truth.value + 1})
    data = pd.concat([data, truth])
    none = alt.Axis(labels=False, ticks=False, domain=False)
    shown = data.assign(grade=[GRADES[grade - 1] for grade in data.grade])
    colours = alt.Scale(scheme="viridis")
    chart = (
        alt.Chart(shown)
        .mark_rect()
        .encode(
            x=alt.X("judge:O", title="judges, by mean grade; last: truth", axis=none),
            y=alt.Y("item:O", title="items, by mean grade", axis=none),
            color=alt.Color("grade:N", sort=list(GRADES), title=None, scale=colours),
        )
    )
    return Figure(data, chart.properties(width=745, height=290))


def _matrix_figure(cells: Any) -> Figure:
    """The mean matrices side by side, with the sd over judges and runs in each cell."""
    data = pd.DataFrame({"label": cells.column, "mean": cells.obtained, "sd": cells.sd})
    data[["model", "truth"]] = cells.row.str.split(", ", expand=True).to_numpy()
    base = alt.Chart(data).encode(
        x=alt.X("label:N", sort=list(GRADES), title="label", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("truth:N", sort=list(GRADES), title="truth"),
    )
    colours = alt.Scale(scheme="blues", domain=[0, 1])
    squares = base.mark_rect().encode(color=alt.Color("mean:Q", legend=None, scale=colours))
    ink = alt.condition("datum.mean > 0.55", alt.value(LIGHT.paper), alt.value(LIGHT.ink))
    mean = base.mark_text(dy=-7, fontSize=12).encode(
        text=alt.Text("mean:Q", format=".2f"), color=ink
    )
    sd = base.mark_text(dy=8, fontSize=10).encode(text=alt.Text("sd:Q", format=".2f"), color=ink)
    layers = alt.layer(squares, mean, sd, data=data).properties(width=300, height=240)
    return Figure(data, layers.facet(alt.Facet("model:N", title=None)))


def findings(
    synthetic: dict[int, Parts], panel: Parts, more: dict[str, Parts]
) -> dict[str, Finding]:
    """Every claim of the paper's text, and some on other panels and on real judgments."""
    found = {
        **_accuracy_findings(synthetic[3]),
        **_other_findings(synthetic[3]),
        **_error_findings(synthetic[3]),
        **_memory_findings(panel),
        **_memoryless_findings(panel),
        **_matrix_findings(panel[min(panel)]),
    }
    again = _accuracy_findings(synthetic[10])
    same = [again[key] for key in ("scarce", "abundant", "single-weakest")]
    words = ". ".join(finding.evidence for finding in same)
    found["stronger-prior"] = Finding(hold_all(finding.holds for finding in same), words)
    for name, parts in more.items():
        other = _memory_findings(parts)
        chosen = other if name == "web-relevance" else ("memory-helps", "vote-falls")
        found |= {f"{key}@{name}": other[key] for key in chosen}
    return found


def _mean(parts: Parts, what: str) -> Any:
    """Means over runs: a DataFrame of numbers by model."""
    found = {n: {m: float(np.mean(part[m][what])) for m in MODELS} for n, part in parts.items()}
    return pd.DataFrame.from_dict(found, orient="index")


def _at(values: Any, form: str = "+.3f") -> str:
    return listed(dict(values.items()), form, "at")


def _accuracy_findings(parts: Parts) -> dict[str, Finding]:
    mean = _mean(parts, "accuracy")
    ahead = mean[HYBRID] - mean[DAWID_SKENE]
    scarce, abundant = ahead[ahead.index <= _SCARCE], ahead[ahead.index > _SCARCE]
    verdicts = [
        is_above(*gap(parts[n][HYBRID]["accuracy"], parts[n][DAWID_SKENE]["accuracy"]))
        for n in scarce.index
    ]
    vote, last = mean.loc[mean.index >= 20, VOTE], mean.iloc[-1]
    return {
        "hybrid-above": Finding(bool(mean[HYBRID].min() > 0.9), _at(mean[HYBRID], ".3f")),
        "scarce": Finding(False if scarce.min() <= 0 else hold_all(verdicts), _at(scarce)),
        "abundant": Finding(bool((abundant.abs() <= _CLOSE).all()), _at(abundant)),
        "vote-flat": Finding(bool(vote.max() - vote.min() < 0.03), _at(mean[VOTE], ".3f")),
        "single-weakest": Finding(
            last.idxmin() == SINGLE, f"At {last.name}: {listed(last)}. {_relabelled(parts)}"
        ),
    }


def _relabelled(parts: Parts) -> str:
    found = parts[max(parts)][SINGLE]
    return (
        f"{found['switched']} of {len(found['accuracy'])} runs of SingleConfusion were relabelled"
    )


def _other_findings(parts: Parts) -> dict[str, Finding]:
    """Sentences of section 3.1 on DawidSkene, SingleConfusion, the vote, speed, prevalence."""
    mean = _mean(parts, "accuracy")
    abundant = mean[mean.index > _SCARCE]
    few = (mean[SINGLE] - mean[VOTE])[mean.index <= 50]
    seconds = _mean(parts, "seconds").sum()
    last = {m: np.mean(parts[max(parts)][m]["prevalence"], axis=0) for m in MODELS}
    away = {model: float(np.abs(p - TRUE_PREVALENCE).max()) for model, p in last.items()}
    return {
        "dawid-skene-best": Finding(
            bool((abundant.idxmax(axis=1) == DAWID_SKENE).all()),
            "; ".join(f"at {n} {listed(row, '.4f')}" for n, row in abundant.iterrows()),
        ),
        "intertwined": Finding(
            bool(few.min() < 0 < few.max() or few.abs().max() <= 2 * _CLOSE), _at(few)
        ),
        "vote-prevalence": check(
            _as_voted,
            lambda runs: "; ".join(f"{_shares(p.mean(axis=0))} at {n}" for n, p in runs.items()),
            {n: np.asarray(part[VOTE]["prevalence"]) for n, part in parts.items()},
            published={"any": np.array([VOTED, VOTED])},
        ),
        "faster": check(
            lambda ratio: bool(2 <= ratio <= 8),
            lambda ratio: f"{ratio:.1f} times",
            seconds[HYBRID] / max(seconds[DAWID_SKENE], 1e-9),
            published=FASTER,
        ),
        "prevalence": Finding(
            max(away[HYBRID], away[DAWID_SKENE]) < 2 * _CLOSE < away[SINGLE],
            f"At {max(parts)}: {'; '.join(f'{model} {_shares(p)}' for model, p in last.items())}. "
            f"{_relabelled(parts)}",
        ),
    }


def _as_voted(runs: Mapping[Any, NDArray[np.float64]]) -> bool | None:  # items: (run, label)
    """Whether the vote's prevalences are the paper's; None where chance may decide."""
    away = [np.abs(p.mean(axis=0) - VOTED) for p in runs.values()]
    error = [np.apply_along_axis(standard_error, 0, p) for p in runs.values()]
    if any((gap - 2 * e > 2 * _CLOSE).any() for gap, e in zip(away, error, strict=True)):
        return False
    return True if all((gap <= 2 * _CLOSE).all() for gap in away) else None


def _shares(values: Any) -> str:
    return f"({', '.join(f'{value:.3f}' for value in values)})"


def _error_findings(parts: Parts) -> dict[str, Finding]:
    error = _mean(parts, "error").sort_index()
    small, large = error.iloc[0], error.iloc[-1]
    shown = "; ".join(f"at {row.name} items: {listed(row, '.4f')}" for row in (small, large))
    best = large.idxmin() == DAWID_SKENE and small.idxmin() == HYBRID
    near = large[VOTE] < (large[SINGLE] + large[DAWID_SKENE]) / 2
    return {
        "matrices-best": Finding(best, f"Mean absolute error {shown}"),
        "error-decays": Finding(bool(small[HYBRID] <= 2 * large[HYBRID]), shown),
        "single-error": Finding(large.idxmax() == SINGLE and bool(near), shown),
    }


def _pooled(parts: Parts, one: tuple[str, str], other: tuple[str, str]) -> Finding:
    """Whether one (mode, model) is above another over all numbers of judgments per item."""
    gaps = {n: gap(part[one[0]][one[1]], part[other[0]][other[1]]) for n, part in parts.items()}
    mean = float(np.mean([value for value, _ in gaps.values()]))
    error = math.hypot(*(e for _, e in gaps.values())) / len(gaps)
    each = _at({n: value for n, (value, _) in gaps.items()})
    return Finding(is_above(mean, error), f"{each}; over all {mean:+.4f} ± {error:.4f}")


def _memory_findings(parts: Parts) -> dict[str, Finding]:
    """Sentences of section 4 on memory."""
    others = {m: _pooled(parts, (MEMORY, HYBRID), (MEMORY, m)) for m in MODELS[1:]}
    lost = _loss(parts)
    found = {
        "memory-helps": _pooled(parts, (MEMORY, HYBRID), (MEMORYLESS, HYBRID)),
        "vote-falls": _pooled(parts, (MEMORYLESS, VOTE), (MEMORY, VOTE)),
        "memory-best": Finding(
            hold_all(finding.holds for finding in others.values()),
            "; ".join(f"less {model}: {finding.evidence}" for model, finding in others.items()),
        ),
        "hybrid-leads": _pooled(parts, (MEMORYLESS, HYBRID), (MEMORYLESS, DAWID_SKENE)),
        "dawid-skene-falls": Finding(lost.idxmax() == DAWID_SKENE, f"They lose: {listed(lost)}"),
    }
    rich = [part[MEMORYLESS] for n, part in parts.items() if n >= 30]
    return found | {"sign-test": _sign_test(rich)} if rich else found


def _loss(parts: Parts) -> Any:
    """The accuracy that each model loses without memory, from most judgments to fewest."""
    found = {n: {m: np.mean(part[MEMORYLESS][m]) for m in MODELS} for n, part in parts.items()}
    mean = pd.DataFrame(found)
    return mean[max(parts)] - mean[min(parts)]


def _sign_test(parts: Sequence[Mapping[str, Any]]) -> Finding:
    """Fisher's sign test of Hybrid above the vote, as in section 4 of the paper."""
    gaps = np.concatenate([np.subtract(part[HYBRID], part[VOTE]) for part in parts])
    up, down = int((gaps > 0).sum()), int((gaps < 0).sum())
    p = binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
    return Finding(
        bool(p < SIGN_TEST) if up + down >= 20 else None,
        f"Above in {up} runs, below in {down}, mean {gaps.mean():+.4f}; p = {p:.2g}",
        f"p < {SIGN_TEST:g}",
        True,
    )


def _memoryless_findings(parts: Parts) -> dict[str, Finding]:
    lost = _loss(parts)
    ahead = {n: gap(p[MEMORYLESS][HYBRID], p[MEMORYLESS][VOTE])[0] for n, p in parts.items()}
    return {
        "all-deteriorate": Finding(bool((lost > 0).all()), f"They lose: {listed(lost)}"),
        "hybrid-keeps": Finding(bool(lost[HYBRID] <= 0.1), f"It loses {lost[HYBRID]:.3f}"),
        "vote-close": Finding(max(map(abs, ahead.values())) <= 0.03, _at(ahead)),
    }


def _matrix_findings(part: Any) -> dict[str, Finding]:
    spread = {model: float(np.mean(part["sd"][model])) for model in (DAWID_SKENE, HYBRID)}
    mean = np.asarray(part["mean"][HYBRID])  # (truth, label)
    place = np.arange(len(mean))
    distance = np.minimum(np.abs(place[:, None] - place), 3)  # 3 and further together
    steps = [float(mean[distance == apart].mean()) for apart in range(4)]
    return {
        "matrices-diverge": Finding(spread[DAWID_SKENE] > spread[HYBRID], listed(spread)),
        "falls-off": Finding(
            bool((-np.diff(steps) >= 0.01).all()), ", ".join(f"{step:.3f}" for step in steps)
        ),
    }
