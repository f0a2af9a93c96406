"""ItemTypes: items of more types than labels, read through a reference judge.

    t_i ~ Categorical(pi);  y_ij ~ Categorical(theta_j[t_i, :]);  theta_j[t, :] ~ Dirichlet(20 R_jt)

Judges are not independent given the truth: items are hard for everybody, language models share
their errors, one model asked five times is not five judges. Three things follow. Near copies have
one voice between them (``adjudge.models._families``). Items come in an easy and a hard kind of
every label, so that what makes judges err together has a place of its own. And a type is not taken
for its label, but read through what a good judge says of it (``adjudge.models._reference_judge``).
What is believed of a judge's rows, R, comes in two structures, ``habit`` and ``slant``, and for
ordered labels in a third, ``line`` (``adjudge.models._type_rows``); the answer is their mean, half
of it the line's. Gold calibrates the answer (``adjudge.models._calibration``), outside the fit.

Each structure is fitted by EM: R is brought up to date in the first sweeps, and once it is frozen
the objective, log-likelihood + 20 sum R log theta + 1/2 sum log pi, never falls. It stops early, by
a coarse tolerance: on real judgments more sweeps made probabilities worse.

No paper: the model is adjudge's own. Dawid and Skene (1979), doi:10.2307/2346806, is the case of
one kind of every label, free rows, and types taken for labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from threadpoolctl import threadpool_limits

from adjudge.data.consensus import Consensus
from adjudge.data.given import GoldLike, JudgmentsLike, takes_tables
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models._type_fitting import fit_structures
from adjudge.models._type_reading import conclude_types
from adjudge.models.model import Progress, Ties, check_ties, prepare

_TABLES = 25  # of rates (judge, truth, label) held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTypes:
    """Near copies share one voice, items have types, types are read through a reference judge.

    ``structures`` are averaged; ``line`` counts only where labels are ordered and more than two.
    ``kinds`` are the types of every label, ``strength`` the pseudo-judgments that draw a judge's
    row to what is believed of them. Beliefs are frozen after ``frozen`` sweeps, or when a sweep
    gains less than ten times ``tolerance``, in nats an item; below ``tolerance`` the fit stops.
    """

    name: ClassVar[str] = "item-types"
    shared: ClassVar[bool] = False

    structures: tuple[str, ...] = ("habit", "slant", "line")
    kinds: int = 2
    strength: float = 20.0
    iterations: int = 40
    frozen: int = 20
    tolerance: float = 5e-4
    weigh_copies: bool = True
    calibrate: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)
        if not self.structures or set(self.structures) - {"habit", "slant", "line"}:
            raise BadSetting("structures", self.structures, "some of habit, slant and line")
        if self.kinds < 1:
            raise BadSetting("kinds", self.kinds, "at least 1")
        if not self.strength > 0:
            raise BadSetting("strength", self.strength, "more than 0")
        if self.iterations < 1:
            raise BadSetting("iterations", self.iterations, "at least 1")
        if self.frozen < 1:
            raise BadSetting("frozen", self.frozen, "at least 1")
        if not self.tolerance >= 0:
            raise BadSetting("tolerance", self.tolerance, "0 or more")

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
        start: Consensus | None = None,
    ) -> Consensus:
        """The consensus of judgments; gold calibrates it. ``start``: go on from an earlier fit."""
        prepared = prepare(
            judgments,
            gold,
            engine,
            by_topic=self.by_topic,
            copies=self.weigh_copies,
            repeats=True,
            tables=_TABLES,
        )
        with threadpool_limits(1, "blas"):  # more would only wait for one another, and change bits
            fitted = fit_structures(self, prepared, progress, start)
            return conclude_types(self, prepared, fitted)
