"""adjudge judges: how far each judge can be trusted, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import options as o
from adjudge.cli.brought import brings_files
from adjudge.cli.console import be_quiet, grid, name, progress, say
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, UnknownName

if TYPE_CHECKING:
    from adjudge.cli.reading import Input
    from adjudge.data.consensus import Consensus
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis

NAME = "judges"
_VIEWS = ("judges", "mistakes", "common", "drift", "history", "pairs", "families")
EXAMPLES = (
    "adjudge judges judgments.csv --gold gold.csv -o judges.csv",
    "adjudge judges judgments.csv --show mistakes",
    "adjudge judges judgments.csv --show pairs",
    "adjudge judges judgments.csv --gold gold.csv --features all",
)


@brings_files
def run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    show: Annotated[
        str,
        o.option(
            "--show",
            metavar="WHAT",
            help="judges; mistakes of each, or those common to all; drift and history, if there "
            "are times; pairs who agree more than explained; families, who have one voice.",
        ),
    ] = "judges",
    top: Annotated[
        int, o.option("--top", metavar="N", min=0, help="Rows to show a person; 0 for all.")
    ] = 25,
    features: Annotated[
        str | None,
        o.option(
            "--features",
            metavar="NAMES",
            help="Features instead of a fit: all, or names joined by commas.",
        ),
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
    from adjudge.cli.fitting import built, fitted, summary
    from adjudge.cli.pair_commands import holds_comparisons, pair_judges, refuse
    from adjudge.cli.reading import place_of, read_judgments
    from adjudge.cli.writing import check_places, check_printing, deliver

    if show not in _VIEWS:
        raise UnknownName("view", show, _VIEWS)
    be_quiet(printing.quiet or printing.json)
    check_places({"--output": output}, inputs=(*judgments, gold))
    check_printing(printing, output)
    if holds_comparisons(judgments, reading):
        refuse({"--gold": gold, "--features": features, "--show": show != "judges"})
        pair_judges(judgments, output, top, fitting, reading, printing)
        return
    if fitting.model == "continuous":
        fitting, labelling = replace(fitting, model=None), replace(labelling, continuous=True)
    model = None if labelling.continuous else built(fitting)
    read = read_judgments(judgments, gold, reading, labelling)
    known = read.given
    if known is None and use_gold:
        known = read.beside
    if model is None or _are_numbers(read.judgments, labelling, fitting):
        if features is not None or show != "judges":
            option, value = ("--features", features) if features else ("--show", show)
            raise BadSetting(
                option, value, "--bin N or --classes beside it, since labels are numbers"
            )
        _tell_numbers(read, known, fitting, output, top, printing)
        return
    every = known if known is not None else read.beside
    if features is not None:
        table = _features(read.judgments, every, features, fitting.seed)
        deliver(
            table,
            "judges",
            output,
            printing,
            about={"features": features, **read.omissions},
            show=lambda: _shown(table, top or len(table)),
        )
        return
    consensus = fitted(model, read.judgments, known, fitting)
    found = diagnose_fit(consensus, every, pairs=show == "pairs")
    table = _view(found, show, place_of(judgments), consensus)
    deliver(
        table,
        show,
        output,
        printing,
        about={**summary(consensus, read), "diagnosis": found.notes},
        show=lambda: _for_people(found, show, table, top or len(table), consensus),
    )


def _are_numbers(judgments: Judgments, labelling: o.NumberLabelling, fitting: o.Fitting) -> bool:
    """Whether labels are numbers rather than classes by how many there are, and nobody says no."""
    from adjudge.data.labels import is_many

    asked = labelling.continuous is not None or fitting.model is not None
    return not asked and is_many(judgments.scale) and labelling.labels is None


def _tell_numbers(
    read: Input,
    gold: Gold | None,
    fitting: o.Fitting,
    output: Path | None,
    top: int,
    printing: o.Printing,
) -> None:
    """What each judge adds to the numbers they give, and how far they scatter."""
    from adjudge.cli.fitting import engine_of, settings_given
    from adjudge.cli.writing import deliver
    from adjudge.models.continuous import Continuous

    model = Continuous(**settings_given(fitting, Continuous))
    with progress("fitting continuous") as on_step:
        found = model.fit(read.judgments, gold, engine=engine_of(fitting), progress=on_step)
    given, table = found.judgments, found.judges
    say(
        ("continuous", "bold"),
        f" on {count_of(len(given), 'judgment')} of {count_of(given.item_count, 'item')} by "
        f"{count_of(given.judge_count, 'judge')}; numbers from {given.scale.labels[0]} to "
        f"{given.scale.labels[-1]} (--classes or --bin N makes grades of them)",
    )
    for note in found.notes:
        say(f"  {note}")

    def show() -> Any:
        rows = table.sort_by([("judgments", "descending")])
        cells = [
            [
                name(row["judge"]),
                *(f"{row[column] + 0.0:,.4g}" for column in table.column_names[1:]),
            ]
            for row in rows.slice(0, top or len(rows)).to_pylist()
        ]
        heads = [(column, "right") for column in table.column_names[1:]]
        hidden = len(rows) - len(cells)
        more = f" ({hidden:,} more: --top 0 shows all)" if hidden else ""
        title = f"Judges: shift is what each adds, noise how far they scatter{more}"
        return grid(title, [("judge", "left"), *heads], cells)

    about = {"model": "continuous", "settings": found.settings, "notes": found.notes}
    deliver(table, "judges", output, printing, about={**about, **read.omissions}, show=show)


def diagnose_fit(consensus: Consensus, gold: Gold | None, *, pairs: bool) -> Diagnosis:
    """The diagnosis of a fit, with a bar while it takes long; what it lacks is told."""
    from adjudge.evaluation.diagnosis.diagnose import diagnose

    with progress("diagnosing") as on_step:
        found = diagnose(consensus, gold=gold, pairs=pairs, progress=on_step)
    if pairs:
        say(f"  {found.notes[-1]}")
    return found


def _view(found: Diagnosis, show: str, source: str, consensus: Consensus) -> Any:
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
    return {
        "judges": found.judges,
        "mistakes": found.confusions,
        "common": found.common,
        "drift": found.drift,
        "history": found.history,
        "pairs": found.pairs,
    }[show]


def _for_people(found: Diagnosis, show: str, table: Any, count: int, consensus: Consensus) -> Any:
    """The page of a view."""
    from adjudge.cli import judge_views
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

    if show == "judges":
        return judge_views.busiest(found, count, FamilyVoices.of(consensus))
    if show == "families":
        return judge_views.families(FamilyVoices.of(consensus), table, count)
    views = {
        "mistakes": judge_views.mistakes,
        "common": judge_views.common,
        "drift": judge_views.drift,
        "history": judge_views.history,
        "pairs": judge_views.pairs,
    }
    return views[show](table, count)


def _features(judgments: Judgments, gold: Gold | None, names: str, seed: int) -> Any:
    """The table of features, of all that the data allow or of those named."""
    from adjudge.evaluation.diagnosis.features import feature_table

    chosen = None if names == "all" else tuple(part.strip() for part in names.split(","))
    return feature_table(judgments, gold, names=chosen, seed=seed)


def _shown(table: Any, count: int) -> Any:
    """The features of the busiest judges for people: the values, without counts and bounds."""
    from adjudge.cli.writing import number
    from adjudge.models.features import FEATURES, PAPER, TYPICAL

    rows = table.sort_by([("judgments", "descending")]).slice(0, count).to_pylist()
    heads = [column for column in table.column_names if column in (*FEATURES, "bits")]
    cells = [
        [
            name(row["judge"]),
            f"{row['judgments']:,}",
            *(number(row[column], 2) for column in heads),
        ]
        for row in rows
    ]
    short = [PAPER.get(column, "typ." if column == TYPICAL else column) for column in heads]
    columns = [("judge", "left"), ("n", "right"), *((head, "right") for head in short)]
    legend = ", ".join(f"{PAPER[column]} {column}" for column in heads if column in PAPER)
    return grid(f"Features of judges: {legend}, typ. {TYPICAL}", columns, cells)
