"""What every result offers: dataframes, a summary, a chart and a view in notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.lazy import load

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus

SURE = 0.9  # a label of this probability is called sure
DOUBT = 0.6  # and one below this is in doubt
_ROWS = 10  # of a table in a summary
_COLUMNS = 7
_WIDTH = 60  # letters of a cell


def inferred_probability(consensus: Consensus) -> NDArray[np.float64]:  # (label,)
    """Return the probabilities of labels that were inferred, and not fixed by gold."""
    probability: NDArray[np.float64] = consensus.probability
    return probability if consensus.known is None else probability[consensus.known < 0]


class Result:
    """A result whose main part is one Arrow table.

    A class of results has ``to_table`` and, in ``facts``, one line on what was found. Its ``notes``
    are shown if it has any.
    """

    __slots__ = ()

    @property
    def facts(self) -> str:
        """One line on what was found."""
        raise NotImplementedError

    def to_table(self) -> Any:
        """Return the main part as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the main part as a pandas DataFrame."""
        load("pandas")
        return self.to_table().to_pandas()

    def to_polars(self) -> Any:
        """Return the main part as a Polars DataFrame."""
        return load("polars").from_arrow(self.to_table())

    def plot(self, name: str | None = None, **options: Any) -> Any:
        """Return a chart of Altair, as in the report; it needs ``pip install 'adjudge[report]'``.

        ``name`` is a figure of the report for a consensus, or a measure for a ranking.
        """
        return load("adjudge.report.charts").plot(self, name, **options)

    def summary(self) -> str:
        """Return the facts, the first rows of the table and the notes as text."""
        table = self.to_table()
        names = [name for name in table.column_names if table[name].null_count < len(table)]
        rows = table.select(names[:_COLUMNS]).slice(0, _ROWS).to_pylist()
        cells = [names[:_COLUMNS], *([_show(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
        hidden = len(table) - len(rows)
        more = [f"and {hidden:,} more rows"] if hidden else []
        return "\n".join([f"{type(self).__name__}: {self.facts}", *lines, *more, *self._notes()])

    def _notes(self) -> tuple[str, ...]:
        return tuple(getattr(self, "notes", ()))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from adjudge.data.html import show

        table = self.to_table()
        return show(type(self).__name__, self.facts, (), table, len(table), self._notes())


def _show(value: object) -> str:
    text = "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


@dataclass(frozen=True, slots=True, eq=False)
class ItemResult(Result):
    """One item of a consensus: its label, the probability of every label, and its judgments."""

    item: str
    label: str
    probability: float
    probabilities: dict[str, float]
    judgments: Any  # Arrow table: judge, label, accuracy of the judge

    @classmethod
    def of(cls, consensus: Consensus, at: int) -> ItemResult:
        """Return an item by its place."""
        judgments, scale = consensus.judgments, consensus.scale
        rows = slice(int(judgments.offsets[at]), int(judgments.offsets[at + 1]))
        judge = pa.array(judgments.judge[rows])
        labels = pa.array(scale.labels, pa.large_string())
        table = {
            "judge": judgments.judges.take(judge),
            "label": labels.take(pa.array(judgments.label[rows])),
            "accuracy": consensus.judges["accuracy"].take(judge),
        }
        shares = dict(zip(scale.truths, consensus.posterior[at].tolist(), strict=True))
        label = scale.truths[int(consensus.choice[at])]
        return cls(judgments.items[at].as_py(), label, shares[label], shares, pa.table(table))

    @property
    def facts(self) -> str:
        """The label and the probability of every label."""
        shares = ", ".join(f"{name}: {share:.3f}" for name, share in self.probabilities.items())
        return f"{self.item} is {self.label} ({shares})"

    def to_table(self) -> Any:
        """Return one row per judgment: judge, label, accuracy of the judge."""
        return self.judgments
