"""What the report by arm is made of: plain values, and Arrow tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

VOTE = "majority-vote"
JUDGES = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFunnel:
    """How the judges of one arm came through: table 2, and where the others were lost."""

    arm: str
    came: int
    trained: int  # began the training
    passed: int
    failed: int
    left_before: int  # came, and neither trained nor worked
    left_training: int  # began the training, and neither passed nor failed it
    worked: int  # answered a page of work
    working: int
    warned: int
    blocked: int
    finished: int
    low: float | None = None  # interval of the share that passed
    high: float | None = None
    passed_share: float | None  # among those who passed or failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measure of one arm: of its judges (their mean), or of an aggregate of their labels.

    ``units`` are the judges, or the items, that it was measured on; None where there is no value.
    """

    arm: str
    what: str  # "judges", or the model that aggregated
    measure: str
    value: float | None
    low: float | None
    high: float | None
    units: int
    judgments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmDifference:
    """A test of two arms, or of all at once (``second`` is empty)."""

    what: str
    measure: str
    first: str
    second: str
    gap: float | None  # first minus second
    p: float | None
    adjusted: float | None  # among the pairs of this measure (Benjamini and Hochberg)
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRefreshers:
    """Refreshers of one arm: gold accuracy of who had one, before their first and after it.

    Who gets one has just missed golds, so that they would do better afterwards by chance alone:
    what a refresher does is seen between arms with and without.
    """

    arm: str
    judges: int  # who had at least one
    refreshers: int
    before_seen: int
    before_right: int
    after_seen: int
    after_right: int
    before: float | None  # accuracy on screening gold before the first refresher
    after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmReport:
    """Everything that is known of the arms."""

    arms: tuple[str, ...]
    truths: tuple[str, ...]
    against: str  # where the known truth comes from
    left_out: int = 0  # judges on a dry run
    notes: tuple[str, ...] = ()
    funnel: tuple[ArmFunnel, ...]
    measures: tuple[Measured, ...] = ()
    differences: tuple[ArmDifference, ...] = ()
    refreshers: tuple[ArmRefreshers, ...] = ()  # none where nobody had any

    @property
    def models(self) -> tuple[str, ...]:
        """The models that aggregated, majority vote first."""
        return tuple(dict.fromkeys(one.what for one in self.measures if one.what != JUDGES))

    def found(self, what: str, measure: str) -> list[Measured]:
        """One measure, arm by arm."""
        return [one for one in self.measures if (one.what, one.measure) == (what, measure)]

    def overall(self, what: str, measure: str = "accuracy") -> float | None:
        """P of the test of all arms at once; None where there is none."""
        for one in self.differences:
            if (one.what, one.measure, one.second) == (what, measure, ""):
                return one.p
        return None

    def tables(self) -> dict[str, Any]:
        """The report as Arrow tables: funnel, measures, differences."""
        return {
            "funnel": pa.Table.from_pylist([asdict(row) for row in self.funnel]),
            "measures": _table(self.measures, Measured),
            "differences": _table(self.differences, ArmDifference),
        }


def _table(rows: Sequence[Any], kind: type[Any]) -> Any:
    kinds = {"int": pa.int64(), "str": pa.large_string()}
    schema = [
        (name, kinds.get(str(about.type), pa.float64()))
        for name, about in kind.__dataclass_fields__.items()
    ]
    return pa.Table.from_pylist([asdict(row) for row in rows], schema=pa.schema(schema))
