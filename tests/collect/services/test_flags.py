"""Flags from the store: who is flagged, why, and that only the requester blocks by default."""

from __future__ import annotations

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer
from collecting import LABELS, Bench, sqlite_first


def work(bench: Bench, key: str, pages: int, seconds: float, **how: object) -> str:
    """A judge who takes these seconds per item: gold right, work by its title or by a label."""
    judge = bench.arrive(key, kind=how.pop("kind", "person")).judge
    for _ in range(pages):
        page = bench.page(judge)
        truths = bench.truths(page)
        given = [
            Answer(row=row.row, label=truths.get(row.row) or how.get("label") or _truth(row.title))
            for row in page.rows
        ]
        bench.clock.forward(seconds=seconds * len(page.rows))
        bench.judging.submit(judge, page.page, page.key, given)
    return judge


def _truth(title: str) -> str:
    return LABELS[sum(map(ord, title)) % 4]


def flags(bench: Bench) -> dict[str, list[str]]:
    rows = bench.services.judges.get_all(bench.slug)
    return {row.judge: [flag.rule for flag in row.flags] for row in rows if row.flags}


def made(database: Database, **policy: object) -> Bench:
    return Bench(database, topics=16, golds=60, role="screening", judgments_per_item=5, **policy)


def test_a_judge_of_a_tenth_of_a_second_is_flagged_and_a_fast_one_is_not(
    database: Database,
) -> None:
    bench = made(database)
    fast, honest = work(bench, "fast", 1, 0.1), work(bench, "honest", 1, 0.9)
    work(bench, "model", 1, 0.01, kind="model")
    assert flags(bench) == {fast: ["speed"]}
    detail = bench.services.judges.get(bench.slug, fast)
    assert detail.row.flags[0].reason.startswith(
        "0.1 seconds per item (median of 1 page), below 0.5"
    )
    assert bench.services.judges.get(bench.slug, honest).row.flags == ()
    assert bench.services.judges.block_flagged(bench.slug) == [], "only the requester blocks"
    bench.check()


@sqlite_first
def test_one_label_with_all_gold_right_is_flagged(database: Database) -> None:
    bench = made(database)
    for name in ("anna", "berta"):
        work(bench, name, 3, 5.0)
    lazy = work(bench, "lazy", 3, 5.0, label="Spam")
    assert "one-label" in flags(bench)[lazy]
    assert set(flags(bench)) == {lazy}


@sqlite_first
def test_flags_block_where_the_policy_says_so_and_not_who_was_looked_at(
    database: Database,
) -> None:
    bench = made(database, flags_block=True)
    fast = work(bench, "fast", 1, 0.1)
    work(bench, "honest", 1, 5.0)
    assert bench.services.judges.block_flagged(bench.slug) == [fast]
    view = bench.judging.state(fast)
    assert view.stage == "blocked"
    assert "too fast to have read them" in view.reason
    bench.check()
    bench.services.judges.unblock(bench.slug, fast)
    assert bench.services.judges.block_flagged(bench.slug) == []
    bench.check()


@sqlite_first
def test_what_is_kept_of_judges_is_what_would_be_found_now(database: Database) -> None:
    """Compare with services without a cache, after each event that may change flags or times."""
    bench = made(database)

    def check() -> dict[str, list[str]]:
        fresh = RequesterServices(database, clock=bench.clock).judges.get_all(bench.slug)
        assert bench.services.judges.get_all(bench.slug) == fresh
        assert bench.services.judges.get_all(bench.slug) == fresh, "when it is kept, too"
        return flags(bench)

    assert check() == {}
    for name in ("anna", "berta"):
        work(bench, name, 3, 5.0)
    assert check() == {}
    lazy = work(bench, "lazy", 3, 5.0, label="Spam")
    assert check() == {lazy: ["one-label", "work-unlike-gold"]}
    bench.services.judges.block(bench.slug, lazy)
    assert check() == {}, "untrusted answers say nothing any more"
    bench.services.judges.unblock(bench.slug, lazy)
    assert check() == {lazy: ["one-label", "work-unlike-gold"]}
    bench.services.projects.set_policy(bench.slug, {"flag_same_label": 0.0})
    assert "one-label" not in check().get(lazy, [])
    bench.services.projects.set_policy(bench.slug, {"flag_seconds": 60.0})
    assert set(check()) == {row.judge for row in bench.services.judges.get_all(bench.slug)}
    gold = next(one for one in bench.services.gold.get_all(bench.slug) if one.answered)
    bench.services.gold.edit(bench.slug, gold.item, active=False)
    check()


def test_accounts_that_arrive_together_and_answer_alike_are_a_group(sqlite: Database) -> None:
    bench = made(sqlite)
    for key in ("anna", "berta", "carla"):
        work(bench, key, 2, 5.0)
        bench.clock.forward(hours=2)
    crowd = [work(bench, f"fraud {number}", 1, 0.2, label="Spam") for number in range(4)]
    assert [work(bench, "dora", 1, 5.0)] != crowd
    (group, *_) = bench.services.judges.get_groups(bench.slug)
    assert set(crowd) <= set(group.judges), "and whoever came by chance in between"
    assert len(group.judges) <= 5
    assert group.alike is not None
    assert group.like_others is not None
    assert group.alike > group.like_others + 0.2
    assert (group.last - group.first).total_seconds() < 600
    assert group.judgments > 60
    before = {item.name: (item.state, item.trusted) for item in bench.items() if not item.gold}
    for judge in group.judges:
        bench.services.judges.block(bench.slug, judge)
    after = {item.name: (item.state, item.trusted) for item in bench.items() if not item.gold}
    fewer = sum(before[name][1] - after[name][1] for name in before)
    assert fewer == group.judgments
    opened = sum(before[n][0] == "closed" and after[n][0] == "open" for n in before)
    assert opened == group.reopened
    assert sum(after[n][1] == 0 < before[n][1] for n in before) == group.lost
    assert bench.services.judges.get_groups(bench.slug) != [group]
