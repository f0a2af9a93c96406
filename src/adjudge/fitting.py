"""The main job in one call: judgments in, consensus out."""

from __future__ import annotations

from typing import Any

from adjudge.data.consensus import Consensus
from adjudge.data.given import GoldLike, JudgmentsLike, gold_given, judgments_given
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models import default
from adjudge.models.calibrated_fit import with_calibration
from adjudge.models.model import Progress
from adjudge.models.registry import model as build_model


def fit(
    judgments: JudgmentsLike,
    gold: GoldLike = None,
    *,
    model: str | None = None,
    family: str | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    start: Consensus | None = None,
    **settings: object,
) -> Consensus:
    """The consensus of judgments: a file, a table of any dataframe library, or Judgments.

    ``gold`` likewise, or a mapping; gold that stands in a column beside the judgments is used only
    if their file is named as ``gold`` too.
    ``model`` and ``settings`` are those of the command line. ``family`` is a pattern in the names
    of judges: those who share what it finds are one source. ``start`` goes on from an earlier fit.
    Gold calibrates the answer, across folds where the model learns from it too; where a model is
    sampled, which takes long, only with ``calibrate=True``. ``calibrate=False`` leaves it out.
    """
    table = judgments_given(judgments)
    known = None if gold is None else gold_given(gold)
    if family is not None:
        table = table.with_family_rule(family)
    chosen = {**(default.SETTINGS if model is None else {}), **settings}
    name = model or default.DEFAULT
    wanted = chosen.pop("calibrate", None)
    if wanted not in (None, True, False):
        raise BadSetting("calibrate", wanted, "True or False")
    made: Any = with_calibration(build_model(name, **chosen), wanted)
    more = {} if start is None else {"start": start}
    consensus: Consensus = made.fit(table, known, engine=engine, progress=progress, **more)
    return consensus
