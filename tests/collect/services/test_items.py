"""Items for the requester: found, decided, opened again, asked for, skipped."""

from __future__ import annotations

import pytest

from adjudge.collect.consensus import refit
from adjudge.collect.store.database import Database
from adjudge.errors import BadSetting, Refused
from collecting import Bench, sqlite_first


def bench_of(database: Database, **policy: object) -> Bench:
    """Two judges of one page each; the first says Matching, the second Spam."""
    settings = {"judgments_per_item": 2, "training": False, "screening_golds": 0} | policy
    bench = Bench(database, topics=3, results=3, golds=2, gold_topics="apart", **settings)
    for key, label in (("anna", "Matching"), ("ben", "Spam")):
        judge = bench.arrive(key).judge
        bench.turn(judge, label=label)
    return bench


def names(bench: Bench, which: str, **more: object) -> set[str]:
    found, total = bench.services.items.get_all(bench.slug, which=which, size=500, **more)  # type: ignore[arg-type]
    assert total == len(found)
    return {row.item for row in found}


def test_filters_search_and_sort(sqlite: Database) -> None:
    bench = bench_of(sqlite)
    every = names(bench, "all")
    assert len(every) == 11
    assert names(bench, "gold") == {"gold0", "gold1"}
    disputed = names(bench, "disputed")
    assert disputed
    assert disputed == names(bench, "done")
    assert names(bench, "open") | disputed | names(bench, "gold") == every
    assert names(bench, "all", search="query t1") == {"t1d0", "t1d1", "t1d2"}
    assert names(bench, "all", search="100%_") == set()
    refit._fit_one(bench.services, bench.slug, "item-types")
    assert names(bench, "unsure") == disputed
    rows, total = bench.services.items.get_all(bench.slug, sort="unsure", size=1)
    assert total == 11
    assert rows[0].item in disputed
    assert rows[0].probability is not None
    with pytest.raises(BadSetting, match="filter"):
        names(bench, "nothing")


def test_a_decision_is_final_and_the_fit_learns_from_it(database: Database) -> None:
    bench = bench_of(database)
    item = min(names(bench, "disputed"))
    services = bench.services
    refit._fit_one(services, bench.slug, "majority-vote")
    services.items.adjudicate(bench.slug, item, "Spam", reason="It is.", gold=True)
    bench.check()
    gold = services.exports.get_gold(bench.slug, adjudicated=True)
    assert gold is not None
    assert dict(zip(gold.items.to_pylist(), gold.texts(), strict=True))[item] == "Spam"
    own = services.exports.get_gold(bench.slug)
    assert own is not None
    assert item not in own.items.to_pylist()  # judges are not graded by it
    for again in (False, True):  # what is exported is final at once, and after the refit
        if again:
            refit._fit_one(services, bench.slug, "majority-vote")
        table = {row["item"]: row for row in
                 refit.read_table(services, bench.slug, "majority-vote").to_pylist()}  # fmt: skip
        assert (table[item]["label"], table[item]["probability"]) == ("Spam", 1.0)
        assert (table[item]["p_Spam"], table[item]["p_Matching"]) == (1.0, 0.0)
    services.items.adjudicate(bench.slug, item, "Matching", gold=False)
    found = services.items.get(bench.slug, item)
    assert found.final is not None
    assert (found.label, found.final.gold, found.state) == ("Matching", False, "final")
    assert [one.label for one in found.history] == ["Spam"]
    again_gold = services.exports.get_gold(bench.slug, adjudicated=True)
    assert again_gold is not None
    assert item not in again_gold.items.to_pylist()
    services.items.reopen(bench.slug, item)
    assert services.items.get(bench.slug, item).state == "closed"  # it has its judgments
    assert services.items.get_final(bench.slug) == {}
    bench.check()
    with pytest.raises(BadSetting, match="a label of the scale"):
        services.items.adjudicate(bench.slug, item, "Nonsense")
    with pytest.raises(Refused, match="is gold"):
        services.items.adjudicate(bench.slug, "gold0", "Spam")


def test_unjudged_items_can_be_decided_and_are_exported(sqlite: Database) -> None:
    bench = bench_of(sqlite, queries_per_page=1)
    item = min(names(bench, "unjudged"))
    refit._fit_one(bench.services, bench.slug, "majority-vote")
    bench.services.items.adjudicate(bench.slug, item, "Off Topic")
    assert item not in names(bench, "unjudged")
    table = refit.read_table(bench.services, bench.slug, "majority-vote")
    row = next(row for row in table.to_pylist() if row["item"] == item)
    assert (row["label"], row["judgments"], row["p_Off Topic"]) == ("Off Topic", 0, 1.0)
    judge = bench.arrive("carl").judge
    while (page := bench.judging.page(judge)) is not None:  # it is given to nobody
        assert f"title of {item}" not in {row.title for row in page.rows}
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
    bench.check()


@sqlite_first
@pytest.mark.parametrize("closing", ["fixed", "adaptive"])
def test_more_judgments_are_asked_for_and_kept_asked(database: Database, closing: str) -> None:
    more = {"closing": "adaptive", "least_judgments": 2, "most_judgments": 2}
    bench = bench_of(database, **(more if closing == "adaptive" else {}))
    item = min(names(bench, "disputed"))
    bench.services.items.ask_for_more(bench.slug, item, 2)
    found = bench.services.items.get(bench.slug, item)
    assert (found.state, found.trusted, found.needed) == ("open", 2, 4)
    bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 1})
    assert bench.services.items.get(bench.slug, item).needed == 4
    for key in ("carl", "dora"):
        judge = bench.arrive(key).judge
        while bench.judging.page(judge) is not None:
            bench.turn(judge)
    found = bench.services.items.get(bench.slug, item)
    assert (found.state, found.trusted) == ("closed", 4)
    with pytest.raises(BadSetting, match="1 to 50"):
        bench.services.items.ask_for_more(bench.slug, item, 0)


def test_a_skipped_item_is_not_assigned_until_it_is_opened(sqlite: Database) -> None:
    bench = bench_of(sqlite, judgments_per_item=3)
    item = min(names(bench, "open"))
    bench.services.items.skip(bench.slug, item)
    assert names(bench, "skipped") == {item}
    judge = bench.arrive("carl").judge
    while (page := bench.judging.page(judge)) is not None:
        assert f"title of {item}" not in {row.title for row in page.rows}
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
    assert bench.services.projects.get_progress(bench.slug).open == 0
    bench.services.items.reopen(bench.slug, item)
    assert names(bench, "open") == {item}
    bench.check()
