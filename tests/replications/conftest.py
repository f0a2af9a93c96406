"""What tests of replications ask for: a small paper, and real papers run quick."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from adjudge.models.model import Progress, Step
from adjudge.replications import find_paper
from adjudge.replications.replication import (
    Cell,
    Claim,
    PaperFigure,
    ReplicationPart,
    ReplicationResult,
    Setup,
    Table,
)
from adjudge.replications.running import run
from sizes import sized

FEW = {"hierarchical": 2}  # seeds that show what a quick run of three shows


class Toy:
    """A paper of three parts, which write into a log that they have been at work."""

    name = "toy"
    title = "A toy paper"
    source = "N. Body (2001), Journal of Nothing."

    def __init__(self, log: Path) -> None:
        self.log = log

    def parts(self, setup: Setup) -> list[ReplicationPart]:
        seeds = setup.count(full=3, quick=2)
        return [
            ReplicationPart(name=f"seed-{seed}", settings={"seed": seed}, work=self._work(seed))
            for seed in range(seeds)
        ]

    def _work(self, seed: int) -> Callable[[Progress | None], Any]:
        def work(progress: Progress | None) -> Any:
            with self.log.open("a") as file:
                file.write(f"{seed}\n")
            if progress is not None:
                progress(Step("inside", 1, 2))
            return {"value": 0.5 + seed / 10, "none": math.nan}

        return work

    def gather(self, setup: Setup, partials: Mapping[str, Any]) -> ReplicationResult:
        values = [part["value"] for part in partials.values()]
        return ReplicationResult(
            paper=self.name,
            title=self.title,
            source=self.source,
            tables=[
                Table(
                    name="table-1",
                    title="Values",
                    source="Table 1, page 3",
                    cells=[
                        Cell.over("near", "x", values, published=0.6),
                        Cell.over("far", "x", values, published=0.9),
                        Cell.over("far", "y", values, note="(new)"),
                    ],
                    cause=lambda cell: f"The {cell.row} cell was made so.",
                )
            ],
            figures=[
                PaperFigure(
                    name="figure-1",
                    title="A line",
                    source="Figure 1, page 4",
                    data=pa.table({"x": [0.0, 1.0], "y": [0.5, 0.6]}),
                    chart=_line,
                )
            ],
            claims=[
                Claim(
                    text="It rises.",
                    holds=True,
                    evidence="0.5 to 0.6.",
                    criterion="if it rises by 0.1.",
                    source="page 4",
                    published="0.4 to 0.7.",
                    reading="of the first seed.",
                    passes=True,
                ),
                Claim(text="It falls.", holds=False, evidence="No."),
                Claim(
                    text="It stays.",
                    holds=None,
                    evidence="0.5 to 0.6.",
                    criterion="if neither differs.",
                    source="page 5",
                    published="0.4 to 0.7.",
                    passes=False,
                ),
                Claim(
                    text="It was asked besides.",
                    holds=True,
                    evidence="Yes.",
                    source="beyond the paper",
                ),
            ],
            notes=["Made for a test."],
        )


def _line(table: Any) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=table.to_pylist())).mark_line().encode(x="x:Q", y="y:Q")


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """A paper of three parts."""
    return Toy(tmp_path / "log")


@pytest.fixture(scope="session")
def quick(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[ReplicationResult, dict[str, bool | None]]]:
    """The quick run of a paper on real data, and which of its claims hold, by their text."""
    found: dict[str, ReplicationResult] = {}

    def replicated(name: str) -> tuple[ReplicationResult, dict[str, bool | None]]:
        if name not in found:
            few = sized(FEW.get(name), full=None)
            found[name] = run(find_paper(name), Setup(quick=True, data=shared_data, seeds=few))
        return found[name], {claim.text: claim.holds for claim in found[name].claims}

    return replicated
