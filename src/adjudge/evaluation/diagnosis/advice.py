"""When a judge is kept, trained, dropped, or watched until there is more evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from adjudge.errors import BadSetting

ADVICE = ("keep", "train", "watch", "drop")  # in the order that pages show


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The thresholds of the advice.

    With ``least`` gold judgments or more, a judge's skill, mistakes and bias are measured on these
    alone; the consensus only fills in truths of which they have few. Then nobody is dropped who is
    right on more than half of their gold judgments, or for giving one label only.

    - Fewer than ``least`` judgments on items that others judged too, or on gold: watch.
    - Probability of ``drop`` or more that their skill is below ``useful``: drop; likewise above
      ``doubt`` if one label makes up ``single`` of their judgments or more, and that not because of
      the items.
    - Commonest mistake in a share of ``mistake`` or more of a truth, and that clearly by ``excess``
      more than all judges together; or clearly biased, by ``bias`` grades or more; and no better
      than chance with a probability of ``sure`` at most: train.
    - Probability above ``doubt`` that their skill is below ``useful``: watch.
    - Else: keep.
    """

    # With fewer, even a judge who is always right looks like chance on two truths.
    least: int = 10
    # At skill 0.1, one label more in 20 is right than by chance: not worth its price.
    useful: float = 0.1
    # To drop a useful judge costs about three times as much as to keep a useless one, whose
    # judgments the model discounts: 3 / (3 + 1).
    drop: float = 0.75
    # Of judges who are kept, at most one in ten should be useless.
    doubt: float = 0.1
    # A judge who is so clearly better than chance can be trained.
    sure: float = 0.05
    # A mistake on a quarter of a truth's items is worth training.
    mistake: float = 0.25
    # A mistake that all judges make nearly as often should be changed in the guidelines.
    excess: float = 0.1
    # Nine judgments in ten with one label: they do not look.
    single: float = 0.9
    # A quarter of a grade moves one label in four to its neighbour.
    bias: float = 0.25

    def __post_init__(self) -> None:
        if self.least < 0:
            raise BadSetting("least", self.least, "a number of judgments, 0 or more")
        for entry in fields(self)[1:8]:
            value = getattr(self, entry.name)
            if not 0 <= value <= 1:
                raise BadSetting(entry.name, value, "a share from 0 to 1")
        if self.doubt > self.drop:
            raise BadSetting("doubt", self.doubt, f"no more than drop, {self.drop}")
        if not self.bias >= 0:
            raise BadSetting("bias", self.bias, "a number of grades, 0 or more")

    @staticmethod
    def heed_flags(advice: str, why: str, reasons: Sequence[str]) -> tuple[str, str]:
        """Return advice and reason for a judge with flags, such as too little time."""
        if not reasons:
            return advice, why
        return "drop" if advice == "drop" else "watch", "; ".join([*reasons, why])
