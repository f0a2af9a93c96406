"""Labels that are numbers rather than classes: fitted, described and delivered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import describe_size, detail, progress, say, tell_if_cold, warn
from adjudge.cli._fitting import read_settings
from adjudge.cli._results import show_rows
from adjudge.cli._summary import count_sizes
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.cli._options import Fitting
    from adjudge.cli._reading import Input
    from adjudge.data.gold import Gold
    from adjudge.engines.engine import Engine
    from adjudge.models.number_consensus import ContinuousConsensus


def fit_numbers(
    read: Input, gold: Gold | None, fitting: Fitting, engine: Engine
) -> ContinuousConsensus:
    """The value of each item, with a bar while it takes long; what was fitted is said."""
    from adjudge.models.continuous import Continuous

    tell_if_cold()
    model = Continuous(**read_settings(fitting, Continuous))
    with progress("fitting continuous") as on_step:
        found = model.fit(read.judgments, gold, engine=engine, progress=on_step)
    given = found.judgments
    low, high = (float(given.scale.labels[end]) for end in (0, -1))
    say(f"{describe_size(given)}; numbers from {low:.5g} to {high:.5g}")
    for note in found.notes:
        detail(f"  {note}")
    if not found.converged:
        warn("the fit stopped before it converged; allow more with --set iterations=N")
    return found


def check_numbers(fitting: Fitting, places: Mapping[str, Path | None], to: str | None) -> None:
    """Refuse options that say nothing about labels that are numbers."""
    instead = "--bin N or --classes with it, since labels are numbers"
    given = {"--model": fitting.model, "--to": to, "--calibrate": fitting.calibrate}
    for option, value in {**given, "--topics": places["--topics"]}.items():
        if value is not None:
            raise BadSetting(option, str(value), instead)


def summarise_numbers(found: ContinuousConsensus, read: Input) -> dict[str, Any]:
    """Return the run as data; with gold that the fit did not use, how far the values are off."""
    given = found.judgments
    return {
        "model": "continuous",
        "settings": found.settings,
        "counts": count_sizes(given),
        "iterations": found.iterations,
        "converged": found.converged,
        "widened": found.widened,
        "common": found.common,
        "notes": found.notes,
        **({} if read.file_gold is None else _measure_error(found, read.file_gold)),
        **read.omissions,
    }


def _measure_error(found: ContinuousConsensus, gold: Gold) -> dict[str, Any]:
    import numpy as np

    from adjudge.data.names import look_up
    from adjudge.data.scale import as_number

    numbers = [as_number(text) for text in gold.texts()]
    truth = np.array([np.nan if number is None else number for number in numbers])
    at = look_up(gold.items, found.judgments.items)
    apart = np.abs(found.value[at[at >= 0]] - truth[at >= 0])
    error = float(np.nanmean(apart)) if apart.size else float("nan")
    say(f"mean absolute error on the gold of the file: {error:.3f}")
    return {"accuracy": {"mean_absolute_error": error, "items": int(apart.size)}}


def show_widest(found: ContinuousConsensus, count: int) -> Any:
    """Return the items with the widest intervals as a table for people."""
    import numpy as np

    rows = found.labels.take(np.argsort(-found.error, kind="stable")[:count]).to_pylist()
    columns = ("item as least certain item", "label:.2f as value", "judgments")
    return show_rows("", rows, *columns, "low to high as 95% interval")
