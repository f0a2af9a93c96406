"""The report by arm: who came through, and how good judges and their aggregate are.

Tables 2, 3 and 4 and figure 2 of Le and others (2010), with intervals and tests of difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlalchemy import select

from adjudge.collect.judging.arriving import is_dry_run
from adjudge.collect.judging.refreshers import refreshers_by_arm
from adjudge.collect.services._arm_measures import (
    confusions,
    estimate_means,
    estimate_pooled,
    measure_names,
    measures,
    permutation_test,
    vote_test,
    votes,
)
from adjudge.collect.services._progress import count_funnel
from adjudge.collect.store.arrow import read_table
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import judges
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.arms import JUDGES, VOTE, ArmDifference, ArmReport, Measured
from adjudge.collect.values.judging import DRY_RUN
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.scale import Scale
    from adjudge.models.model import Model

_BY_ITEM = "sign test over items"
_BY_JUDGE = "permutation of judges"

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _KnownItems:
    """Items of known truth."""

    names: Any  # (item,)
    accepted: NDArray[np.bool_]  # (item, truth)
    first: _Ints  # (item,) the first accepted truth

    @classmethod
    def of(cls, snapshot: ProjectSnapshot, test: Gold | None) -> _KnownItems:
        """The project's own gold, or the items of a test gold."""
        scale = snapshot.scale
        truths = np.arange(len(scale.truths))
        if test is not None:
            first = test.codes(scale).astype(np.int64)
            return cls(names=test.items, accepted=first[:, None] == truths, first=first)
        found = []
        for gold in snapshot.golds.values():
            codes = [scale.truth_code(label) for label in gold.accepted if label in scale.labels]
            codes = [code for code in codes if code >= 0]
            if gold.active and codes:
                found.append((gold.name, codes))
        return cls(
            names=pa.array([name for name, _ in found], pa.large_string()),
            accepted=np.array(
                [np.isin(truths, codes) for _, codes in found], dtype=np.bool_
            ).reshape(len(found), len(truths)),
            first=np.array([codes[0] for _, codes in found], dtype=np.int64),
        )

    def truth(self, item: _Ints, label: _Ints) -> _Ints:
        """The truth that a label is held against: itself where it is accepted, else the first."""
        return np.where(self.accepted[item, label], label, self.first[item])


@dataclass(slots=True, kw_only=True, eq=False)
class _Measurement:
    """First answers in work, and what is measured of them arm by arm."""

    arms: Sequence[str]
    scale: Scale
    known: _KnownItems
    arm: _Ints  # (judge,)
    judge: _Ints  # (answer,)
    item: _Ints  # (answer,) by its place among the known ones, -1 elsewhere
    label: _Ints  # (answer,) as the truth it gives, -1 where it gives none
    trusted: NDArray[np.bool_]  # (answer,)
    table: Any  # (answer,) with item, judge, label
    resamples: int
    rng: np.random.Generator
    measured: list[Measured] = field(default_factory=list)
    differences: list[ArmDifference] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measures."""
        return measure_names(self.scale.truths)

    def measure_judges(self) -> None:
        """Table 3: the mean of the judges' own measures, and a permutation test over judges."""
        use = (self.item >= 0) & (self.label >= 0)
        judge, item, label = self.judge[use], self.item[use], self.label[use]
        truths = len(self.scale.truths)
        truth = self.known.truth(item, label)
        counts = confusions(judge, truth, label, len(self.arm), truths)
        seen = counts.sum(axis=(1, 2)) > 0
        rows, arm, given = measures(counts[seen]), self.arm[seen], counts[seen].sum(axis=(1, 2))
        mean = []
        for code, name in enumerate(self.arms):
            theirs = rows[arm == code]
            found = estimate_means(theirs, resamples=self.resamples, rng=self.rng)
            mean.append(found[0])
            self._add(name, JUDGES, found, len(theirs), int(given[arm == code].sum()))
        there = np.unique(arm)
        if not self.resamples or len(there) < 2:
            return
        p = permutation_test(rows, arm, permutations=self.resamples, rng=self.rng)
        for measure, one in zip(self.names, p, strict=True):
            self._add_overall(JUDGES, measure, one)
        pairs = list(combinations(there.tolist(), 2))
        ps = []
        for pair in pairs:
            both = np.isin(arm, pair)
            ps.append(
                permutation_test(rows[both], arm[both], permutations=self.resamples, rng=self.rng)
            )
        for place, measure in enumerate(self.names):
            compared = [(a, b, mean[a][place] - mean[b][place], p[place])
                     for (a, b), p in zip(pairs, ps, strict=True)]  # fmt: skip
            self._add_pairs(JUDGES, measure, compared, _BY_JUDGE)

    def measure_votes(self) -> None:
        """Table 4 and figure 2, by the majority of an arm's trusted judgments."""
        use = (self.item >= 0) & (self.label >= 0) & self.trusted
        judge, item, label = self.judge[use], self.item[use], self.label[use]
        shape = (len(self.arms), *self.known.accepted.shape)
        given = np.bincount(self.arm[judge], minlength=len(self.arms))
        self._measure_aggregate(VOTE, votes(self.arm[judge], item, label, shape, self.rng), given)
        if self.resamples and len(self.arms) > 1 and len(judge):
            p = vote_test(judge, item, label, self.arm, self.known.accepted,
                          permutations=self.resamples, rng=self.rng)  # fmt: skip
            self._add_overall(VOTE, "accuracy", p)

    def measure_model(self, model: Model) -> None:
        """The same by another model, fitted to each arm's trusted judgments alone."""
        from adjudge.data.judgments import Judgments

        choice = np.full((len(self.arms), len(self.known.first)), -1, dtype=np.int64)
        given = np.zeros(len(self.arms), dtype=np.int64)
        for code, name in enumerate(self.arms):
            use = self.trusted & (self.label >= 0) & (self.arm[self.judge] == code)
            chosen = self.table.filter(pa.array(use))
            if len(chosen):
                made = Judgments.from_table(chosen, scale=self.scale, source=name, repeats=True)
                fitted = model.fit(made)
                where = _find_places(self.known.names, fitted.judgments.items)
                choice[code, where >= 0] = fitted.choice[where[where >= 0]]
                given[code] = int((_find_places(chosen["item"], self.known.names) >= 0).sum())
        self._measure_aggregate(model.name, choice, given)

    def _measure_aggregate(self, what: str, choice: _Ints, given: _Ints) -> None:
        """Measures of an aggregate with intervals over items, and sign tests over items of pairs.

        ``choice`` is the label of each item by arm, -1 where there is none; ``given`` the judgments
        of each arm.
        """
        from adjudge.evaluation.significance import sign_test

        right = np.full(choice.shape, np.nan)  # (arm, item)
        for code, name in enumerate(self.arms):
            items = np.flatnonzero(choice[code] >= 0)
            label = choice[code, items]
            truth = self.known.truth(items, label)
            right[code, items] = truth == label
            found = estimate_pooled(truth, label, len(self.scale.truths),
                                    resamples=self.resamples, rng=self.rng)  # fmt: skip
            self._add(name, what, found, len(items), int(given[code]))
        if self.resamples:
            pairs = list(combinations(range(len(self.arms)), 2))
            tests = [sign_test(right[one], right[other]) for one, other in pairs]
            compared = [(*pair, test.mean, test.p)
                        for pair, test in zip(pairs, tests, strict=True) if test.pairs]  # fmt: skip
            self._add_pairs(what, "accuracy", compared, _BY_ITEM)

    def _add(
        self, arm: str, what: str, found: tuple[_Floats, ...], units: int, judgments: int
    ) -> None:
        """Keep the value of each measure with its interval."""
        self.measured += [
            Measured(
                arm=arm,
                what=what,
                measure=measure,
                value=_value(value),
                low=_value(low),
                high=_value(high),
                units=units,
                judgments=judgments,
            )
            for measure, value, low, high in zip(self.names, *found, strict=True)
        ]

    def _add_overall(self, what: str, measure: str, p: float) -> None:
        """Keep a test of all arms at once."""
        self._add_test(what, measure, _BY_JUDGE, "all arms", p=_value(p))

    def _add_pairs(
        self, what: str, measure: str, found: Iterable[tuple[int, int, float, float]], test: str
    ) -> None:
        """Keep tests of pairs (first, second, gap, p), adjusted for their number."""
        from adjudge.evaluation.significance import adjust

        known = [one for one in found if not np.isnan(one[3])]
        adjusted = adjust(np.array([one[3] for one in known]))
        for (first, second, gap, p), better in zip(known, adjusted.tolist(), strict=True):
            arms = (self.arms[first], self.arms[second])
            self._add_test(what, measure, test, *arms, gap=_value(gap), p=float(p), adjusted=better)

    def _add_test(
        self,
        what: str,
        measure: str,
        test: str,
        first: str,
        second: str = "",
        *,
        p: float | None,
        gap: float | None = None,
        adjusted: float | None = None,
    ) -> None:
        about: dict[str, Any] = {"gap": gap, "p": p, "adjusted": adjusted, "test": test}
        self.differences.append(
            ArmDifference(what=what, measure=measure, first=first, second=second, **about)
        )


def report_arms(
    request: Request,
    *,
    test: Gold | None = None,
    models: Sequence[Model] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> ArmReport:
    """The report by arm of a project.

    Known truth is the project's own gold, or ``test``: the truth of items that were judged as work.
    Answers to gold count if they were the judge's first to that gold and not in training, since the
    judge got feedback afterwards. ``models`` aggregate next to the majority vote, and get no gold.
    """
    if resamples < 0:
        raise BadSetting("resamples", resamples, "0 (no intervals, no tests) or more")
    snapshot = request.project
    ours = select(judges).where(judges.c.project == snapshot.id).order_by(judges.c.id)
    rows = request.on.execute(ours).all()
    real = [row for row in rows if row.kind != DRY_RUN and not is_dry_run(row.parameters)]
    arms = tuple(dict.fromkeys([*snapshot.arms, *(row.arm for row in real)]))
    made = _measure(request, real, arms, test, resamples, np.random.default_rng(seed))
    made.measure_judges()
    made.measure_votes()
    for model in models:
        made.measure_model(model)
    mixes = {str(arm.policy.screening_mix) for arm in snapshot.arms.values()}
    alike = test is not None or len(mixes) <= 1  # whether gold measures all arms alike
    return ArmReport(
        arms=arms,
        truths=snapshot.scale.truths,
        against="the project's gold" if test is None else test.source,
        funnel=count_funnel(request, real, arms),
        measures=tuple(made.measured),
        # Where arms have other mixes of gold, a test holds within a truth, or within an item.
        differences=tuple(
            one
            for one in made.differences
            if alike or one.measure.startswith("recall ") or one.test == _BY_ITEM
        ),
        left_out=len(rows) - len(real),
        notes=tuple(_write_notes(real, len(rows) - len(real), made, test, alike)),
        refreshers=refreshers_by_arm(request.on, real, arms),
    )


def _measure(
    request: Request,
    rows: Sequence[Any],
    arms: Sequence[str],
    test: Gold | None,
    resamples: int,
    rng: np.random.Generator,
) -> _Measurement:
    """The first answers in work of these judges, ready to be measured."""
    scale, known = request.project.scale, _KnownItems.of(request.project, test)
    people = pa.array([row.public for row in rows], pa.large_string())
    table = read_table(request.on, request.project)
    who = _find_places(table["judge"], people)
    item = table["item"].combine_chunks().dictionary_encode().indices.to_numpy()
    once = np.sort(np.unique(who * (len(table) + 1) + item, return_index=True)[1])
    counts = np.asarray(pc.equal(table["kind"], "work")) & (who >= 0)
    once = once[counts[once]]
    table, who = table.take(pa.array(once)), who[once]
    where = _find_places(table["item"], known.names)
    if test is None:
        where = np.where(np.asarray(table["gold"]), where, -1)
    label = _find_places(table["label"], pa.array(scale.labels, pa.large_string()))
    return _Measurement(
        arms=arms,
        scale=scale,
        known=known,
        arm=np.array([arms.index(row.arm) for row in rows], dtype=np.int64),
        judge=who,
        item=where,
        label=np.array([*scale.truth_of, -1], dtype=np.int64)[label],
        trusted=np.asarray(pc.not_equal(table["standing"], "untrusted")),
        table=table.select(["item", "judge", "label"]),
        resamples=resamples,
        rng=rng,
    )


def _find_places(texts: Any, among: Any) -> _Ints:
    """The place of each text among others; -1 where it is missing."""
    found = pc.index_in(texts.cast(pa.large_string()), value_set=among.cast(pa.large_string()))
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _write_notes(
    rows: Sequence[Any], left_out: int, made: _Measurement, test: Gold | None, alike: bool
) -> list[str]:
    """What a reader should know of the figures."""
    notes = []
    if left_out:
        notes.append(f"Left out: {left_out} on a dry run.")
    models = sum(row.kind == "model" for row in rows)
    if models:
        notes.append(f"{models} of the judges are models.")
    used = bool(((made.item >= 0) & (made.label >= 0)).any())
    if test is not None and not used:
        raise BadData("no item of it was judged", source=test.source, code="nothing-judged")
    if not used:
        notes.append("No answer of known truth yet: there is nothing to measure accuracy by.")
    elif not alike:
        notes.append(
            "Arms are screened with other label mixes, so accuracy and precision are of other gold "
            "in each and do not compare; recall does. A test gold measures all arms alike."
        )
    others = int(((made.item >= 0) & (made.label < 0)).sum())
    if others:
        fate = "gives no label, and is" if others == 1 else "give no label, and are"
        notes.append(f"{count_of(others, 'answer')} of known truth {fate} left out.")
    return notes


def _value(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
