"""Families of judges, pairs that may be one source, and the effective number of judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from adjudge.data.consensus import Consensus, Dependence, Families
from adjudge.data.source import count_of
from adjudge.models.dependence import LEAST_GOLD

_TOLD, _NAMED = 3, 6  # families listed, judges named of each
_ALL = 0.9  # of the judges label an average item: a panel rather than a crowd


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kin:
    """Judges who are one source, or may be."""

    kind: str  # declared, found or suspected
    judges: tuple[str, ...]
    excess: float | None  # agreement beyond strangers', 1 for copies; None where nobody counted
    common: int | None  # items that two of them judged, of a suspected pair


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyVoices:
    """The families of a consensus, and how much independent information its judges carry."""

    judges: int
    voices: float | None  # judges, each family counted as one; None: no families were looked for
    kin: tuple[_Kin, ...]  # families, then suspected pairs, the most alike first
    dependence: Dependence | None
    judgments: float  # per judged item, on average
    effective: float | None  # effective number of judgments per judged item, on average

    @classmethod
    def of(cls, consensus: Consensus) -> FamilyVoices:
        """The families and the effective number of judges of a consensus."""
        counts = consensus.judgments.counts_per_item
        judged = counts > 0
        some = bool(judged.any())
        effective = consensus.effective
        families = consensus.families
        return cls(
            judges=consensus.judgments.judge_count,
            voices=None if families is None else families.voices(),
            kin=() if families is None else _kin(consensus, families),
            dependence=consensus.dependence,
            judgments=float(counts[judged].mean()) if some else 0.0,
            effective=float(effective[judged].mean()) if some and effective is not None else None,
        )

    @property
    def families(self) -> tuple[_Kin, ...]:
        """Those who count as one judge."""
        return tuple(kin for kin in self.kin if kin.kind != "suspected")

    @property
    def suspected(self) -> tuple[_Kin, ...]:
        """Pairs who may be one source, which only the user can decide."""
        return tuple(kin for kin in self.kin if kin.kind == "suspected")

    @property
    def table(self) -> Any:
        """One row per family or suspected pair: kind, judges, members, excess, common."""
        rows: dict[str, Any] = {
            "kind": pa.array([kin.kind for kin in self.kin], pa.large_string()),
            "judges": pa.array([", ".join(kin.judges) for kin in self.kin], pa.large_string()),
            "members": pa.array([len(kin.judges) for kin in self.kin], pa.int64()),
            "excess": pa.array([kin.excess for kin in self.kin], pa.float64()),
            "common": pa.array([kin.common for kin in self.kin], pa.int64()),
        }
        return pa.table(rows)

    @property
    def sentences(self) -> list[str]:
        """For people: families, suspected pairs, and the effective number of judges."""
        told = [_family(kin) for kin in self.families[:_TOLD]]
        if len(self.families) > _TOLD:
            told.append(f"More families: {len(self.families) - _TOLD:,}.")
        if self.families and self.voices is not None:
            told.append(f"With families merged, {self.judges:,} judges count as {self.voices:.1f}.")
        if self.suspected:
            worst, more = self.suspected[0], len(self.suspected) - 1
            others = f" So {'does' if more == 1 else 'do'} {count_of(more, 'more pair')}."
            told.append(
                f"{' and '.join(worst.judges)} agree more than all judges together explain "
                f"({worst.excess:.2f} of the way to copies, "
                f"{count_of(worst.common or 0, 'item')} in common).{others if more else ''} "
                "If they are one source, declare them a family (--family on the command line)."
            )
        return told + self._effective_sentence()

    def _effective_sentence(self) -> list[str]:
        """The effective number of judges, with its range and where it comes from."""
        if self.effective is None or self.dependence is None:
            return []
        few, many = self.dependence.range_of(self.effective)
        everyone = self.judgments >= _ALL * self.judges
        who = (
            f"{self.judges:,} judges"
            if everyone
            else f"The {self.judgments:.1f} judgments per item"
        )
        basis = (
            f"measured on {self.dependence.gold_items:,} gold items"
            if self.dependence.gold_items
            else f"estimated from agreement; {LEAST_GOLD} gold items would measure it"
        )
        return [
            f"{who} carry the information of about {self.effective:.1f} independent ones "
            f"(n_eff; {few:.1f} to {many:.1f}, {basis})."
        ]

    def to_json(self) -> dict[str, Any]:
        """As data for a summary."""
        found = self.dependence
        return {
            "families": [
                {"kind": kin.kind, "judges": list(kin.judges), "excess": kin.excess}
                for kin in self.families
            ],
            "suspected": [
                {"judges": list(kin.judges), "excess": kin.excess, "common": kin.common}
                for kin in self.suspected
            ],
            "voices": self.voices,
            "correlation": None if found is None else found.correlation,
            "correlation_range": None if found is None else [found.low, found.high],
            "correlation_gold_items": None if found is None else found.gold_items,
            "mean_n_eff": self.effective,
        }


def _kin(consensus: Consensus, families: Families) -> tuple[_Kin, ...]:
    """The families by name, each with the mean excess of the pairs that were found in it."""
    names = consensus.judgments.judges
    found = []
    for group in families.groups:
        own = [pair.excess for pair in families.merged if pair.judges[0] in group]
        found.append(
            _Kin(
                kind="declared" if families.declared[group[0]] else "found",
                judges=tuple(sorted(str(names[judge].as_py()) for judge in group)),
                excess=float(np.mean(own)) if own else None,
                common=None,
            )
        )
    suspected = [
        _Kin(
            kind="suspected",
            judges=tuple(str(names[judge].as_py()) for judge in pair.judges),
            excess=pair.excess,
            common=pair.common,
        )
        for pair in families.suspected
    ]
    return (*found, *suspected)


def _family(kin: _Kin) -> str:
    """One family in a sentence."""
    more = len(kin.judges) - _NAMED
    shown = list(kin.judges[:_NAMED])
    named = (
        ", ".join(shown) + f" and {more:,} more"
        if more > 0
        else (", ".join(shown[:-1]) + " and " + shown[-1])
    )
    if kin.kind == "declared":
        return f"{named} are one family, as declared. They count as one judge."
    alike = "" if kin.excess is None else f" (excess agreement {kin.excess:.2f} of 1)"
    return f"{named} are near-duplicates{alike}. They count as one judge."
