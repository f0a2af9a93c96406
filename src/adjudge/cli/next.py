"""adjudge next: the items most worth another judgment, and who should give it.

With ``--gold N`` or ``--for``, items drawn with known inclusion probabilities: to get gold labels
for, or for an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import progress, say
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._reading import Input, list_files, read_judgments, read_runs
from adjudge.cli._results import Column, check_places, deliver, shorten, show_rows
from adjudge.cli._summary import diagnose_fit, summarise
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis
    from adjudge.models.model import Model

_PURPOSES = ("estimate", "nDCG", "A-B")
_LITTLE = 0.1  # of the labels


@dataclass(frozen=True, slots=True, kw_only=True)
class _Purpose:
    """What people's labels are to be for."""

    purpose: str | None = option(
        "--for WHAT",
        "Draw items for people to label, with known chances: for an estimate, for the "
        "nDCG of a run, or for A-B, the difference of two.",
    )
    aim: str | None = option(
        "--target NAME",
        "With --for: the target as 'adjudge estimate' has it (mean-grade, nDCG@10).",
    )
    system: list[str] | None = option("--runs --run FILE...", "With --for: a run, or two.")
    asked: int = option("--budget N", "With --for: items to draw.", 100, min=2)
    stratify: bool = flag(
        "--stratify",
        "With --gold N: draw more of the items whose label is in doubt. Measure accuracy with "
        "'adjudge estimate --target agreement', which weights the items.",
    )


@command(
    "adjudge next judgments.csv --top 50 -o to-judge.csv",
    "adjudge next judgments.csv --gold 50 -o gold-to-fill.csv",
    "adjudge next judgments.csv --gold gold.csv --suggest 1",
    "adjudge next j.csv --for estimate --target share:2,3 --budget 200 -o l.csv",
    "adjudge next j.csv --for A-B --runs a.run b.run --budget 200 -o l.csv",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    golds: list[str] | None = option(
        "--gold N or FILE",
        "A number: draw so many items to get gold labels for. A file, or a column of the "
        "judgments: gold labels there already are. Give the option twice for both.",
    ),
    use_gold: bool = o.USE_GOLD,
    top: int = option("--top N", "Items to list; 0 for all.", 20, min=0),
    suggest: int = option("--suggest N", "Judges to suggest for each.", 3, min=0),
    purpose: _Purpose,
    fitting: o.Fitting,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """List the items most worth another judgment, and who should give it.

    Items are sorted by their gain: the information, in bits, that one more judgment by an average
    judge is expected to add. For each item, the command suggests judges who have not judged it and
    would add most. With the model pmf, it suggests those who would agree most with the truth. It
    does not suggest judges to drop, or judges with too few judgments.

    For comparisons, 'adjudge rank-pairs --next FILE' lists the pairs most worth another judgment.

    With --gold N, the command draws N items at random, for a person to label. Fill in the column
    gold of the file. Then give the file to --gold of any command, or to the gold import of a
    project. The file has the inclusion probability of each item. It leaves out the labels of judges
    and models, because they would influence the person. Rows come in random order: fill them in
    from the top, and leave the rest empty if you stop early.

    With --for, the command draws items for people to label for an estimate or a ranking. It draws
    an item more often if its truth is in doubt and matters to the target. The file has the chance
    of each item, so that the interval stays valid. Fill in its column gold, and give the file to
    'adjudge estimate --gold'. Earlier gold is kept in the file. The output says how many items
    drawn at random would be worth as much: many more for rankings, hardly more for shares and
    means.
    """
    count, file = _split_gold(golds or [])
    inputs = (*judgments, file, *(purpose.system or ()))
    check_places({"--output": out.output}, inputs=inputs, printing=out)
    _check_purpose(purpose, count)
    model = build_model(fitting)
    read = read_judgments(judgments, file, reading)
    known = read.choose_gold(use_gold)
    if count is not None:
        table = _draw_gold(model, read, count, purpose.stratify, fitting)
        about = {"gold": count, "stratified": purpose.stratify, **read.omissions}
        deliver(table, "items", out, about=about, show=lambda: _show_gold(table))
        return
    if purpose.purpose is not None:
        table = _draw_items(model, read, known, purpose, fitting, reading)
        as_many = int(table.schema.metadata[b"labels_at_random"])
        about = {
            "budget": purpose.asked,
            "for": purpose.purpose,
            "labels_at_random": as_many,
            **read.omissions,
        }
        say(f"  {_describe_saving(purpose.asked, as_many)}")
        deliver(table, "items", out, about=about, show=lambda: _show_draw(table))
        return
    consensus = fit_model(model, read.judgments, known, fitting)
    found = diagnose_fit(consensus, None, pairs=False)
    table = _choose_items(model, consensus, found, top or len(found.items), suggest)
    deliver(
        table,
        "items",
        out,
        about=summarise(consensus, read),
        show=lambda: _show(table, suggest),
    )


def _split_gold(given: list[str]) -> tuple[int | None, str | None]:
    """How many items to draw, and the file of earlier gold, from the values of --gold."""
    counts = [text for text in given if text.isascii() and text.isdecimal()]
    files = [text for text in given if text not in counts]
    for several in (counts, files):
        if len(several) > 1:
            raise BadSetting("--gold", several[1], "one number and one file at most")
    return int(counts[0]) if counts else None, files[0] if files else None


def _check_purpose(purpose: _Purpose, count: int | None) -> None:
    """Refuse an unknown purpose, and options that need another one to be given."""
    if purpose.stratify and count is None:
        raise BadSetting("--stratify", True, "--gold N with it")
    if purpose.purpose is not None and count is not None:
        raise BadSetting("--gold", count, "a file with --for; --budget is how many items to draw")
    if purpose.purpose is None:
        for flag, value in (("--target", purpose.aim), ("--runs", purpose.system)):
            if value:
                raise BadSetting(flag, str(value), "--for estimate, nDCG or A-B with it")
        return
    if purpose.purpose not in _PURPOSES:
        raise BadSetting("--for", purpose.purpose, f"one of {', '.join(_PURPOSES)}")
    needed = {"estimate": None, "nDCG": 1, "A-B": 2}[purpose.purpose]
    runs = len(list_files(purpose.system or []))
    if needed is not None and runs != needed:
        raise BadSetting("--runs", runs or None, f"{needed} with --for {purpose.purpose}")


def _draw_items(
    model: Model,
    read: Input,
    gold: Gold | None,
    purpose: _Purpose,
    fitting: o.Fitting,
    reading: o.Reading,
) -> Any:
    """The items that people should label for a target, with their chances."""
    from adjudge.evaluation.estimation.choosing import choose_items
    from adjudge.evaluation.estimation.estimate import Plan
    from adjudge.models.cross_calibration import CrossFit

    aim = purpose.aim or ("nDCG@10" if purpose.system else "mean-grade")
    runs = read_runs(purpose.system or [], reading)
    consensus = fit_model(model, read.judgments, None, fitting)
    with progress("choosing items"):
        return choose_items(
            CrossFit.of(consensus),
            aim,
            purpose.asked,
            gold=gold,
            runs=runs,
            plan=Plan(seed=fitting.seed),
        )


def _draw_gold(model: Model, read: Input, count: int, stratify: bool, fitting: o.Fitting) -> Any:
    """Draw items to get gold labels for; a fit is made only where doubt matters."""
    from adjudge.evaluation.estimation.choosing import draw_gold
    from adjudge.models.cross_calibration import CrossFit

    fit = CrossFit.of(fit_model(model, read.judgments, None, fitting)) if stratify else None
    try:
        table = draw_gold(read.judgments, count, gold=read.every, by_doubt=fit, seed=fitting.seed)
    except BadSetting as fault:
        if fault.setting != "count":
            raise
        raise BadSetting("--gold", count, fault.expected) from None
    if kept := len(table) - table["gold"].null_count:
        say(
            f"  {kept:,} items have gold already and keep it; {len(table) - kept:,} more are drawn "
            "with an empty gold column"
        )
    return table


def _show_gold(table: Any) -> Any:
    """Drawn items for people."""
    topic = ["topic"] if "topic" in table.column_names else []
    columns = ["item", *topic, "sampling_probability as inclusion probability"]
    rows = [row for row in table.to_pylist() if row["gold"] is None]
    return show_rows("Items to label; -o gold-to-fill.csv keeps them", rows, *columns)


def _describe_saving(drawn: int, as_many: int) -> str:
    """A sentence on what choosing items is expected to save."""
    saved = 1 - drawn / max(as_many, 1)
    said = f"these {drawn:,} items are expected to be worth {as_many:,} drawn at random"
    if saved < _LITTLE:
        return f"{said}: choosing saves little for this target"
    return f"{said}, which saves {saved:.0%} of the labels"


def _show_draw(table: Any) -> Any:
    """Drawn items for people."""
    rows = [row for row in table.to_pylist() if row["gold"] is None]
    columns = ("item", "believed", "probability:.2f as p", "sampling_probability as chance")
    return show_rows("Items to label (chance to be drawn)", rows, *columns)


def _choose_items(
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
        say("  no judge is to be kept or trained, so all are suggested")
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
    """Return judges by the bits that their judgment of each item would add."""
    import numpy as np
    import pyarrow as pa

    from adjudge.evaluation.diagnosis.next_judges import suggest_judges

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

    from adjudge.models.completion import recommend_judges

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


def _show(table: Any, judges: int) -> Any:
    """The items for people."""
    columns: list[Column] = ["item", "label", "probability:.2f as p", "judgments"]
    columns += ["n_eff:.1f as n_eff"] if "n_eff" in table.column_names else []
    columns.append("gain")
    if judges:
        names = [f"judge_{place + 1}" for place in range(judges)]

        def suggested(row: Any) -> str:
            return ", ".join(shorten(row[name]) for name in names if row[name])

        columns.append(("who should judge it", suggested))
    title = "Items most worth another judgment (gain in bits)"
    return show_rows(title, table.to_pylist(), *columns)
