"""The audit of LLM judges: one verdict per judge, and every check behind it.

A judge is a model under one prompt and one version. Its samples of an item become one soft
judgment. Each judge is measured against gold (error rates by class, kappa, over-rating, calibration
of its confidence), against people and its own family, over its samples, and for biases; numbers
from its labels are corrected by gold. Every check needs some gold or judgments, and is left out,
with that number, where there is less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import MODEL, PERSON, Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import look_up
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting, UnknownName
from adjudge.evaluation._resampling import check_resampling
from adjudge.evaluation.model_judges._biases import LEAST_JUDGMENTS, Bias, find_biases
from adjudge.evaluation.model_judges._contests import ScoreName, kinds_of
from adjudge.evaluation.model_judges._findings import (
    Injected,
    Remark,
    find_injections,
    stale_mix,
    stale_versions,
)
from adjudge.evaluation.model_judges._slices import slice_items
from adjudge.evaluation.model_judges.corrected import (
    Corrected,
    Transport,
    check_transport,
    correct_targets,
    default_targets,
    is_plain,
    learn_beliefs,
)
from adjudge.evaluation.model_judges.panel import (
    Company,
    PanelWorth,
    measure_company,
    measure_worth,
)
from adjudge.evaluation.model_judges.rates import Rates, tell_need
from adjudge.evaluation.model_judges.replacement import Replacement, may_replace
from adjudge.evaluation.model_judges.soft_judgments import (
    Honesty,
    SoftJudgments,
    honesty,
    recalibrated,
    soft_judgments,
)
from adjudge.evaluation.scores import Score, columns_of, interval_columns, reals
from adjudge.models.model import prepare

_LEVEL = 0.95
_NAN = float("nan")
_LEAST_CALIBRATED = 50  # gold items with a confidence
_LEAST_REPEATED = 30  # items with several samples
_UNRELIABLE = 0.6  # alpha of a judge's samples, below which one answer says little
_GOOD, _POOR = 0.6, 0.2  # kappa with gold: ready, and of no use
_TRIFLE = 0.05  # over-rating as a share of the range of grades that may stay uncorrected
_HELD = ("control tokens", "hidden characters")  # what texts have; other kinds they do
_MOST_RANKED = 5  # judges whose labels measure runs
_Floats = NDArray[np.float64]

READY, WITH_CORRECTION, NOT_READY, NO_GOLD = (
    "ready",
    "ready with correction",
    "not ready",
    "not enough gold",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeAudit:
    """Everything that is known of one LLM judge."""

    judge: str
    model: str
    prompt: str
    version: str
    judgments: int
    items: int
    rates: Rates
    scores: Mapping[str, Score]  # accuracy, kappa or weighted-kappa, over-rating, tpr, tnr
    before: Honesty | None  # calibration of its confidence
    after: Honesty | None  # the same, recalibrated by gold, cross-fitted
    samples: float  # per item, on average
    agreement: float  # of two samples of one item; NaN where there is one each
    alpha: float
    reliability: float  # of all samples of an item together
    company: tuple[Company, ...]
    biases: tuple[Bias, ...]
    alternative: str  # verdict of the alternative annotator test; empty where it was not made
    winning_rate: float
    advantage: float
    cost: float
    tokens: float
    left_out: tuple[str, ...]  # checks with too little gold, and how much they need
    verdict: str = NO_GOLD
    reason: str = ""

    @property
    def kappa(self) -> Score:
        """Kappa with gold, with squared distances of grades where there are more than two."""
        return self.scores.get("weighted-kappa") or self.scores["kappa"]

    @property
    def cost_per_item(self) -> float:
        """What an item costs."""
        return self.cost / self.items if self.items else _NAN

    @property
    def gold(self) -> int:
        """Items with gold."""
        return self.rates.gold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """The verdict on every LLM judge, and what it rests on."""

    judges: tuple[JudgeAudit, ...]
    people: int
    people_accuracy: Score | None  # of people's single judgments, on gold
    company: tuple[Company, ...]  # of people with people
    panel: PanelWorth | None
    corrected: tuple[Corrected, ...]
    transport: tuple[Transport, ...]
    replacement: Replacement | None
    remarks: tuple[Remark, ...]
    injections: tuple[Injected, ...]
    left_out: tuple[str, ...]
    answers: ModelAnswers
    soft: SoftJudgments
    known: NDArray[np.int16]  # (item,) gold, -1 where there is none

    def __getitem__(self, judge: str) -> JudgeAudit:
        for one in self.judges:
            if one.judge == judge:
                return one
        raise UnknownName("judge", judge, [one.judge for one in self.judges])

    @property
    def gold(self) -> int:
        """Judged items with gold."""
        return int((self.known >= 0).sum())

    def of_kind(self, kind: str) -> tuple[Remark, ...]:
        """The remarks of one kind."""
        return tuple(one for one in self.remarks if one.kind == kind)

    def to_table(self) -> Any:
        """One row per judge."""
        rows = self.judges
        columns = columns_of(
            rows,
            text=("judge", "verdict", "reason", "model", "prompt", "version"),
            whole=("judgments", "items", "gold"),
        )
        for name in rows[0].scores:
            scores = [one.scores[name] for one in rows]
            ends = [[getattr(one, end) for one in scores] for end in ("value", "low", "high")]
            columns |= interval_columns(name.replace("-", "_"), ends)
        for when, suffix in (("before", ""), ("after", "_after_gold")):
            for name in ("log_loss", "brier", "calibration_error"):
                values = [getattr(getattr(one, when), name, None) for one in rows]
                columns[f"{name}{suffix}"] = reals(values)
        columns |= columns_of(
            rows,
            text=("alternative",),
            real=("winning_rate", "advantage", "samples", "agreement", "alpha", "reliability"),
        )
        for what in ("position", "length", "own family"):
            found = [[bias.effect for bias in one.biases if bias.what == what] for one in rows]
            columns[f"{what.replace(' ', '_')}_bias"] = reals([x[0] if x else None for x in found])
        columns |= columns_of(rows, real=("cost", "cost_per_item", "tokens"))
        return pa.table(columns)

    def to_json(self) -> dict[str, Any]:
        """All of it as data."""
        from dataclasses import asdict

        def plain(rows: Sequence[Any]) -> list[dict[str, Any]]:
            return [asdict(one) for one in rows]

        judges = self.to_table().to_pylist()
        for row, one in zip(judges, self.judges, strict=True):
            row["classes"] = plain(one.rates.by_class)
            row["company"], row["biases"] = plain(one.company), plain(one.biases)
            row["left_out"] = list(one.left_out)
        return {
            "gold": self.gold,
            "people": self.people,
            "judges": judges,
            "people_with_people": plain(self.company),
            "panel": None if self.panel is None else asdict(self.panel),
            "corrected": plain(self.corrected),
            "transport": [asdict(one) | {"refused": one.refused} for one in self.transport],
            "remarks": plain(self.remarks),
            "left_out": list(self.left_out),
        }

    @property
    def items_to_label(self) -> Any:
        """One row per item that the transport check asks for: item, slice, judges."""
        rows: dict[tuple[str, str], list[str]] = {}
        for one in self.transport:
            for item in one.to_label if one.refused else ():
                rows.setdefault((item, one.slice), []).append(one.judge)
        named = [{"item": i, "slice": s, "judges": ", ".join(j)} for (i, s), j in rows.items()]
        schema = pa.schema([(name, pa.large_string()) for name in ("item", "slice", "judges")])
        return pa.Table.from_pylist(named, schema=schema)


def take_answers(answers: Any, people: str | None = None) -> ModelAnswers:
    """Take a file, table or judgments with both kinds of judges told apart.

    ``people`` is a regular expression that finds the names of people; without it a column kind or
    family tells, and where none does all judges are LLMs.
    """
    given = answers
    if isinstance(given, Judgments):
        given = ModelAnswers.of(given)
    elif isinstance(given, str | Path) or (
        isinstance(given, list | tuple) and all(isinstance(one, str | Path) for one in given)
    ):
        given = ModelAnswers.read(given)
    elif not isinstance(given, ModelAnswers):
        given = ModelAnswers.from_table(given)
    judgments = given.judgments
    if people is not None:
        kind = np.full(judgments.judge_count, MODEL, dtype=np.int8)
        try:
            named = replace(judgments, kind=kind).with_kind_rule(people, "person")
        except BadSetting:
            wanted = "a pattern found in the name of a judge"
            raise BadSetting("people", people, wanted) from None
        return replace(given, judgments=named)
    kinds = kinds_of(judgments)
    if kinds is None or any(given.model):  # a column model names LLMs alone
        named_models = np.array([bool(model) for model in given.model])
        kinds = judgments.kind if judgments.kind is not None else kinds
        if kinds is None or not (kinds == PERSON).any():
            kinds = np.full(judgments.judge_count, MODEL, dtype=np.int8)
        elif judgments.kind is None:
            kinds = np.where(named_models, MODEL, kinds).astype(np.int8)
    return replace(given, judgments=replace(judgments, kind=kinds))


def audit(
    judgments: ModelAnswers | Judgments | str | Path | Any,
    gold: Gold | str | Path | Any = None,
    *,
    people: str | None = None,
    by: str | Mapping[str, str] | None = None,
    targets: Sequence[str] | None = None,
    runs: Sequence[Run | str | Path] = (),
    score: ScoreName = "accuracy",
    epsilon: float = 0.2,
    resamples: int = 1000,
    seed: int = 0,
) -> Audit:
    """Audit LLM judges: error rates, agreement with people, biases, and corrected numbers.

    ``judgments`` and ``gold`` are files or tables; gold in the judgments' own table is used where
    no other is given. ``people`` is a regular expression for the names of people. ``by`` makes
    slices that corrected numbers have to hold for: "topic", a pattern in the items' names or a
    mapping; without it a column ``system`` does. ``targets`` are as for ``estimate``; measures of
    rankings are estimated for each run and for the first minus each other one. ``score`` and
    ``epsilon`` are those of the alternative annotator test.
    """
    check_resampling(resamples, _LEVEL)
    answers = take_answers(judgments, people)
    truth = take_gold(gold) if gold is not None else answers.gold
    table = answers.judgments
    known = np.full(table.item_count, -1, dtype=np.int16)
    if truth is not None:
        known = truth.align(table)
        if not (known >= 0).any():
            raise BadData(
                f"none of the {len(truth):,} gold items was judged; expected gold of items that "
                "the judges judged",
                source=truth.source,
                expected="gold of judged items",
            )
    llm = np.asarray(table.kind) != PERSON
    if not llm.any():
        raise BadData("all judges are people; expected LLM judges", expected="LLM judges")
    systems = [run if isinstance(run, Run) else Run.read(run) for run in runs]
    work = _Auditor(answers, truth, known, llm, resamples, seed)
    return work.audit(
        slices=slice_items(answers, by),
        targets=default_targets(table.scale, runs=bool(runs))
        if targets is None
        else tuple(targets),
        runs=systems,
        score=score,
        epsilon=epsilon,
    )


class _Auditor:
    """One audit: what is shared by its checks."""

    def __init__(
        self,
        answers: ModelAnswers,
        gold: Gold | None,
        known: NDArray[np.int16],  # (item,)
        llm: NDArray[np.bool_],  # (judge,)
        resamples: int,
        seed: int,
    ) -> None:
        self.answers, self.gold, self.known, self.llm = answers, gold, known, llm
        self.resamples, self.seed = resamples, seed
        self.soft = soft_judgments(answers.judgments)
        self.confidence = _row_confidence(answers, self.soft)
        self.agreement, self.alpha = self.soft.reliability()
        self.causes: tuple[str, ...] = ()  # of biases

    def audit(
        self,
        *,
        slices: Any,
        targets: tuple[str, ...],
        runs: Sequence[Run],
        score: ScoreName,
        epsilon: float,
    ) -> Audit:
        """Make every check."""
        answers, known, table = self.answers, self.known, self.answers.judgments
        models = table.select(judgments=self.llm[table.judge])
        kin = prepare(models, None, None)
        family = -1 - np.arange(table.judge_count)  # nobody else's
        family[look_up(models.judges, table.judges)] = kin.families.family
        company = measure_company(table, ~self.llm, family)
        replacement, untested = self._test_replacement(score, epsilon)
        biases, self.causes = find_biases(answers, known, self.llm)
        worth = measure_worth(models, self.gold, seed=self.seed)
        found = [
            self._judge(int(code), company, biases, replacement)
            for code in np.flatnonzero(self.llm)
        ]
        people = self._people_rates()
        company_of_people = tuple(one for one in company if not one.judge)
        judged = [self._with_verdict(one, company_of_people) for one in found]
        judged.sort(key=_merit)
        corrected, transport = self._correct(judged, slices, targets, runs)
        missing = [untested] if untested else []
        if worth is None and len(judged) > 1:
            missing.append(tell_need("worth of the panel", 50, int((known >= 0).sum())))
        stale: list[Remark] = []
        if self.gold is not None:
            stale = [
                *stale_versions(answers, self.soft, known),
                *stale_mix(answers, self.soft, known),
            ]
        injections = find_injections(table.items, answers.texts)
        remarks = [
            *_sample_remarks(judged),
            *(Remark("family", "", f"{text}.") for text in kin.notes),
            *stale,
            *_other_remarks(injections, biases),
        ]
        return Audit(
            judges=tuple(judged),
            people=int((~self.llm).sum()),
            people_accuracy=None if people is None else people.measure("accuracy"),
            company=company_of_people,
            panel=worth,
            corrected=tuple(corrected),
            transport=tuple(transport),
            replacement=replacement,
            remarks=tuple(remarks),
            injections=injections,
            left_out=tuple(missing),
            answers=answers,
            soft=self.soft,
            known=known,
        )

    def _test_replacement(self, score: ScoreName, epsilon: float) -> tuple[Replacement | None, str]:
        """Make the alternative annotator test, or say what it needs."""
        if self.llm.all():
            return None, "alternative annotator test: needs judgments of people"
        try:
            found = may_replace(self.answers.judgments, score=score, epsilon=epsilon)
        except BadData as fault:
            return None, f"alternative annotator test: {fault.sentence}"
        return found, ""

    def _people_rates(self) -> Rates | None:
        """The error rates of people's single judgments; None without people or gold."""
        table = self.answers.judgments
        mine = ~self.llm[table.judge] & (self.known[table.item] >= 0)
        if not mine.any():
            return None
        return Rates.count(table.scale, self.known[table.item[mine]], table.label[mine])

    def _judge(
        self,
        judge: int,
        company: Sequence[Company],
        biases: Sequence[Bias],
        replacement: Replacement | None,
    ) -> JudgeAudit:
        """Make the checks of one judge."""
        soft, answers, scale = self.soft, self.answers, self.answers.judgments.scale
        name = answers.judgments.judges[judge].as_py()
        own = np.flatnonzero(soft.judge == judge)
        mine = answers.judgments.judge == judge
        scored = own[self.known[soft.item[own]] >= 0]
        truth = self.known[soft.item[scored]]
        settings = {"resamples": self.resamples, "seed": self.seed}
        rates = Rates.count(scale, truth, soft.label[scored], **settings)
        graded = scale.ordinal and len(scale.labels) > 2
        names = ["accuracy", "weighted-kappa" if graded else "kappa", "over-rating"]
        names += [] if scale.truth_relevant is None else ["tpr", "tnr"]
        scores = {one: rates.measure(one) for one in names}
        missing = [f"{one.name}: {one.reason}" for one in scores.values() if not one.defined]
        before, after = self._calibration(scored, missing)
        repeated = int((soft.samples[own] > 1).sum())
        if repeated < _LEAST_REPEATED:
            need = tell_need(
                "repeatability", _LEAST_REPEATED, repeated, "items with several samples"
            )
            missing.append(need)
        enough = repeated >= _LEAST_REPEATED
        alpha = float(self.alpha[judge]) if enough else _NAN
        samples = float(soft.samples[own].mean()) if len(own) else _NAN
        of_judge = tuple(one for one in biases if one.judge == name)
        if not self.causes:
            missing.append("biases: need a column position or length, or systems of its family")
        elif not of_judge:
            unit = "judgments with gold or next to other judges"
            missing.append(tell_need("biases", LEAST_JUDGMENTS, int(mine.sum()), unit))
        tested = None if replacement is None else replacement[name]
        return JudgeAudit(
            judge=name,
            model=answers.model[judge],
            prompt=answers.prompt[judge],
            version=answers.version[judge],
            judgments=int(mine.sum()),
            items=len(own),
            rates=rates,
            scores=scores,
            before=before,
            after=after,
            samples=samples,
            agreement=float(self.agreement[judge]) if enough else _NAN,
            alpha=alpha,
            reliability=_compounded(alpha, samples) if np.isfinite(alpha) else _NAN,
            company=tuple(one for one in company if one.judge == name),
            biases=of_judge,
            alternative="" if tested is None else tested.verdict,
            winning_rate=_NAN if tested is None else tested.winning_rate,
            advantage=_NAN if tested is None else tested.advantage_probability,
            cost=_total(answers.cost, mine),
            tokens=_total(answers.tokens, mine),
            left_out=tuple(missing),
        )

    def _calibration(
        self, scored: NDArray[np.intp], missing: list[str]
    ) -> tuple[Honesty | None, Honesty | None]:
        """The calibration of stated confidences, before and after gold recalibrated them."""
        sure = self.confidence[scored]
        stated = ~np.isnan(sure)
        if int(stated.sum()) < _LEAST_CALIBRATED:
            unit = "gold items with a confidence"
            missing.append(tell_need("calibration", _LEAST_CALIBRATED, int(stated.sum()), unit))
            return None, None
        right = (self._truths_of(scored) == self.known[self.soft.item[scored]])[stated]
        later = recalibrated(sure[stated], right, self.seed)
        return honesty(sure[stated], right), None if later is None else honesty(later, right)

    def _truths_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the truth that each row's label stands for, -1 for none."""
        stands = np.array(self.answers.judgments.scale.truth_of)
        return np.asarray(stands[self.soft.label[rows]], dtype=np.int64)

    def _with_verdict(self, one: JudgeAudit, people: Sequence[Company]) -> JudgeAudit:
        """The judge with a verdict and its reason."""
        verdict, reason = decide(one, people[0].kappa if people else _NAN)
        return replace(one, verdict=verdict, reason=reason)

    def _correct(
        self,
        judged: Sequence[JudgeAudit],
        slices: Any,
        targets: tuple[str, ...],
        runs: Sequence[Run],
    ) -> tuple[list[Corrected], list[Transport]]:
        """The corrected numbers of every judge, on all items and on every slice."""
        corrected: list[Corrected] = []
        transport: list[Transport] = []
        if self.gold is None:
            return corrected, transport
        table = self.answers.judgments
        names = table.judges.to_pylist()
        ranked = [name for name in targets if not is_plain(name)]
        targets = tuple(name for name in targets if is_plain(name))
        for rank, one in enumerate(judged):
            own = table.select(
                judgments=table.judge == names.index(one.judge),
                keep_empty=True,
                items=np.ones(table.item_count, dtype=np.bool_),
            )
            has = own.counts_per_item > 0
            own = own.select(items=has)
            if len(np.unique(self.known[has][self.known[has] >= 0])) < 2:
                continue  # gold of one class, or none
            corrected += correct_targets(own, self.gold, targets, seed=self.seed)
            for group in _groups_of_runs(runs) if rank < _MOST_RANKED else ():
                corrected += correct_targets(own, self.gold, ranked, group, seed=self.seed)
            if slices is None or len(slices[0]) < 2:
                continue
            code = slices[1][has]
            checked = check_transport(own, self.known[has], (slices[0], code), seed=self.seed)
            transport += checked
            beliefs = learn_beliefs(own, self.known[has], seed=self.seed)
            for check in checked:
                inside = code == slices[0].index(check.slice)
                part, known = own.select(items=inside), beliefs[inside]
                rows = correct_targets(
                    part, self.gold, targets, slice=check.slice, beliefs=known, seed=self.seed
                )
                corrected += [replace(row, refused=check.refused or row.refused) for row in rows]
        return corrected, transport


def decide(one: JudgeAudit, people_kappa: float) -> tuple[str, str]:
    """Return the verdict on a judge, and its reason in one line.

    Not ready: kappa with gold may be 0.2 or less, samples do not repeat, or a bias was found. Ready
    with correction: labels are informative, but over-rate, or agree with gold less than 0.6 and do
    not pass the alternative annotator test. Ready: all others.
    """
    if not one.kappa.defined:
        return NO_GOLD, str(one.kappa.reason)
    kappa, low = one.kappa.value, one.kappa.low if one.kappa.low is not None else one.kappa.value
    shown = f"{one.kappa.name.replace('-', ' ')} {kappa:.2f}" + (
        "" if one.kappa.low is None else f" (at least {low:.2f})"
    )
    if low <= _POOR:
        return NOT_READY, f"{shown} with gold may be close to chance"
    biases = [bias for bias in one.biases if bias.found]
    if biases:
        worst = max(biases, key=lambda bias: abs(bias.effect))
        return NOT_READY, worst.sentence.removeprefix(f"{one.judge} ")
    if one.alpha < _UNRELIABLE:
        return NOT_READY, f"its samples hardly repeat (alpha {one.alpha:.2f})"
    over = one.scores["over-rating"]
    reach = float(np.ptp(one.rates.scale.values)) or 1.0
    if (
        over.defined
        and abs(over.value) > _TRIFLE * reach
        and (over.low or 0) * (over.high or 0) > 0
    ):
        verb = "over-rates" if over.value > 0 else "under-rates"
        size = f"{abs(over.value):.2f} grades ({over.low:+.2f} to {over.high:+.2f})"
        return WITH_CORRECTION, f"{verb} by {size}"
    if one.alternative == "passed":
        return READY, f"{shown}; passes the alternative annotator test"
    if kappa >= _GOOD:
        return READY, f"{shown}; no bias found" if one.biases else shown
    if kappa >= people_kappa:
        return READY, f"{shown}; people among themselves {people_kappa:.2f}"
    return WITH_CORRECTION, f"{shown} is below {_GOOD}"


def _merit(one: JudgeAudit) -> tuple[int, float, str]:
    """Verdicts from best to worst; within one, by kappa."""
    place = (READY, WITH_CORRECTION, NOT_READY, NO_GOLD).index(one.verdict)
    return place, -one.kappa.value if one.kappa.defined else 0.0, one.judge


def _groups_of_runs(runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """Each run, and the first with each other one."""
    yield from ([run] for run in runs)
    yield from ([runs[0], other] for other in runs[1:])


def _row_confidence(answers: ModelAnswers, soft: SoftJudgments) -> _Floats:  # (row,)
    """How sure each soft judgment is of its label; NaN where nothing tells.

    What the model said of itself, over its samples; without that the share of the samples, each
    label having had half a sample before.
    """
    labels = soft.shares.shape[1]
    if answers.confidence is None:
        smoothed = (soft.confidence * soft.samples + 0.5) / (soft.samples + 0.5 * labels)
        return np.asarray(np.where(soft.samples > 1, smoothed, np.nan))
    chosen = answers.judgments.label == soft.label[soft.row]
    told = np.where(chosen, answers.confidence, 0.0)
    total = np.bincount(soft.row, weights=np.nan_to_num(told), minlength=len(soft))
    heard = np.bincount(soft.row, weights=~np.isnan(answers.confidence), minlength=len(soft))
    return np.asarray(np.where(heard > 0, total / np.maximum(heard, 1), np.nan))


def _total(values: _Floats | None, mine: NDArray[np.bool_]) -> float:
    """The sum over a judge's judgments; NaN where nothing is known."""
    if values is None or np.isnan(values[mine]).all():
        return _NAN
    return float(np.nansum(values[mine]))


def _sample_remarks(judges: Sequence[JudgeAudit]) -> Iterator[Remark]:
    """Say who was asked several times, and whether the answers repeat."""
    for one in judges:
        if not np.isfinite(one.agreement):
            continue
        alike = f"two of its samples agree on {one.agreement:.0%} of the items"
        if np.isfinite(one.alpha):
            alike += f" (alpha {one.alpha:.2f}; all together {one.reliability:.2f})"
        yield Remark(
            "samples",
            one.judge,
            f"{one.judge} was asked {one.samples:.1f} times per item: {alike}. Its samples count "
            "as one judgment, and their shares as a soft judgment.",
        )
        if one.alpha < _UNRELIABLE:
            yield Remark(
                "unreliable",
                one.judge,
                f"{one.judge} hardly repeats itself (alpha {one.alpha:.2f}): a single sample says "
                "little; ask more often, or at a lower temperature.",
            )


def _other_remarks(injections: Sequence[Injected], biases: Sequence[Bias]) -> Iterator[Remark]:
    """Describe texts that speak to the judge, and biases."""
    for one in injections:
        has = "has " if one.kind in _HELD else ""
        sentence = f"The {one.field} of item {one.item} {has}{one.kind}: {one.excerpt!r}."
        yield Remark("injection", one.item, sentence)
    for bias in biases:
        if bias.found:
            yield Remark(bias.what, bias.judge, bias.sentence)


def _compounded(alpha: float, samples: float) -> float:
    """The reliability of the mean of so many samples, by Spearman and Brown."""
    return samples * alpha / (1 + (samples - 1) * alpha) if alpha > 0 else max(alpha, 0.0)
