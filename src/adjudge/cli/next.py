"""adjudge next: the items that one more judgment would tell most about, and who should give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, name, progress, say

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.evaluation.diagnosis import Diagnosis
    from adjudge.models.model import Model

NAME = "next"
EXAMPLES = (
    "adjudge next judgments.csv --top 50 -o to-judge.csv",
    "adjudge next judgments.csv --gold gold.csv --suggest 1",
)


def run(
    judgments: o.JudgmentsFile,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    top: Annotated[
        int, o.option("--top", metavar="N", min=0, help="Items to list; 0 for all.")
    ] = 20,
    suggest: Annotated[
        int, o.option("--suggest", metavar="N", min=0, help="Judges to suggest for each.")
    ] = 3,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """List the items most worth another judgment, and who should give it.

    Items come by their gain: the bits that one more judgment by an average judge is expected to
    tell about the truth, less where judges err together and many have judged. For each, the judges
    are named who have not judged it and would tell most; with the model pmf, those who would agree
    most with the truth. Judges to be dropped, or with too little to go by, are not suggested.
    """
    from adjudge.cli.fitting import built, fitted, summary
    from adjudge.cli.judges import diagnosed
    from adjudge.cli.reading import read_judgments
    from adjudge.cli.writing import check_places, check_printing, deliver

    be_quiet(printing.quiet or printing.json)
    check_places({"--output": output}, inputs=(judgments, gold))
    check_printing(printing, output)
    model = built(fitting)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given
    if known is None and use_gold:
        known = read.beside
    consensus = fitted(model, read.judgments, known, fitting)
    found = diagnosed(consensus, None, pairs=False)
    table = next_items(model, consensus, found, top or len(found.items), suggest)
    deliver(
        table,
        "items",
        output,
        printing,
        about=summary(consensus, read),
        show=lambda: _shown(table, suggest),
    )


def next_items(
    model: Model, consensus: Consensus, found: Diagnosis, count: int, judges: int
) -> Any:
    """The items of most gain, most first, each with the judges suggested for it."""
    import numpy as np
    import pyarrow as pa

    gain = found.items["gain"].to_numpy()
    chosen = np.argsort(-gain, kind="stable")[:count]
    kept = ("item", "topic", "document", "label", "probability", "entropy", "judgments", "n_eff")
    columns = [key for key in kept if key in found.items.column_names]
    table = found.items.select([*columns, "disagreement", "gain", "gain_rank"])
    table = table.take(pa.array(chosen))
    if not judges:
        return table
    advice = np.array(found.judges["advice"].to_pylist())
    able = (advice == "keep") | (advice == "train")
    if not able.any():
        say("  no judge is sure enough to be suggested before others: all are")
        able = np.ones(len(able), dtype=np.bool_)
    suggested = _by_agreement if model.name == "pmf" else _by_bits
    with progress("suggesting judges"):
        for key, column in suggested(model, consensus, chosen, able, judges).items():
            table = table.append_column(key, column)
    return table


def _by_bits(
    model: Model,  # noqa: ARG001 - as for the other way
    consensus: Consensus,
    items: Any,
    able: Any,
    count: int,
) -> dict[str, Any]:
    """Judges by the bits that their judgment of each item would tell."""
    import numpy as np
    import pyarrow as pa

    from adjudge.evaluation.items import suggest_judges

    judge, bits = suggest_judges(consensus, items, among=able, count=count)
    names = consensus.judgments.judges
    columns: dict[str, Any] = {}
    for place in range(count):
        code = np.ascontiguousarray(judge[:, place])
        columns[f"judge_{place + 1}"] = names.take(pa.array(code, mask=code < 0))
        columns[f"bits_{place + 1}"] = pa.array(bits[:, place], mask=code < 0)
    return columns


def _by_agreement(
    model: Any, consensus: Consensus, items: Any, able: Any, count: int
) -> dict[str, Any]:
    """Judges by the agreement with each item's truth that a completed matrix expects of them."""
    import pyarrow as pa

    from adjudge.models.recommendation import recommend_judges

    judgments = consensus.judgments
    allowed = set(judgments.judges.filter(pa.array(able)).to_pylist())
    factors = model.factors(judgments)
    found = []
    for item in judgments.items.take(pa.array(items)).to_pylist():
        rows = recommend_judges(factors, consensus, item, count=judgments.judge_count).to_pylist()
        best = [(row["judge"], row["agreement"]) for row in rows if row["judge"] in allowed]
        found.append((best + [(None, None)] * count)[:count])
    columns: dict[str, Any] = {}
    for place in range(count):
        judge, agreement = [row[place][0] for row in found], [row[place][1] for row in found]
        columns[f"judge_{place + 1}"] = pa.array(judge, pa.large_string())
        columns[f"agreement_{place + 1}"] = pa.array(agreement, pa.float64())
    return columns


def _shown(table: Any, judges: int) -> Any:
    """The items for people."""
    from adjudge.cli.writing import number

    rows = table.to_pylist()
    effective = "n_eff" in table.column_names
    cells = [
        [
            name(row["item"]),
            name(row["label"]),
            f"{row['probability']:.2f}",
            f"{row['judgments']:,}",
            *([number(row["n_eff"], 1)] if effective else []),
            f"{row['gain']:.3f}",
            ", ".join(name(row[f"judge_{n + 1}"]) for n in range(judges) if row[f"judge_{n + 1}"]),
        ]
        for row in rows
    ]
    columns = [
        ("item", "left"),
        ("label", "left"),
        ("p", "right"),
        ("judgments", "right"),
        *([("n_eff", "right")] if effective else []),
        ("gain", "right"),
        ("who should judge it", "left"),
    ]
    if not judges:
        columns, cells = columns[:-1], [row[:-1] for row in cells]
    return grid("Items most worth another judgment (gain in bits)", columns, cells)
