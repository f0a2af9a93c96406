"""adjudge align: model judges looked over, version by version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import check_places, omissions_of, tell_omissions
from adjudge.cli._labels import read_gold
from adjudge.cli._places import keep_files, place_of
from adjudge.cli._results import Columns, deliver_all, interval, number, shorten, show_rows
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.evaluation.model_judges.alignment import Alignment

_MOST = 12  # remarks that are shown of one kind


def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    item_file: Annotated[
        Path | None,
        option("--items", "FILE", "Texts of the items (item, title, text, ...), or their length."),
    ] = None,
    output: o.Output = None,
    remarks: Annotated[
        Path | None, option("--remarks", "FILE", "Write what was found amiss too.")
    ] = None,
    versions: Annotated[
        Path | None, option("--versions", "FILE", "Write the versions of a model, two and two.")
    ] = None,
    soft: Annotated[
        Path | None, option("--soft", "FILE", "Write the samples of an item as shares.")
    ] = None,
    resamples: o.Resamples = 1000,
    seed: o.Seed = 0,
    labels: Annotated[
        str | None, option("--labels", "SCALE", "The scale: '0<1<2' in order, 'cat,dog' without.")
    ] = None,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Look model judges over: right, honest, repeatable, and what should not be trusted.

    Columns model, prompt and version tell judges of one model apart; several rows of a judge on an
    item are samples. Of confidence, logprob, cost, tokens, position and length what is there is
    used. With gold each version has its accuracy, kappa and calibration, before and after gold.
    Warned of are gold that is stale, texts that speak to the judge, and leanings.
    """
    from adjudge.evaluation.model_judges.alignment import align

    places = {"--output": output, "--remarks": remarks, "--versions": versions, "--soft": soft}
    check_places(places, inputs=(*judgments, gold, item_file), printing=printing)
    answers = _read(judgments, gold, item_file, reading, labels)
    with progress("looking model judges over"):
        found = align(answers, resamples=resamples, seed=seed)
    _say(found, answers)
    judges, amiss, pairs = found.to_table(), found.remarks_table(), found.pairs_table()
    about = {"gold": found.gold, "remarks": amiss.to_pylist(), "versions": pairs.to_pylist()}
    about |= omissions_of(answers)
    deliver_all(
        {
            "judges": (judges, output),
            "remarks": (amiss, remarks),
            "versions": (pairs, versions),
            "shares": (found.soft.to_table(), soft),
        },
        printing,
        about=lambda whole: about | ({"judges": judges.to_pylist()} if whole else {}),
        show=lambda: _show(found),
    )


COMMAND = Command(
    _run,
    examples=(
        "adjudge align answers.csv --gold gold.csv -o versions.csv",
        "adjudge align answers.csv --gold gold.csv --items items.csv",
    ),
)


def _read(
    places: list[str], gold: str | None, items: Path | None, reading: o.Reading, labels: str | None
) -> ModelAnswers:
    """The answers, with gold and texts that stand in other files."""
    from adjudge.data.formats.format import Options
    from adjudge.data.formats.opening import File
    from adjudge.data.formats.plain import read_rows
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.data.scale import Scale

    scale = None if labels is None else Scale.parse(labels)
    settings: dict[str, Any] = {"encoding": reading.encoding, "skip_bad": reading.skip_bad_rows}
    with keep_files(places) as paths, progress(f"reading {place_of(places)}"):
        answers = ModelAnswers.load(
            paths, format=reading.format, scale=scale, question=reading.question, **settings
        )
    tell_omissions(answers, place_of(places))
    answers = replace(answers, judgments=reading.declare(answers.judgments))
    if items is not None:
        table, _ = read_rows(File.at(items, reading.encoding), Options(**settings), lambda c: c)
        answers = answers.with_items(table, items.name)
    if gold is not None:
        known = read_gold(gold, reading, answers.judgments.scale).gold
        answers = replace(answers, gold=known)
    return answers


def _say(found: Alignment, answers: ModelAnswers) -> None:
    """Sizes, and whatever is amiss."""
    judgments = answers.judgments
    say(
        f"{count_of(len(judgments), 'judgment')} of {count_of(judgments.item_count, 'item')} by "
        f"{count_of(judgments.judge_count, 'judge')}; gold of {count_of(found.gold, 'item')}"
    )
    for kind in dict.fromkeys(one.kind for one in found.remarks):
        own = found.of_kind(kind)
        style = "" if kind in ("samples", "family") else "yellow"
        for one in own[:_MOST]:
            say((f"  {kind}: {one.sentence}", style))
        if len(own) > _MOST:
            say(f"  ... and {len(own) - _MOST:,} more ({kind}); --remarks FILE has all")


def _show(found: Alignment) -> list[Any]:
    """The versions for people."""
    columns: Columns = {
        "judge": lambda one: shorten(one.judge),
        ">gold": lambda one: f"{one.gold:,}",
        ">accuracy": lambda one: number(one.accuracy.value),
        ">95% interval": lambda one: interval(one.accuracy.low, one.accuracy.high),
        ">kappa": lambda one: number(one.kappa.value, 2),
        ">log loss": lambda one: number(None if one.before is None else one.before.log_loss),
        ">after": lambda one: number(None if one.after is None else one.after.log_loss),
        ">cost/item": lambda one: number(one.cost_per_item, 5),
    }
    parts = [show_rows("Model judges", found.versions, columns)]
    pairs = [one for one in found.pairs if one.items]
    if pairs:
        columns = {
            "first": lambda one: shorten(one.first),
            "second": lambda one: shorten(one.second),
            ">items": lambda one: f"{one.items:,}",
            ">same": lambda one: f"{one.same:.0%}",
            ">gold": lambda one: f"{one.gold:,}",
            ">second is better by": lambda one: number(one.difference),
            ">p": lambda one: number(one.p),
        }
        parts.append(show_rows("Versions of one model", pairs, columns))
    return parts
