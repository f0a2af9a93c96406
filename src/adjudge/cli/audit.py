"""adjudge audit: a verdict on every LLM judge, and the checks behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import progress, say
from adjudge.cli._reading import omissions_of, read_answers, read_runs, read_text
from adjudge.cli._results import (
    Column,
    check_places,
    deliver_all,
    number,
    print_json,
    show_rows,
    tell_written,
    write_tables,
)
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.evaluation.model_judges.audit import Audit

_MOST = 12  # remarks and rows that are shown of one kind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """What is corrected, and against whom judges are tested."""

    target: list[str] | None = option(
        "--target NAME...", "Numbers to correct, as for 'adjudge estimate'."
    )
    run_files: list[str] | None = option("--runs FILE...", "TREC runs to measure and compare.")
    by: str | None = option(
        "--by GROUP",
        "Correct the numbers in each slice too: by topic, or by what a regular expression matches "
        "in item names. Without it, a column system makes the slices.",
    )
    score: str = option(
        "--score NAME",
        "Score of the test against people: accuracy, or neg-rmse of grades.",
        "accuracy",
    )
    epsilon: float = option(
        "--epsilon E",
        "How much worse than people that test allows: 0.2 for experts, 0.1 for a crowd.",
        0.2,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _MoreFiles:
    """What is written next to the verdicts."""

    card: Path | None = option("--card FILE", "Write the card of a judge, for 'adjudge gate'.")
    card_of: str | None = option("--card-of JUDGE", "The judge of the card, if there are several.")
    prompt: Path | None = o.PROMPT
    rubric: Path | None = o.RUBRIC
    to_label: Path | None = option(
        "--to-label FILE", "Write the items that still need gold, for the slices."
    )
    remarks: Path | None = option("--remarks FILE", "Write all remarks.")


@command(
    "adjudge audit judgments.csv --gold gold.csv -o audit.html",
    "adjudge audit people.json models.json --people '^ann' --epsilon 0.1",
    "adjudge audit judgments.csv --gold gold.csv --card card.json",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    people: str | None = o.PEOPLE,
    item_file: Path | None = option(
        "--items FILE", "Texts of the items (item, title, text, ...), or their length."
    ),
    numbers: _Numbers,
    more: _MoreFiles,
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    reading: o.AnswerReading,
    out: o.Delivery,
) -> None:
    """Audit LLM judges: a verdict on each, and every check behind it.

    The columns model, prompt and version tell judges of one model apart. Several rows of a judge on
    one item are samples. Other columns are used if present: confidence, logprob, cost, tokens,
    position, length and system. A check that needs more gold is left out, and a message says how
    much it needs. With -o audit.html the result is one HTML page. Without --people or a column kind
    or family, every judge counts as an LLM.
    """
    from adjudge.evaluation.model_judges.audit import audit

    page = out.output if out.output is not None and out.output.suffix == ".html" else None
    places = {
        "--output": out.output,
        "--card": more.card,
        "--to-label": more.to_label,
        "--remarks": more.remarks,
    }
    free = ("--card", *(("--output",) if page is not None else ()))
    files = numbers.run_files or []
    inputs = (*judgments, gold, item_file, more.prompt, more.rubric, *files)
    check_places(places, inputs=inputs, free=free, printing=out)
    answers = read_answers(judgments, gold, reading, item_file)
    systems = read_runs(files, reading)
    with progress("auditing"):
        found = audit(
            answers,
            people=people,
            by=numbers.by,
            targets=numbers.target,
            runs=systems,
            score=numbers.score,  # type: ignore[arg-type]  # checked by the test
            epsilon=numbers.epsilon,
            resamples=resamples,
            seed=seed,
        )
    _say(found)
    if more.card is not None:
        _write_card(found, more)
    tables = {
        "items to label": (found.items_to_label, more.to_label),
        "remarks": (_remarks_of(found), more.remarks),
    }
    if page is None:
        deliver_all(
            {"judges": (found.to_table(), out.output), **tables},
            out,
            about=lambda _: found.to_json() | omissions_of(answers),
            show=lambda: _show(found),
        )
        return
    from adjudge.report.audit import write_audit

    write_audit(found, page)
    tell_written("page", page)
    write_tables(tables)
    if out.json:
        print_json(found.to_json() | omissions_of(answers))


def _write_card(found: Audit, more: _MoreFiles) -> None:
    from adjudge.evaluation.model_judges.card import Card

    if more.card is None:
        raise BadSetting("--card", None, "a file")
    texts = [None if path is None else read_text(path) for path in (more.prompt, more.rubric)]
    Card.of(found, more.card_of, prompt=texts[0], rubric=texts[1]).write(more.card)
    tell_written("card", more.card)


def _remarks_of(found: Audit) -> Any:
    import pyarrow as pa

    from adjudge.evaluation.scores import columns_of

    return pa.table(columns_of(found.remarks, text=("kind", "subject", "sentence")))


def _say(found: Audit) -> None:
    """Print sizes, remarks, and the checks that were left out."""
    judgments = found.answers.judgments
    say(
        f"{count_of(len(judgments), 'judgment')} of {count_of(judgments.item_count, 'item')} by "
        f"{count_of(len(found.judges), 'LLM judge')} and {count_of(found.people, 'person')}; gold "
        f"of {count_of(found.gold, 'item')}"
    )
    for kind in dict.fromkeys(one.kind for one in found.remarks):
        own = found.of_kind(kind)
        style = "" if kind in ("samples", "family") else "yellow"
        for one in own[:_MOST]:
            say((f"  {kind}: {one.sentence}", style))
        if len(own) > _MOST:
            say(f"  ... and {len(own) - _MOST:,} more ({kind}); --remarks FILE has all")
    for line in found.left_out:
        say(f"  left out: {line}")
    shared = [
        line for line in found.judges[0].left_out if all(line in j.left_out for j in found.judges)
    ]
    for line in shared:
        say(f"  left out for every judge: {line}")


def _show(found: Audit) -> Iterator[Any]:
    """Yield the verdicts, corrected numbers and the worth of the panel, for people."""
    columns = [_column(name) for name in found.judges[0].scores]
    shown, hidden = found.judges[:_MOST], len(found.judges) - _MOST
    title = f"LLM judges ({hidden:,} more: -o FILE has all)" if hidden > 0 else "LLM judges"
    yield show_rows(title, shown, "judge", "verdict", *columns, ("reason", _reason))
    if any(one.alternative for one in found.judges):
        yield show_rows(
            "Next to people: the alternative annotator test",
            found.judges,
            *("judge", "alternative as verdict", "winning_rate:.2f", "advantage:.2f"),
        )
    overall = [one for one in found.corrected if not one.slice]
    if overall:
        yield show_rows(
            "Numbers from their labels",
            overall[:_MOST],
            *("judge", "target", "naive", (">corrected", _format_corrected)),
            "low to high:.3f as 95% interval",
            "gold_only",
            *([("refused", _format_refused)] if any(one.refused for one in overall) else []),
        )
    refused = [one for one in found.transport if one.refused]
    if refused:
        yield show_rows(
            "Slices whose corrected numbers are refused",
            refused[:_MOST],
            *("judge", "slice", "gold", "needs", ("do", lambda one: one.refused)),
        )
    if found.panel is not None:
        panel = found.panel
        yield (
            f"{panel.judges} judges carry the information of about {panel.effective:.1f} "
            f"independent ones. Accuracy: best judge ({panel.best}) "
            f"{panel.best_accuracy.value:.3f}, all together {panel.panel_accuracy.value:.3f}, "
            f"corrected by gold {panel.corrected_accuracy.value:.3f}."
        )


def _reason(one: Any) -> str:
    return str(one.reason)


def _column(name: str) -> Column:
    return f">{name.replace('-', chr(10))}", lambda one: number(one.scores[name].value, 2)


def _format_corrected(one: Any) -> str:
    return number(one.estimate if one.valid else None)


def _format_refused(one: Any) -> str:
    return str(one.refused or "")
