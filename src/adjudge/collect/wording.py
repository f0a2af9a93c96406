"""What a judge is told of her stage: one sentence for each case."""

from __future__ import annotations

from typing import Any

from adjudge.collect.policy import Policy

# Why a judge is finished; the first two can be taken up again.
NOTHING_LEFT = "nothing-left"
OWN_WISH = "own-wish"
MAX_PAGES = "max-pages"
NO_GOLD_LEFT = "no-gold-left"


def reason_of(judge: Any, policy: Policy, *, open_items: bool) -> str:
    """Why a judge is at her stage, in one sentence for herself."""
    stage = judge.stage
    if stage == "consent":
        return "Please read what you are asked to do, and agree before you start."
    if stage == "training":
        again = " This is another try." if judge.attempt > 1 else ""
        return (
            f"The training comes first: {policy.training_pass:.0%} right are wanted to go on; "
            f"it is not paid.{again}"
        )
    if stage == "failed":
        return (
            f"{judge.training_right} of {judge.training_seen} answers in the training were right; "
            f"{policy.training_pass:.0%} are wanted."
        )
    if stage == "blocked":
        return _blocked(judge, policy)
    if stage == "finished":
        return _FINISHED.get(judge.reason, _FINISHED[OWN_WISH])
    if stage == "warned":
        return (
            f"{judge.right} of {judge.seen} answers that we could check were right, which is below "
            f"{policy.warn_below:.0%}: please read the guidelines again."
        )
    if not open_items:
        return (
            "Nothing is open for you at this moment: the rest is in other judges' hands. "
            "Some of it may come back; look again later, or finish now."
        )
    return "There are results for you to judge."


_FINISHED = {
    NOTHING_LEFT: "You have judged everything that was open for you. Thank you.",
    OWN_WISH: "You have finished. Thank you.",
    MAX_PAGES: "You have judged as many pages as one judge may. Thank you.",
    NO_GOLD_LEFT: "You have judged as much as one judge may. Thank you.",
}


def _blocked(judge: Any, policy: Policy) -> str:
    if judge.by_hand:
        said = f": {judge.reason}" if judge.reason else "."
        return f"The requester has stopped your work on this project{said}"
    return (
        f"{judge.right} of {judge.seen} answers that we could check were right, which is below "
        f"{policy.block_below:.0%}, also after a warning."
    )


def code_of(stage: str, policy: Policy) -> str | None:
    """The completion code of a stage that ends the way; None where there is none."""
    codes = {
        "finished": policy.code_finished,
        "failed": policy.code_failed,
        "blocked": policy.code_blocked,
    }
    return codes.get(stage) or None
