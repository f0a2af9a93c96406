"""The four models of the spectrum of Liu and Wang (2012), fitted to a stack of runs at once.

MajorityVote is the paper's: the commonest label, ties at random, and then prevalence and confusion
by counting against it. SingleConfusion is Dawid-Skene on the stack with one judge a run. A judge
who gave no judgment has the mean of the prior for their confusion, as a sampler that has them in
its model would find.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names
from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress


def stack_runs(runs: Sequence[Judgments]) -> Judgments:
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


def as_one_judge(stack: Judgments) -> Judgments:
    """The stack as if one judge had made all judgments of a run.

    A confusion matrix of each such judge is one matrix that all judges of a run share.
    """
    if stack.topics is None or stack.topic is None:
        return replace(
            stack,
            judges=pa.array(["all"], pa.large_string()),
            judge=np.zeros(len(stack), dtype=np.int32),
        )
    return replace(stack, judges=stack.topics, judge=stack.topic[stack.item])


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
class Spectrum:
    """How the models are fitted: the sampler's run, and the seed of everything random."""

    chains: int = 3
    warmup: int = 1000
    draws: int = 100
    thin: int = 10
    seed: int = 0

    @property
    def settings(self) -> dict[str, int]:
        """The settings that a part's result depends on."""
        return {name: getattr(self, name) for name in ("chains", "warmup", "draws", "thin", "seed")}

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
            vote = MajorityVote(by_topic=stack.topics is not None, seed=self.seed)
            return _Fit(model, _counted(vote, stack))
        if model == HYBRID:
            hybrid = HybridConfusion(
                diagonal=diagonal,
                by_topic=stack.topics is not None,
                chains=self.chains,
                warmup=self.warmup,
                draws=self.draws,
                thin=self.thin,
                seed=self.seed,
            )
            return _Fit(model, hybrid.fit(stack, progress=progress))
        # The runs' likelihoods are summed: for a run to gain less than a millionth of its own, the
        # stack must gain less than a millionth of a run's.
        free = DawidSkene(
            diagonal=diagonal,
            by_topic=stack.topics is not None,
            tolerance=1e-6 / max(1, stack.topic_count),
            iterations=3000,
            seed=self.seed,
        )
        return _Fit(model, free.fit(as_one_judge(stack) if model == SINGLE else stack))


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A model fitted to a stack, and what can be asked of it."""

    model: str
    consensus: Consensus = field(repr=False)

    @property
    def choice(self) -> NDArray[np.int16]:  # (item,)
        """The label of each item of the stack."""
        return self.consensus.choice

    @property
    def prevalence(self) -> NDArray[np.float64]:  # (run, truth)
        """The prevalence found in each run."""
        return self.consensus.prevalence

    @property
    def switched(self) -> int:
        """How many runs had truths that traded places and were put back, as the fit says."""
        said = re.search(r"traded places in ([\d,]+) of", " ".join(self.consensus.notes))
        return int(said.group(1).replace(",", "")) if said else 0

    def confusion(self, judges: int) -> NDArray[np.float64]:  # (run, judge, truth, label)
        """The confusion found of each judge of each run, where every run has so many judges."""
        found = self.consensus.confusion
        runs = len(self.prevalence)
        if self.model == SINGLE:
            return np.repeat(found[:, None], judges, axis=1)
        return found.reshape(runs, judges, *found.shape[1:])

    def recall(self, stack: Judgments) -> NDArray[np.int16]:  # (item,)
        """The labels of other items by what was learnt: the paper's memory mode."""
        return self.consensus.predict(as_one_judge(stack) if self.model == SINGLE else stack).choice


def _counted(vote: MajorityVote, stack: Judgments) -> Consensus:
    """The vote, with prevalence and confusion counted against the labels it chose."""
    chosen = vote.fit(stack)
    labels = Gold(
        items=stack.items, value=chosen.choice.astype(np.int32), values=stack.scale.truths
    )
    return vote.fit(stack, labels)
