"""adjudge rank: which system is better, as far as noisy judgments can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, grid, name, progress, say
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.cli.reading import Input
    from adjudge.data.gold import Gold
    from adjudge.data.runs import Run
    from adjudge.evaluation.ranking.rank import Ranking

NAME = "rank"
LIST_OPTIONS = ("--runs", "--measures")
EXAMPLES = (
    "adjudge rank j.csv --runs a.run b.run --measures nDCG@10 AP",
    "adjudge rank --judgments j.csv --runs *.run --unjudged condensed -o s.csv",
    "adjudge rank --judgments j.csv --runs *.run --over topics --pairs p.csv",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    """How a person wants systems ranked."""

    measures: Annotated[
        list[str] | None,
        o.option(
            "--measures",
            metavar="NAME...",
            help="Measures as ir-measures names them; nDCG@10 and AP if not given.",
        ),
    ] = None
    unjudged: Annotated[
        str,
        o.option(
            "--unjudged",
            metavar="WAY",
            help="Documents nobody judged: not-relevant, condensed (taken out), prevalence (as "
            "relevant as their topic), or filled (as judged ones of their topic in such places).",
        ),
    ] = "not-relevant"
    over: Annotated[
        str,
        o.option(
            "--over",
            metavar="WHAT",
            help="What intervals are about: judgments, or topics too (a bootstrap of them).",
        ),
    ] = "judgments"
    samples: Annotated[
        int, o.option("--samples", metavar="N", min=2, help="Draws of the truth.")
    ] = 1000
    level: Annotated[
        float, o.option("--level", metavar="P", help="Probability that intervals hold.")
    ] = 0.95
    top: Annotated[
        int, o.option("--top", metavar="N", min=0, help="How many documents to judge next.")
    ] = 10


def run(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JUDGMENTS]...",
            help="Files of judgments in any known format, with topics, a folder, a pattern or an "
            "address; - is standard input.",
        ),
    ] = None,
    judgments: Annotated[
        list[str] | None,
        o.option("--judgments", metavar="FILE", help="The same, as an option (again for more)."),
    ] = None,
    run_files: Annotated[
        list[str],
        o.option("--runs", metavar="FILE...", help="TREC runs, one a system; or a folder of them."),
    ],
    ranks: _Ranks,
    gold: o.GoldFile = None,
    use_gold: o.UseGold = False,
    output: o.Output = None,
    pairs: Annotated[
        Path | None, o.option("--pairs", metavar="FILE", help="Write the table of pairs too.")
    ] = None,
    next_items: Annotated[
        Path | None,
        o.option("--next", metavar="FILE", help="Write the documents to judge next too."),
    ] = None,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Rank search systems by noisy judgments, with intervals and the chance that A beats B.

    The truth is drawn again and again from what the model knows of it; each draw gives every run
    its value. So the intervals are about the judges' noise. If no model is named it is the default
    one, as everywhere: where judges err together its chances hold better than a sampled model's.
    """
    from adjudge.cli.delivering import deliver_all
    from adjudge.cli.reading import read_judgments
    from adjudge.cli.writing import check_places, check_printing
    from adjudge.evaluation.ranking.rank import check_ranking

    be_quiet(printing.quiet or printing.json)
    places = {"--output": output, "--pairs": pairs, "--next": next_items}
    given = [*(files or ()), *(judgments or ())]
    if not given:
        raise BadSetting("JUDGMENTS", None, "a file of judgments")
    check_places(places, inputs=(*given, gold, *run_files))
    check_printing(printing, output)
    check_ranking(ranks.over, ranks.samples, ranks.level, ranks.unjudged)
    systems = read_runs(run_files, reading)
    read = read_judgments(given, gold, reading, labelling)
    known = read.given if read.given is not None or not use_gold else read.beside
    ranking, said = _ranked(read, known, systems, ranks, fitting)
    tables = {"systems": ranking.systems, "pairs": ranking.pairs, "next": ranking.next_items}
    deliver_all(
        {text: (tables[text], path) for text, path in zip(tables, places.values(), strict=True)},
        printing,
        about=lambda _: said | {text: _rows(table) for text, table in tables.items()},
        show=lambda: _shown(ranking, tables),
    )


def _ranked(
    read: Input, known: Gold | None, systems: list[Run], ranks: _Ranks, fitting: o.Fitting
) -> tuple[Ranking, dict[str, Any]]:
    """The ranking, and the run as data; what is to be said about both is said."""
    from adjudge.cli.fitting import built, fitted, summary
    from adjudge.evaluation.ranking.rank import MEASURED, check_runs, rank_systems

    model = built(fitting)
    measures = ranks.measures or MEASURED
    check_runs(read.judgments, systems, measures, with_gold=known is not None)
    consensus = fitted(model, read.judgments, known, fitting)
    ways: Any = {"unjudged": ranks.unjudged, "over": ranks.over}
    with progress("ranking systems") as on_step:
        ranking = rank_systems(
            consensus,
            systems,
            measures,
            draws=ranks.samples,
            level=ranks.level,
            next_items=ranks.top,
            seed=fitting.seed,
            progress=on_step,
            **ways,
        )
    for note in ranking.notes:
        say(f"  {note}")
    return ranking, {**summary(consensus, read), "ranking": _about(ranking)}


def read_runs(places: list[str], reading: o.Reading) -> list[Run]:
    """Runs, one a file; what was left out of them is told."""
    from adjudge.cli.reading import each_file, place_of, read_content
    from adjudge.data.runs import Run

    runs = []
    for place in each_file(places):
        name = place_of([place])
        content = read_content([place], replace(reading, format="run", question=None), wanted="run")
        if content.run is None:
            raise BadData("there is no run in this file", source=name)
        runs.append(Run.from_table(content.run, source=name))
    return runs


def _about(ranking: Ranking) -> dict[str, Any]:
    """What to know about a ranking, as data."""
    return {
        "topics": ranking.topics,
        "draws": {measure: len(values) for measure, values in ranking.values.items()},
        "level": ranking.level,
        "unjudged": ranking.unjudged,
        "over": ranking.over,
        "notes": ranking.notes,
    }


def _rows(table: Any) -> list[Any]:
    return [] if table is None else list(table.to_pylist())


def _shown(ranking: Ranking, tables: dict[str, Any]) -> list[Any]:
    """The ranking for people: systems and pairs of each measure, then what to judge next."""
    from adjudge.cli.writing import number

    parts = []
    for measure in ranking.values:
        rows = [row for row in _rows(tables["systems"]) if row["measure"] == measure]
        heads = [(measure, "left"), ("value", "right"), (f"{ranking.level:.0%} interval", "right")]
        heads += [("is best", "right"), ("by labels", "right"), ("judged", "right")]
        cells = [
            [
                name(row["system"]),
                number(row["value"], 4),
                f"{row['low']:.3f} to {row['high']:.3f}",
                f"{row['p_best']:.1%}",
                number(row["by_label"], 4),
                f"{row['judged']:.0%}",
            ]
            for row in rows
        ]
        title = f"Systems by {measure}, {count_of(ranking.topics, 'topic')}"
        parts.append(grid(title, heads, cells))
        pairs = [row for row in _rows(tables["pairs"]) if row["measure"] == measure]
        if pairs:
            parts.append(_pairs_grid(measure, pairs, ranking.level))
    if _rows(tables["next"]):
        parts.append(_next_grid(_rows(tables["next"])))
    return parts


_MOST = 30  # pairs that are shown


def _pairs_grid(measure: str, pairs: list[Any], level: float) -> Any:
    """The pairs of systems for people, the doubtful first where they are many."""
    hidden = max(0, len(pairs) - _MOST)
    if hidden:
        pairs = sorted(pairs, key=lambda row: row["p_better"])[:_MOST]
    cells = [
        [
            name(row["first"]),
            name(row["second"]),
            f"{row['difference']:.4f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            f"{row['p_better'] + row['p_tied'] / 2:.1%}",
        ]
        for row in pairs
    ]
    heads = [("first", "left"), ("second", "left"), ("difference", "right")]
    heads += [(f"{level:.0%} interval", "right"), ("first is better", "right")]
    more = f" ({hidden:,} surer ones: --pairs FILE has all)" if hidden else ""
    return grid(f"Pairs by {measure}{more}", heads, cells)


def _next_grid(rows: list[Any]) -> Any:
    """The documents to judge next for people."""
    heads = [("topic", "left"), ("document", "left"), ("judgments", "right"), ("label", "left")]
    heads += [("bits gained", "right"), ("tells apart", "left")]
    cells = [
        [
            name(row["topic"]),
            name(row["document"]),
            f"{row['judgments']:,}",
            name(row["label"] or "-"),
            f"{row['gain']:.4f}",
            f"{name(row['first'])}, {name(row['second'])}",
        ]
        for row in rows
    ]
    return grid("Judge next", heads, cells)
