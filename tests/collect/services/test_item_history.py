"""The history of an item: every kind of event, with who and when, on both databases."""

from __future__ import annotations

from adjudge.collect.store.database import Database
from collecting import Bench


def list_events(bench: Bench, item: str) -> list[tuple[str, str, bool, str]]:
    """What happened to an item, the oldest first: what, by whom, whether a judge, in words."""
    events = bench.services.items.get(bench.slug, item).events
    assert list(events) == sorted(events, key=lambda one: one.time, reverse=True)
    return [(one.what, one.by, one.judge is not None, one.text) for one in reversed(events)]


def test_the_history_of_an_item_is_complete(database: Database) -> None:
    bench = Bench(
        database, topics=1, results=2, golds=2, gold_topics="apart", judgments_per_item=2,
        training=False, screening_golds=0, lease_minutes=10,
    )  # fmt: skip
    anna, ben = bench.arrive("anna").judge, bench.arrive("ben").judge
    bench.page(anna)
    item = min(one.item for one in bench.services.items.get_all(bench.slug)[0] if not one.gold)
    expected = [("given out", "", True, "in their hands")]
    assert list_events(bench, item) == expected
    bench.clock.forward(minutes=11)
    bench.judging.page(ben)  # whoever comes next finds it free
    bench.clock.forward(seconds=1)
    bench.turn(ben, label="Spam")
    expected = [("given out", "", True, "not answered in time"), ("given out", "", True, "")]
    expected.append(("judged", "", True, "Spam"))
    assert list_events(bench, item) == expected

    bench.clock.forward(seconds=1)
    bench.services.judges.block(bench.slug, ben, "too fast")
    expected.append(("judge blocked", "system", True, "their judgment counts no more"))
    bench.clock.forward(seconds=1)
    bench.services.judges.unblock(bench.slug, ben)
    expected.append(("judge unblocked", "system", True, "their judgment counts again"))
    for act, said in (
        (lambda: bench.services.items.adjudicate(bench.slug, item, "Spam", reason="Seen."),
         ("adjudicated", "Spam: Seen.")),
        (lambda: bench.services.items.reopen(bench.slug, item), ("opened again", "")),
        (lambda: bench.services.items.ask_for_more(bench.slug, item, 3),
         ("more judgments asked for", "3 more, 5 in all")),
        (lambda: bench.services.items.skip(bench.slug, item), ("skipped", "")),
        (lambda: bench.services.items.reopen(bench.slug, item), ("opened again", "")),
        (lambda: bench.services.gold.approve(
            bench.slug, item, accepted=["Spam"], reason="", role="screening"),
         ("made gold", "accepted: Spam")),
    ):  # fmt: skip
        bench.clock.forward(seconds=1)
        act()
        expected.append((said[0], "system", False, said[1]))
    found = list_events(bench, item)
    assert [one for one in found if one[0] != "gold changed"] == expected
    other = max(one.item for one in bench.services.items.get_all(bench.slug)[0] if not one.gold)
    assert {one[0] for one in list_events(bench, other)} == {
        "given out",
        "judged",
        "judge blocked",
        "judge unblocked",
    }
