"""Many small data sets as one, so that one fit does what a hundred fits would.

The runs of an experiment are laid side by side: run r's items make a topic of their own, and its
judges are judges of their own. With a prevalence for each topic the likelihood and the priors of
the confusion models fall apart into those of the runs, which share nothing: fitting the stack is
fitting every run, but for where expectation-maximisation stops and for which random numbers are
drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names


def stacked(runs: Sequence[Judgments]) -> Judgments:
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
