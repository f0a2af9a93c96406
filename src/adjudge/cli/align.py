"""adjudge align: model judges looked over, version by version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import progress, say
from adjudge.cli._reading import keep_files, omissions_of, place_of, read_gold, tell_omissions
from adjudge.cli._results import (
    Column,
    check_places,
    deliver_all,
    interval,
    number,
    show_rows,
)
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.evaluation.model_judges.alignment import Alignment

_MOST = 12  # remarks that are shown of one kind


@command(
    "adjudge align answers.csv --gold gold.csv -o versions.csv",
    "adjudge align answers.csv --gold gold.csv --items items.csv",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    item_file: Path | None = option(
        "--items FILE", "Texts of the items (item, title, text, ...), or their length."
    ),
    remarks: Path | None = option("--remarks FILE", "Write what was found amiss too."),
    versions: Path | None = option(
        "--versions FILE", "Write the versions of a model, two and two."
    ),
    soft: Path | None = option("--soft FILE", "Write the samples of an item as shares."),
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    labels: str | None = o.SCALE,
    reading: o.Reading,
    out: o.Delivery,
) -> None:
    """Check LLM judges: accuracy, calibration, consistency, and what not to trust.

    Columns model, prompt and version separate the judges of one model; several rows of a judge on
    an item are samples. Columns confidence, logprob, cost, tokens, position and length are used if
    present. With gold each version has its accuracy, kappa and calibration, before and after gold.
    Warnings name outdated gold, texts that address the judge, and biases.
    """
    from adjudge.evaluation.model_judges.alignment import align

    places = {"--output": out.output, "--remarks": remarks, "--versions": versions, "--soft": soft}
    check_places(places, inputs=(*judgments, gold, item_file), printing=out)
    answers = _read(judgments, gold, item_file, reading, labels)
    with progress("looking model judges over"):
        found = align(answers, resamples=resamples, seed=seed)
    _say(found, answers)
    judges, amiss, pairs = found.to_table(), found.remarks_table(), found.pairs_table()
    about = {"gold": found.gold, "remarks": amiss.to_pylist(), "versions": pairs.to_pylist()}
    about |= omissions_of(answers)
    deliver_all(
        {
            "judges": (judges, out.output),
            "remarks": (amiss, remarks),
            "versions": (pairs, versions),
            "shares": (found.soft.to_table(), soft),
        },
        out,
        about=lambda whole: about | ({"judges": judges.to_pylist()} if whole else {}),
        show=lambda: _show(found),
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
    columns: list[Column] = [
        "judge",
        "gold",
        (">accuracy", lambda one: number(one.accuracy.value)),
        (">95% interval", lambda one: interval(one.accuracy.low, one.accuracy.high)),
        (">kappa", lambda one: number(one.kappa.value, 2)),
        (">log loss", lambda one: number(one.before and one.before.log_loss)),
        (">after", lambda one: number(one.after and one.after.log_loss)),
        "cost_per_item:.5f as cost/item",
    ]
    parts = [show_rows("Model judges", found.versions, *columns)]
    pairs = [one for one in found.pairs if one.items]
    if pairs:
        columns = ["first", "second", "items", "same:.0%", "gold"]
        columns += ["difference as second is better by", "p"]
        parts.append(show_rows("Versions of one model", pairs, *columns))
    return parts
