"""adjudge judges: how far each judge can be trusted, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._files import Input, check_places, read_judgments
from adjudge.cli._fitting import are_numbers, choose_model, fit_model, make_engine
from adjudge.cli._numbers import fit_numbers
from adjudge.cli._pairs import deliver_pair_judges, holds_comparisons, refuse
from adjudge.cli._places import fetch_first, place_of
from adjudge.cli._results import Columns, deliver, interval, number, shorten, show_rows
from adjudge.cli._summary import diagnose_fit, summarise
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

_VIEWS = ("judges", "mistakes", "common", "drift", "history", "pairs", "families")
_HEADINGS = {"sensitivity": "sens.", "specificity": "spec."}  # so that 80 columns hold them
_MINUTE = "%Y-%m-%d %H:%M"


@fetch_first
def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    show: Annotated[
        str,
        option(
            "--show",
            "WHAT",
            "judges; mistakes of each, or those common to all; drift and history, if there "
            "are times; pairs who agree more than expected; families, who count as one judge.",
        ),
    ] = "judges",
    top: Annotated[int, option("--top", "N", "Rows to show a person; 0 for all.", min=0)] = 25,
    features: Annotated[
        str | None,
        option("--features", "NAMES", "Features instead of a fit: all, or names joined by commas."),
    ] = None,
    fitting: o.Fitting,
    labelling: o.NumberLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Show how good each judge is, and whether to keep, train, drop or watch them, and why.

    A judge of 0 bits tells nothing, however many judgments they gave. --show tells more: what each
    judge mistakes for what, what the guidelines should say, who changes over time, who copies.
    The fit is the one that 'adjudge consensus' makes with the same options; of comparisons, the
    one of 'adjudge rank-pairs'. Of labels that are many different numbers judges have a bias and a
    noise.
    """
    if show not in _VIEWS:
        raise UnknownName("view", show, _VIEWS)
    check_places({"--output": output}, inputs=(*judgments, gold), printing=printing)
    if holds_comparisons(judgments, reading):
        refuse({"--gold": gold, "--features": features, "--show": show != "judges"})
        deliver_pair_judges(judgments, output, top, fitting, reading, printing)
        return
    fitting, labelling, model = choose_model(fitting, labelling)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.choose_gold(use_gold)
    if model is None or are_numbers(read.judgments, labelling, fitting):
        if features is not None or show != "judges":
            asked = ("--features", features) if features else ("--show", show)
            raise BadSetting(*asked, "--bin N or --classes beside it, since labels are numbers")
        _deliver_numbers(read, known, fitting, output, top, printing)
        return
    if features is not None:
        table = _measure_features(read.judgments, read.every, features, fitting.seed)
        deliver(
            table,
            "judges",
            output,
            printing,
            about={"features": features, **read.omissions},
            show=lambda: _show_features(table, top or len(table)),
        )
        return
    consensus = fit_model(model, read.judgments, known, fitting)
    found = diagnose_fit(consensus, read.every, pairs=show == "pairs")
    table = _get_view(found, show, place_of(judgments), consensus)
    deliver(
        table,
        show,
        output,
        printing,
        about={
            **summarise(consensus, read),
            "diagnosis": found.notes,
            "few_judges": None if found.few is None else asdict(found.few),
        },
        show=lambda: _show_view(found, show, table, top or len(table), consensus),
    )


COMMAND = Command(
    _run,
    examples=(
        "adjudge judges judgments.csv --gold gold.csv -o judges.csv",
        "adjudge judges judgments.csv --show mistakes",
        "adjudge judges judgments.csv --show pairs",
        "adjudge judges judgments.csv --gold gold.csv --features all",
    ),
)


def _deliver_numbers(
    read: Input,
    gold: Gold | None,
    fitting: o.Fitting,
    output: Path | None,
    top: int,
    printing: o.Printing,
) -> None:
    """What each judge adds to the numbers they give, and how far they scatter."""
    found = fit_numbers(read, gold, fitting, make_engine(fitting.threads))
    table = found.judges

    def show() -> Any:
        columns: Columns = {"judge": _judge}
        for name in table.column_names[1:]:
            columns[f">{name}"] = partial(_write_number, name)
        title = "Judges: shift is what each adds, noise how far they scatter"
        return _show_first(title, columns, _sort(table), top or len(table))

    about = {"model": "continuous", "settings": found.settings, "notes": found.notes}
    deliver(table, "judges", output, printing, about={**about, **read.omissions}, show=show)


def _write_number(key: str, row: Any) -> str:
    return f"{row[key] + 0.0:,.4g}"


def _get_view(found: Diagnosis, show: str, source: str, consensus: Consensus) -> Any:
    """The table that is asked for."""
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

    if show == "families":
        return FamilyVoices.of(consensus).table
    if show in ("drift", "history") and found.drift is None:
        raise BadData(
            f"there are no times, so --show {show} has nothing to look at; "
            "a column 'time' would add them",
            source=source,
        )
    return getattr(found, "confusions" if show == "mistakes" else show)


def _show_view(found: Diagnosis, show: str, table: Any, count: int, consensus: Consensus) -> Any:
    """The page of a view."""
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

    if show == "judges":
        return _show_judges(found, count, FamilyVoices.of(consensus))
    if show == "families":
        return _show_families(FamilyVoices.of(consensus), table, count)
    if show == "pairs" and not len(table):
        return "No two judges agree more than expected."
    if show == "mistakes":
        table = _sort(table)
    return _show_first(*_TABLES[show], table, count)


def _measure_features(judgments: Judgments, gold: Gold | None, names: str, seed: int) -> Any:
    """The table of features, of all that the data allow or of those named."""
    from adjudge.evaluation.diagnosis.judge_tables import feature_table

    chosen = None if names == "all" else tuple(part.strip() for part in names.split(","))
    return feature_table(judgments, gold, names=chosen, seed=seed)


def _show_features(table: Any, count: int) -> Any:
    """The features of the busiest judges for people: the values, without counts and bounds."""
    from adjudge.models.features import FEATURES, PAPER, TYPICAL

    heads = [column for column in table.column_names if column in (*FEATURES, "bits")]
    columns: Columns = {"judge": _judge, ">n": _judgments}
    for column in heads:
        short = PAPER.get(column, "typ." if column == TYPICAL else column)
        columns[f">{short}"] = _two(column)
    legend = ", ".join(f"{PAPER[column]} {column}" for column in heads if column in PAPER)
    title = f"Features of judges: {legend}, typ. {TYPICAL}"
    return show_rows(title, _sort(table).slice(0, count).to_pylist(), columns)


def _show_judges(found: Diagnosis, count: int, voices: FamilyVoices) -> Any:
    """The judges with most judgments, whom to look at and why, and who counts as one."""
    from rich.console import Group
    from rich.text import Text

    spoken = [Text(sentence) for sentence in voices.sentences]
    if found.few is not None:
        spoken.append(Text(str(found.few)))
    table = _sort(found.judges)
    rates = [key for key in ("sensitivity", "specificity") if key in table.column_names]
    key = "gold_accuracy"
    gold = key in table.column_names and table[key].null_count < len(table)
    columns: Columns = {
        "judge": _judge,
        ">n" if rates and gold else ">judgments": _judgments,
        ">accuracy": lambda row: number(row["accuracy"]),
        ">90% interval": lambda row: interval(row["accuracy_low"], row["accuracy_high"]),
        ">bits": lambda row: number(row["bits"]),
    }
    known = [key for key in rates or ["bias"] if table[key].null_count < len(table)]
    columns |= {f">{_HEADINGS.get(key, key)}": _two(key) for key in known}
    if gold:
        columns[">gold"] = _two(key)
    columns["advice"] = _get("advice")
    first = _show_first("Judges with most judgments", columns, table, count)
    rows = table.slice(0, count).to_pylist()
    told = [row for row in rows if row["advice"] != "keep"]
    tally = Counter(found.judges["advice"].to_pylist())
    counts = ", ".join(f"{word} {tally[word]:,}" for word in ("keep", "train", "drop", "watch"))
    if not told:
        return Group(first, *spoken, f"Of all judges: {counts}")
    why = {"judge": _judge, "advice": _get("advice"), "why": _get("why")}
    return Group(first, *spoken, show_rows(f"What to do (of all judges: {counts})", told, why))


def _show_families(voices: FamilyVoices, table: Any, count: int) -> Any:
    """Who counts as one judge, and who may be one source."""
    from rich.console import Group
    from rich.text import Text

    told = [Text(sentence) for sentence in voices.sentences]
    if not len(table):
        return Group("No judges are known to be one source.", *told)
    return Group(_show_first(*_TABLES["families"], table, count), *told)


def _show_first(title: str, columns: Columns, table: Any, count: int) -> Any:
    hidden = len(table) - min(count, len(table))
    more = f" ({hidden:,} more: --top 0 shows all)" if hidden else ""
    return show_rows(f"{title}{more}", table.slice(0, count).to_pylist(), columns)


def _sort(table: Any) -> Any:
    """The busiest first."""
    return table.sort_by([("judgments", "descending")])


def _get(key: str) -> Callable[[Any], str]:
    return lambda row: str(row[key])


def _two(key: str) -> Callable[[Any], str]:
    return lambda row: number(row[key], 2)


def _judge(row: Any) -> str:
    return shorten(row["judge"])


def _judgments(row: Any) -> str:
    return f"{row['judgments']:,}"


def _interval(row: Any) -> str:
    return interval(row["low"], row["high"])


_MISTAKE: Columns = {
    "as": lambda row: shorten(row["label"]),
    ">rate": lambda row: f"{row['rate']:.0%}",
}
# What each view shows: a heading, and columns.
_TABLES: dict[str, tuple[str, Columns]] = {
    "mistakes": (
        "Mistakes, the commonest first",
        {
            "judge": _judge,
            "rates": lambda row: shorten(row["truth"]),
            **_MISTAKE,
            ">90% interval": _interval,
            ">judgments": lambda row: f"{row['judgments']:,.1f}",
        },
    ),
    "common": (  # what the guidelines should speak of
        "Mistakes of all judges together",
        {
            "rated": lambda row: shorten(row["truth"]),
            **_MISTAKE,
            ">judgments": lambda row: f"{row['judgments']:,.1f}",
            ">commonest of": lambda row: count_of(row["judges"], "judge"),
        },
    ),
    "drift": (
        "Who changed over time, the surest first",
        {
            "judge": _judge,
            ">n": _judgments,
            ">early": _two("accuracy_early"),
            ">late": _two("accuracy_late"),
            ">p adj.": lambda row: number(row["p_adjusted"]),
            "what": _get("sentence"),
        },
    ),
    "history": (
        "The work of each judge in its order",
        {
            "judge": _judge,
            ">block": lambda row: f"{row['block']:,}",
            "from": lambda row: f"{row['begin']:{_MINUTE}}",
            ">n": _judgments,
            ">accuracy": _two("accuracy"),
            ">90% interval": _interval,
        },
    ),
    "pairs": (
        "Judges who agree more than expected",
        {
            "judge": lambda row: shorten(row["judge_a"]),
            "and judge": lambda row: shorten(row["judge_b"]),
            ">items": lambda row: f"{row['items']:,}",
            ">agree": lambda row: f"{row['agreements']:,}",
            ">expected": lambda row: f"{row['expected']:,.1f}",
            ">copied": lambda row: f"{row['copied']:.0%}",
            ">p adj.": lambda row: f"{row['p_adjusted']:.1g}",
        },
    ),
    "families": (
        "Judges who are one source, or may be",
        {
            "kind": _get("kind"),
            "judges": lambda row: shorten(row["judges"]),
            ">excess": _two("excess"),
            ">items": lambda row: "-" if row["common"] is None else f"{row['common']:,}",
        },
    ),
}
