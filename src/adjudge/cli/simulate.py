"""adjudge simulate: simulated judgments whose truth is known, or simulated judges at a server."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import detail, is_piped, progress, say, warn
from adjudge.cli._results import (
    STDOUT,
    check_places,
    deliver,
    page,
    print_json,
    show_rows,
    write_tables,
)
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.simulation import Crowd
    from adjudge.simulation.crowd_spec import VisitEnd

_POPULATION = "skilled:80,spammer:10,lazy:5,adversary:5"
_SENT = "ethical:75,spammer:10,random:10,dropout:5"
_JUDGES = 50
_SHOWN = 10  # judgments a person is shown
_VARIABLE = "ADJUDGE_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """Which items a simulated crowd judges, and how it works."""

    panel: ClassVar[str] = "What is simulated"

    items: int = option("--items N", "How many items.", 1000)
    per_item: str = option("--per-item N[-M]", "Judgments per item, or a range.", "5")
    labels: str = option("--labels SCALE", "'0<1<2' in order, 'cat,dog' without.", "0<1")
    prevalence: str = option("--prevalence SHARES", "Of each label, such as 0.7,0.3.", "")
    topics: int = option("--topics N", "How many topics; 0 for none.", 0)
    concentration: float = option(
        "--concentration X", "How similar topics are in prevalence.", math.inf
    )
    activity: str = option("--activity SPREAD", "Of the judges: even, zipf, lognormal.", "zipf")
    steepness: float = option("--steepness X", "How long the tail of judges is.", 1.0)
    difficulty: str = option("--difficulty A,B", "Of items: a Beta(A, B), such as 1,4.", "")
    repeats: bool = flag("--repeats", "Let a judge judge an item again.")
    gold_share: float = option("--gold-share X", "Share of items that are gold.", 0.0)
    honeypots: float = option("--honeypots X", "Share of items planted as tests.", 0.0)
    timed: bool = flag("--timed", "Give judgments times and durations.")

    def crowd(self, population: str, judges: int) -> Crowd:
        """The crowd that is asked for."""
        from adjudge.data.scale import Scale
        from adjudge.simulation import Crowd, Population

        return Crowd(
            items=self.items,
            population=Population.parse(population, judges=judges),
            scale=Scale.parse(self.labels),
            prevalence=_numbers("--prevalence", self.prevalence, "shares such as 0.7,0.2,0.1"),
            topics=self.topics,
            concentration=self.concentration,
            per_item=_range(self.per_item),
            activity=self.activity,
            steepness=self.steepness,
            repeats=self.repeats,
            difficulty=_pair(self.difficulty),
            gold=self.gold_share,
            honeypots=self.honeypots,
            timed=self.timed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sending:
    """A server that simulated judges visit."""

    panel: ClassVar[str] = "Judges at a server"

    server: str | None = option(
        "--server URL", "Load-test a server with simulated judges, as http://127.0.0.1:8100."
    )
    project: str = option("--project NAME", "The project's short name.", "")
    token: str = option(
        "--token TOKEN", f"Token of a requester, to read the gold; or in {_VARIABLE}.", ""
    )
    at_once: int = option("--at-once N", "How many at a time.", 200, min=1, max=1000)
    wait: float = option("--wait X", "Seconds to wait if no page is free.", 5.0, min=0)
    name: str = option(
        "--name TEXT", "Name of the crowd; the same name and token give the same judges.", "crowd"
    )


@command(
    "adjudge simulate -o judgments.csv --truth truth.csv",
    "adjudge simulate --population 'skilled(8,2):80,spammer:20' > judgments.csv",
    "adjudge simulate --server http://127.0.0.1:8100 --project shop --judges 50",
)
def run(
    *,
    truth: Path | None = option("--truth FILE", "Write the truth of every item too."),
    gold: Path | None = option("--gold FILE", "Write the revealed share of the truth too."),
    population: str | None = option(
        "--population KINDS",
        "Kinds of judges, with settings in brackets and weights: skilled, two-coin, biased, "
        f"spammer, lazy, adversary, dirichlet; if not given {_POPULATION}. At a server: "
        "ethical(accuracy, anchoring), spammer, random, colluder, dropout(pairs); if not given "
        f"{_SENT}.",
    ),
    judges: int | None = option(
        "--judges N", f"How many judges; {_JUDGES}, or at a server the sum of weights.", min=1
    ),
    making: _Making,
    sending: _Sending,
    seed: int = o.SEED,
    out: o.Delivery,
) -> None:
    """Simulate judgments with a known truth, or send simulated judges to a server.

    With --server judges come over its HTTP API, all at once, and are trained, tested, warned and
    blocked like anyone; -o gets a table of them. Use a project to rehearse with: what they judge is
    stored like any judgment.
    """
    check_places({"--output": out.output, "--truth": truth, "--gold": gold}, printing=out)
    if sending.server is not None:
        if truth is not None or gold is not None or making != _Making():
            expected = "no options for simulated items: the items are those of its project"
            raise BadSetting("--server", sending.server, expected)
        _send(sending, sending.server, population or _SENT, judges, seed, out)
        return
    if sending != _Sending():
        raise BadSetting("--server", None, "the server of the project")
    if gold is not None and making.gold_share == 0:
        raise BadSetting("--gold-share", 0.0, "a share above 0, since --gold asks for gold")
    _make(making.crowd(population or _POPULATION, judges or _JUDGES), truth, gold, seed, out)


def _make(crowd: Crowd, truth: Path | None, gold: Path | None, seed: int, out: o.Delivery) -> None:
    """Simulate judgments, and write or show them."""
    from adjudge.data.formats import Content

    with progress("simulating judgments"):
        simulated = crowd.make(seed)
    judgments = simulated.judgments
    say(
        f"{count_of(len(judgments), 'judgment')} of {count_of(judgments.item_count, 'item')} "
        f"by {count_of(judgments.judge_count, 'judge')} ({crowd.population}), seed {seed}"
    )
    table = Content(judgments=judgments).to_table()
    place = STDOUT if out.output is None and is_piped() and not out.json else out.output
    results = {
        "judgments": (table, place),
        "truth": (simulated.truth.to_table(), truth),
        "gold": (simulated.gold.to_table(), gold),
    }
    write_tables(results, guard=False)
    if out.json:
        print_json({"seed": seed} | ({} if place else {"judgments": table.to_pylist()}))
    elif place is None:
        first = table.slice(0, _SHOWN).to_pylist()
        page().print(show_rows("Judgments", first, *((n, _cell(n)) for n in table.column_names)))
        say((f"{count_of(table.num_rows, 'judgment')} in all; -o judgments.csv keeps them", "dim"))


def _cell(name: str) -> Callable[[Any], str]:
    return lambda row: f"{row[name]:%Y-%m-%d %H:%M:%S}" if name == "time" else str(row[name])


def _numbers(option: str, text: str, expected: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise BadSetting(option, text, expected) from None


def _pair(text: str) -> tuple[float, float] | None:
    expected = "two numbers above 0, such as 1,4"
    given = _numbers("--difficulty", text, expected)
    if len(given) not in (0, 2):
        raise BadSetting("--difficulty", text, expected)
    return (given[0], given[1]) if given else None


def _range(text: str) -> int | tuple[int, int]:
    try:
        low, _, high = text.partition("-")
        return (int(low), int(high)) if high else int(low)
    except ValueError:
        raise BadSetting("--per-item", text, "a number such as 5, or a range such as 3-8") from None


def _send(
    sending: _Sending,
    server: str,
    population: str,
    judges: int | None,
    seed: int,
    out: o.Delivery,
) -> None:
    """Send simulated judges to a server, and say how it went."""
    from adjudge.simulation.crowd_spec import CrowdSpec
    from adjudge.simulation.http_client import HttpClient

    token = sending.token or os.environ.get(_VARIABLE, "")
    if not sending.project:
        raise BadSetting("--project", None, "the short name of a project of the server")
    if not token:
        raise BadSetting("--token", None, f"a token of the server, here or in {_VARIABLE}")
    spec = CrowdSpec.parse(population, judges=judges)
    client = HttpClient(server, sending.project, token, wait=sending.wait)
    try:
        begun = time.perf_counter()
        at_once = min(sending.at_once, len(spec))
        ended = _visit(client, spec, replace(sending, at_once=at_once), seed)
        figures = _measure(ended, client.record, time.perf_counter() - begun)
    finally:
        client.close()
    deliver(_as_table(ended), "judges", out, about=figures, show=lambda: _show_stages(ended))
    _tell(figures)


def _visit(client: Any, spec: Any, sending: _Sending, seed: int) -> list[VisitEnd]:
    """Let the judges come, with a progress bar."""
    import numpy as np

    from adjudge.models.model import Step
    from adjudge.simulation.crowd_spec import make_truths, send_crowd

    labels, golds = client.labels(), client.golds()
    if not golds:
        say(("The token shows no gold: careful judges cannot know it and will fail.", "yellow"))
    truths = make_truths(labels, golds, seed)
    judges = spec.make_judges(truths, len(labels), np.random.default_rng(seed))
    done = 0
    with progress(f"{count_of(len(spec), 'judge')} at {client.project}") as on_step:

        def on_end(_: VisitEnd) -> None:
            nonlocal done
            done += 1
            if on_step is not None:
                note = f"judges done, {count_of(len(client.record.given), 'judgment')}"
                on_step(Step("judges", done, len(spec), note))

        return send_crowd(
            client, judges, spec.kinds, at_once=sending.at_once, name=sending.name, on_end=on_end
        )


def _measure(ended: list[VisitEnd], record: Any, seconds: float) -> dict[str, Any]:
    """The run in figures."""
    import numpy as np

    taken = record.seconds.get("submit", [])
    p50, p95 = np.quantile(taken, [0.5, 0.95]) if taken else (None, None)
    return {
        "came": len(ended),
        "judgments": len(record.given),
        "work": sum(one.kind == "work" for one in record.given),
        "seconds": seconds,
        "submit_p50": p50,
        "submit_p95": p95,
        "sent_again": dict(record.again),
        "refused": dict(record.refused),
        "problems": dict(Counter(visited.problem for visited in ended if visited.problem)),
    }


def _as_table(ended: list[VisitEnd]) -> Any:
    """One row per judge."""
    import pyarrow as pa

    heads = ("judge", "kind", "stage", "vanished", "sheets", "problem")
    names = ("key", "kind", "stage", "gone", "sheets", "problem")
    columns = [[getattr(visited, name) for visited in ended] for name in names]
    return pa.table(columns, names=heads)


def _show_stages(ended: list[VisitEnd]) -> Any:
    """Return how many judges of each kind ended at each stage, as a table for people."""
    ends = Counter((one.kind, "vanished" if one.gone else one.stage) for one in ended)
    rows = [{"kind": kind, "ended": end, "judges": many} for (kind, end), many in ends.items()]
    return show_rows("Where they ended", rows, "kind", "ended", "judges")


def _tell(figures: dict[str, Any]) -> None:
    """The run in words."""
    speed = figures["judgments"] / max(figures["seconds"], 1e-9)
    say(
        (count_of(figures["judgments"], "judgment"), "bold"),
        f" acknowledged, {figures['work']:,} of them outside training, "
        f"in {figures['seconds']:.1f} s ({speed:,.0f} per second)",
    )
    if figures["submit_p50"] is not None:
        p50, p95 = 1000 * figures["submit_p50"], 1000 * figures["submit_p95"]
        detail(f"  a page was stored in {p50:.0f} ms (median), {p95:.0f} ms (95th percentile)")
    faults = {"sent again: ": "sent_again", "refused: ": "refused", "x ": "problems"}
    for what, name in faults.items():
        for code, number in figures[name].items():
            warn(f"{number:,} {what}{code}")
