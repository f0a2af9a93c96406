"""A side-by-side project for tests: engines whose names say how good they are."""

from __future__ import annotations

import re
from itertools import combinations

from adjudge.collect.importing import Preview, Upload, read
from adjudge.collect.values.project import Project
from adjudge.collect.values.sides import PAIR_SCALE

ENGINES = 5


def pairs_csv(*, queries: int = 4, golds: int = 12) -> str:
    """All pairs of engines for each query, and gold pairs of queries of their own."""
    lines = ["query,left,left_text,right,right_text,gold,reason"]
    for query in range(queries):
        for a, b in combinations(range(ENGINES), 2):
            if (query + a + b) % 2:
                a, b = b, a  # noqa: PLW2901 - the better one is on either side
            lines.append(_line(f"lamp number {query}", a, b, "", ""))
    for gold in range(golds):
        a, b = (0, 4) if gold % 2 else (4, 0)
        right = "left" if a > b else "right"
        lines.append(_line(f"lamp kind {gold}", a, b, right, "Engine 4 shows lamps."))
    return "\n".join(lines) + "\n"


def _line(query: str, a: int, b: int, gold: str, reason: str) -> str:
    return (
        f"{query},engine {a},Worth {a} of 4 for {query},"
        f"engine {b},Worth {b} of 4 for {query},{gold},{reason}"
    )


def read_pairs(text: str, **options: object) -> Preview:
    return read([Upload(name="pairs.csv", body=text.encode())], **options)  # type: ignore[arg-type]


def paired_project(*, queries: int = 4, golds: int = 12, **policy: object) -> Project:
    found = read_pairs(pairs_csv(queries=queries, golds=golds)).check()
    settings: dict[str, object] = {
        "judgments_per_item": 2,
        "queries_per_page": 3,
        "results_per_query": 2,
        "training": False,
        "screening_golds": 1,
        "screening_pairs": 5,
        "require_consent": False,
    }
    return Project(
        name="Engines",
        scale=PAIR_SCALE,
        guidelines="Say which result is worth more.",
        items=found.items,
        golds=found.golds,
        policy={**settings, **policy},
        seed=7,
    )


def better(left: str, right: str) -> str:
    """The side of the result that is worth more, by the texts of both."""
    a, b = (int(re.search(r"Worth (\d)", text)[1]) for text in (left, right))  # type: ignore[index]
    return "left" if a > b else "right"
