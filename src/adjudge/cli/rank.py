"""adjudge rank: compare search systems by noisy judgments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import progress, tell_notes
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._reading import Input, read_judgments, read_runs
from adjudge.cli._results import Column, check_places, deliver_all, shorten, show_rows
from adjudge.cli._summary import summarise
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.runs import Run
    from adjudge.evaluation.ranking.rank import Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    """How a person wants systems ranked."""

    measures: list[str] | None = option(
        "--measures NAME...", "Measures as ir-measures names them; nDCG@10 and AP if not given."
    )
    unjudged: str = option(
        "--unjudged WAY",
        "How to count unjudged documents: not-relevant (as trec_eval), condensed (removed), "
        "prevalence (the mean of their topic), or filled (from judged ones at similar ranks).",
        "not-relevant",
    )
    over: str = option(
        "--over WHAT",
        "What intervals cover: judgments (only judge noise), or topics (also other topics, by "
        "bootstrap).",
        "judgments",
    )
    samples: int = option("--samples N", "Number of draws of the true labels.", 1000, min=2)
    level: float = option("--level P", "Confidence level of the intervals.", 0.95)
    top: int = option("--top N", "How many documents to judge next.", 10, min=0)


@command(
    "adjudge rank j.csv --runs a.run b.run --measures nDCG@10 AP",
    "adjudge rank j.csv --runs *.run --unjudged condensed -o s.csv",
    "adjudge rank j.csv --runs *.run --over topics --pairs p.csv",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    run_files: list[str] = option(
        "--runs FILE...", "TREC runs, one file per system, or a folder of them.", required=True
    ),
    ranks: _Ranks,
    gold: str | None = o.GOLD,
    use_gold: bool = o.USE_GOLD,
    pairs: Path | None = option("--pairs FILE", "Write the table of pairs too."),
    next_items: Path | None = option("--next FILE", "Write the documents to judge next too."),
    fitting: o.Fitting,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """Rank search systems by noisy judgments, with intervals and the probability that A beats B.

    The value of a measure is computed from the consensus labels, as trec_eval computes it. With one
    judgment per document, as in qrels, it equals the value of trec_eval. The interval shows how
    much judge noise could change the value. It comes from draws of the true labels.
    """
    from adjudge.evaluation.ranking.rank import check_ranking

    places = {"--output": out.output, "--pairs": pairs, "--next": next_items}
    check_places(places, inputs=(*judgments, gold, *run_files), printing=out)
    check_ranking(ranks.over, ranks.samples, ranks.level, ranks.unjudged)
    systems = read_runs(run_files, reading)
    read = read_judgments(judgments, gold, reading)
    known = read.choose_gold(use_gold)
    ranking, said = _rank(read, known, systems, ranks, fitting)
    tables = {"systems": ranking.systems, "pairs": ranking.pairs, "next": ranking.next_items}
    deliver_all(
        {text: (tables[text], path) for text, path in zip(tables, places.values(), strict=True)},
        out,
        about=lambda _: said | {text: _rows(table) for text, table in tables.items()},
        show=lambda: _show(ranking, tables),
    )


def _rank(
    read: Input, known: Gold | None, systems: list[Run], ranks: _Ranks, fitting: o.Fitting
) -> tuple[Ranking, dict[str, Any]]:
    """The ranking, and the run as data; what is to be said about both is said."""
    from adjudge.evaluation.ranking.rank import MEASURED, check_runs, rank_systems

    model = build_model(fitting)
    measures = ranks.measures or MEASURED
    check_runs(read.judgments, systems, measures, with_gold=known is not None)
    consensus = fit_model(model, read.judgments, known, fitting)
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
    tell_notes(ranking.notes, ranking.warnings)
    return ranking, {**summarise(consensus, read), "ranking": _describe(ranking)}


def _describe(ranking: Ranking) -> dict[str, Any]:
    """What to know about a ranking, as data."""
    return {
        "topics": ranking.topics,
        "draws": {measure: len(values) for measure, values in ranking.values.items()},
        "level": ranking.level,
        "unjudged": ranking.unjudged,
        "over": ranking.over,
        "covers": ranking.covers,
        "notes": ranking.notes,
    }


def _rows(table: Any) -> list[Any]:
    return [] if table is None else list(table.to_pylist())


def _show(ranking: Ranking, tables: dict[str, Any]) -> list[Any]:
    """The ranking for people: systems and pairs of each measure, then what to judge next."""
    parts = []
    for measure in ranking.values:
        rows = [row for row in _rows(tables["systems"]) if row["measure"] == measure]
        columns = [f"system as {measure}", "value:.4f"]
        if ranking.covers:
            columns += [f"low to high:.3f as {ranking.level:.0%} interval", "p_best:.1% as is best"]
        title = f"Systems by {measure}, {count_of(ranking.topics, 'topic')}"
        parts.append(show_rows(title, rows, *columns, "judged:.0%"))
        pairs = [row for row in _rows(tables["pairs"]) if row["measure"] == measure]
        if pairs:
            parts.append(_pairs_grid(measure, pairs, ranking))
    if next_rows := _rows(tables["next"]):
        parts.append(_next_grid(next_rows))
    return parts


_MOST = 30  # pairs that are shown


def _pairs_grid(measure: str, pairs: list[Any], ranking: Ranking) -> Any:
    """The pairs of systems for people; of many, those that differ least."""
    hidden = max(0, len(pairs) - _MOST)
    if hidden:
        key = "p_better" if ranking.covers else "difference"
        pairs = sorted(pairs, key=lambda row: row[key])[:_MOST]
    more = f" ({hidden:,} clearer ones: --pairs FILE has all)" if hidden else ""
    columns: list[Column] = ["first", "second", "difference:.4f"]
    if ranking.covers:
        columns += [
            f"low to high:.3f as {ranking.level:.0%} interval",
            (">first is better", lambda row: f"{row['p_better'] + row['p_tied'] / 2:.1%}"),
        ]
    return show_rows(f"Pairs by {measure}{more}", pairs, *columns)


def _next_grid(rows: list[Any]) -> Any:
    """The documents to judge next for people."""
    columns: list[Column] = [
        "topic",
        "document",
        "judgments",
        ("label", lambda row: shorten(row["label"] or "-")),
        "gain:.4f as bits gained",
        ("separates", lambda row: f"{shorten(row['first'])}, {shorten(row['second'])}"),
    ]
    return show_rows("Judge next", rows, *columns)
