"""Families of judges, groups that may be one source, and the effective number of judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from adjudge.data._reshaping import family_pattern
from adjudge.data.consensus import Consensus
from adjudge.models._notes import describe_families
from adjudge.models.dependence import LEAST_GOLD

_ALL = 0.9  # of the judges label an average item: a panel rather than a crowd
_SCHEMA = pa.schema(
    {"kind": pa.large_string(), "judges": pa.large_string(), "members": pa.int64()}
    | {"excess": pa.float64(), "common": pa.int64(), "pattern": pa.large_string()}
)


@dataclass(frozen=True, slots=True)
class _Group:
    """Judges who are one source, or may be."""

    kind: str  # declared, found or suspected
    judges: tuple[str, ...]
    excess: float | None  # agreement that the others do not explain, 1: always; None if declared
    common: int | None  # items that two of them judged, of a suspected group

    @property
    def pattern(self) -> str:
        """The regular expression that declares them one family."""
        return family_pattern(self.judges)


@dataclass(frozen=True, slots=True)
class FamilySummary:
    """The families of a consensus, and how much independent information its judges carry."""

    consensus: Consensus

    def _average(self, values: Any) -> float | None:  # (item,)
        """Average over judged items."""
        judged = self.consensus.judgments.counts_per_item > 0
        return None if values is None or not judged.any() else float(values[judged].mean())

    @property
    def judgments(self) -> float:
        """Judgments per judged item."""
        return self._average(self.consensus.judgments.counts_per_item) or 0.0

    @property
    def effective(self) -> float | None:
        """The effective number of judgments per judged item."""
        return self._average(self.consensus.effective)

    @property
    def groups(self) -> tuple[_Group, ...]:
        """Families, then suspected groups, by name."""
        families, names = self.consensus.families, self.consensus.judgments.judges
        if families is None:
            return ()

        def named(judges: tuple[int, ...]) -> tuple[str, ...]:
            return tuple(sorted(str(names[judge].as_py()) for judge in judges))

        found = []
        for group in families.groups:
            declared = bool(families.declared[group[0]])
            excess = None if declared else float(families.share[group[0]])
            found.append(_Group("declared" if declared else "found", named(group), excess, None))
        return *found, *(
            _Group("suspected", named(alike.judges), alike.excess, alike.common)
            for alike in families.suspected
        )

    @property
    def suspected(self) -> tuple[_Group, ...]:
        """Groups that may be one source, which only the user can decide."""
        return tuple(group for group in self.groups if group.kind == "suspected")

    @property
    def table(self) -> Any:
        """One row per family or suspected group; ``pattern`` declares it in a family rule."""
        rows = [
            {name: getattr(group, name) for name in ("kind", "excess", "common", "pattern")}
            | {"judges": ", ".join(group.judges), "members": len(group.judges)}
            for group in self.groups
        ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    @property
    def sentences(self) -> list[str]:
        """For people: families, suspected groups, and the effective number of judges."""
        judges, families = self.consensus.judgments.judge_count, self.consensus.families
        if families is None:
            return self._effective_sentence()
        sentences = [f"{one}." for one in describe_families(families, self.consensus.judgments)]
        if len(self.groups) > len(self.suspected):
            merged = families.effective_judges()
            sentences.append(f"With families merged, {judges:,} judges count as {merged:.1f}.")
        return sentences + self._effective_sentence()

    def _effective_sentence(self) -> list[str]:
        """The effective number of judges, with its range and where it comes from."""
        judges, found = self.consensus.judgments.judge_count, self.consensus.dependence
        effective = self.effective
        if effective is None or found is None:
            return []
        few, many = found.range_of(effective)
        who = f"The {self.judgments:.1f} judgments per item"
        if self.judgments >= _ALL * judges:
            who = f"{judges:,} judges"
        basis = f"estimated from agreement; {LEAST_GOLD} gold items would measure it"
        if found.gold_items:
            basis = f"measured on {found.gold_items:,} gold items"
        return [
            f"{who} carry the information of about {effective:.1f} independent ones "
            f"(n_eff; {few:.1f} to {many:.1f}, {basis})."
        ]

    def to_json(self) -> dict[str, Any]:
        """As data for a summary."""
        found, families = self.consensus.dependence, self.consensus.families

        def rows(groups: Any, *names: str) -> list[dict[str, Any]]:
            return [
                {"judges": list(one.judges)} | {name: getattr(one, name) for name in names}
                for one in groups
            ]

        known = [group for group in self.groups if group.kind != "suspected"]
        return {
            "families": rows(known, "kind", "excess"),
            "suspected": rows(self.suspected, "excess", "common", "pattern"),
            "effective_judges": None if families is None else families.effective_judges(),
            "correlation": None if found is None else found.correlation,
            "correlation_range": None if found is None else [found.low, found.high],
            "correlation_gold_items": None if found is None else found.gold_items,
            "mean_n_eff": self.effective,
        }
