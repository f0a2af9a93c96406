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
from numpy.typing import NDArray
from scipy.stats import binomtest

import adjudge
from adjudge import Consensus, Gold, Judgments
from adjudge.report.theme import LIGHT
from papers.charts import curves
from papers.data import both, describe, find_file, read_content, read_own
from papers.panels import GRADES, monitoring_panel, three_judges
from papers.results import Figure, Finding, Options, Printed, Replication, compare
from papers.stats import Interval, hold_all, listed, over_runs

MODELS = ("HybridConfusion", "DawidSkene", "SingleConfusion", "MajorityVote")
HYBRID, DAWID_SKENE, SINGLE, VOTE = MODELS
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
TRUE_PREVALENCE = (0.05, 0.15, 0.8)
VOTED = tuple(map(Printed, ("0.1", "0.15", "0.75")))
FASTER = 4.0  # times that DawidSkene is faster than HybridConfusion in BUGS: "about"
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
        texts = [f"{at}/{name}" for at, own in enumerate(names) for name in own.to_pylist()]
        return pa.array(texts, pa.large_string())

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
    said = re.search(r"label switching in ([\d,]+) of", " ".join(fitted.notes))
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
    judgments, truth = monitoring_panel(seed, accuracy=accuracy, kappa=kappa)
    return judgments, truth.align(judgments)


def _fixed(judgments: Judgments, gold: Gold) -> Source:
    """Real judgments, the same for every run."""
    truth = gold.align(judgments)
    return lambda _: (judgments, truth)


def replicate(options: Options) -> Replication:
    """Figures 3 to 7, and the claims; on other data figure 6, with and without memory."""
    quick, runs = options.quick, options.count(full=100, quick=20)
    few = options.count(full=20, quick=4)
    published = {"chains": 3, "warmup": 1000, "draws": 100, "thin": 10, "seed": 1}
    shorter = {**published, "warmup": 200, "thin": 2}  # gives the same on a few hundred judges
    if quick:
        published = {"chains": 2, "warmup": 100, "draws": 50, "thin": 2, "seed": 1}
        shorter = {**published, "warmup": 50, "thin": 1}

    def with_memory(source: Source, ratings: Sequence[int], runs: int = runs) -> Parts:
        return {many: fit_with_memory(source, many, runs, shorter) for many in ratings}

    if options.judgments:
        own = read_own(options)
        most = max(2, int(np.quantile(own[0].counts_per_item, 0.9)))
        ratings = sorted({2, most} if quick else {*np.linspace(2, most, 5).round().astype(int)})
        found = with_memory(_fixed(*own), ratings, few)
        return Replication(
            tables={"figure-6": compare(_by_mode(found))},
            figures={"figure-6-plot": _draw_modes(found)},
            findings={},
            values={"runs": few},
            about=describe(options, *own),
        )
    sizes = SIZES if not quick else (5, 20, 100, 1000, 3000)
    synthetic = {
        diagonal: {size: fit_synthetic(size, float(diagonal), runs, published) for size in sizes}
        for diagonal in DIAGONALS
    }
    panel = with_memory(partial(_panel, *PANEL), RATINGS if not quick else (5, 10, 20, 50))
    more = {
        name: with_memory(partial(_panel, *judges), (5, 10, 20, 50))
        for name, judges in OTHER_PANELS.items()
        if not quick
    }
    web = both(read_content(find_file("web-relevance", options.data)))
    more["web-relevance"] = with_memory(_fixed(*web), (2, 6) if quick else (2, 3, 4, 5, 6), few)
    return gather(synthetic, panel, more, runs)


def gather(
    synthetic: dict[int, Parts], panel: Parts, more: dict[str, Parts], runs: int
) -> Replication:
    """Tables, figures and claims; ``more`` has panels of other judges and the real judgments."""
    parts, few = synthetic[3], panel[min(panel)]
    stated = {f"{VOTE}, label {k}": {f"N = {n}": VOTED[k - 1] for n in parts} for k in (1, 2, 3)}
    chosen = dict.fromkeys(stated, "the matrices were chosen to meet these shares")
    for model in (HYBRID, DAWID_SKENE):
        for k, share in enumerate(TRUE_PREVALENCE, start=1):
            stated[f"{model}, label {k}"] = {"N = 3000": Printed(f"{share:g}")}
    matrices = list(product((DAWID_SKENE, HYBRID), range(len(GRADES)), range(len(GRADES))))
    figure_7 = compare(
        {(f"{m}, {GRADES[t]}", GRADES[k]): [few["mean"][m][t][k]] for m, t, k in matrices},
        decimals=2,
    )
    figure_7["sd"] = [few["sd"][m][t][k] for m, t, k in matrices]
    accuracy = {
        f"β = {diagonal}": _by_size(found, "accuracy") for diagonal, found in synthetic.items()
    }
    shares = compare(
        _by_size(parts, "prevalence", "label"), stated, apart=chosen, published_runs=100
    )
    return Replication(
        tables={
            "figure-3": pd.concat(compare(a).assign(beta=name) for name, a in accuracy.items()),
            "figure-4": shares,
            "figure-5": compare(_by_size(parts, "error", "judge")),
            "figure-6": compare(_by_mode(panel)),
            **{name: compare(_by_mode(found)) for name, found in more.items()},
            "figure-7": figure_7,
        },
        figures={
            "figure-3-plot": _draw_curves(
                {(f"{row}, {name}", column): values
                 for name, found in accuracy.items() for (row, column), values in found.items()},
                "accuracy",
            ),
            "figure-6-plot": _draw_modes(panel),
            "web-relevance-plot": _draw_modes(more["web-relevance"]),
        },
        findings=findings(synthetic, panel, more),
        values={"runs": runs, "accuracy": PANEL[0], "kappa": PANEL[1],
                "switched": parts[max(parts)][SINGLE]["switched"]},
    )  # fmt: skip


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


def _draw_curves(values: Mapping[tuple[str, str], Any], y: str, x: str = "items") -> Figure:
    """One curve per model and one panel per rest of the name; mean and 95% interval."""
    rows = []
    for (row, column), runs in values.items():
        model, _, panel = row.partition(", ")
        mean, _, high = over_runs(runs)
        rows.append((model, panel, int(column.split()[-1]), mean, high - mean))
    data = pd.DataFrame(rows, columns=["model", "panel", "number", "mean", "spread"])
    colours = alt.Scale(domain=list(MODELS), range=LIGHT.categories[:4])
    colour = alt.Color("model:N", title=None, scale=colours)
    angle = -45 if x == "items" else 0
    axis = alt.Axis(values=sorted(set(data.number)), grid=False, labelAngle=angle, format="d")
    scale = alt.Scale(type="log", nice=False, padding=12)
    across = alt.X("number:Q", title=x, scale=scale, axis=axis)
    return Figure(data, curves(data, across, colour, y=y, panel="panel", top=1.0))


def _draw_modes(parts: Parts) -> Figure:
    return _draw_curves(_by_mode(parts), "accuracy", "judgments per item")


def findings(
    synthetic: dict[int, Parts], panel: Parts, more: dict[str, Parts]
) -> dict[str, Finding]:
    """Every claim of the paper's text, and some on other panels and on real judgments."""
    found = {
        **_check_accuracy(synthetic[3]),
        **_check_models(synthetic[3]),
        **_check_errors(synthetic[3]),
        **_check_memory(panel),
        **_check_memoryless(panel),
        **_check_matrices(panel[min(panel)]),
    }
    again = _check_accuracy(synthetic[10])
    same = {key: again[key] for key in ("scarce", "abundant", "single-weakest")}
    least = next((f for f in same.values() if not f.holds), again["scarce"])
    found["stronger-prior"] = replace(least, holds=hold_all(f.holds for f in same.values()))
    for name, parts in more.items():
        other = _check_memory(parts)
        chosen = ("memory-helps", "vote-falls", "memory-best")
        found |= {
            f"{key}@{name}": other[key] for key in chosen[: 3 if name == "web-relevance" else 1]
        }
    return found


def _gap(one: Mapping[str, Any], other: Mapping[str, Any], what: str = "accuracy") -> Interval:
    return over_runs(np.subtract(one[what], other[what]))


def _check_accuracy(parts: Parts) -> dict[str, Finding]:
    """Section 3.1 on the accuracy of the labels; differences are paired by run."""
    gaps = {n: _gap(part[HYBRID], part[DAWID_SKENE]) for n, part in parts.items()}
    scarce, abundant = (
        {f"at N = {n}": gap for n, gap in gaps.items() if (n <= _SCARCE) == few}
        for few in (True, False)
    )
    last = parts[max(parts)]
    vote = {n: part[VOTE]["accuracy"] for n, part in parts.items() if n >= 20}
    flat = {f"N = {n}": over_runs(v - np.mean(vote[max(vote)])) for n, v in vote.items()}
    return {
        "hybrid-above": Finding.above(
            {f"at N = {n}": over_runs(part[HYBRID]["accuracy"]) for n, part in parts.items()},
            0.9,
            form=".3f",
        ),
        "scarce": Finding.above(scarce),
        "abundant": Finding.within(abundant, _CLOSE),
        "vote-flat": Finding.within(flat, 0.015),
        "single-weakest": Finding.above(
            {f"{model} less Single": _gap(last[model], last[SINGLE])
             for model in MODELS if model != SINGLE}
        ),
    }  # fmt: skip


def _check_models(parts: Parts) -> dict[str, Finding]:
    """Sentences of section 3.1 on DawidSkene, SingleConfusion, the vote, speed, prevalence."""
    rich = {n: part for n, part in parts.items() if n > _SCARCE}
    few = {f"at N = {n}": _gap(part[SINGLE], part[VOTE]) for n, part in parts.items() if n <= 50}
    crossed = min(g.mean for g in few.values()) < 0 < max(g.mean for g in few.values())
    seconds = {m: sum(part[m]["seconds"] for part in parts.values()) for m in (HYBRID, DAWID_SKENE)}
    ratio = seconds[HYBRID] / max(seconds[DAWID_SKENE], 1e-9)
    last = parts[max(parts)]
    recovered = Finding.within(
        {
            f"{model}, label {k + 1}": over_runs(last[model]["prevalence"][:, k] - share)
            for model in (HYBRID, DAWID_SKENE)
            for k, share in enumerate(TRUE_PREVALENCE)
        },
        2 * _CLOSE,
    )
    missed = hold_all(
        over_runs(last[SINGLE]["prevalence"][:, k] - share).within(2 * _CLOSE)
        for k, share in enumerate(TRUE_PREVALENCE)
    )
    voted = {
        f"label {k + 1} at N = {n}": over_runs(part[VOTE]["prevalence"][:, k] - share)
        for n, part in parts.items()
        for k, share in enumerate(VOTED)
    }
    intertwined = Finding.within(few, 2 * _CLOSE)
    return {
        "dawid-skene-best": Finding.above(
            {f"{DAWID_SKENE} less {m} at N = {n}": _gap(part[DAWID_SKENE], part[m])
             for n, part in rich.items() for m in MODELS if m != DAWID_SKENE}
        ),
        "intertwined": replace(intertwined, holds=True if crossed else intertwined.holds),
        "vote-prevalence": replace(
            Finding.within(voted, 2 * _CLOSE), published="(.1, .15, .75)", passes=True
        ),
        "faster": Finding(None, f"{ratio:.1f} times", published=f"{FASTER:g} times"),
        "prevalence": recovered,
        "single-prevalence": Finding(
            None if missed is None else not missed,
            "(" + ", ".join(f"{p:.3f}" for p in last[SINGLE]["prevalence"].mean(axis=0)) + ")",
        ),
    }  # fmt: skip


def _check_errors(parts: Parts) -> dict[str, Finding]:
    """Figure 5: mean absolute error of the matrices, with fewest and with most items."""
    small, large = (
        {m: parts[n][m]["error"].mean(axis=1) for m in MODELS} for n in (min(parts), max(parts))
    )

    def less(errors: Mapping[str, Any], best: str, where: str) -> dict[str, Interval]:
        return {f"{m} less {best} {where}": over_runs(errors[m] - errors[best])
                for m in MODELS if m != best}  # fmt: skip

    ratio = float(small[HYBRID].mean() / large[HYBRID].mean())
    between = over_runs((large[SINGLE] + large[DAWID_SKENE]) / 2 - large[VOTE])
    others = {f"Single less {m}": over_runs(large[SINGLE] - large[m])
              for m in MODELS if m != SINGLE}  # fmt: skip
    return {
        "matrices-best": Finding.above(
            less(large, DAWID_SKENE, "with most items") | less(small, HYBRID, "with fewest")
        ),
        "error-decays": Finding(ratio <= 2, f"{ratio:.1f} times as large with fewest items"),
        "single-error": Finding.above({**others, "vote nearer DawidSkene": between}),
    }


def _pooled(parts: Parts, one: tuple[str, str], other: tuple[str, str]) -> Interval:
    """How far one (mode, model) is ahead, mean over all numbers of judgments per item."""
    gaps = [
        over_runs(np.subtract(p[one[0]][one[1]], p[other[0]][other[1]])) for p in parts.values()
    ]
    mean = float(np.mean([gap.mean for gap in gaps]))
    half = math.hypot(*(gap.high - gap.mean for gap in gaps)) / len(gaps)
    return Interval(mean, mean - half, mean + half)


def _check_memory(parts: Parts) -> dict[str, Finding]:
    """Sentences of section 4 on memory."""
    others = {f"less {m}": _pooled(parts, (MEMORY, HYBRID), (MEMORY, m)) for m in MODELS[1:]}
    lost = _losses(parts)
    pairs = {"memory-helps": ((MEMORY, HYBRID), (MEMORYLESS, HYBRID)),
             "vote-falls": ((MEMORYLESS, VOTE), (MEMORY, VOTE)),
             "hybrid-leads": ((MEMORYLESS, HYBRID), (MEMORYLESS, DAWID_SKENE))}  # fmt: skip
    found = {name: Finding.above({"": _pooled(parts, *pair)}) for name, pair in pairs.items()}
    found["memory-best"] = Finding.above(others)
    found["dawid-skene-falls"] = Finding.above(
        {f"more than {m}": over_runs(lost[DAWID_SKENE] - lost[m])
         for m in MODELS if m != DAWID_SKENE}
    )  # fmt: skip
    rich = [part[MEMORYLESS] for n, part in parts.items() if n >= 30]
    return found | {"sign-test": _sign_test(rich)} if rich else found


def _losses(parts: Parts) -> dict[str, Any]:
    """The accuracy that each model loses without memory, from most judgments to fewest."""
    most, fewest = parts[max(parts)][MEMORYLESS], parts[min(parts)][MEMORYLESS]
    return {m: np.subtract(most[m], fewest[m]) for m in MODELS}


def _sign_test(parts: Sequence[Mapping[str, Any]]) -> Finding:
    """Fisher's sign test of Hybrid above the vote, as in section 4 of the paper."""
    gaps = np.concatenate([np.subtract(part[HYBRID], part[VOTE]) for part in parts])
    up, down = int((gaps > 0).sum()), int((gaps < 0).sum())
    p = binomtest(up, up + down, alternative="greater").pvalue if up + down else 1.0
    holds = bool(p < 0.05) if up + down >= 20 else None
    return Finding(holds, f"above in {up} runs, below in {down}; p = {p:.2g}", "", "p < .05", True)


def _check_memoryless(parts: Parts) -> dict[str, Finding]:
    lost = {m: over_runs(values) for m, values in _losses(parts).items()}
    gaps = {f"at R = {n}": over_runs(np.subtract(p[MEMORYLESS][HYBRID], p[MEMORYLESS][VOTE]))
            for n, p in parts.items()}  # fmt: skip
    return {
        "all-deteriorate": Finding.above({f"{m} loses": gap for m, gap in lost.items()}),
        "hybrid-keeps": Finding.within({"lost": lost[HYBRID]}, 0.1),
        "vote-close": Finding.within(gaps, 0.03),
    }


def _check_matrices(part: Any) -> dict[str, Finding]:
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
