"""How a judge's way goes and ends: what they read about it, their code, link back, and pay."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Literal, cast

from adjudge.collect.rules.policy import FULL_PAGE, Policy
from adjudge.collect.rules.settings import fill_template
from adjudge.collect.values.judging import DRY_RUN
from adjudge.data.source import count_of

_MICRO = Decimal(1_000_000)  # money is stored in millionths
_CENT = 10_000

# Why a judge is finished; the first two can be taken up again.
NOTHING_LEFT = "nothing-left"
OWN_WISH = "own-wish"
MAX_PAGES = "max-pages"
NO_GOLD_LEFT = "no-gold-left"
BUDGET_SPENT = "budget-spent"
LEFT = "left"  # below the blocking line, for longer than a page lasts
CAME_LATE = "came-late"  # nothing was left before the end of the training; taken up again too


def _describe_pass(policy: Policy, *, failed: bool = False) -> str:
    """What passes the training, with its verb."""
    if policy.training_rule == "correct":
        return count_of(policy.training_pairs, "right answer", "is", "are")
    return f"{policy.training_pass:.0%} {'are' if failed else 'right are'}"


def reason_of(judge: Any, policy: Policy, *, open_items: bool) -> str:
    """Why a judge is at their stage, in one sentence for themselves."""
    stage = judge.stage
    if stage == "consent":
        return "Please read what you are asked to do, and agree before you start."
    if stage == "training":
        again = " This is another try." if judge.attempt > 1 else ""
        paid = "; it is not paid" if policy.pay_per_page else ""
        if policy.pay_failed:
            paid = f"; whoever does not pass is paid {policy.pay_failed:.2f} {policy.currency}"
        return f"The training comes first: {_describe_pass(policy)} needed to go on{paid}.{again}"
    if stage == "failed":
        return (
            f"{judge.training_right} of {count_of(judge.training_seen, 'answer')} in the training "
            f"{'was' if judge.training_right == 1 else 'were'} right; "
            f"{_describe_pass(policy, failed=True)} needed."
        )
    if stage == "blocked":
        return _blocked(judge, policy)
    if stage == "finished":
        if judge.reason == CAME_LATE and judge.training_seen:
            return _LATE_IN_TRAINING
        if outcome_of(judge, policy) == "partial":
            pages = count_of(policy.least_pages, "page")
            return f"You have finished after {judge.pages} of the {pages} for the full code."
        return _FINISHED.get(judge.reason, _FINISHED[OWN_WISH])
    if stage == "warned":
        return f"{_checked(judge, policy, policy.warn_below)}: please read the guidelines again."
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
    BUDGET_SPENT: "The budget of this project was spent, so that there was no further page. "
    "What you have done counts. Thank you.",
    CAME_LATE: "Everything was judged already when you came, so that no training is asked of you. "
    "Thank you.",
}
_LATE_IN_TRAINING = (
    "While you were in the training, others judged all that was left, so that it ends here. "
    "Thank you."
)


def _blocked(judge: Any, policy: Policy) -> str:
    if judge.by_hand:
        said = f": {judge.reason}" if judge.reason else "."
        return f"The requester has stopped your work on this project{said}"
    when = "when you finished" if judge.before == "finished" else "also after a warning"
    if judge.reason == LEFT:
        when = "when you had been away for longer than a page lasts"
    return f"{_checked(judge, policy, policy.block_below)}, {when}."


def _checked(judge: Any, policy: Policy, line: float) -> str:
    """How a judge's answers to gold lie below a line; without counts where gold gets no feedback.

    Counts that are shown after every page reveal how many golds were on it, and which by trying.
    """
    if not policy.feedback:
        return f"Fewer than {line:.0%} of your answers that we could check were right"
    return (
        f"{judge.right} of {count_of(judge.seen, 'answer')} that we could check "
        f"{'was' if judge.right == 1 else 'were'} right, which is below "
        f"{line:.0%}"
    )


_Ended = Literal["finished", "partial", "nothing-left", "failed", "blocked", "unfinished"]


def outcome_of(judge: Any, policy: Policy) -> _Ended:
    """How a judge's way ended, in a word, which their completion code depends on."""
    ended = _ended(judge)
    if ended == "finished" and judge.reason == OWN_WISH and judge.pages < policy.least_pages:
        return "partial"
    return ended


def _ended(judge: Any) -> _Ended:
    """How a judge's way ended, in a word, which their pay depends on."""
    if judge.stage == "finished" and judge.pages == 0:
        return "nothing-left"
    if judge.stage in ("finished", "failed", "blocked"):
        return cast(_Ended, judge.stage)
    return "unfinished"


def code_of(judge: Any, policy: Policy, seed: int) -> str | None:
    """The completion code of a judge whose way has ended; None where there is none.

    ``seed`` is the project's, which nobody else knows: a code of one's own is made by it.
    """
    codes = {
        "finished": policy.code_finished,
        "partial": policy.code_partial,
        "nothing-left": policy.code_nothing_left or policy.code_finished,
        "failed": policy.code_failed,
        "blocked": policy.code_blocked,
    }
    code = codes.get(outcome_of(judge, policy))
    if code and policy.own_codes:
        mine = hashlib.blake2s(f"{seed}:{judge.channel}:{judge.key}".encode(), digest_size=5)
        code = f"{code}-{mine.hexdigest().upper()}"
    return code or None


def way_back(judge: Any, policy: Policy, seed: int) -> str | None:
    """The link by which a judge goes back to their panel at the end; None where there is none.

    The template is the policy's; from their own link come only values, each escaped.
    """
    outcome, code = outcome_of(judge, policy), code_of(judge, policy, seed)
    if outcome == "unfinished" or not policy.return_link:
        return None
    if judge.channel != "panel" and judge.kind != DRY_RUN:
        return None
    if code is None and "{code}" in policy.return_link:
        return None
    given = {str(name): str(value) for name, value in judge.parameters.items()}
    mine = {"participant": judge.key, "outcome": outcome, "code": code or ""}
    if policy.participant_parameter:
        mine[policy.participant_parameter] = judge.key
    return fill_template(policy.return_link, {"PROLIFIC_PID": judge.key, **given, **mine})


def pay_of(judge: Any, policy: Policy) -> int:
    """What a judge has earned, in millionths, by their stage and the policy of their arm.

    Whoever did the training and then found nothing left is paid as who failed it: for their time.
    """
    outcome = _ended(judge)
    if outcome == "failed" or (outcome == "nothing-left" and judge.training_seen):
        return to_micros(policy.pay_failed)
    if judge.stage == "blocked" and not policy.pay_blocked:
        return 0
    return int(judge.earned)


def pay_of_page(policy: Policy, rows: int) -> int:
    """What a page of so many rows is paid, in millionths.

    A page below ``FULL_PAGE`` of the usual rows is paid by its rows, to the cent and at least one.
    """
    full = to_micros(policy.pay_per_page)
    if policy.short_pages == "full" or rows >= FULL_PAGE * policy.pairs_per_page or not full:
        return full
    share = full * rows / policy.pairs_per_page
    return min(full, max(_CENT, round(share / _CENT) * _CENT))


def to_money(micros: int) -> Decimal:
    """A stored amount of money, exact, with at least two decimals."""
    amount = (Decimal(int(micros)) / _MICRO).normalize()
    exponent = amount.as_tuple().exponent
    return amount.quantize(Decimal("0.01")) if int(exponent) > -2 else amount


def to_micros(amount: Decimal) -> int:
    """An amount of money as it is stored."""
    return int((amount * _MICRO).to_integral_value())
