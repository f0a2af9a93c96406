"""What a new fit changes in an adaptive project: needs and the queue.

In the background, never in a request: items are gone through a part at a time, each in a short
transaction of its own, so that judges hardly wait.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import lock_items
from adjudge.collect.items.storing import set_ranks
from adjudge.collect.rules.adaptive import (
    Knowledge,
    order_of,
    read_knowledge,
    rule_of,
)
from adjudge.collect.rules.routing import interleave
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.database import Database, batches
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judges
from adjudge.collect.store.settings import keep_setting, knowledge_name
from adjudge.collect.store.snapshot import ProjectSnapshot, bump

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold


def learn(services: RequesterServices, slug: str, consensus: Consensus) -> None:
    """Keep what a fit knows of a project's judges; where it is adaptive, go by it from now on."""
    caller = services.caller

    def keep(on: Connection) -> tuple[ProjectSnapshot, Knowledge]:
        snapshot = caller.open(on, slug, lock=True).project
        statement = select(judges.c.public, judges.c.id).where(judges.c.project == snapshot.id)
        ids: dict[str, int] = dict(on.execute(statement).all())
        names = consensus.judgments.judges.to_pylist()
        who = np.array([ids[name] for name in names], dtype=np.int64)
        knowledge = read_knowledge(consensus, who)
        keep_setting(on, knowledge_name(snapshot.id), knowledge.to_json())
        if snapshot.policy.closing == "adaptive":
            bump(on, snapshot.id)  # every process reads it again
        return snapshot, knowledge

    snapshot, knowledge = caller.database.write(keep)
    if snapshot.policy.closing == "adaptive":
        _renew_all(caller, snapshot, knowledge)


def place_all(database: Database, ranks: dict[int, int]) -> None:
    """Set the places of many items in the queue, a part at a time."""
    for part in batches(ranks):
        placed = {item: ranks[item] for item in part}
        database.write(lambda on, new=placed: set_ranks(on, new))  # type: ignore[misc]


def begin_queue_again(on: Connection, project: int) -> None:
    """Let every judge of a project go through its queue from the beginning: its order is new."""
    theirs = select(judges.c.id).where(judges.c.project == project).order_by(judges.c.id)
    on.execute(theirs.with_for_update(key_share=True)).all()  # in the order of all who lock them
    on.execute(update(judges).where(judges.c.project == project).values(reached=0))


def _renew_all(caller: Caller, known: ProjectSnapshot, knowledge: Knowledge) -> None:
    """Set the needs of all items again, and put the open ones in a new order."""
    database, project = caller.database, known.id
    with database.read() as on:
        statement = select(items.c.id, items.c.topic)
        work = statement.where(items.c.project == project, items.c.gold.is_(False))
        topics: dict[int, str] = dict(on.execute(work).all())
    found = []
    snapshot = None
    for part in batches(topics):

        def renew(on: Connection, part: list[int] = part) -> tuple[ProjectSnapshot, list[Any]]:
            fresh = caller.open(on, known.slug, lock=True).project
            fresh.kept["knowledge"] = knowledge
            lock_items(on, part)
            return fresh, renew_needs(on, fresh, part)

        snapshot, standing = database.write(renew)
        found += standing
    if snapshot is None or not found:
        return
    rule = rule_of(snapshot.policy)
    every = np.concatenate([one.ids for one in found])
    trusted = np.concatenate([one.trusted for one in found])
    posterior = np.concatenate([one.posterior for one in found])
    closed = rule.closed(trusted, posterior.max(axis=1))
    left = int((~closed).sum())
    best = order_of(rule, trusted, posterior, knowledge.pooled, knowledge.correlation)
    order = every[best[:left]].tolist()
    size = snapshot.policy.results_per_query
    places = interleave([topics[item] for item in order], size)
    place_all(database, {order[place]: rank for rank, place in enumerate(places, 1)})
    figures: dict[str, Any] = {"items": len(every), "sure": int(closed.sum()), "open": left}
    last = snapshot

    def end(on: Connection) -> None:
        begin_queue_again(on, project)
        Request(on=on, project=last, now=caller.now()).log("needs-renewed", **figures)

    database.write(end)


def keep_hidden_gold(consensus: Consensus, gold: Gold | None) -> Consensus:
    """A consensus that knows hidden gold only, for advice on its judges.

    Adjudicated labels are no fair test: only items that judges disputed have them.
    """
    if consensus.known is None:
        return consensus
    none = np.full_like(consensus.known, -1)
    return replace(consensus, known=none if gold is None else gold.align(consensus.judgments))
