"""The page: one file that holds all it shows, asks nobody for anything, and prints."""

from __future__ import annotations

import base64
import hashlib
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from adjudge.data.source import count_of
from adjudge.evaluation.measures import MEASURES
from adjudge.models.model import Progress, Step
from adjudge.report._colouring import page_style, spec_of, themed_svg
from adjudge.report._embedding import MOST_ITEMS, embed_results, pack
from adjudge.report._health import describe_data
from adjudge.report.plots.figures import FIGURES
from adjudge.report.plots.judges import judge_clouds
from adjudge.report.results import Results
from adjudge.report.words import findings, missing

_HERE = Path(__file__).parent
_SCRIPTS = ("data", "table", "items", "judges", "card", "figures", "start")
_VERSIONS = ("numpy", "scipy", "numba", "pyarrow", "altair", "vl_convert")
_CLOUD = 120  # draws of each judge in the page; the figure on its own has more
_MAIN = (  # scores that everyone reads; the others are folded away
    "accuracy",
    "graded_accuracy",
    "binary_accuracy",
    "precision",
    "recall",
    "f1",
    "auc",
    "log_loss",
    "brier",
    "corrected_calibration_error",
)
_SECTIONS = {
    "items": ("voted-estimated", "judge-item-matrix"),
    "judges": (
        "sensitivity-specificity",
        "accuracy-by-judgments",
        "confusion",
        "hyper-priors",
        "judge-clouds",
    ),
    "checks": ("calibration", "accuracy-by-ratings", "trace", "ranks", "convergence"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """A figure as it stands in the page."""

    name: str
    title: str
    caption: str
    svg: Markup


def write_report(results: Results, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write the report to a file, whole or not at all."""
    from adjudge.data.formats.writing import written_whole

    text = report_html(results, progress=progress)
    with written_whole(Path(path)) as file:
        file.write(text.encode("utf-8", "replace"))


@cache
def _environment() -> Environment:
    """The template, compiled once a process."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": _number, "counted": count_of}
    return made


def report_html(results: Results, *, progress: Progress | None = None) -> str:
    """The report as one HTML document."""
    drawings = _drawings(results, progress)
    style = page_style(_HERE / "templates" / "report.css")
    script = _script()
    texts, arrays = embed_results(results)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            results=results,
            consensus=results.consensus,
            judgments=results.consensus.judgments,
            findings=findings(results),
            health=describe_data(results),
            missing=missing(results),
            drawings=drawings,
            cut=results.consensus.judgments.item_count > MOST_ITEMS,
            most_items=MOST_ITEMS,
            pairs=texts["pairs"],
            has_history="historyJudge" in arrays,
            scores=_scores(results),
            agreement=[score for score in results.agreement.scores.values() if score.defined],
            versions=_versions(),
            made=results.provenance.made or f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704 - our own file, its hash is in the policy
            script=Markup(script),  # noqa: S704 - likewise
            data=pack(texts, arrays),
        )
    )


def _drawings(results: Results, progress: Progress | None) -> dict[str, list[_Drawing]]:
    """The figures of each section that the results allow."""
    names = [name for section in _SECTIONS.values() for name in section]
    found: dict[str, list[_Drawing]] = {section: [] for section in _SECTIONS}
    for section, wanted in _SECTIONS.items():
        for name in wanted:
            if progress is not None:
                progress(Step("drawing", names.index(name), len(names), name))
            if FIGURES[name].lacks(results) is None:
                found[section].append(_drawing(name, results))
    return found


def _drawing(name: str, results: Results) -> _Drawing:
    import vl_convert

    draws = results.consensus.draws
    if name == "judge-clouds" and draws is not None:
        chart = judge_clouds(results.consensus, draws, samples=_CLOUD)
    else:
        chart = FIGURES[name].make(results)
    spec = spec_of(chart)
    title = spec.pop("title")
    spec["background"] = None
    spec["config"]["background"] = None
    svg = themed_svg(str(vl_convert.vegalite_to_svg(spec)))
    return _Drawing(
        name=name,
        title=str(title["text"]),
        caption=" ".join(title.get("subtitle", [])),
        svg=Markup(svg),  # noqa: S704 - drawn from a specification, which escapes its texts
    )


def _script() -> str:
    parts = [(_HERE / "templates" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "\n})();\n"


def _policy(style: str, script: str) -> str:
    """What the page may do: run this script, use this style, and ask nobody for anything."""

    def mark(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; script-src {mark(script)}; style-src {mark(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _scores(results: Results) -> list[dict[str, Any]]:
    """The scores against gold that have a value, with what each means."""
    if results.evaluation is None:
        return []
    meanings = {measure.name: measure.meaning for measure in MEASURES}
    return [
        {
            "name": score.name.replace("_", " "),
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "meaning": meanings.get(score.name, ""),
            "main": score.name in _MAIN,
        }
        for score in (one.shown for one in results.evaluation.scores.values())
        if score.defined
    ]


def _versions() -> list[tuple[str, str]]:
    from adjudge import __version__

    found = [("adjudge", __version__), ("Python", platform.python_version())]
    found += [(name.replace("_", "-"), str(import_module(name).__version__)) for name in _VERSIONS]
    return [*found, ("system", f"{platform.system()} {platform.machine()}")]


def _number(value: float | None, digits: int = 3) -> str:
    """A number for people, or a dash."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "–"
    return f"{value:,.{digits}f}"
