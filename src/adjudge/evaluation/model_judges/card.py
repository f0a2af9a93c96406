"""The card of an audited judge: what was audited, and what was measured, in one small JSON file.

A card binds the audit to the model, its version, the hash of its prompt and of the rubric, its
sampling settings and the scale. It keeps the gold items with the judge's labels of that time, which
serve as anchors: a later gate separates a change of the judge from a change of the system.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.data.gold import Gold
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.evaluation.model_judges.rates import Rates

_VERSION = 1
_BOUND = ("model", "version", "prompt", "rubric", "sampling", "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An audited judge."""

    judge: str
    created: str  # date
    model: str
    version: str
    prompt: str  # SHA-256, empty where it is not known
    rubric: str  # SHA-256
    sampling: dict[str, str]
    labels: list[str]
    ordinal: bool
    relevant: list[str]
    verdict: str
    reason: str
    measures: dict[str, dict[str, float | None]]  # value, low and high by name
    rates: list[list[int]]  # (truth, label) gold items
    items: int
    mix: dict[str, int]  # items by label
    slices: dict[str, int]  # items by system
    estimates: list[dict[str, Any]]
    gold: dict[str, str]  # item: truth
    anchors: dict[str, str]  # item: label that the judge gave

    @classmethod
    def of(
        cls,
        audit: Audit,
        judge: str | None = None,
        *,
        prompt: str | None = None,
        rubric: str | None = None,
    ) -> Card:
        """Make the card of one judge of an audit; ``prompt`` and ``rubric`` are texts."""
        if judge is None and len(audit.judges) > 1:
            names = ", ".join(one.judge for one in audit.judges[:5])
            more = ", ..." if len(audit.judges) > 5 else ""
            raise BadData(
                f"a card is about one judge, and the audit has {len(audit.judges)}; expected the "
                f"name of one of them: {names}{more}",
                expected="a judge",
            )
        one = audit.judges[0] if judge is None else audit[judge]
        answers, soft = audit.answers, audit.soft
        table = answers.judgments
        code = table.judges.to_pylist().index(one.judge)
        own = np.flatnonzero(soft.judge == code)
        label, item = soft.label[own], soft.item[own]
        known = audit.known[item]
        names = table.items.to_pylist()
        scale, golden = table.scale, np.flatnonzero(known >= 0).tolist()
        mix = np.bincount(label, minlength=len(scale.labels)).tolist()
        slices: dict[str, int] = {}
        if answers.system is not None:
            each = answers.system[item]
            counts = np.bincount(each[each >= 0], minlength=len(answers.system_names)).tolist()
            slices = dict(zip(answers.system_names, counts, strict=True))
        return cls(
            judge=one.judge,
            created=f"{datetime.now(UTC):%Y-%m-%d}",
            **identity(answers, code, prompt=prompt, rubric=rubric),
            ordinal=scale.ordinal,
            relevant=list(scale.relevant),
            verdict=one.verdict,
            reason=one.reason,
            measures={
                name: {"value": score.value, "low": score.low, "high": score.high}
                for name, score in one.scores.items()
                if score.defined
            },
            rates=one.rates.table.tolist(),
            items=len(own),
            mix=dict(zip(scale.labels, mix, strict=True)),
            slices=slices,
            estimates=[asdict(row) for row in audit.corrected if row.judge == one.judge],
            gold={names[item[at]]: scale.truths[known[at]] for at in golden},
            anchors={names[item[at]]: scale.labels[label[at]] for at in golden},
        )

    @classmethod
    def read(cls, path: str | Path) -> Card:
        """Read the card in a file."""
        try:
            found = json.loads(Path(path).read_text("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError):
            found = None
        names = {entry.name for entry in fields(cls)}
        if not isinstance(found, dict) or found.get("adjudge_card") != _VERSION:
            raise BadData(
                f"expected a card of version {_VERSION}, as 'adjudge audit --card' writes it",
                source=str(path),
                expected="a card",
                code="not-a-card",
            )
        missing = sorted(names - found.keys())
        if missing:
            raise BadData(f"the card has no {missing[0]}", source=str(path), code="not-a-card")
        return cls(**{name: found[name] for name in names})

    def write(self, path: str | Path) -> None:
        """Write the card to a file."""
        from adjudge.data.formats.writing import written_whole

        text = json.dumps({"adjudge_card": _VERSION, **asdict(self)}, indent=1, ensure_ascii=False)
        with written_whole(Path(path)) as file:
            file.write(f"{text}\n".encode())

    @property
    def scale(self) -> Scale:
        """The scale of the labels."""
        return Scale(labels=tuple(self.labels), ordinal=self.ordinal, relevant=tuple(self.relevant))

    @property
    def counted(self) -> Rates:
        """The error rates."""
        return Rates(scale=self.scale, table=np.array(self.rates, dtype=np.int64))

    @property
    def gold_labels(self) -> Gold:
        """The gold items that it was audited on."""
        return Gold.of(dict(self.gold))

    def differences(self, other: Mapping[str, Any]) -> tuple[str, ...]:
        """Say in what judgments differ from those that were audited.

        What the card does not know is not compared; what only the card knows is a difference.
        """
        found = []
        for name in _BOUND:
            was, now = getattr(self, name), other[name]
            if was and not now:
                found.append(f"{name}: the card has {_show(was)}, the judgments do not say theirs")
            elif was and was != now:
                found.append(f"{name}: the card has {_show(was)}, the judgments {_show(now)}")
        return tuple(found)

    @property
    def unbound(self) -> tuple[str, ...]:
        """What the card does not know, so that a change of it is not detected."""
        return tuple(name for name in _BOUND if not getattr(self, name))


def identity(
    answers: ModelAnswers, code: int, *, prompt: str | None = None, rubric: str | None = None
) -> dict[str, Any]:
    """Return what a judge is: model, version, hashes of prompt and rubric, settings, labels."""
    settings = dict(answers.settings[code]) if answers.settings else {}
    given = settings.pop("rubric", "")
    return {
        "model": answers.model[code],
        "version": answers.version[code],
        "prompt": _hash(prompt if prompt is not None else answers.prompt[code]),
        "rubric": _hash(rubric if rubric is not None else given),
        "sampling": settings,
        "labels": list(answers.judgments.scale.labels),
    }


def _hash(text: str) -> str:
    return sha256(text.strip().encode()).hexdigest() if text.strip() else ""


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
    return text if len(text) <= 40 else f"{text[:12]}..."
