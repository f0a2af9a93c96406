"""Voices: which judges speak as one, who may, and what judgments count for as independent ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from adjudge.data.consensus import Consensus, Families
from adjudge.data.source import count_of

_TOLD, _NAMED = 3, 6  # families told, judges named of each


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kin:
    """Judges who are one source, or may be."""

    kind: str  # declared, found or suspected
    judges: tuple[str, ...]
    excess: float | None  # agreement beyond strangers', 1 for copies; None where nobody counted
    common: int | None  # items that two of them judged, of a suspected pair


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyVoices:
    """The families of a consensus, and how many independent judgments it stands on."""

    judges: int
    voices: float | None  # None: the model looked for no families
    kin: tuple[_Kin, ...]  # families, then suspected pairs, the most alike first
    correlation: float | None  # of judges' errors beyond what the model explains
    judgments: float  # of a judged item, on average
    effective: float | None  # the same as independent ones

    @classmethod
    def of(cls, consensus: Consensus) -> FamilyVoices:
        """Who speaks as one by a consensus, and what its judgments count for."""
        counts = consensus.judgments.counts_per_item
        judged = counts > 0
        some = bool(judged.any())
        effective = consensus.effective
        families = consensus.families
        return cls(
            judges=consensus.judgments.judge_count,
            voices=None if families is None else families.voices(),
            kin=() if families is None else _kin(consensus, families),
            correlation=consensus.correlation,
            judgments=float(counts[judged].mean()) if some else 0.0,
            effective=float(effective[judged].mean()) if some and effective is not None else None,
        )

    @property
    def families(self) -> tuple[_Kin, ...]:
        """Those who have one voice."""
        return tuple(kin for kin in self.kin if kin.kind != "suspected")

    @property
    def suspected(self) -> tuple[_Kin, ...]:
        """Pairs who may be one source, which only the user can say."""
        return tuple(kin for kin in self.kin if kin.kind == "suspected")

    @property
    def table(self) -> Any:
        """One row a family or suspected pair: kind, judges, members, excess, common."""
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
        """For people: families, the question that is open, and what the panel counts for."""
        told = [_family(kin) for kin in self.families[:_TOLD]]
        if len(self.families) > _TOLD:
            told.append(f"More families: {len(self.families) - _TOLD:,}.")
        if self.families and self.voices is not None:
            told.append(f"So {self.judges:,} judges are {self.voices:.1f} voices.")
        if self.suspected:
            worst, more = self.suspected[0], len(self.suspected) - 1
            others = (
                f" So {'does' if more == 1 else 'do'} {count_of(more, 'more pair')}."
                if more
                else ""
            )
            told.append(
                f"{' and '.join(worst.judges)} agree more than all judges together explain "
                f"({worst.excess:.2f} of the way to copies, "
                f"{count_of(worst.common or 0, 'item')} in common).{others} "
                "Are they one source? If so, declare them a family (--family on the command line)."
            )
        if self.effective is not None:
            told.append(
                f"An item has {self.judgments:.1f} judgments on average, which count for "
                f"{self.effective:.1f} independent ones (n_eff)."
            )
        return told

    def to_json(self) -> dict[str, Any]:
        """As data for a summary."""
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
            "correlation": self.correlation,
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
        return f"{named} are one family, as declared: one voice between them."
    alike = "" if kin.excess is None else f" (excess agreement {kin.excess:.2f} of 1)"
    return f"{named} are near copies{alike}: one voice between them."
