"""Le and others (2010): how the label mix of training questions shapes judges, five arms.

The paper hired people; this is a simulation. Its crowd is made of judges who learn the mix they
are shown (``training.crowd.Assumptions`` says all that is assumed of them), and it decides by
the same policy and routing functions as the collection server. Tables 1 to 4 and figure 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.model import Progress, Step
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup
from adjudge.replications.training._crowd import (
    LABELS,
    NOT_MATCHING,
    ArmCollection,
    Assumptions,
    JudgeRecord,
    Material,
    run_experiment,
)
from adjudge.simulation import number_names

SCALE = Scale(labels=LABELS, ordinal=False)
CAME, TRAINED, PASSED, FAILED = (
    "Came to the task",
    "Did training",
    "Passed training",
    "Failed training",
)
SHARE = "Percent passed"
_FUNNEL = (CAME, TRAINED, PASSED, FAILED, SHARE)
ACCURACY, PRECISION, RECALL = (
    "Accuracy (overall)",
    "Precision (Not Matching)",
    "Recall (Not Matching)",
)
FALSE_ALARM = "P(says Not Matching | it is not)"
_MEASURES = (ACCURACY, PRECISION, RECALL, FALSE_ALARM)
VOTE, HYBRID = "vote", "hybrid"


def _outcome(made: Material, collection: ArmCollection, seed: int) -> dict[str, dict[str, float]]:
    """The funnel, the mean of the judges' measures, and the measures of the aggregates."""
    truth = made.truth
    judgments = _trusted_judgments(collection)
    vote = MajorityVote(seed=seed).fit(judgments)
    hybrid = HybridConfusion(method="em", seed=seed).fit(judgments)
    return {
        "funnel": _funnel(collection),
        "judges": _judge_means(collection, truth),
        VOTE: _measures(vote.choice, truth),
        HYBRID: _measures(hybrid.choice, truth),
    }


def _funnel(collection: ArmCollection) -> dict[str, float]:
    """Who came, did the training, and passed it."""
    records = list(collection.records.values())
    trained = sum(judge.trained for judge in records)
    failed = sum(judge.record.stage == "failed" for judge in records)
    share = 100 * (trained - failed) / trained if trained else float("nan")
    counts = (len(records), trained, trained - failed, failed, share)
    return dict(zip(_FUNNEL, map(float, counts), strict=True))


def _judge_means(collection: ArmCollection, truth: NDArray[np.int64]) -> dict[str, float]:
    """The mean over judges with a page of work or more, each on the items they judged."""
    each = []
    for judge in collection.records.values():
        if judge.items:
            items, labels = _work_of(judge)
            each.append(_measures(labels, truth[items]))
    return {name: float(np.nanmean([one[name] for one in each])) for name in _MEASURES}


def _work_of(judge: JudgeRecord) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (judgment,)
    """The items a judge judged, and the labels they gave them."""
    labels = [LABELS.index(label) for page in judge.labels for label in page]
    return np.concatenate(judge.items), np.array(labels, dtype=np.int64)


def _measures(labels: NDArray[np.signedinteger], truth: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy over all labels; precision and recall of Not Matching, NaN where there is none."""
    said, true = labels == NOT_MATCHING, truth == NOT_MATCHING
    both = float((said & true).sum())
    return {
        ACCURACY: float((labels == truth).mean()),
        PRECISION: both / float(said.sum()) if said.any() else float("nan"),
        RECALL: both / float(true.sum()) if true.any() else float("nan"),
        FALSE_ALARM: float(said[~true].mean()) if not true.all() else float("nan"),
    }


def _trusted_judgments(collection: ArmCollection) -> Judgments:
    """The judgments of judges who were not blocked."""
    records = [judge for judge in collection.records.values() if judge.items and judge.trusted]
    work = [_work_of(judge) for judge in records]
    item = np.concatenate([items for items, _ in work])
    label = np.concatenate([labels for _, labels in work])
    judge = np.repeat(np.arange(len(records), dtype=np.int32), [len(items) for items, _ in work])
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(collection.items))
    return Judgments(
        scale=SCALE,
        items=number_names("item", len(collection.items), 4),
        judges=number_names("judge", len(records), 3),
        offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
        judge=judge[order],
        label=label[order].astype(SCALE.label_dtype),
    )


ARMS = ("1", "2", "3", "4", "5")
UNIFORM = "3"  # the most uniform mix
_QUERIES = 256  # with 5 results each
MIX = (14.5, 82.67, 2.5, 0.33)  # of the results, in percent: section 3, page 2
BASELINE = 0.8267  # of answering Not Matching throughout: section 5.3, page 3
# Table 1, page 2: percent of each label in an arm's training data. All are multiples of 1 in 150
# as far as they are rounded, so 150 golds an arm (arm 4 sums to 100.7 in the paper: 151).
TABLE_1: dict[str, tuple[float, ...]] = {
    "1": (72.7, 8.0, 19.3, 0.0),
    "2": (58.0, 23.3, 18.0, 0.7),
    "3": (45.3, 47.3, 7.3, 0.0),
    "4": (34.7, 56.0, 9.3, 0.7),
    "5": (12.7, 84.0, 3.3, 0.0),
}
GOLDS = {arm: tuple(round(1.5 * share) for share in shares) for arm, shares in TABLE_1.items()}
TABLE_2: dict[str, tuple[float, ...]] = {  # page 3: arms 1 to 5
    CAME: (43, 42, 42, 87, 41),
    TRAINED: (26, 25, 27, 50, 21),
    PASSED: (19, 18, 25, 37, 17),
    FAILED: (7, 7, 2, 13, 4),
    SHARE: (73, 72, 92.6, 74, 80.9),
}
TABLE_3: dict[str, tuple[float, ...]] = {  # page 3
    ACCURACY: (0.690, 0.708, 0.749, 0.763, 0.790),
    PRECISION: (0.909, 0.895, 0.930, 0.917, 0.915),
    RECALL: (0.704, 0.714, 0.774, 0.800, 0.828),
}
# What table 3 comes to: of precision p, recall r and 82.67% Not Matching, r (1 - p) / p * .8267 /
# .1733 of the other results are called Not Matching too. It is least in the uniform arm: skill.
TABLE_3[FALSE_ALARM] = tuple(
    round(recall * (1 - precision) / precision * BASELINE / (1 - BASELINE), 3)
    for precision, recall in zip(TABLE_3[PRECISION], TABLE_3[RECALL], strict=True)
)
FIGURE_2: dict[str, float] = {"3": 0.8767, "5": 0.85}  # in the text of section 5.3; others drawn
TABLE_4: dict[str, tuple[float, ...]] = {  # page 3
    PRECISION: (0.921, 0.932, 0.936, 0.932, 0.912),
    RECALL: (0.865, 0.917, 0.919, 0.863, 0.921),
}

# The paper's own lines are not published. These let about three in four pass the training, as in
# table 2 (116 of 149); the rest is as published, and the server's default.
POLICY = Policy(training_pass=0.6, warn_below=0.6, block_below=0.5)
_CROWD = Assumptions()
MAIN, CONTROL, LEARNING, CORRECT = "anchoring", "control", "learning", "correct"
CROWDS: dict[str, Assumptions] = {
    MAIN: _CROWD,
    # Errors that are half as large again to begin with, and shrink: at the middle arm's mix, after
    # 20 pairs of training, to about what the others have from the start.
    LEARNING: replace(_CROWD, learning=0.1, errors=1.5),
    CONTROL: replace(_CROWD, anchoring=(0.0, 0.0), ethical=1.0, spammers=0.0, clickers=0.0),
    CORRECT: _CROWD,
    "strength-0": replace(_CROWD, anchoring=(0.0, 0.0)),
    "strength-0.5": replace(_CROWD, anchoring=(0.5, 0.5)),
    "strength-1": replace(_CROWD, anchoring=(1.0, 1.0)),
}
# "Each worker has to complete 20 query-result pairs successfully": so many right of at most twice
# as many shown, where the others pass by a share of 20; and training counts for trust too.
_BY_NUMBER = replace(POLICY, training_rule="correct", training_tries=2, trust_training=True)
_BLOCK = 10  # experiments in a part


def _parts(setup: Setup) -> list[ReplicationPart]:
    """Ten experiments a part, for each crowd."""
    parts = []
    for name, crowd in CROWDS.items():
        main = name in (MAIN, LEARNING, CONTROL)
        seeds = setup.count(full=40, quick=4)
        if not main:
            seeds = min(seeds, 2 if setup.quick else 20)
        for first in range(1, seeds + 1, _BLOCK):
            last = min(first + _BLOCK - 1, seeds)
            policy = _BY_NUMBER if name == CORRECT else POLICY
            parts.append(
                ReplicationPart(
                    name=f"{name}-seeds-{first:03d}",
                    settings={"last": last, "crowd": asdict(crowd), "policy": policy.to_dict()},
                    work=partial(_experiments, crowd, policy, range(first, last + 1)),
                )
            )
    return parts


def _experiments(
    crowd: Assumptions, policy: Policy, seeds: range, progress: Progress | None
) -> list[dict[str, Any]]:
    """The outcome of every arm, experiment by experiment."""
    found = []
    for done, seed in enumerate(seeds):
        if progress is not None:
            progress(Step("experiments", done, len(seeds)))
        made, collections = run_experiment(
            policy, crowd, GOLDS, queries=_QUERIES, mix=MIX, seed=seed
        )
        found.append(
            {arm: _outcome(made, collection, seed) for arm, collection in collections.items()}
        )
    return found


def _gather(setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
    from adjudge.replications.training._result import gather

    return gather(setup, partials)


REPLICATION = Replication(
    name="training",
    title="The label mix of training questions, on a simulated crowd",
    source=(
        'J. Le, A. Edmonds, V. Hester and L. Biewald (2010), "Ensuring Quality in Crowdsourced '
        'Search Relevance Evaluation: The Effects of Training Question Distribution", SIGIR '
        "Workshop on Crowdsourcing for Search Evaluation."
    ),
    parts=_parts,
    gather=_gather,
)
