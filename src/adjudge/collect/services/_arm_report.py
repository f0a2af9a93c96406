"""The report by arm: who came through, and how good judges and their aggregate are.

Tables 2, 3 and 4 and figure 2 of Le and others (2010), with intervals and tests of difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    mean_intervals,
    means,
    measure_names,
    measures,
    permutation_test,
    pooled_intervals,
    vote_test,
    votes,
)
from adjudge.collect.store.arrow import read_table
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import judges, log
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.arms import JUDGES, VOTE, ArmDifference, ArmFunnel, ArmReport, Measured
from adjudge.collect.values.judging import DRY_RUN
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.significance import adjust

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.scale import Scale
    from adjudge.models.model import Model

_LEVEL = 0.95

_Ints = NDArray[np.int64]

_BY_ITEM = "sign test over items"

_Found = tuple[list[Measured], list[ArmDifference]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _FirstAnswers:
    """First answers in work: all of them in a table, and those of known truth in arrays."""

    table: Any  # item, judge, label, arm (code), trusted
    scale: Scale
    arm: _Ints  # (judge,)
    judge: _Ints  # (answer,)
    item: _Ints  # (answer,) places in names
    label: _Ints  # (answer,) truths
    trusted: NDArray[np.bool_]  # (answer,)
    accepted: NDArray[np.bool_]  # (item, truth)
    first: _Ints  # (item,)
    names: Any  # (item,)
    others: int  # answers of known truth that give none

    @classmethod
    def of(
        cls,
        table: Any,
        rows: Sequence[Any],
        arms: Sequence[str],
        snapshot: ProjectSnapshot,
        test: Gold | None,
    ) -> _FirstAnswers:
        """The answers that count, from all of a project's."""
        scale = snapshot.scale
        people = pa.array([row.public for row in rows], pa.large_string())
        who = _find_places(table["judge"], people)
        item = table["item"].combine_chunks().dictionary_encode()
        code = item.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, once = np.unique(who * (len(item.dictionary) + 1) + code, return_index=True)
        first = np.zeros(len(table), dtype=np.bool_)
        first[once] = True
        work = np.asarray(table["kind"].to_numpy() == "work") if len(table) else first
        kept = pa.array(first & work & (who >= 0))
        table, who = table.filter(kept), who[kept.to_numpy(zero_copy_only=False)]
        names, accepted, chosen = _known(snapshot, test)
        where = _find_places(table["item"], names)
        if test is None and len(table):
            where = np.where(table["gold"].to_numpy(), where, -1)
        label = _truths(table["label"], scale)
        use = (where >= 0) & (label >= 0)
        arm = np.array([list(arms).index(row.arm) for row in rows], dtype=np.int64)
        standing = table["standing"].to_numpy() if len(table) else np.empty(0, dtype=object)
        trusted = np.asarray(standing != "untrusted", dtype=np.bool_)
        columns = {name: table[name] for name in ("item", "judge", "label")}
        columns |= {"arm": pa.array(arm[who]), "usable": pa.array(trusted & (label >= 0))}
        return cls(
            table=pa.table(columns),
            scale=scale,
            arm=arm,
            judge=who[use],
            item=where[use],
            label=label[use],
            trusted=trusted[use],
            accepted=accepted,
            first=chosen,
            names=names,
            others=int(((where >= 0) & (label < 0)).sum()),
        )

    def truth(self, item: _Ints, label: _Ints) -> _Ints:
        """The truth that a label is held against: itself where it is accepted, else the first."""
        return np.where(self.accepted[item, label], label, self.first[item])


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
    judge was told afterwards. ``models`` aggregate beside the majority vote, and get no gold.
    """
    if resamples < 0:
        raise BadSetting("resamples", resamples, "0 (no intervals, no tests) or more")
    rows = request.on.execute(
        select(judges).where(judges.c.project == request.project.id).order_by(judges.c.id)
    ).all()
    real = [row for row in rows if row.kind != DRY_RUN and not is_dry_run(row.parameters)]
    arms = tuple(dict.fromkeys([*request.project.arms, *(row.arm for row in real)]))
    passed = set(
        request.on.execute(
            select(log.c.judge).where(
                log.c.project == request.project.id, log.c.event == "training-passed"
            )
        ).scalars()
    )
    answers = _FirstAnswers.of(
        read_table(request.on, request.project), real, arms, request.project, test
    )
    rng = np.random.default_rng(seed)
    alike = test is not None or _same_screening(request.project)
    measured, differences = _measure_judges(answers, arms, resamples, rng)
    for part in (_measure_votes, _measure_models):
        more, tests = part(answers, arms, models, resamples, rng)
        measured, differences = measured + more, differences + tests
    return ArmReport(
        arms=arms,
        truths=request.project.scale.truths,
        against="the project's gold" if test is None else test.source,
        funnel=tuple(_count_funnel(arm, real, passed) for arm in arms),
        measures=tuple(measured),
        differences=tuple(one for one in differences if alike or _compares(one)),
        left_out=len(rows) - len(real),
        notes=tuple(_write_notes(real, len(rows) - len(real), answers, test, alike)),
        refreshers=refreshers_by_arm(request.on, real, arms),
    )


def _same_screening(snapshot: ProjectSnapshot) -> bool:
    """Whether all arms screen with the same label mix, so that gold measures them alike."""
    return len({str(arm.policy.screening_mix) for arm in snapshot.arms.values()}) <= 1


def _compares(one: ArmDifference) -> bool:
    """Whether a test holds where arms have other mixes of gold: within a truth, or an item."""
    return one.measure.startswith("recall ") or one.test == _BY_ITEM


def _count_funnel(arm: str, rows: Sequence[Any], passed: set[int]) -> ArmFunnel:
    """Table 2 of one arm."""
    from adjudge.evaluation.scores import wilson

    theirs = [row for row in rows if row.arm == arm]
    trained = [row for row in theirs if row.training_seen > 0 or row.attempt > 1]
    through = sum(row.id in passed for row in theirs)
    failed = sum(row.stage == "failed" for row in theirs)
    low, high = wilson(through, through + failed) if through + failed else (None, None)
    return ArmFunnel(
        arm=arm,
        came=len(theirs),
        trained=len(trained),
        passed=through,
        failed=failed,
        left_before=sum(
            not (row.training_seen > 0 or row.attempt > 1 or row.pages or row.id in passed)
            for row in theirs
        ),
        left_training=sum(row.id not in passed and row.stage == "training" for row in trained),
        worked=sum(row.pages > 0 for row in theirs),
        blocked=sum(row.stage == "blocked" for row in theirs),
        finished=sum(row.stage == "finished" for row in theirs),
        low=low,
        high=high,
        passed_share=accuracy_of(through, through + failed),
    )


def _measure_judges(
    answers: _FirstAnswers, arms: Sequence[str], resamples: int, rng: np.random.Generator
) -> _Found:
    """Table 3: the mean of the judges' own measures, and a permutation test over judges."""
    truths = len(answers.scale.truths)
    names = measure_names(answers.scale.truths)
    truth = answers.truth(answers.item, answers.label)
    counts = confusions(answers.judge, truth, answers.label, len(answers.arm), truths)
    seen = counts.sum(axis=(1, 2)) > 0
    rows, arm = measures(counts[seen]), answers.arm[seen]
    given = counts[seen].sum(axis=(1, 2))
    measured: list[Measured] = []
    for code, name in enumerate(arms):
        theirs = rows[arm == code]
        value = means(theirs, np.ones(len(theirs)))
        low, high = mean_intervals(theirs, resamples=resamples, level=_LEVEL, rng=rng)
        count = int(given[arm == code].sum())
        measured += _rows(name, JUDGES, names, (value, low, high), len(theirs), count)
    return measured, _judge_tests(rows, arm, arms, names, resamples, rng)


def _judge_tests(
    rows: Any, arm: _Ints, arms: Sequence[str], names: Sequence[str], resamples: int, rng: Any
) -> list[ArmDifference]:
    """All arms at once, and every pair, by dealing judges out again."""
    if not resamples or len(np.unique(arm)) < 2:
        return []
    test = "permutation of judges"
    p = permutation_test(rows, arm, permutations=resamples, rng=rng)
    found = [
        ArmDifference(what=JUDGES, measure=name, first="all arms", second="", gap=None,
                      p=_value(p[place]), adjusted=None, test=test)
        for place, name in enumerate(names)
    ]  # fmt: skip
    pairs, gaps, ps = [], [], []
    for one, other in combinations(np.unique(arm), 2):
        both = (arm == one) | (arm == other)
        mean = [
            means(rows[arm == code], np.ones(int((arm == code).sum()))) for code in (one, other)
        ]
        pairs.append((arms[one], arms[other]))
        gaps.append(mean[0] - mean[1])
        ps.append(permutation_test(rows[both], arm[both], permutations=resamples, rng=rng))
    for place, name in enumerate(names):
        column = [float(p[place]) for p in ps]
        gap = [float(one[place]) for one in gaps]
        found += _adjust_pairs(JUDGES, name, pairs, gap, column, test)
    return found


def _measure_votes(
    answers: _FirstAnswers, arms: Sequence[str], _: Any, resamples: int, rng: np.random.Generator
) -> _Found:
    """Table 4 and figure 2, by the majority of an arm's trusted judgments."""
    ok = answers.trusted
    item, label, judge = answers.item[ok], answers.label[ok], answers.judge[ok]
    shape = (len(arms), *answers.accepted.shape)
    group = answers.arm[judge]
    choice = votes(group, item, label, shape, rng)  # (arm, item)
    given = np.bincount(group, minlength=len(arms))
    measured, tests = _measure_aggregate(VOTE, choice, given, answers, arms, resamples, rng)
    if resamples and len(arms) > 1 and len(judge):
        p = vote_test(
            judge, item, label, answers.arm, answers.accepted, permutations=resamples, rng=rng
        )
        tests.append(
            ArmDifference(what=VOTE, measure="accuracy", first="all arms", second="", gap=None,
                          p=_value(p), adjusted=None, test="permutation of judges")
        )  # fmt: skip
    return measured, tests


def _measure_models(
    answers: _FirstAnswers,
    arms: Sequence[str],
    models: Sequence[Model],
    resamples: int,
    rng: np.random.Generator,
) -> _Found:
    """The same by other models, each fitted to one arm's trusted judgments alone."""
    from adjudge.data.judgments import Judgments

    measured: list[Measured] = []
    tests: list[ArmDifference] = []
    usable = answers.table["usable"].to_numpy()
    arm = answers.table["arm"].to_numpy()
    for model in models:
        choice = np.full((len(arms), len(answers.first)), -1, dtype=np.int64)
        given = np.zeros(len(arms), dtype=np.int64)
        for code in range(len(arms)):
            chosen = answers.table.filter(pa.array(usable & (arm == code)))
            if not len(chosen):
                continue
            made = Judgments.from_table(
                chosen.select(["item", "judge", "label"]), scale=answers.scale, source=arms[code]
            )
            fitted = model.fit(made)
            where = _find_places(answers.names, fitted.judgments.items)
            choice[code, where >= 0] = fitted.choice[where[where >= 0]]
            hits = _find_places(chosen["item"], answers.names) >= 0
            given[code] = int(hits.sum())
        more, found = _measure_aggregate(model.name, choice, given, answers, arms, resamples, rng)
        measured, tests = measured + more, tests + found
    return measured, tests


def _measure_aggregate(
    what: str,
    choice: _Ints,  # (arm, item), -1 where there is none
    given: _Ints,  # (arm,) judgments
    answers: _FirstAnswers,
    arms: Sequence[str],
    resamples: int,
    rng: np.random.Generator,
) -> _Found:
    """Measures of an aggregate with intervals over items, and sign tests over items of pairs."""
    from adjudge.evaluation.significance import sign_test

    truths = len(answers.scale.truths)
    names = measure_names(answers.scale.truths)
    right = np.full(choice.shape, np.nan)  # (arm, item)
    measured: list[Measured] = []
    for code, name in enumerate(arms):
        items = np.flatnonzero(choice[code] >= 0)
        label = choice[code, items]
        truth = answers.truth(items, label)
        right[code, items] = truth == label
        counts = confusions(np.zeros(len(items), dtype=np.int64), truth, label, 1, truths)[0]
        low, high = pooled_intervals(
            truth, label, truths, resamples=resamples, level=_LEVEL, rng=rng
        )
        values = (measures(counts), low, high)
        measured += _rows(name, what, names, values, len(items), int(given[code]))
    pairs, gaps, ps = [], [], []
    for one, other in combinations(range(len(arms)), 2):
        found = sign_test(right[one], right[other])
        if found.pairs and resamples:
            pairs.append((arms[one], arms[other]))
            gaps.append(found.mean)
            ps.append(found.p)
    return measured, _adjust_pairs(what, "accuracy", pairs, gaps, ps, _BY_ITEM)


def _rows(
    arm: str,
    what: str,
    names: Sequence[str],
    values: tuple[Any, Any, Any],  # value, low, high: (measure,) each
    units: int,
    judgments: int,
) -> list[Measured]:
    return [
        Measured(
            arm=arm,
            what=what,
            measure=name,
            value=_value(value),
            low=_value(low),
            high=_value(high),
            units=units,
            judgments=judgments,
        )
        for name, value, low, high in zip(names, *values, strict=True)
    ]


def _adjust_pairs(
    what: str,
    measure: str,
    pairs: Sequence[tuple[str, str]],
    gaps: Sequence[float],
    ps: Sequence[float],
    test: str,
) -> list[ArmDifference]:
    """Tests of pairs, adjusted for their number."""
    known = [place for place, p in enumerate(ps) if not np.isnan(p)]
    mended = dict(zip(known, adjust(np.array([ps[k] for k in known])).tolist(), strict=True))
    return [
        ArmDifference(
            what=what,
            measure=measure,
            first=pairs[place][0],
            second=pairs[place][1],
            gap=_value(gaps[place]),
            p=ps[place],
            adjusted=mended[place],
            test=test,
        )
        for place in known
    ]


def _value(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _write_notes(
    rows: Sequence[Any], left_out: int, answers: _FirstAnswers, test: Gold | None, alike: bool
) -> list[str]:
    """What a reader should know of the figures."""
    said = []
    if left_out:
        said.append(f"Left out: {left_out} on a dry run.")
    models = sum(row.kind == "model" for row in rows)
    if models:
        said.append(f"{models} of the judges are models.")
    if test is not None and not len(answers.item):
        raise BadData(
            "no item of it was judged", source=test.source, expected="items of the project"
        )
    if not len(answers.item):
        said.append("No answer of known truth yet: there is nothing to measure accuracy by.")
    elif not alike:
        said.append(
            "Arms are screened with other label mixes, so accuracy and precision are of other gold "
            "in each and do not compare; recall does. A test gold measures all arms alike."
        )
    if answers.others:
        fate = "gives no label, and is" if answers.others == 1 else "give no label, and are"
        said.append(f"{count_of(answers.others, 'answer')} of known truth {fate} left out.")
    return said


def _find_places(texts: Any, among: Any) -> _Ints:
    """Where each text stands among others; -1 where it does not."""
    found = pc.index_in(texts.cast(pa.large_string()), value_set=among.cast(pa.large_string()))
    places = pc.fill_null(found, -1).to_numpy()
    return np.asarray(places, dtype=np.int64)


def _truths(labels: Any, scale: Scale) -> _Ints:
    """Labels as the truths they stand for; -1 for those that stand for none."""
    coded = labels.combine_chunks().dictionary_encode()
    known = [
        scale.truth_of[scale.labels.index(text)] if text in scale.labels else -1
        for text in coded.dictionary.to_pylist()
    ]
    codes: _Ints = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.asarray(np.array([*known, -1], dtype=np.int64)[codes])


def _known(snapshot: ProjectSnapshot, test: Gold | None) -> tuple[Any, NDArray[np.bool_], _Ints]:
    """Items of known truth: names, which truths are accepted, and the first of them."""
    scale = snapshot.scale
    if test is not None:
        first = test.codes(scale).astype(np.int64)
        accepted = np.zeros((len(first), len(scale.truths)), dtype=np.bool_)
        accepted[np.arange(len(first)), first] = True
        return test.items, accepted, first
    names, rows, firsts = [], [], []
    for gold in snapshot.golds.values():
        codes = [scale.truth_code(label) for label in gold.accepted if label in scale.labels]
        codes = [code for code in codes if code >= 0]
        if gold.active and codes:
            names.append(gold.name)
            rows.append([code in codes for code in range(len(scale.truths))])
            firsts.append(codes[0])
    shape = (len(names), len(scale.truths))
    accepted = np.array(rows, dtype=np.bool_).reshape(shape)
    return pa.array(names, pa.large_string()), accepted, np.array(firsts, dtype=np.int64)
