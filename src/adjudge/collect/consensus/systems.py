"""Search systems compared by the labels of a project, in the background, never in a request."""

from __future__ import annotations

import base64
import tempfile
import time
import zlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from adjudge.collect.consensus.refit import run_as_asked
from adjudge.errors import AdjudgeError, BadData
from adjudge.models.registry import DEFAULT
from adjudge.models.registry import model as build_model

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.data.runs import Run

ENVIRONMENT = "ADJUDGE_SYSTEMS"
MEASURES = ("nDCG@10", "P@5")
_RUNS = "systems-runs:"  # a setting per project: the runs that were sent last
_ASKED = "systems-asked:"  # since when they wait to be compared
_MADE = "systems:"  # and the last comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsCompared:
    """Systems by each measure, with the probability that one is better than another."""

    made: str
    runs: tuple[str, ...]
    systems: tuple[dict[str, Any], ...] = ()  # rows of ``Ranking.systems``
    pairs: tuple[dict[str, Any], ...] = ()  # rows of ``Ranking.pairs``
    notes: tuple[str, ...] = ()
    topics: int = 0
    level: float = 0.95
    problem: str = ""


def ask(services: RequesterServices, slug: str, files: list[tuple[str, bytes]]) -> None:
    """Ask for a comparison of runs; it is made as soon as the background comes to it."""
    services.projects.check_role(slug, "reviewer")
    packed = [[name, base64.b85encode(zlib.compress(body)).decode()] for name, body in files]
    services.settings.keep(_RUNS + slug, packed)
    services.settings.keep(_ASKED + slug, time.time())


def ask_again(services: RequesterServices, slug: str) -> None:
    """Ask for the last comparison again, if there is one: the labels of the fit are new."""
    if services.settings.get(_RUNS + slug) is not None:
        services.settings.keep(_ASKED + slug, time.time())


def is_asked(services: RequesterServices, slug: str) -> bool:
    """Whether a comparison is waited for."""
    return services.settings.get(_ASKED + slug) is not None


def read_compared(services: RequesterServices, slug: str) -> SystemsCompared | None:
    """The last comparison."""
    kept = services.settings.get(_MADE + slug)
    return None if kept is None else TypeAdapter(SystemsCompared).validate_python(kept)


def find_due(services: RequesterServices) -> list[str]:
    """The projects whose comparison is asked for."""
    return [name.removeprefix(_ASKED) for name in services.settings.find(_ASKED)]


def note_failure(services: RequesterServices, slug: str, code: int) -> None:
    """Note that the process of a comparison ended without a word, so that it is not repeated."""
    asked = services.settings.get(_ASKED + slug)
    _keep(services, slug, asked, [], problem=f"its process ended with code {code}")


def _keep(
    services: RequesterServices, slug: str, asked: float | None, runs: list[str], **found: Any
) -> None:
    """Keep a comparison; one that was asked for since it began is still to be made."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    compared = SystemsCompared(made=made, runs=tuple(runs), **found)
    services.settings.keep(_MADE + slug, asdict(compared))
    if services.settings.get(_ASKED + slug) == asked:
        services.settings.forget(_ASKED + slug)


def _read_runs(files: list[list[str]]) -> list[Run]:
    from adjudge.data.runs import Run

    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number, (name, body) in enumerate(files):
            place = Path(folder, str(number), Path(name).name)
            place.parent.mkdir()
            place.write_bytes(zlib.decompress(base64.b85decode(body)))
            runs.append(Run.read(place))
        return runs


def _compare(services: RequesterServices, slug: str, runs: list[Run]) -> dict[str, Any]:
    """Fit the default model to the judgments, and rank the runs by its labels."""
    from adjudge.evaluation.ranking.rank import rank_systems

    judgments = services.exports.get_judgments(slug, golds=True)
    if judgments is None:
        raise BadData("there are no judgments yet")
    gold = services.exports.get_gold(slug, adjudicated=True)
    ranking = rank_systems(build_model(DEFAULT).fit(judgments, gold), runs, MEASURES, next_items=0)
    return {
        "systems": tuple(ranking.systems.to_pylist()),
        "pairs": tuple(ranking.pairs.to_pylist()),
        "notes": ranking.notes,
        "topics": ranking.topics,
        "level": ranking.level,
    }


def _main(services: RequesterServices, project: str) -> bool:
    """Make the comparison that the environment names."""
    asked, runs = (services.settings.get(name + project) for name in (_ASKED, _RUNS))
    if asked is None:
        return True
    if runs is None:  # earlier versions kept the runs with the question
        _keep(services, project, asked, [], problem="the runs are lost: please send them again")
        return False
    names = [name for name, _ in runs]
    try:
        found = _compare(services, project, _read_runs(runs))
    except AdjudgeError as fault:
        found = {"problem": str(fault)}
    _keep(services, project, asked, names, **found)
    return "problem" not in found


if __name__ == "__main__":
    run_as_asked(ENVIRONMENT, _main)
