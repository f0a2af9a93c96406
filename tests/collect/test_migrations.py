"""A store of an older version, with data in it, is brought up without losing any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database, upgrade
from collecting import Bench, made_project
from stores import copy_rows, new_postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of the first version."""
    if request.param == "sqlite":
        store = Database(tmp_path / "old.db", migrate=False)
        with store.engine.begin() as on:
            upgrade(on, "0001")
    else:
        store = new_postgresql(request.getfixturevalue("postgres"), revision="0001")
    yield store
    store.close()


def test_the_first_version_with_data_becomes_the_newest(old: Database, sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=12, judgments_per_item=2, training_pairs=4)
    for key in ("anna", "berta"):
        bench.turn(bench.trained(key))
    with sqlite.read() as reading, old.engine.begin() as on:
        copy_rows(reading, on)
    old.migrate()
    services = RequesterServices(old, clock=bench.clock)
    assert services.projects.get(bench.slug) == bench.services.projects.get(bench.slug)
    assert services.projects.get_progress(bench.slug) == bench.services.projects.get_progress(
        bench.slug
    )
    assert services.exports.get_table(bench.slug).equals(
        bench.services.exports.get_table(bench.slug)
    )
    assert services.projects.audit(bench.slug) == []

    def worked(store: Database) -> list[tuple[Any, ...]]:
        with store.read() as on:
            counted = on.execute(sa.text("SELECT public, worked FROM judges ORDER BY id"))
            return [tuple(row) for row in counted]

    assert worked(old) == worked(sqlite)
    assert all(count > 0 for _, count in worked(old))
    services.projects.set_policy(bench.slug, {"closing": "adaptive"})
    services.settings.keep("x" * 250, [1])
    assert services.settings.get("x" * 250) == [1]
    assert services.projects.create(made_project(topics=1, golds=0)).slug != bench.slug
