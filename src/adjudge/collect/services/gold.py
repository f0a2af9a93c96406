"""The gold of a project, for the requester: how judges meet it, its design, and more of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, func, select, update

from adjudge.collect.items.storing import count_work
from adjudge.collect.services._gold_design import design, forecast
from adjudge.collect.services._gold_editing import approve, check_workable, edit_gold
from adjudge.collect.services._gold_review import list_contests, list_golds, settle
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.conditions import COUNTED, is_real
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import golds, items, judges, judgments
from adjudge.collect.store.settings import declined_golds, keep_setting, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot, bump
from adjudge.collect.values.gold import (
    Contest,
    GoldDesign,
    GoldForecast,
    GoldRow,
    Regrade,
    SuggestedGold,
    Suggestion,
)
from adjudge.collect.values.project import Mix, Role
from adjudge.collect.values.requesting import Imported
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus


# A fit is honest about few judges: four of whom three agree make it three quarters sure. The surest
# come first, and a person looks at each before it becomes gold.
_LEAST_PROBABILITY = 0.75
_LEAST_AGREEMENT = 0.5  # share of its judgments that give the label
_PAGES = 15  # pages of work that a judge does, where nothing is known of them
_TEXTS = ("query", "need", "title", "text", "url")


@dataclass(frozen=True, slots=True)
class GoldService:
    """What a requester can do with the gold of a project."""

    caller: Caller

    # -- gold that can be wrong

    def get_all(self, slug: str) -> list[GoldRow]:
        """Every gold with misses and contests, the most doubtful first."""
        with self.caller.reading(slug) as request:
            return list_golds(request)

    def get_items(self, slug: str) -> dict[int, str]:
        """The item of each gold, by the number that the log has for it."""
        with self.caller.reading(slug) as request:
            return {number: gold.name for number, gold in request.project.golds.items()}

    def edit(
        self,
        slug: str,
        item: str,
        *,
        accepted: Iterable[str] | None = None,
        reason: str | None = None,
        reasons: dict[str, str] | None = None,
        role: str | None = None,
        active: bool | None = None,
    ) -> Regrade:
        """Change a gold and regrade every answer to it at once; what is None stays."""
        changes: dict[str, Any] = {
            "accepted": None if accepted is None else list(accepted),
            "reason": reason,
            "reasons": reasons,
            "role": role,
            "active": active,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        return self.caller.write(
            slug, lambda request: edit_gold(request, item, changes), alone=True
        )

    def get_contests(self, slug: str, *, settled: bool | None = False) -> list[Contest]:
        """What judges say against gold; ``settled`` None gives all."""
        with self.caller.reading(slug) as request:
            return list_contests(request, settled)

    def settle(self, slug: str, contest: int, *, upheld: bool, answer: str = "") -> Contest:
        """Note that a contest was looked at; the judge sees the answer as a notice."""
        return self.caller.write(
            slug,
            lambda request: settle(request, contest, upheld=upheld, answer=answer),
            least="reviewer",
        )

    # -- gold by design

    def forecast(
        self, slug: str, *, judges: int | None = None, settings: Mapping[str, Any] | None = None
    ) -> GoldForecast:
        """How much gold the project needs if so many judges come, and what is wrong with it.

        Without ``judges`` they are estimated from those who worked. ``settings`` are changes of its
        policy that are only considered.
        """
        with self.caller.reading(slug) as request:
            return _forecast_project(request, judges, settings)

    def design(
        self,
        slug: str,
        *,
        training: int | None = None,
        training_mix: Mix = "uniform",
        screening_mix: Mix = "any",
        seed: int = 0,
        store: bool = True,
    ) -> GoldDesign[int]:
        """Split the gold into a training set of the wanted mix, and screening gold: the rest.

        Without ``store`` only what it would be.
        """

        def work(request: Request) -> GoldDesign[int]:
            active = [gold for gold in request.project.golds.values() if gold.active]
            if not active:
                raise BadSetting("gold", None, "a project with gold")
            made = design(
                [gold.card for gold in active],
                training=request.project.policy.training_pairs if training is None else training,
                training_mix=training_mix,
                screening_mix=screening_mix,
                labels=request.project.scale.labels,
                seed=seed,
            )
            if store:
                _assign_roles(request, made, seed=seed)
            return made

        if store:
            return self.caller.write(slug, work, lock=True)
        with self.caller.reading(slug) as request:
            return work(request)

    # -- more gold

    def suggest(self, slug: str, consensus: Consensus, count: int) -> list[Suggestion]:
        """Items that could become gold: the surest of a consensus, of the labels that gold lacks.

        A person has to approve each.
        """
        with self.caller.reading(slug) as request:
            mix, have = _find_wanted(request.project)
            known = [gold.name for gold in request.project.golds.values()]
            known += _list_declined(request)
            return _suggest(consensus, count, known=known, mix=mix, have=have)

    def describe_suggested(
        self, slug: str, sure: Sequence[Suggestion], count: int
    ) -> list[SuggestedGold]:
        """So many of the items that a fit was sure of, with texts and votes, for a person to see.

        What is gold by now or was declined is left out.
        """
        with self.caller.reading(slug) as request:
            return _describe_suggested(request, sure, count)

    def decline(self, slug: str, item: str, *, again: bool = False) -> None:
        """Never suggest an item as gold; ``again`` lets it be suggested once more.

        Refused: ``gold-already``.
        """

        def work(request: Request) -> None:
            check_workable(request, item)
            known = set(_list_declined(request))
            if (item in known) is not again:
                return
            changed = known - {item} if again else known | {item}
            keep_setting(request.on, declined_golds(request.project.id), sorted(changed))
            event = "gold-reconsidered" if again else "gold-declined"
            request.log(event, actor=request.actor, item=item)

        self.caller.write(slug, work, lock=True)

    def get_declined(self, slug: str) -> list[str]:
        """The items that are not to be suggested as gold, in the order of their names."""
        with self.caller.reading(slug) as request:
            return _list_declined(request)

    def approve(
        self,
        slug: str,
        item: str,
        *,
        accepted: Sequence[str],
        reason: str = "",
        role: Role = "screening",
    ) -> Imported:
        """Make gold of an item that was work. Refused: ``gold-already``."""
        return self.caller.write(
            slug,
            lambda request: approve(request, item, accepted=accepted, reason=reason, role=role),
            alone=True,
        )


def _suggest(
    consensus: Consensus,
    count: int,
    *,
    known: Sequence[str] = (),
    mix: Mix = "uniform",
    have: Mapping[str, int] | None = None,
    least_judgments: int = 3,
) -> list[Suggestion]:
    """Items the consensus is surest of, of the labels that gold lacks most by a mix.

    ``known`` items are gold already, ``have`` of each label. Items with few judgments, of a
    lower probability than is wanted, or whose label too few of their judges gave are never
    suggested: there may be fewer than ``count``.
    """
    each = max(count, 0)
    sure = sure_items(consensus, known=known, each=each, least_judgments=least_judgments)
    return _choose(sure, count, labels=consensus.scale.truths, mix=mix, have=have)


def sure_items(
    consensus: Consensus,
    *,
    known: Sequence[str] = (),
    each: int | None = None,
    least_judgments: int = 3,
) -> list[Suggestion]:
    """The items that could become gold, label by label and the surest first; ``each`` a label."""
    judgments, truths = consensus.judgments, consensus.scale.truths
    probability, choice = consensus.probability, consensus.choice
    agreement = _measure_agreement(consensus)
    votes = judgments.counts_per_item
    fine = (votes >= least_judgments) & (probability >= _LEAST_PROBABILITY)
    fine &= (agreement >= _LEAST_AGREEMENT) & _find_unknown(consensus, known)
    # The surest first; among those that are about as sure, the one that most judgments agree on.
    order = np.lexsort((-votes, -agreement, -np.round(probability, 2)))
    order = order[fine[order]]
    topics = judgments.topics
    found = []
    for code, label in enumerate(truths):
        for item in order[choice[order] == code][:each].tolist():
            topic = ""
            if topics is not None and judgments.topic is not None:
                topic = str(topics[int(judgments.topic[item])].as_py())
            found.append(
                Suggestion(
                    item=str(judgments.items[item].as_py()),
                    topic=topic,
                    label=label,
                    probability=float(probability[item]),
                    judgments=int(votes[item]),
                    agreement=float(agreement[item]),
                )
            )
    return found


def _choose(
    sure: Sequence[Suggestion],
    count: int,
    *,
    labels: Sequence[str],
    mix: Mix = "uniform",
    have: Mapping[str, int] | None = None,
) -> list[Suggestion]:
    """At most so many of the sure items, in the order in which the gold lacks their labels."""
    if count < 0:
        raise BadSetting("count", count, "0 suggestions or more")
    piles: dict[str, list[Suggestion]] = {label: [] for label in labels}
    for one in sure:
        if one.label in piles:
            piles[one.label].append(one)
    turns = _take_turns({label: len(pile) for label, pile in piles.items()}, count, mix, have)
    waiting = {label: iter(pile) for label, pile in piles.items()}
    return [next(waiting[label]) for label in turns]


def _find_unknown(consensus: Consensus, known: Sequence[str]) -> NDArray[np.bool_]:  # (item,)
    """Items that are no gold yet, and whose label rests on their own judgments."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = consensus.judgments.items
    told = pc.is_in(names, value_set=pa.array(list(known), names.type))
    fine: NDArray[np.bool_] = ~told.to_numpy(zero_copy_only=False)
    if consensus.fallback is not None:
        fine &= ~consensus.fallback
    if consensus.known is not None:
        fine &= consensus.known < 0
    return fine


def _take_turns(
    room: Mapping[str, int], count: int, mix: Mix, have: Mapping[str, int] | None
) -> list[str]:
    """The labels of the suggestions one after the other: the one gold lacks most comes next."""
    shares = {label: 1.0 if isinstance(mix, str) else float(mix.get(label, 0.0)) for label in room}
    total = sum(shares.values())
    left = {label: many for label, many in room.items() if many and shares[label] > 0}
    had = Counter({label: (have or {}).get(label, 0) for label in room})
    turns: list[str] = []
    while left and len(turns) < count:
        so_far = sum(had.values()) + 1
        label = max(left, key=lambda name: so_far * shares[name] / total - had[name])
        turns.append(label)
        had[label] += 1
        left[label] -= 1
        if not left[label]:
            del left[label]
    return turns


def _measure_agreement(consensus: Consensus) -> NDArray[np.float64]:  # (item,)
    """The share of each item's judgments whose label stands for the chosen truth."""
    judgments = consensus.judgments
    counts = np.diff(judgments.offsets)
    item = np.repeat(np.arange(len(counts)), counts)
    truth_of = np.array(consensus.scale.truth_of)
    same = truth_of[judgments.label] == consensus.choice[item]
    hits = np.bincount(item, weights=same.astype(np.float64), minlength=len(counts))
    return np.asarray(hits / np.maximum(counts, 1))


def _forecast_project(
    request: Request, judges_expected: int | None, settings: Mapping[str, Any] | None = None
) -> GoldForecast:
    work = count_work(request.on, request.project.id)
    policy = request.project.policy.changed(settings or {})
    if policy.judgments_by_arm:  # the sum over arms, as if there were one
        needed = min(1000, policy.judgments_needed(len(request.project.arms)))
        policy = policy.changed({"judgments_per_item": needed, "judgments_by_arm": False})
    if judges_expected is None:
        pages = request.on.execute(
            select(func.avg(judges.c.pages)).where(
                judges.c.project == request.project.id, judges.c.pages > 0, is_real
            )
        ).scalar()
        wanted = work * policy.judgments_per_item / policy.work_per_page
        judges_expected = max(1, round(wanted / float(pages or _PAGES)))
        judges_expected = max(judges_expected, policy.judgments_per_item)
    return forecast(
        policy,
        items=int(work),
        labels=request.project.scale.labels,
        judges=judges_expected,
        training=request.project.training,
        screening=request.project.screening,
    )


def _find_wanted(snapshot: ProjectSnapshot) -> tuple[Mix, Counter[str]]:
    """The mix that new gold should lead to, and the gold there is, by label."""
    mix: Mix = snapshot.policy.training_mix
    active = (gold for gold in snapshot.golds.values() if gold.active)
    return "uniform" if mix == "any" else mix, Counter(gold.accepted[0] for gold in active)


def _describe_suggested(
    request: Request, sure: Sequence[Suggestion], count: int
) -> list[SuggestedGold]:
    gone = {gold.name for gold in request.project.golds.values()} | set(_list_declined(request))
    mix, have = _find_wanted(request.project)
    left = [one for one in sure if one.item not in gone]
    chosen = _choose(left, count, labels=request.project.scale.truths, mix=mix, have=have)
    texts = {
        row.name: row
        for row in request.on.execute(
            select(items).where(
                items.c.project == request.project.id,
                items.c.name.in_([one.item for one in chosen]),
                items.c.state != "withdrawn",
            )
        )
    }
    votes: dict[int, dict[str, list[str]]] = {}
    for row in request.on.execute(
        select(judgments.c.item, judgments.c.label, judges.c.public)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.item.in_([text.id for text in texts.values()]),
            COUNTED,
            judgments.c.standing != "untrusted",
        )
        .order_by(judgments.c.id)
    ):
        votes.setdefault(row.item, {}).setdefault(row.label, []).append(row.public)
    return [
        SuggestedGold(
            **asdict(one),
            **{name: getattr(texts[one.item], name) for name in _TEXTS},
            votes={label: tuple(who) for label, who in votes.get(texts[one.item].id, {}).items()},
        )
        for one in chosen
        if one.item in texts
    ]


def _list_declined(request: Request) -> list[str]:
    found: list[str] = read_setting(request.on, declined_golds(request.project.id)) or []
    return found


def _assign_roles(request: Request, made: GoldDesign[int], *, seed: int) -> None:
    """Split the gold into training and screening by a design; no gold has both roles then.

    Gold that is in neither set screens too.
    """
    active = [gold.gold for gold in request.project.golds.values() if gold.active]
    trains = set(made.training)
    roles = [
        {"which": gold, "new_role": "training" if gold in trains else "screening"}
        for gold in active
    ]
    ours = update(golds).where(golds.c.id == bindparam("which"))
    request.on.execute(ours.values(role=bindparam("new_role")), roles)
    bump(request.on, request.project.id)
    figures = {"training": len(made.training), "screening": len(active) - len(made.training)}
    request.log("gold-designed", actor=request.actor, seed=seed, **figures)
