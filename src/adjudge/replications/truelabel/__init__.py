"""Liu and Wang (2012): a spectrum of models with a true label and confusion, figures 3 to 7.

The paper's data are private, and its figures are known to us by its text alone: what it says in
words is checked as claims, the few numbers it gives stand beside what is obtained. Its synthetic
data are made with matrices of our own (see ``adjudge.simulation.panels``), its monitoring set is a
made panel of the same shape, and the same curves are drawn on the real ``web-relevance``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names
from adjudge.errors import BadData
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress
from adjudge.replications._data import contents, fingerprint, get_both, real_file
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup
from adjudge.simulation.panels import monitoring_panel, three_judges


def _stack_runs(runs: Sequence[Judgments]) -> Judgments:
    """The judgments of all runs: run r's items and judges are called ``r/name``, its topic ``r``.

    Runs have one scale; times and documents are left behind.
    """
    first = np.cumsum([0, *(run.judge_count for run in runs)])  # (run + 1,), judges before it
    counts = np.concatenate([run.counts_per_item for run in runs])
    return Judgments(
        scale=runs[0].scale,
        items=pa.concat_arrays([_of_run(at, run.items) for at, run in enumerate(runs)]),
        judges=pa.concat_arrays([_of_run(at, run.judges) for at, run in enumerate(runs)]),
        offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
        judge=np.concatenate(
            [run.judge + np.int32(before) for run, before in zip(runs, first, strict=False)]
        ),
        label=np.concatenate([run.label for run in runs]),
        topics=pa.array([str(at) for at in range(len(runs))], pa.large_string()),
        topic=np.repeat(np.arange(len(runs), dtype=np.int32), [run.item_count for run in runs]),
    )


def _as_one_judge(stack: Judgments) -> Judgments:
    """The stack as if one judge had made all judgments of a run.

    A confusion matrix of each such judge is one matrix that all judges of a run share.
    """
    topic: Any = stack.topic
    return replace(stack, judges=stack.topics, judge=topic[stack.item])


def _of_run(run: int, names: Names) -> Names:
    """Names with the number of their run before them."""
    number = pa.scalar(str(run), pa.large_string())
    return pc.binary_join_element_wise(number, names, pa.scalar("/", pa.large_string()))


HYBRID, DAWID_SKENE, SINGLE, VOTE = (
    "HybridConfusion",
    "DawidSkene",
    "SingleConfusion",
    "MajorityVote",
)

MODELS = (HYBRID, DAWID_SKENE, SINGLE, VOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spectrum:
    """How the models are fitted: the sampler's run, and the seed of everything random."""

    chains: int = 3
    warmup: int = 1000
    draws: int = 100
    thin: int = 10
    seed: int = 0

    def fit(
        self,
        model: str,
        stack: Judgments,
        *,
        diagonal: float = 3.0,
        progress: Progress | None = None,
    ) -> _Fit:
        """One of the four models on a stack of runs."""
        if model == VOTE:
            return _Fit(model, _counted(stack, self.seed))
        if model == HYBRID:
            hybrid = HybridConfusion(diagonal=diagonal, by_topic=True, **asdict(self))
            return _Fit(model, hybrid.fit(stack, progress=progress))
        # The runs' likelihoods are summed: for a run to gain less than a millionth of its own, the
        # stack must gain less than a millionth of a run's.
        free = DawidSkene(
            diagonal=diagonal,
            by_topic=True,
            tolerance=1e-6 / max(1, stack.topic_count),
            iterations=3000,
            seed=self.seed,
        )
        return _Fit(model, free.fit(_as_one_judge(stack) if model == SINGLE else stack))


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A model fitted to a stack, and what can be asked of it."""

    model: str
    consensus: Consensus = field(repr=False)

    @property
    def switched(self) -> int:
        """How many runs had truths that traded places and were put back, as the fit says."""
        said = re.search(r"traded places in ([\d,]+) of", " ".join(self.consensus.notes))
        return int(said.group(1).replace(",", "")) if said else 0

    def confusion(self, judges: int) -> NDArray[np.float64]:  # (run, judge, truth, label)
        """The confusion found of each judge of each run, where every run has so many judges."""
        found = self.consensus.confusion
        if self.model == SINGLE:
            return np.repeat(found[:, None], judges, axis=1)
        return found.reshape(-1, judges, *found.shape[1:])

    def recall(self, stack: Judgments) -> NDArray[np.int16]:  # (item,)
        """The labels of other items by what was learnt: the paper's memory mode."""
        return self.consensus.predict(
            _as_one_judge(stack) if self.model == SINGLE else stack
        ).choice


def _counted(stack: Judgments, seed: int) -> Consensus:
    """The vote, with prevalence and confusion counted against the labels it chose."""
    chosen = MajorityVote(by_topic=True, seed=seed).fit(stack)
    labels = Gold(
        items=stack.items, value=chosen.choice.astype(np.int32), values=stack.scale.truths
    )
    # With a gold label on every item, Dawid-Skene counts matrices, and predicts by them.
    return DawidSkene(by_topic=True, diagonal=1.0, iterations=1, seed=seed).fit(stack, labels)


_Truth = NDArray[np.integer[Any]]  # (item,), -1 where it is not known

_Source = Callable[[int], tuple[Judgments, _Truth]]  # the data of a run

MEMORY, MEMORYLESS = "memory", "memoryless"

_TRAIN = 2 / 3  # the share of items that memory is learnt from


def _synthetic(
    items: int, diagonal: float, runs: int, spectrum: _Spectrum, progress: Progress | None
) -> dict[str, dict[str, Any]]:
    """Section 3: three judges on so many items; accuracy, prevalence, error of each matrix.

    And seconds of work that the fits of all runs took, and how many runs had truths that traded
    places and were put back.
    """
    made = [three_judges(items, seed) for seed in range(1, runs + 1)]
    stack = _stack_runs([run.judgments for run in made])
    truth = np.stack([run.truth.value for run in made])  # (run, item)
    rates = made[0].confusion  # (judge, truth, label), the same in every run
    found: dict[str, dict[str, Any]] = {}
    for model in MODELS:
        start = time.process_time()
        fit = spectrum.fit(model, stack, diagonal=diagonal, progress=progress)
        seconds = time.process_time() - start
        right = fit.consensus.choice.reshape(truth.shape) == truth
        error = np.abs(fit.confusion(len(rates)) - rates).mean(axis=(2, 3))  # (run, judge)
        found[model] = {
            "accuracy": right.mean(axis=1).tolist(),
            "prevalence": fit.consensus.prevalence.tolist(),
            "error": error.tolist(),
            "seconds": seconds,
            "switched": fit.switched,
        }
    return found


def _panel_source(accuracy: float, kappa: float) -> _Source:
    """Section 4's panel in shape, made again for each run, so that no one panel's luck counts."""

    def source(seed: int) -> tuple[Judgments, _Truth]:
        made = monitoring_panel(seed, accuracy=accuracy, kappa=kappa)
        return made.judgments, made.truth.value

    return source


def _file_source(path: Path) -> _Source:
    """The same judgments for every run, which differs by what is drawn of them."""

    def source(_: int) -> tuple[Judgments, _Truth]:
        judgments, gold = get_both(contents(path), "TrueLabel", "web-relevance")
        return judgments, gold.align(judgments)

    return source


def _remembered(
    source: _Source,
    ratings: int,
    runs: int,
    spectrum: _Spectrum,
    progress: Progress | None,
    *,
    matrices: bool = False,
) -> dict[str, Any]:
    """Section 4: accuracy on the test items with and without memory of the training items.

    A run draws ``ratings`` judgments of each item and splits the items 2:1. With ``matrices``,
    also the mean and sd over judges and runs of the matrices learnt.
    """
    train, test, truths = [], [], []
    for seed in range(1, runs + 1):
        judgments, truth = source(seed)
        rng = np.random.default_rng([seed, ratings])
        kept = _thin_ratings(judgments, ratings, rng)
        chosen = np.zeros(judgments.item_count, dtype=np.bool_)
        chosen[rng.permutation(len(chosen))[: round(_TRAIN * len(chosen))]] = True
        # Every judge stays in the training set, so that one without judgments gets the prior mean.
        train.append(judgments.select(judgments=kept, items=chosen, keep_empty=True))
        test.append(judgments.select(judgments=kept, items=~chosen, keep_empty=True))
        truths.append(truth[~chosen])
    seen, new = _stack_runs(train), _stack_runs(test)
    found: dict[str, Any] = {MEMORY: {}, MEMORYLESS: {}}
    for model in MODELS:
        fit = spectrum.fit(model, seen, progress=progress)
        found[MEMORY][model] = _accuracies(fit.recall(new), truths)
        if matrices and model in (HYBRID, DAWID_SKENE):
            each = fit.consensus.confusion  # (run * judge, truth, label)
            found.setdefault("mean", {})[model] = each.mean(axis=0).tolist()
            found.setdefault("sd", {})[model] = each.std(axis=0, ddof=1).tolist()
        fit = spectrum.fit(model, _without_idle(new), progress=progress)
        found[MEMORYLESS][model] = _accuracies(fit.consensus.choice, truths)
    return found


def _thin_ratings(
    judgments: Judgments, ratings: int, rng: np.random.Generator
) -> NDArray[np.bool_]:  # (judgment,)
    """Which judgments stay: at random so many of each item, or all it has."""
    item = judgments.item
    order = np.lexsort((rng.random(len(item)), item))
    place = np.empty(len(item), dtype=np.int64)
    place[order] = np.arange(len(item)) - judgments.offsets[item]
    return np.asarray(place < ratings)


def _without_idle(stack: Judgments) -> Judgments:
    """The same items, without the judges who judged none of them: there is less to draw."""
    kept = stack.select()
    return kept if kept.item_count == stack.item_count else stack


def _accuracies(choice: NDArray[np.int16], truths: list[_Truth]) -> list[float]:  # (run,)
    """The share of known items that is right, in each run."""
    ends = np.cumsum([len(truth) for truth in truths])[:-1]
    return [
        float((part == truth)[truth >= 0].mean())
        for part, truth in zip(np.split(choice, ends), truths, strict=True)
    ]


_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000)  # items

_QUICK_SIZES = (5, 20, 100, 1000, 3000)

DIAGONALS = (3, 10)  # the paper's beta

_RATINGS = (5, 10, 20, 30, 50, 80, 110)  # judgments an item of the panel

_QUICK_RATINGS = (5, 10, 20, 50)

_WEB_RATINGS = (2, 3, 4, 5, 6)  # nearly all items of the real data have 6

_QUICK_WEB_RATINGS = (2, 6)

# The panel is hard, as the paper says its own was: with the accuracy of .65 that the panel has
# unless it is told otherwise, every model is right on every item from 20 judgments on.
ACCURACY, KAPPA = 0.5, 10.0

# Panels of judges who are better and more alike, or who differ more: accuracy, kappa.
OTHER_PANELS = {"alike": (0.65, 20.0), "varied": (0.5, 2.0)}

_OTHER_RATINGS = (5, 10, 20, 50)

# Section 3.1, in words: the vote's prevalence "is consistently around (0.1, 0.15, 0.75)", and
# HybridConfusion and DawidSkene "can exactly recover the true pi with enough data".
TRUE_PREVALENCE = (0.05, 0.15, 0.8)

VOTED = (0.1, 0.15, 0.75)

FASTER = 4.0  # times that DawidSkene is faster than HybridConfusion: "about"

SIGN_TEST = 0.05  # below which p is, of HybridConfusion above the vote: section 4

PREVALENCE: dict[tuple[str, int], tuple[float, ...]] = {
    **dict.fromkeys(((VOTE, size) for size in _SIZES), VOTED),
    (HYBRID, 3000): TRUE_PREVALENCE,
    (DAWID_SKENE, 3000): TRUE_PREVALENCE,
}


# The paper's sampler, and a fifth of it, which finds the same on a few hundred judges; both quick.
_PUBLISHED_RUN, _QUICK_RUN = (
    _Spectrum(chains=3, warmup=1000, draws=100, thin=10, seed=1),
    _Spectrum(chains=2, warmup=100, draws=50, thin=2, seed=1),
)
_SHORTER_RUN, _QUICK_SHORTER_RUN = (
    _Spectrum(chains=3, warmup=200, draws=100, thin=2, seed=1),
    _Spectrum(chains=2, warmup=50, draws=50, thin=1, seed=1),
)


def _parts(setup: Setup) -> list[ReplicationPart]:
    """A part for each size of figures 3 to 5, and for each number of judgments of figure 6."""
    quick, runs = setup.quick, setup.count(full=100, quick=20)
    spectrum = _QUICK_RUN if quick else _PUBLISHED_RUN
    parts = [
        ReplicationPart(
            name=f"beta-{diagonal}-items-{items}",
            settings={"items": items, "beta": diagonal, "runs": runs, **asdict(spectrum)},
            work=partial(_synthetic, items, float(diagonal), runs, spectrum),
        )
        for diagonal in DIAGONALS
        for items in (_QUICK_SIZES if quick else _SIZES)
    ]
    panels = {"panel": (_QUICK_RATINGS if quick else _RATINGS, ACCURACY, KAPPA)}
    if not quick:  # the full run alone asks how far the panel's judges matter
        panels |= {name: (_OTHER_RATINGS, *judges) for name, judges in OTHER_PANELS.items()}
    for name, (ratings, accuracy, kappa) in panels.items():
        held = {"accuracy": accuracy, "kappa": kappa}
        parts += _rated_parts(name, _panel_source(accuracy, kappa), ratings, runs, held, setup)
    try:
        path = real_file("web-relevance", setup.data)
    except BadData:  # all else of this paper can be made without the real judgments
        return parts
    few, data = setup.count(full=20, quick=4), {"data": fingerprint(path)}
    web = _QUICK_WEB_RATINGS if quick else _WEB_RATINGS
    return parts + _rated_parts("web", _file_source(path), web, few, data, setup)


def _rated_parts(
    name: str,
    source: _Source,
    ratings: Sequence[int],
    runs: int,
    held: Mapping[str, Any],
    setup: Setup,
) -> list[ReplicationPart]:
    """Figure 6 on some data, a part for each number of judgments; with figure 7 on the panel."""
    spectrum = _QUICK_SHORTER_RUN if setup.quick else _SHORTER_RUN
    return [
        ReplicationPart(
            name=f"{name}-{many}",
            settings={"ratings": many, **held, "runs": runs, **asdict(spectrum)},
            work=partial(
                _remembered,
                source,
                many,
                runs,
                spectrum,
                matrices=name == "panel" and many == _RATINGS[0],
            ),
        )
        for many in ratings
    ]


def _gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    from adjudge.replications.truelabel._result import gather

    return gather(setup, partials)


REPLICATION = Replication(
    name="truelabel",
    title="A spectrum of models with a true label and confusions",
    source=(
        'C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions: A Spectrum of Probabilistic '
        'Models in Analyzing Multiple Ratings", ICML.'
    ),
    parts=_parts,
    gather=_gather,
)
