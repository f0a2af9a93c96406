"""What one arm of the training-question experiment came to: funnel, judges, aggregate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.replications.training_crowd import LABELS, NOT_MATCHING, Material
from adjudge.replications.training_desk import ArmDesk, Seat
from adjudge.simulation.crowd import numbered

SCALE = Scale(labels=LABELS, ordinal=False)
CAME, TRAINED, PASSED, FAILED = (
    "Came to the task",
    "Did training",
    "Passed training",
    "Failed training",
)
SHARE = "Percent passed"
FUNNEL = (CAME, TRAINED, PASSED, FAILED, SHARE)
ACCURACY, PRECISION, RECALL = (
    "Accuracy (overall)",
    "Precision (Not Matching)",
    "Recall (Not Matching)",
)
MEASURES = (ACCURACY, PRECISION, RECALL)
VOTE, HYBRID = "vote", "hybrid"


def outcome(made: Material, desk: ArmDesk, seed: int) -> dict[str, dict[str, float]]:
    """The funnel, the mean of the judges' measures, and the measures of the aggregates."""
    truth = made.truth
    judgments = trusted_judgments(desk)
    vote = MajorityVote(seed=seed).fit(judgments)
    hybrid = HybridConfusion(method="em", seed=seed).fit(judgments)
    return {
        "funnel": funnel(desk),
        "judges": judge_means(desk, truth),
        VOTE: measures(vote.choice, truth),
        HYBRID: measures(hybrid.choice, truth),
    }


def funnel(desk: ArmDesk) -> dict[str, float]:
    """Who came, did the training, and passed it."""
    seats = list(desk.seats.values())
    trained = sum(seat.trained for seat in seats)
    failed = sum(seat.record.stage == "failed" for seat in seats)
    share = 100 * (trained - failed) / trained if trained else float("nan")
    counts = (len(seats), trained, trained - failed, failed, share)
    return dict(zip(FUNNEL, map(float, counts), strict=True))


def judge_means(desk: ArmDesk, truth: NDArray[np.int64]) -> dict[str, float]:
    """The mean over judges with a page of work or more, each on the items she judged."""
    each = []
    for seat in desk.seats.values():
        if seat.items:
            items, labels = work_of(seat)
            each.append(measures(labels, truth[items]))
    return {name: float(np.nanmean([one[name] for one in each])) for name in MEASURES}


def work_of(seat: Seat) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (judgment,)
    """The items a judge judged, and the labels she gave them."""
    labels = [LABELS.index(label) for page in seat.labels for label in page]
    return np.concatenate(seat.items), np.array(labels, dtype=np.int64)


def measures(labels: NDArray[np.signedinteger], truth: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy over all labels; precision and recall of Not Matching, NaN where there is none."""
    said, true = labels == NOT_MATCHING, truth == NOT_MATCHING
    both = float((said & true).sum())
    return {
        ACCURACY: float((labels == truth).mean()),
        PRECISION: both / float(said.sum()) if said.any() else float("nan"),
        RECALL: both / float(true.sum()) if true.any() else float("nan"),
    }


def trusted_judgments(desk: ArmDesk) -> Judgments:
    """The judgments of judges who were not blocked."""
    seats = [seat for seat in desk.seats.values() if seat.items and seat.trusted]
    work = [work_of(seat) for seat in seats]
    item = np.concatenate([items for items, _ in work])
    label = np.concatenate([labels for _, labels in work])
    judge = np.repeat(np.arange(len(seats), dtype=np.int32), [len(items) for items, _ in work])
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(desk.items))
    return Judgments(
        scale=SCALE,
        items=numbered("item", len(desk.items), 4),
        judges=numbered("judge", len(seats), 3),
        offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
        judge=judge[order],
        label=label[order].astype(SCALE.label_dtype),
    )
