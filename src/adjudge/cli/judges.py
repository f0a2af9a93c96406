"""adjudge judges: how far each judge can be trusted, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import detail, is_verbose, say
from adjudge.cli._fitting import are_numbers, choose_model, fit_model, make_engine
from adjudge.cli._numbers import fit_numbers
from adjudge.cli._reading import place_of, read_judgments
from adjudge.cli._results import Column, check_places, deliver, show_rows
from adjudge.cli._summary import diagnose_fit, summarise
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis
    from adjudge.evaluation.diagnosis.families import FamilySummary

_REASONS = 3  # shown by default
_VIEWS = ("judges", "mistakes", "common", "drift", "history", "pairs", "families")


@command(
    "adjudge judges judgments.csv --gold gold.csv -o judges.csv",
    "adjudge judges judgments.csv --show mistakes",
    "adjudge judges judgments.csv --show pairs",
    "adjudge judges judgments.csv --gold gold.csv --features all",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    use_gold: bool = o.USE_GOLD,
    show: str = option(
        "--show WHAT",
        "judges; mistakes of each, or those common to all; drift and history, if there "
        "are times; pairs who agree more than expected; families, who count as one judge.",
        "judges",
    ),
    top: int = option("--top N", "Rows to show a person; 0 for all.", 25, min=0),
    features: str | None = option(
        "--features NAMES", "Features instead of a fit: all, or names joined by commas."
    ),
    fitting: o.Fitting,
    reading: o.NumberReading,
    out: o.Delivery,
) -> None:
    """Show how good each judge is, and whether to keep, train, drop or watch them.

    Bits are the information in one judgment: a judge with 0 bits adds nothing. --show gives other
    tables: the mistakes of each judge, mistakes common to all, changes over time, judges who copy.
    The fit is the same as in 'adjudge consensus' with the same options. If labels are many
    different numbers, each judge has a bias and a noise. For judges of comparisons, use
    'adjudge rank-pairs --judges FILE'.
    """
    if show not in _VIEWS:
        raise UnknownName("view", show, _VIEWS)
    check_places({"--output": out.output}, inputs=(*judgments, gold), printing=out)
    fitting, reading, model = choose_model(fitting, reading)
    read = read_judgments(judgments, gold, reading)
    known = read.choose_gold(use_gold)
    if model is None or are_numbers(read.judgments, reading, fitting):
        if features is not None or show != "judges":
            asked = ("--features", features) if features else ("--show", show)
            raise BadSetting(*asked, "--bin N or --classes with it, since labels are numbers")
        numbers = fit_numbers(read, known, fitting, make_engine(fitting.threads))
        about: dict[str, Any] = {
            "model": "continuous",
            "settings": numbers.settings,
            "notes": numbers.notes,
        }
        about |= read.omissions
        columns = ["judge", *(f"{n}:.4g as {n}" for n in numbers.judges.column_names[1:])]
        title = "Judges: shift is what each adds, noise how far they scatter"
        rows = _sort(numbers.judges)
        shows = partial(_show_first, title, columns, rows, top)
        deliver(numbers.judges, "judges", out, about=about, show=shows)
        return
    if features is not None:
        from adjudge.evaluation.diagnosis.judge_tables import feature_table

        names = None if features == "all" else tuple(map(str.strip, features.split(",")))
        table = feature_table(read.judgments, read.every, names=names, seed=fitting.seed)
        about = {"features": features, **read.omissions}
        deliver(table, "judges", out, about=about, show=partial(_show_features, table, top))
        return
    from adjudge.evaluation.diagnosis.families import FamilySummary

    consensus = fit_model(model, read.judgments, known, fitting)
    found = diagnose_fit(consensus, read.every, pairs=show == "pairs")
    families = FamilySummary(consensus)
    if show in ("drift", "history") and found.drift is None:
        problem = f"there are no times for --show {show}; a column 'time' would add them"
        raise BadData(problem, source=place_of(judgments))
    views = {"mistakes": found.confusions, "families": families.table}
    table = views[show] if show in views else getattr(found, show)
    few = None if found.few is None else asdict(found.few)
    about = {**summarise(consensus, read), "diagnosis": found.notes, "few_judges": few}
    shows = partial(_show_view, found, show, table, top, families)
    deliver(table, show, out, about=about, show=shows)


def _show_view(found: Diagnosis, show: str, table: Any, count: int, families: FamilySummary) -> Any:
    """Return the tables of a view for people."""
    from rich.console import Group
    from rich.text import Text

    if show == "judges":
        return _show_judges(found, count, families)
    none = {
        "pairs": "No two judges agree more than expected.",
        "families": "No judges are known to be one source.",
    }
    first: Any = none.get(show)
    if len(table) or first is None:
        title, columns = _TABLES[show]
        first = _show_first(title, columns, _sort(table) if show == "mistakes" else table, count)
    said = families.sentences if show == "families" else []
    return Group(first, *map(Text, said))


def _show_features(table: Any, count: int) -> Any:
    """The features of the busiest judges for people: the values, without counts and bounds."""
    from adjudge.models.weighting import FEATURES, PAPER, TYPICAL

    heads = [column for column in table.column_names if column in FEATURES]
    short = {**PAPER, TYPICAL: "typ."}
    columns = ["judge", "judgments as n", *(f"{one}:.2f as {short.get(one, one)}" for one in heads)]
    legend = ", ".join(f"{PAPER[column]} {column}" for column in heads if column in PAPER)
    title = f"Features of judges: {legend}, typ. {TYPICAL}"
    return show_rows(title, _sort(table).slice(0, count or len(table)).to_pylist(), *columns)


def _show_judges(found: Diagnosis, count: int, families: FamilySummary) -> Any:
    """Return the judges with most judgments, with what to do about them and why."""
    from rich.console import Group
    from rich.text import Text

    for sentence in families.sentences:
        detail(sentence)
    if found.few is not None:
        say(str(found.few))
    table = _sort(found.judges)
    gold = "gold_accuracy" in table.column_names and table["gold_accuracy"].null_count < len(table)
    tally = Counter(found.judges["advice"].to_pylist())
    counts = ", ".join(f"{word} {tally[word]:,}" for word in ("keep", "train", "drop", "watch"))
    columns: list[Column] = [
        "judge",
        "judgments as n",
        "accuracy:.2f",
        "accuracy_low to accuracy_high as 90% interval",
        *(["gold_accuracy:.2f as gold"] if gold else []),
        "bits:.2f",
        "advice",
    ]
    first = _show_first(f"Judges: {counts}", columns, table, count)
    others = [row for row in table.slice(0, count or None).to_pylist() if row["advice"] != "keep"]
    shown = others if is_verbose() else others[:_REASONS]
    reasons = [Text(f"{row['judge']}: {row['advice']}, {row['why']}") for row in shown]
    more = [Text("--verbose gives every reason")] if len(shown) < len(others) else []
    return Group(first, *reasons, *more)


def _show_first(title: str, columns: Iterable[Column], table: Any, count: int) -> Any:
    count = count or len(table)
    hidden = max(len(table) - count, 0)
    more = f" ({hidden:,} more: --top 0 shows all)" if hidden else ""
    return show_rows(f"{title}{more}", table.slice(0, count).to_pylist(), *columns)


def _sort(table: Any) -> Any:
    """The busiest first."""
    return table.sort_by([("judgments", "descending")])


# What each view shows: a heading, and columns.
_TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "mistakes": (
        "Mistakes, most common first",
        (
            *("judge", "truth as rates", "label as as", "rate:.0%"),
            *("low to high as 90% interval", "judgments:,.1f"),
        ),
    ),
    "common": (  # what the guidelines should speak of
        "Mistakes of all judges together",
        (
            *("truth as rated", "label as as", "rate:.0%", "judgments:,.1f"),
            (">most common of", lambda row: count_of(row["judges"], "judge")),
        ),
    ),
    "drift": (
        "Who changed over time, the surest first",
        (
            *("judge", "judgments as n", "accuracy_early:.2f as early"),
            *("accuracy_late:.2f as late", "p_adjusted as p adj."),
            ("what", lambda row: row["sentence"]),
        ),
    ),
    "history": (
        "The work of each judge in its order",
        (
            *("judge", "block"),
            ("from", lambda row: f"{row['begin']:%Y-%m-%d %H:%M}"),
            *("judgments as n", "accuracy:.2f", "low to high as 90% interval"),
        ),
    ),
    "pairs": (
        "Judges who agree more than expected",
        (
            *("judge_a as judge", "judge_b as and judge", "items", "agreements as agree"),
            *("expected:,.1f", "copied:.0%", "p_adjusted:.1g as p adj."),
        ),
    ),
    "families": (
        "Judges who are one source, or may be",
        ("kind", "judges", "excess:.2f", "common as items"),
    ),
}
