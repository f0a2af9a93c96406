"""The gold of a project, for the requester: how judges meet it, its design, and more of it."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlalchemy import func, select, update

from adjudge.collect.items.storing import count_work
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services._gold_design import design, forecast
from adjudge.collect.services._gold_editing import check_workable, edit_gold, import_items
from adjudge.collect.services._gold_review import list_contests, list_golds, settle
from adjudge.collect.services.caller import Service, reads, writes
from adjudge.collect.store.database import batches
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import TRUSTED_WORK, golds, is_real, items, judges, judgments
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
from adjudge.collect.values.project import GoldEntry, Mix, Role
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
class GoldService(Service):
    """What a requester can do with the gold of a project."""

    # -- gold that can be wrong

    @reads()
    def get_all(self, request: Request) -> list[GoldRow]:
        """Every gold with misses and contests, the most doubtful first."""
        return list_golds(request)

    @reads()
    def get_items(self, request: Request) -> dict[int, str]:
        """The item of each gold, by the number that the log has for it."""
        return {number: gold.name for number, gold in request.project.golds.items()}

    @writes(alone=True)
    def edit(
        self,
        request: Request,
        item: str,
        *,
        accepted: Iterable[str] | None = None,
        reason: str | None = None,
        reasons: dict[str, str] | None = None,
        role: str | None = None,
        active: bool | None = None,
    ) -> Regrade:
        """Change a gold and regrade every answer to it at once; what is None stays."""
        given = {
            "accepted": None if accepted is None else list(accepted),
            "reason": reason,
            "reasons": reasons,
            "role": role,
            "active": active,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        return edit_gold(request, item, changes)

    @reads()
    def get_contests(self, request: Request, *, settled: bool | None = False) -> list[Contest]:
        """What judges say against gold; ``settled`` None gives all."""
        return list_contests(request, settled)

    @writes("reviewer")
    def settle(self, request: Request, contest: int, *, upheld: bool, answer: str = "") -> Contest:
        """Note that a contest was looked at; the judge sees the answer as a notice."""
        return settle(request, contest, upheld=upheld, answer=answer)

    # -- gold by design

    @reads()
    def forecast(
        self,
        request: Request,
        *,
        judges: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> GoldForecast:
        """How much gold the project needs if so many judges come, and what is wrong with it.

        Without ``judges`` they are estimated from those who worked. ``settings`` are changes of its
        policy that are only considered.
        """
        project, policy = request.project, request.project.policy.changed(settings or {})
        work = count_work(request.on, project.id)
        if policy.judgments_by_arm:  # the sum over arms, as if there were one
            needed = min(1000, policy.judgments_needed(len(project.arms)))
            policy = policy.changed({"judgments_per_item": needed, "judgments_by_arm": False})
        return forecast(
            policy,
            items=work,
            labels=project.scale.labels,
            judges=_estimate_judges(request, policy, work) if judges is None else judges,
            training=project.training,
            screening=project.screening,
        )

    @writes(lock=True)
    def design(
        self,
        request: Request,
        *,
        training: int | None = None,
        training_mix: Mix = "uniform",
        screening_mix: Mix = "any",
        seed: int = 0,
        store: bool = True,
    ) -> GoldDesign[int]:
        """Split the gold into a training set of the mix asked for, and screening gold: the rest.

        Without ``store`` only what it would be. No gold has both roles then.
        """
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
            roles = [(made.training, "training"), (made.screening, "screening")]
            for chosen, role in roles:
                for part in batches(chosen):
                    change = update(golds).where(golds.c.id.in_(part))
                    request.on.execute(change.values(role=role))
            bump(request.on, request.project.id)
            figures = {"training": len(made.training), "screening": len(made.screening)}
            request.log("gold-designed", actor=request.actor, seed=seed, **figures)
        return made

    # -- more gold

    @reads()
    def suggest(self, request: Request, consensus: Consensus, count: int) -> list[Suggestion]:
        """Items that could become gold: the surest of a consensus, of the labels that gold lacks.

        A person has to approve each. Never suggested are items with few judgments, with too low a
        probability, or whose label too few of their judges gave: so there may be fewer than
        ``count``.
        """
        mix, have = _find_mix(request.project)
        sure = sure_items(consensus, known=_list_known(request), each=max(count, 0))
        return choose_lacking(sure, count, labels=consensus.scale.truths, mix=mix, have=have)

    @reads()
    def describe_suggested(
        self, request: Request, sure: Sequence[Suggestion], count: int
    ) -> list[SuggestedGold]:
        """So many of the items that a fit was sure of, with texts and votes, for a person to see.

        What is gold by now or was declined is left out.
        """
        gone, (mix, have) = set(_list_known(request)), _find_mix(request.project)
        left = [one for one in sure if one.item not in gone]
        labels = request.project.scale.truths
        chosen = choose_lacking(left, count, labels=labels, mix=mix, have=have)
        statement = select(items).where(
            items.c.project == request.project.id,
            items.c.name.in_([one.item for one in chosen]),
            items.c.state != "withdrawn",
        )
        texts = {row.name: row for row in request.on.execute(statement)}
        given = (
            select(items.c.name, judgments.c.label, judges.c.public)
            .join(judges, judges.c.id == judgments.c.judge)
            .join(items, items.c.id == judgments.c.item)
            .where(judgments.c.item.in_([text.id for text in texts.values()]), TRUSTED_WORK)
            .order_by(judgments.c.id)
        )
        votes: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for name, label, judge in request.on.execute(given):
            votes[name][label] = (*votes[name].get(label, ()), judge)
        return [
            SuggestedGold(
                **asdict(one),
                **{name: getattr(texts[one.item], name) for name in _TEXTS},
                votes=votes.get(one.item, {}),
            )
            for one in chosen
            if one.item in texts
        ]

    @writes(lock=True)
    def decline(self, request: Request, item: str, *, again: bool = False) -> None:
        """Never suggest an item as gold; ``again`` lets it be suggested once more.

        Refused: ``gold-already``.
        """
        check_workable(request, item)
        known = set(_list_declined(request))
        if (item in known) is not again:
            return
        changed = known - {item} if again else known | {item}
        keep_setting(request.on, declined_golds(request.project.id), sorted(changed))
        event = "gold-reconsidered" if again else "gold-declined"
        request.log(event, actor=request.actor, item=item)

    @reads()
    def get_declined(self, request: Request) -> list[str]:
        """The items that are not to be suggested as gold, in the order of their names."""
        return _list_declined(request)

    @writes(alone=True)
    def approve(
        self,
        request: Request,
        item: str,
        *,
        accepted: Sequence[str],
        reason: str = "",
        role: Role = "screening",
    ) -> Imported:
        """Make gold of an item that was work: its judgments stay, it is given out as work no more.

        Refused: ``gold-already``.
        """
        check_workable(request, item)
        entry = GoldEntry(item=item, accepted=tuple(accepted), reason=reason, role=role)
        done = import_items(request, (), (entry,))
        figures: dict[str, Any] = {"item": item, "accepted": list(accepted), "role": role}
        request.log("gold-approved", actor=request.actor, **figures)
        return done


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


def choose_lacking(
    sure: Sequence[Suggestion],
    count: int,
    *,
    labels: Sequence[str],
    mix: Mix = "uniform",
    have: Mapping[str, int] | None = None,
) -> list[Suggestion]:
    """At most so many of the sure items; each has the label that gold lacks most by a mix.

    ``have``: the gold that there is already, by label.
    """
    if count < 0:
        raise BadSetting("count", count, "0 suggestions or more")
    shares = {label: 1.0 if isinstance(mix, str) else float(mix.get(label, 0)) for label in labels}
    total, had = (
        sum(shares.values()),
        Counter({label: (have or {}).get(label, 0) for label in labels}),
    )
    piles = {
        label: deque(one for one in sure if one.label == label) for label in labels if shares[label]
    }
    chosen: list[Suggestion] = []
    while len(chosen) < count and (waiting := [label for label in piles if piles[label]]):
        so_far = had.total() + 1
        lacks = {label: so_far * shares[label] / total - had[label] for label in waiting}
        label = max(waiting, key=lacks.__getitem__)
        chosen.append(piles[label].popleft())
        had[label] += 1
    return chosen


def _find_unknown(consensus: Consensus, known: Sequence[str]) -> NDArray[np.bool_]:  # (item,)
    """Items that are no gold yet, and whose label rests on their own judgments."""
    names = consensus.judgments.items
    found = pc.is_in(names, value_set=pa.array(list(known), names.type))
    fine: NDArray[np.bool_] = ~found.to_numpy(zero_copy_only=False)
    if consensus.fallback is not None:
        fine &= ~consensus.fallback
    if consensus.known is not None:
        fine &= consensus.known < 0
    return fine


def _measure_agreement(consensus: Consensus) -> NDArray[np.float64]:  # (item,)
    """The share of each item's judgments that give the chosen truth."""
    judgments = consensus.judgments
    counts = np.diff(judgments.offsets)
    item = np.repeat(np.arange(len(counts)), counts)
    truth_of = np.array(consensus.scale.truth_of)
    same = truth_of[judgments.label] == consensus.choice[item]
    hits = np.bincount(item, weights=same.astype(np.float64), minlength=len(counts))
    return np.asarray(hits / np.maximum(counts, 1))


def _estimate_judges(request: Request, policy: Policy, work: int) -> int:
    """How many judges the work takes if each does as many pages as those who came."""
    ours = (judges.c.project == request.project.id, judges.c.pages > 0, is_real)
    done = request.on.execute(select(func.avg(judges.c.pages)).where(*ours)).scalar()
    pages = work * policy.judgments_per_item / policy.work_per_page
    return max(1, round(pages / float(done or _PAGES)), policy.judgments_per_item)


def _find_mix(snapshot: ProjectSnapshot) -> tuple[Mix, Counter[str]]:
    """The mix that new gold should lead to, and the gold there is, by label."""
    mix: Mix = snapshot.policy.training_mix
    active = (gold for gold in snapshot.golds.values() if gold.active)
    return "uniform" if mix == "any" else mix, Counter(gold.accepted[0] for gold in active)


def _list_known(request: Request) -> list[str]:
    """The items that are not to be suggested: gold, and those declined."""
    known = [gold.name for gold in request.project.golds.values()]
    return known + _list_declined(request)


def _list_declined(request: Request) -> list[str]:
    found: list[str] = read_setting(request.on, declined_golds(request.project.id)) or []
    return found
