"""Labels that are numbers rather than classes: fitted, described and delivered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import describe_size, detail, progress, say, tell_if_cold, warn
from adjudge.cli._fitting import read_settings
from adjudge.cli._results import deliver_all, show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.cli._options import Delivery, Fitting
    from adjudge.cli._reading import Input
    from adjudge.data.gold import Gold
    from adjudge.engines.engine import Engine
    from adjudge.models.number_consensus import ContinuousConsensus

_SHOWN = 12  # items a person is shown


def fit_numbers(
    read: Input, gold: Gold | None, fitting: Fitting, engine: Engine
) -> ContinuousConsensus:
    """The value of each item, with a bar while it takes long; what was fitted is said."""
    from adjudge.models.continuous import Continuous

    model = Continuous(**read_settings(fitting, Continuous))
    with progress("fitting continuous") as on_step:
        found = model.fit(read.judgments, gold, engine=engine, progress=on_step)
    given = found.judgments
    ends = f"{given.scale.labels[0]} to {given.scale.labels[-1]}"
    say(f"{describe_size(given)}; numbers from {ends} (--classes or --bin N makes grades of them)")
    for note in found.notes:
        detail(f"  {note}")
    if not found.converged:
        warn("the fit stopped before it converged; allow more with --set iterations=N")
    return found


def deliver_numbers(
    read: Input,
    gold: Gold | None,
    fitting: Fitting,
    engine: Engine,
    places: dict[str, Path | None],
    to: str | None,
    out: Delivery,
) -> None:
    """The value of each item with its interval, and the bias and noise of each judge."""
    if fitting.model is not None:
        raise BadSetting("--model", fitting.model, "no model with --continuous")
    if to is not None:
        raise BadSetting("--to", to, "--bin N with it, since this format holds grades")
    if places["--topics"] is not None:
        wanted = "--bin N or --classes: numbers have no prevalence of topics"
        raise BadSetting("--topics", str(places["--topics"]), wanted)
    if fitting.calibrate is not None:
        raise BadSetting("--calibrate", fitting.calibrate, "--bin N or --classes with it")
    tell_if_cold()
    found = fit_numbers(read, gold, fitting, engine)
    about: dict[str, Any] = {"accuracy": _error(found, read.beside)} if read.beside else {}

    def show() -> Iterator[Any]:
        yield _least_certain(found)
        say(
            f"{count_of(found.judgments.item_count, 'value')} in all; -o labels.csv keeps them, "
            "and --judges judges.csv what each judge adds and how far they scatter"
        )

    deliver_all(
        {
            "labels": (found.labels, places["--output"]),
            "judges": (found.judges, places["--judges"]),
        },
        out,
        about=lambda whole: (
            _as_data(found, read) | about | ({"labels": found.labels.to_pylist()} if whole else {})
        ),
        show=show,
    )


def _as_data(found: ContinuousConsensus, read: Input) -> dict[str, Any]:
    """The run as data."""
    given = found.judgments
    return {
        "model": "continuous",
        "settings": found.settings,
        "counts": {
            "judgments": len(given),
            "items": given.item_count,
            "judges": given.judge_count,
            "topics": given.topic_count,
        },
        "iterations": found.iterations,
        "converged": found.converged,
        "widened": found.widened,
        "common": found.common,
        "notes": found.notes,
        **read.omissions,
    }


def _error(found: ContinuousConsensus, gold: Gold) -> dict[str, Any]:
    """How far the values are from gold that the fit did not see; it is told."""
    import numpy as np

    from adjudge.data.names import look_up
    from adjudge.data.scale import as_number

    numbers = [as_number(text) for text in gold.texts()]
    truth = np.array([np.nan if number is None else number for number in numbers])
    at = look_up(gold.items, found.judgments.items)
    apart = np.abs(found.value[at[at >= 0]] - truth[at >= 0])
    error = float(np.nanmean(apart)) if apart.size else float("nan")
    say(f"  mean absolute error against the gold in the file: {error:.3f}; the fit did not use it")
    return {"mean_absolute_error": error, "items": int(apart.size)}


def _least_certain(found: ContinuousConsensus) -> Any:
    import numpy as np

    order = np.argsort(-found.error, kind="stable")[:_SHOWN]
    rows = found.labels.take(order).to_pylist()
    columns = ("item", "label:.2f as value", "low to high as 95% interval", "judgments")
    return show_rows("Least certain items", rows, *columns)
