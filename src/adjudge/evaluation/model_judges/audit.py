"""The audit of LLM judges: one verdict per judge, and every check behind it.

Each judge is measured against gold, people and its own family (``judge_audit``); biases, slices and
the alternative annotator test are checked over all judges, and numbers from a judge's labels are
corrected by gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import PERSON, Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import look_up
from adjudge.data.results import Result
from adjudge.data.runs import Run
from adjudge.data.source import count_of
from adjudge.errors import BadData, UnknownName
from adjudge.evaluation._resampling import check_resampling
from adjudge.evaluation.model_judges._checks import (
    Bias,
    Injected,
    Remark,
    find_biases,
    find_injections,
    stale_mix,
    stale_versions,
)
from adjudge.evaluation.model_judges.answers import Groups, slice_items, take_answers
from adjudge.evaluation.model_judges.corrected import (
    NOT_RANDOM,
    Corrected,
    Transport,
    check_transport,
    correct_targets,
    default_targets,
    is_plain,
    learn_beliefs,
)
from adjudge.evaluation.model_judges.judge_audit import (
    UNRELIABLE,
    JudgeAudit,
    JudgeAuditor,
    check_correction,
)
from adjudge.evaluation.model_judges.panel import (
    LEAST_GOLD,
    Company,
    PanelWorth,
    measure_company,
    measure_worth,
)
from adjudge.evaluation.model_judges.rates import Rates, tell_need
from adjudge.evaluation.model_judges.replacement import (
    Replacement,
    ScoreName,
    check_test,
    may_replace,
)
from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments
from adjudge.evaluation.scores import Score, columns_of, interval_columns, reals
from adjudge.models.model import prepare

_LEVEL = 0.95
_NAN = float("nan")
_HELD = ("control tokens", "hidden characters")  # what texts have; other kinds they do
_MOST_RANKED = 5  # judges whose labels measure runs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit(Result):
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

    @property
    def facts(self) -> str:
        """How many judges there are, and their verdicts."""
        said = ", ".join(f"{one.judge} {one.verdict}" for one in self.judges[:5])
        return f"{count_of(len(self.judges), 'LLM judge')}: {said}"

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
            integers=("judgments", "items", "gold"),
        )
        for name in (*rows[0].scores, "gold-saved"):
            scores = [one.scores.get(name) or one.saved for one in rows]
            ends = [[getattr(one, end) for one in scores] for end in ("value", "low", "high")]
            columns |= interval_columns(name.replace("-", "_"), ends)
        for name in ("log_loss", "brier", "calibration_error"):
            columns[name] = reals([getattr(one.calibration, name, None) for one in rows])
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
        """One row per item to label, by the transport check: item, slice, judges."""
        rows: dict[tuple[str, str], list[str]] = {}
        for one in self.transport:
            for item in one.to_label if one.refused else ():
                rows.setdefault((item, one.slice), []).append(one.judge)
        named = [{"item": i, "slice": s, "judges": ", ".join(j)} for (i, s), j in rows.items()]
        schema = pa.schema([(name, pa.large_string()) for name in ("item", "slice", "judges")])
        return pa.Table.from_pylist(named, schema=schema)


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
    check_test(score, epsilon)
    answers = take_answers(judgments, people)
    truth = take_gold(gold) if gold is not None else answers.gold
    table = answers.judgments
    known = _align(truth, table)
    llm = np.asarray(table.kind) != PERSON
    if not llm.any():
        raise BadData("all judges are people; expected LLM judges", expected="LLM judges")
    systems = [run if isinstance(run, Run) else Run.read(run) for run in runs]
    slices = slice_items(answers, by)
    names = default_targets(table.scale, runs=bool(runs)) if targets is None else targets
    models = table.select(judgments=llm[table.judge])
    kin = prepare(models, None, None)
    family = -1 - np.arange(table.judge_count)  # people have none in common
    family[look_up(models.judges, table.judges)] = kin.families.family
    company = measure_company(table, ~llm, family)
    of_people = tuple(one for one in company if not one.judge)
    replacement, missing = _test_replacement(answers, llm, score, epsilon)
    biases, causes = find_biases(answers, known, llm)
    worth = measure_worth(models, truth, seed=seed)
    if worth is None and llm.sum() > 1:
        missing += (tell_need("worth of the panel", LEAST_GOLD, int((known >= 0).sum())),)
    auditor = JudgeAuditor(answers, known, resamples=resamples, seed=seed)
    people_kappa = of_people[0].kappa if of_people else _NAN
    judged = [
        auditor.audit(int(code), company, biases, causes, replacement, people_kappa)
        for code in np.flatnonzero(llm)
    ]
    judged.sort(key=lambda one: one.order)
    corrected, transport = _correct(table, truth, known, judged, slices, names, systems, seed)
    judged = sorted(
        (check_correction(one, corrected, transport) for one in judged), key=lambda one: one.order
    )
    injections = find_injections(table.items, answers.texts)
    notes = [Remark("family", "", f"{text}.") for text in kin.notes]
    if truth is not None:
        notes += stale_versions(answers, auditor.soft, known)
        notes += stale_mix(answers, auditor.soft, known)
    mine = ~llm[table.judge] & (known[table.item] >= 0)
    rates = Rates.count(table.scale, known[table.item[mine]], table.label[mine])
    return Audit(
        judges=tuple(judged),
        people=int((~llm).sum()),
        people_accuracy=rates.measure("accuracy") if mine.any() else None,
        company=of_people,
        panel=worth,
        corrected=tuple(corrected),
        transport=tuple(transport),
        replacement=replacement,
        remarks=(*_sample_remarks(judged), *notes, *_other_remarks(injections, biases)),
        injections=injections,
        left_out=missing,
        answers=answers,
        soft=auditor.soft,
        known=known,
    )


def _align(gold: Gold | None, judgments: Judgments) -> NDArray[np.int16]:  # (item,)
    """Return the gold of each item, -1 for none; gold of no judged item is an error."""
    if gold is None:
        return np.full(judgments.item_count, -1, dtype=np.int16)
    known = gold.align(judgments)
    if not (known >= 0).any():
        raise BadData(
            f"no gold item (of {len(gold):,}) has a judgment; expected gold of judged items",
            source=gold.source,
            expected="gold of judged items",
        )
    return known


def _test_replacement(
    answers: ModelAnswers, llm: NDArray[np.bool_], score: ScoreName, epsilon: float
) -> tuple[Replacement | None, tuple[str, ...]]:
    """Make the alternative annotator test, or say what it needs."""
    if llm.all():
        return None, ("alternative annotator test: needs judgments of people",)
    try:
        return may_replace(answers, score=score, epsilon=epsilon), ()
    except BadData as fault:
        return None, (f"alternative annotator test: {fault.sentence}",)


def _correct(
    table: Judgments,
    gold: Gold | None,
    known: NDArray[np.int16],  # (item,)
    judged: Sequence[JudgeAudit],
    slices: Groups | None,
    targets: Sequence[str],
    runs: Sequence[Run],
    seed: int,
) -> tuple[list[Corrected], list[Transport]]:
    """Correct the numbers of every judge, on all items and on every slice."""
    corrected: list[Corrected] = []
    transport: list[Transport] = []
    if gold is None:
        return corrected, transport
    names = table.judges.to_pylist()
    ranked = [name for name in targets if not is_plain(name)]
    plain = [name for name in targets if is_plain(name)]
    for rank, one in enumerate(judged):
        own = table.select(
            judgments=table.judge == names.index(one.judge),
            keep_empty=True,
            items=np.ones(table.item_count, dtype=np.bool_),
        )
        has = own.counts_per_item > 0
        own, given = own.select(items=has), known[has]
        if len(np.unique(given[given >= 0])) < 2:
            continue  # gold of one class, or none
        corrected += correct_targets(own, gold, plain, seed=seed)
        for group in _groups_of_runs(runs) if rank < _MOST_RANKED else ():
            corrected += correct_targets(own, gold, ranked, group, seed=seed)
        if slices is None or len(slices[0]) < 2:
            continue
        code = slices[1][has]
        checked = check_transport(own, given, (slices[0], code), seed=seed)
        transport += checked
        beliefs = learn_beliefs(own, given, seed=seed)
        for check in checked:
            inside = code == slices[0].index(check.slice)
            rows = correct_targets(
                own.select(items=inside),
                gold,
                plain,
                slice=check.slice,
                beliefs=beliefs[inside],
                seed=seed,
            )
            corrected += [replace(row, refused=check.refused or row.refused) for row in rows]
    return [*_refuse_gold(corrected)], transport


def _refuse_gold(corrected: Sequence[Corrected]) -> Iterator[Corrected]:
    """Refuse every number of all items if one judge shows that gold was not drawn at random."""
    shown = [row for row in corrected if row.code == NOT_RANDOM and not row.slice]
    for row in corrected:
        if shown and row.valid and not row.slice:
            reason = f"gold was not drawn at random, by the labels of {shown[0].judge}"
            yield replace(row, refused=reason, code=shown[0].code)
        else:
            yield row


def _groups_of_runs(runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """Each run, and the first with each other one."""
    yield from ([run] for run in runs)
    yield from ([runs[0], other] for other in runs[1:])


def _sample_remarks(judges: Sequence[JudgeAudit]) -> Iterator[Remark]:
    """Yield remarks on judges with several samples, and whether these agree."""
    for one in judges:
        if not np.isfinite(one.agreement):
            continue
        alike = f"two of its samples agree on {one.agreement:.0%} of the items"
        if np.isfinite(one.alpha):
            alike += f" (alpha {one.alpha:.2f}; all together {one.reliability:.2f})"
        yield Remark(
            "samples",
            one.judge,
            f"{one.judge} gave {one.samples:.1f} samples per item: {alike}. Its samples count "
            "as one judgment, and their shares as a soft judgment.",
        )
        if one.alpha < UNRELIABLE:
            yield Remark(
                "unreliable",
                one.judge,
                f"{one.judge} hardly repeats itself (alpha {one.alpha:.2f}): a single sample is "
                "unreliable; take more samples, or a lower temperature.",
            )


def _other_remarks(injections: Sequence[Injected], biases: Sequence[Bias]) -> Iterator[Remark]:
    """Yield remarks on texts that address the judge, and on biases."""
    for one in injections:
        has = "has " if one.kind in _HELD else ""
        sentence = f"The {one.field} of item {one.item} {has}{one.kind}: {one.excerpt!r}."
        yield Remark("injection", one.item, sentence)
    for bias in biases:
        if bias.found:
            yield Remark(bias.what, bias.judge, bias.sentence)
