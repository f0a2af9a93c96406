"""The last pages of a project: gold that was owed does not keep judges from what is left."""

from __future__ import annotations

from itertools import pairwise

from adjudge.collect.store.database import Database
from collecting import Bench


def test_a_page_of_gold_alone_does_not_follow_another(database: Database) -> None:
    """Too little gold for its places, and then a single item left: one gold at most comes first."""
    bench = Bench(database, topics=12, results=10, golds=8, role="screening", training=False,
                  judgments_per_item=2)  # fmt: skip
    judge = bench.arrive("anna").judge
    kinds: list[bool] = []  # of each page, whether there was work on it
    while (page := bench.judging.page(judge)) is not None:
        kinds.append(len(bench.truths(page)) < len(page.rows))
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
        assert len(kinds) < 60
    assert bench.judging.state(judge).stage == "finished"
    assert not any(not one and not other for one, other in pairwise(kinds))
    assert kinds[-1], "gold alone is for who has work to come"
    assert {item.trusted for item in bench.items() if item.name.startswith("t")} == {1}
    bench.check()
