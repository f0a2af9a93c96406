"""adjudge crowd: made judges at a real server."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import check_places
from adjudge.cli._results import deliver, grid
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.simulation.crowd_spec import VisitEnd
    from adjudge.simulation.http_client import CrowdRecord

_POPULATION = "ethical:75,spammer:10,random:10,dropout:5"
_VARIABLE = "ADJUDGE_TOKEN"
_STAGES = ("training", "failed", "working", "warned", "blocked", "finished", "not let in")


def _run(
    server: Annotated[
        str, typer.Argument(metavar="SERVER", help="Where it is, as http://127.0.0.1:8100.")
    ],
    *,
    project: Annotated[str, option("--project", "NAME", "The project's short name.")],
    token: Annotated[
        str,
        option(
            "--token", "TOKEN", f"A requester's, so that those who look can see; or in {_VARIABLE}."
        ),
    ] = "",
    population: Annotated[
        str,
        option(
            "--population",
            "KINDS",
            "Kinds of judges, with settings in brackets and numbers: ethical(accuracy, "
            f"anchoring), spammer, random, colluder, dropout(pairs). By default {_POPULATION}.",
            show_default=False,
        ),
    ] = _POPULATION,
    judges: Annotated[
        int | None, option("--judges", "N", "How many in all; the numbers are shares.", min=1)
    ] = None,
    at_once: Annotated[int, option("--at-once", "N", "How many at a time.", min=1, max=1000)] = 200,
    wait: Annotated[
        float, option("--wait", "X", "Seconds to wait for a page, if all are out.", min=0)
    ] = 5.0,
    name: Annotated[
        str, option("--name", "TEXT", "The same name and token: the same judges.")
    ] = "crowd",
    seed: o.Seed = 0,
    output: o.Output = None,
    printing: o.Printing,
) -> None:
    """Send made judges to a server that collects judgments, and tell how it went.

    They come over its HTTP API, all at once, and are trained, tested, warned and blocked like
    anyone. A project to rehearse with is wanted: what they judge is stored like any judgment.
    """
    from adjudge.simulation.crowd_spec import CrowdSpec
    from adjudge.simulation.http_client import HttpClient

    check_places({"--output": output}, printing=printing)
    given = token or os.environ.get(_VARIABLE, "")
    if not given:
        raise BadSetting("--token", None, f"a token of the server, here or in {_VARIABLE}")
    spec = CrowdSpec.parse(population, judges=judges)
    client = HttpClient(server, project, given, wait=wait)
    try:
        begun = time.perf_counter()
        ended = _sent(client, spec, min(at_once, spec.judges), name, seed)
        seconds = time.perf_counter() - begun
    finally:
        client.close()
    figures = _figures(ended, client.record, seconds)
    deliver(
        _table(ended),
        "judges",
        output,
        printing,
        about=figures,
        show=lambda: _show(ended),
    )
    _tell(figures)


COMMAND = Command(
    _run,
    examples=(
        "adjudge crowd http://127.0.0.1:8100 --project shop --judges 50",
        "adjudge crowd URL --project shop --population 'ethical:150,spammer:20'",
    ),
)


def _sent(client: Any, spec: Any, at_once: int, name: str, seed: int) -> list[VisitEnd]:
    """Let the cast come, with a progress bar."""
    import numpy as np

    from adjudge.models.model import Step
    from adjudge.simulation.crowd_spec import make_truths, send_crowd

    labels, golds = client.labels(), client.golds()
    if not golds:
        say(("The token shows no gold: those who look see nothing and will fail.", "yellow"))
    truths = make_truths(labels, golds, seed)
    made = spec.make_judges(truths, len(labels), np.random.default_rng(seed))
    done = 0
    with progress(f"{count_of(spec.judges, 'judge')} at {client.project}") as on_step:

        def on_end(_: VisitEnd) -> None:
            nonlocal done
            done += 1
            if on_step is not None:
                note = f"judges done, {count_of(len(client.record.given), 'judgment')}"
                on_step(Step("judges", done, spec.judges, note))

        return send_crowd(client, made, spec.kinds, at_once=at_once, name=name, on_end=on_end)


def _figures(ended: list[VisitEnd], ledger: CrowdRecord, seconds: float) -> dict[str, Any]:
    """The run in figures."""
    import numpy as np

    taken = ledger.seconds.get("submit", [])
    p50, p95 = np.quantile(taken, [0.5, 0.95]) if taken else (None, None)
    return {
        "came": len(ended),
        "judgments": len(ledger.given),
        "work": sum(one.kind == "work" for one in ledger.given),
        "seconds": seconds,
        "submit_p50": p50,
        "submit_p95": p95,
        "sent_again": dict(ledger.again),
        "refused": dict(ledger.refused),
        "problems": dict(Counter(visited.problem for visited in ended if visited.problem)),
    }


def _table(ended: list[VisitEnd]) -> Any:
    """One row a judge."""
    import pyarrow as pa

    heads = ("judge", "kind", "stage", "vanished", "sheets", "problem")
    fields = ("key", "kind", "stage", "gone", "sheets", "problem")
    columns = [[getattr(visited, name) for visited in ended] for name in fields]
    return pa.table(columns, names=heads)


def _show(ended: list[VisitEnd]) -> Any:
    """Judges by kind and by the stage they ended at."""
    kinds = list(dict.fromkeys(visited.kind for visited in ended))
    stages = [stage for stage in _STAGES if any(one.stage == stage for one in ended)]
    rows = []
    for kind in kinds:
        of_kind = [visited for visited in ended if visited.kind == kind]
        counts = [sum(one.stage == stage for one in of_kind) for stage in stages]
        gone = sum(one.gone for one in of_kind)
        rows.append([kind, str(len(of_kind)), *map(str, counts), str(gone)])
    columns = ["kind", "came", *stages, "vanished"]
    sides = ["kind", *(f">{column}" for column in columns[1:])]
    return grid("Where they ended", sides, rows)


def _tell(figures: dict[str, Any]) -> None:
    """The run in words."""
    speed = figures["judgments"] / max(figures["seconds"], 1e-9)
    say(
        (count_of(figures["judgments"], "judgment"), "bold"),
        f" acknowledged, {figures['work']:,} of them outside training, "
        f"in {figures['seconds']:.1f} s ({speed:,.0f} a second)",
    )
    if figures["submit_p50"] is not None:
        say(
            f"  a page was stored in {1000 * figures['submit_p50']:.0f} ms (median), "
            f"{1000 * figures['submit_p95']:.0f} ms (95 of 100)"
        )
    for name, what in (("sent_again", "sent again"), ("refused", "refused"), ("problems", "")):
        for code, number in figures[name].items():
            say((f"  {number:,} {what}{': ' if what else 'x '}{code}", "yellow"))
    if not any(figures[name] for name in ("sent_again", "refused", "problems")):
        say("  no error")
