"""Regrading: gold that was wrong is edited, and every answer to it graded again.

    .venv/bin/python benchmarks/regrade.py [--judges 750] [--sqlite-only] [--write]

Judges who answer as they should meet gold that is all wrong: half of them are warned by it, half
blocked, and the items they judged reopen. Then the gold is put right, all of it in one import, and
in a second project one edit after the other. Afterwards every judge must stand where a replay of
the log from its beginning puts them, and every counter of an item must be what its judgments say.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from machine import commit, machine

from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.data.scale import Scale

ROOT = Path(__file__).resolve().parent
LABELS = ("Matching", "Not Matching", "Off Topic", "Spam")
GOLDS = 20  # ten on each of two pages
WORK = 10  # pairs of work on a page


def wrong(gold: int) -> str:
    """The label that a gold accepts at first: not the one that everybody sees."""
    return LABELS[1 + gold % 3]


def made_project(judges: int) -> Project:
    """Items for all the judges, and gold that is wrong."""
    topics = max(20, judges * 2 * WORK // 5 // 5)  # five judgments an item, five items a query
    items = [
        Item(name=f"t{topic}d{place}", topic=f"t{topic}", query=f"query {topic}", title="a title")
        for topic in range(topics)
        for place in range(5)
    ]
    items += [
        Item(name=f"gold{gold}", topic=f"t{gold}", query=f"query {gold}", title="a title")
        for gold in range(GOLDS)
    ]
    entries = [GoldEntry(item=f"gold{gold}", accepted=(wrong(gold),)) for gold in range(GOLDS)]
    policy = {
        "training": False,
        "require_consent": False,
        "queries_per_page": 4,
        "screening_golds": GOLDS // 2,
        "screening_pairs": WORK,
        "least_golds": 2,
    }
    return Project(
        name="Regraded",
        scale=Scale(labels=LABELS),
        items=tuple(items),
        golds=tuple(entries),
        policy=policy,
    )


def judged(database: Database, judges: int) -> tuple[RequesterServices, str]:
    """A project in which so many judges have answered, every second one until they were blocked."""
    services, judging = RequesterServices(database), JudgingService(database)
    slug = services.projects.create(made_project(judges)).slug
    services.projects.set_state(slug, "open")
    for number in range(judges):
        arrival = Arrival(project=slug, channel="open", key=f"judge{number}")
        judge = judging.arrive(arrival).judge
        for _ in range(1 + number % 2):
            page = judging.page(judge)
            if page is None:
                raise SystemExit("there was too little work for the judges")
            answers = [Answer(row=row.row, label=LABELS[0]) for row in page.rows]
            judging.submit(judge, page.page, page.key, answers)
    return services, slug


def at_once(services: RequesterServices, slug: str) -> None:
    """Put all gold right in one import."""
    entries = [GoldEntry(item=f"gold{gold}", accepted=(LABELS[0],)) for gold in range(GOLDS)]
    services.projects.add_items(slug, (), entries)


def one_by_one(services: RequesterServices, slug: str) -> None:
    """Put the gold right, one edit after the other."""
    for gold in range(GOLDS):
        services.gold.edit(slug, f"gold{gold}", accepted=(LABELS[0],))


def faults(database: Database, services: RequesterServices, slug: str) -> list[str]:
    """Where state differs from a replay of the log, or counters from what they count."""
    found = services.projects.audit(slug)
    items, given, projects = schema.items, schema.judgments, schema.projects
    with database.read() as on:
        project = on.execute(sa.select(projects.c.id).where(projects.c.slug == slug)).scalar_one()
        counts: dict[tuple[int, str], int] = {
            (row[0], row[1]): row[2]
            for row in on.execute(
                sa.select(given.c.item, given.c.standing, sa.func.count())
                .where(given.c.project == project, given.c.gold.is_(None))
                .group_by(given.c.item, given.c.standing)
            )
        }
        for item in on.execute(sa.select(items).where(items.c.project == project)):
            for name in ("trusted", "surplus"):
                if getattr(item, name) != counts.get((item.id, name), 0):
                    found.append(f"item {item.name}: {name} is {getattr(item, name)}")
            if item.leased + item.trusted > item.needed:
                found.append(f"item {item.name} has more than it needs")
    return found


def measured(
    database: Database, what: str, edit: Callable[[RequesterServices, str], None], judges: int
) -> dict[str, Any]:
    """One way of putting gold right: how many answers, how long, and whether it is exact."""
    services, slug = judged(database, judges)
    before = [row.stage for row in services.judges.get_all(slug)]
    answers = sum(row.answered for row in services.gold.get_all(slug))
    wall, cpu = time.perf_counter(), time.process_time()
    edit(services, slug)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = [row.stage for row in services.judges.get_all(slug)]
    found = faults(database, services, slug)
    for fault in found[:5]:
        print(fault, file=sys.stderr)
    return {
        "what": what,
        "answers": answers,
        "judges": judges,
        "unblocked": before.count("blocked") - after.count("blocked"),
        "left": len(after) - after.count("working"),
        "wall": wall,
        "cpu": cpu,
        "faults": len(found),
    }


@contextmanager
def databases(sqlite_only: bool) -> Iterator[dict[str, Database]]:
    """An empty database of each kind."""
    with tempfile.TemporaryDirectory(prefix="adjudge-regrade-") as folder:
        found = {"SQLite": Database(Path(folder) / "regrade.db")}
        server = None
        if not sqlite_only:
            import pgserver

            server = pgserver.get_server(Path(folder) / "postgres", cleanup_mode="delete")
            found["PostgreSQL"] = Database(server.get_uri())
        try:
            yield found
        finally:
            for database in found.values():
                database.close()
            if server is not None:
                server.cleanup()


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a table of a page."""
    lines = [
        "|  | answers regraded | judges | unblocked | wall s | our CPU s | differs from replay |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row['what']} | {row['answers']:,} | {row['judges']:,} | {row['unblocked']:,} "
        f"| {row['wall']:.2f} | {row['cpu']:.2f} | {row['faults']:,} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and print or keep the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judges", type=int, default=750)
    parser.add_argument("--sqlite-only", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into regrade.md")
    given = parser.parse_args()
    about, rows = machine(), []
    with databases(given.sqlite_only) as found:
        for name, database in found.items():
            rows.append(measured(database, f"{name}, in one import", at_once, given.judges))
            rows.append(measured(database, f"{name}, {GOLDS} edits", one_by_one, given.judges))
    text = (
        f"{table(rows)}\n\n{time.strftime('%Y-%m-%d')}, commit {commit(ROOT.parent)}; "
        f"{about['processor']}, {about['cores']} cores, {about['system']}, load before "
        f"{about['load_before']}.\n"
    )
    print(text)
    if given.write:
        page = ROOT / "regrade.md"
        head, mark, _ = page.read_text("utf-8").partition("<!-- results -->\n")
        page.write_text(f"{head}{mark}\n{text}", "utf-8")
    if any(row["faults"] for row in rows):
        raise SystemExit("the state is not what a replay of the log gives")


if __name__ == "__main__":
    main()
