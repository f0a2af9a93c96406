"""Families of judges, groups that may be one source, and the effective number of judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from adjudge.data._reshaping import family_pattern
from adjudge.data.consensus import Consensus, Dependence, Families
from adjudge.evaluation.scores import columns_of
from adjudge.models._notes import describe_families
from adjudge.models.dependence import LEAST_GOLD

_COLUMNS = ["kind", "judges", "members", "excess", "common", "pattern"]
_ALL = 0.9  # of the judges label an average item: a panel rather than a crowd


@dataclass(frozen=True, slots=True)
class _Kin:
    """Judges who are one source, or may be."""

    kind: str  # declared, found or suspected
    judges: tuple[str, ...]
    excess: float | None  # agreement that the others do not explain, 1: always; None if declared
    common: int | None  # items that two of them judged, of a suspected group

    @property
    def pattern(self) -> str:
        """The regular expression that declares them one family."""
        return family_pattern(self.judges)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySummary:
    """The families of a consensus, and how much independent information its judges carry."""

    judges: int
    voices: float | None  # judges, each family counted as one; None: no families were looked for
    kin: tuple[_Kin, ...]  # families, then suspected groups
    family_sentences: tuple[str, ...]
    dependence: Dependence | None
    judgments: float  # per judged item, on average
    effective: float | None  # effective number of judgments per judged item, on average

    @classmethod
    def of(cls, consensus: Consensus) -> FamilySummary:
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
            family_sentences=()
            if families is None
            else describe_families(families, consensus.judgments),
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
        """Groups that may be one source, which only the user can decide."""
        return tuple(kin for kin in self.kin if kin.kind == "suspected")

    @property
    def table(self) -> Any:
        """One row per family or suspected group; ``pattern`` declares it in a family rule."""
        columns = columns_of(
            self.kin, text=("kind", "pattern"), whole=("common",), real=("excess",)
        )
        names = [", ".join(kin.judges) for kin in self.kin]
        columns["judges"] = pa.array(names, pa.large_string())
        columns["members"] = pa.array([len(kin.judges) for kin in self.kin], pa.int64())
        return pa.table(columns).select(_COLUMNS)

    @property
    def sentences(self) -> list[str]:
        """For people: families, suspected groups, and the effective number of judges."""
        sentences = [f"{sentence}." for sentence in self.family_sentences]
        if self.families and self.voices is not None:
            sentences.append(
                f"With families merged, {self.judges:,} judges count as {self.voices:.1f}."
            )
        return sentences + self._effective_sentence()

    def _effective_sentence(self) -> list[str]:
        """The effective number of judges, with its range and where it comes from."""
        if self.effective is None or self.dependence is None:
            return []
        few, many = self.dependence.range_of(self.effective)
        who = f"The {self.judgments:.1f} judgments per item"
        if self.judgments >= _ALL * self.judges:
            who = f"{self.judges:,} judges"
        basis = f"estimated from agreement; {LEAST_GOLD} gold items would measure it"
        if self.dependence.gold_items:
            basis = f"measured on {self.dependence.gold_items:,} gold items"
        return [
            f"{who} carry the information of about {self.effective:.1f} independent ones "
            f"(n_eff; {few:.1f} to {many:.1f}, {basis})."
        ]

    def to_json(self) -> dict[str, Any]:
        """As data for a summary."""
        found = self.dependence

        def of(kin: _Kin, *names: str) -> dict[str, Any]:
            return {"judges": list(kin.judges)} | {name: getattr(kin, name) for name in names}

        return {
            "families": [of(kin, "kind", "excess") for kin in self.families],
            "suspected": [of(kin, "excess", "common", "pattern") for kin in self.suspected],
            "voices": self.voices,
            "correlation": None if found is None else found.correlation,
            "correlation_range": None if found is None else [found.low, found.high],
            "correlation_gold_items": None if found is None else found.gold_items,
            "mean_n_eff": self.effective,
        }


def _kin(consensus: Consensus, families: Families) -> tuple[_Kin, ...]:
    """The families and the suspected groups by name."""

    def named(judges: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(sorted(str(consensus.judgments.judges[judge].as_py()) for judge in judges))

    found = []
    for group in families.groups:
        kind = "declared" if families.declared[group[0]] else "found"
        excess = None if kind == "declared" else float(families.share[group[0]])
        found.append(_Kin(kind, named(group), excess, None))
    suspected = (
        _Kin("suspected", named(alike.judges), alike.excess, alike.common)
        for alike in families.suspected
    )
    return (*found, *suspected)
