"""The counters of items: every change of them against a pure account of one item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.items import counters
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import item_state
from adjudge.collect.store.schema import (
    items,
    metadata,
    projects,
)

SMALL = st.integers(0, 6)


@dataclass(frozen=True)
class Item:
    """The counters of one item, and the state that the pure rule gives them."""

    leased: int
    trusted: int
    surplus: int
    broken: int
    needed: int
    withdrawn: bool = False

    def state(self, policy: Policy) -> str:
        if self.withdrawn:
            return "withdrawn"
        limits = {"needed": self.needed, "set_aside_after": policy.set_aside_after}
        return item_state(trusted=self.trusted, broken=self.broken, **limits)

    def more(self, **by: int) -> Item:
        return replace(self, **{name: getattr(self, name) + more for name, more in by.items()})


ITEMS = st.builds(
    Item, leased=SMALL, trusted=SMALL, surplus=SMALL, broken=SMALL,
    needed=st.integers(1, 6), withdrawn=st.booleans(),
)  # fmt: skip
POLICIES = st.builds(lambda after: Policy(set_aside_after=after), st.integers(1, 4))


@pytest.fixture(scope="module")
def engine() -> Iterator[sa.Engine]:
    made = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    metadata.create_all(made)
    yield made
    made.dispose()


def stored(on: sa.Connection, kept: list[Item], policy: Policy) -> list[int]:
    """Items with these counters in a project of their own, as they would stand in the store."""
    project = on.execute(
        sa.insert(projects)
        .values(
            slug="p", state="open", scale={}, policy=policy.to_dict(), policy_version=1,
            version=1, seed=1, made=0.0,
        )
        .returning(projects.c.id)
    ).scalar_one()  # fmt: skip
    ids = []
    for place, item in enumerate(kept):
        values = {name: getattr(item, name) for name in ("leased", "trusted", "surplus", "broken")}
        values |= {"needed": item.needed, "state": item.state(policy), "gold": False}
        row = sa.insert(items).values(project=project, name=str(place), rank=place, **values)
        ids.append(on.execute(row.returning(items.c.id)).scalar_one())
    return ids


def read(on: sa.Connection, ids: list[int]) -> list[tuple[Item, str]]:
    rows = on.execute(sa.select(items).where(items.c.id.in_(ids)).order_by(items.c.id))
    counted = [f.name for f in fields(Item) if f.name != "withdrawn"]
    return [
        (Item(*(getattr(row, name) for name in counted), row.state == "withdrawn"), row.state)
        for row in rows
    ]


CHANGES = (
    {"leased": -1, "trusted": 1},
    {"leased": -1, "broken": 1},
    {"trusted": 2, "surplus": 1},
    {"trusted": -1},
    {"surplus": -1},
    {},
)


@given(
    kept=st.lists(ITEMS, min_size=1, max_size=4),
    policy=POLICIES,
    changes=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=6),
    data=st.data(),
)
def test_every_change_is_as_the_pure_account_has_it(
    engine: sa.Engine,
    kept: list[Item],
    policy: Policy,
    changes: list[dict[str, int]],
    data: st.DataObject,
) -> None:
    with engine.connect() as on, on.begin() as transaction:
        ids = stored(on, kept, policy)
        account = dict(zip(ids, kept, strict=True))
        for by in changes:
            chosen = data.draw(st.lists(st.sampled_from(ids), unique=True))
            counters.add_counts(on, chosen, policy, **by)
            account |= {item: account[item].more(**by) for item in chosen}
        assert read(on, ids) == [(item, item.state(policy)) for item in account.values()]
        transaction.rollback()


@given(kept=st.lists(ITEMS, min_size=1, max_size=4), before=POLICIES, after=POLICIES)
def test_items_that_are_brought_back_are_what_their_counters_say(
    engine: sa.Engine, kept: list[Item], before: Policy, after: Policy
) -> None:
    with engine.connect() as on, on.begin() as transaction:
        ids = stored(on, kept, before)
        counters.put(on, ids, "withdrawn")
        assert [state for _, state in read(on, ids)] == ["withdrawn"] * len(ids)
        counters.bring_back(on, ids, after)
        here = [replace(item, withdrawn=False) for item in kept]
        assert read(on, ids) == [(item, item.state(after)) for item in here]
        transaction.rollback()


@given(kept=st.lists(ITEMS, min_size=1, max_size=4), policy=POLICIES, count=st.integers(1, 6))
def test_items_never_need_fewer_than_they_have_or_are_being_given(
    engine: sa.Engine, kept: list[Item], policy: Policy, count: int
) -> None:
    changed = policy.changed({"judgments_per_item": count})
    with engine.connect() as on, on.begin() as transaction:
        ids = stored(on, kept, policy)
        project = on.execute(sa.select(projects.c.id)).scalar_one()
        assert counters.set_needed(on, project, changed) == ids
        expected = [replace(i, needed=max(count, i.leased + i.trusted)) for i in kept]
        assert read(on, ids) == [(item, item.state(changed)) for item in expected]
        transaction.rollback()
