"""The page of a report: one file that needs no network, and prints."""

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

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis.families import FamilySummary
from adjudge.evaluation.measures import MEASURES
from adjudge.models.model import Progress, Step
from adjudge.report._embedding import MOST_ITEMS, embed_results, pack
from adjudge.report.headline import make_headline
from adjudge.report.plots.figures import FIGURES, draw
from adjudge.report.plots.judges import judge_clouds
from adjudge.report.results import Results
from adjudge.report.theme import page_style, spec_of, themed_svg
from adjudge.report.words import (
    VERDICT_BADGES,
    certainty,
    missing,
    nothing_to_judge,
    percent,
    summarise_verdicts,
    worth_judging,
)

TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("data", "table", "items", "judges", "card", "figures", "start")
_VERSIONS = ("numpy", "scipy", "numba", "pyarrow", "altair", "vl_convert")
_BARS = 12  # labels of a small chart
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
    "first": ("judge-intervals",),
    "pictures": ("confidence", "votes", "agreement", "calibration", "topic-disagreement"),
    "judges": (
        "sensitivity-specificity",
        "confusion",
        "hyper-priors",
        "judge-clouds",
    ),
    "checks": ("voted-estimated", "accuracy-by-ratings", "trace"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """A figure of the page."""

    name: str
    title: str
    caption: str
    svg: Markup


def write_report(results: Results, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write the report to a file."""
    write_page(report_html(results, progress=progress), path)


def write_page(text: str, path: str | Path) -> None:
    """Write a page to a file, which appears complete or not at all."""
    from adjudge.data.formats.writing import written_whole

    with written_whole(Path(path)) as file:
        file.write(text.encode("utf-8", "replace"))


def render_page(template: str, sheet: str, script: str = "", **context: Any) -> str:
    """Return a page with its style and script, and a policy that allows nothing else."""
    style = page_style(TEMPLATES / sheet)
    runs = f"script-src {hash_source(script)}; " if script else ""
    return get_template(template).render(
        policy=f"default-src 'none'; {runs}style-src {hash_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - our own file, its hash is in the policy
        script=Markup(script),  # noqa: S704 - likewise
        **context,
    )


@cache
def get_template(name: str) -> Template:
    """A template of a page, compiled once per process."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "counted": count_of}
    return environment.get_template(name)


def report_html(results: Results, *, progress: Progress | None = None) -> str:
    """The report as one HTML document."""
    drawings = _drawings(results, progress)
    texts, arrays = embed_results(results)
    return render_page(
        "report.html.j2",
        "report.css",
        _read_script(),
        results=results,
        badges=VERDICT_BADGES,
        verdict_summary="" if results.audit is None else summarise_verdicts(results.audit),
        consensus=results.consensus,
        judgments=results.consensus.judgments,
        headline=make_headline(results),
        certainty=certainty(results),
        health=_describe_data(results),
        missing=missing(results),
        drawings=drawings,
        cut=results.consensus.judgments.item_count > MOST_ITEMS,
        most_items=MOST_ITEMS,
        pairs=texts["pairs"],
        worth=worth_judging(results),
        nothing=nothing_to_judge(results),
        has_history="historyJudge" in arrays,
        scores=_scores(results),
        agreement=[score for score in results.agreement.scores.values() if score.defined],
        versions=_versions(),
        made=results.provenance.made or f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        data=pack(texts, arrays),
    )


def _drawings(results: Results, progress: Progress | None) -> dict[str, list[_Drawing]]:
    """The figures of each section that the results allow."""
    names = [name for section in _SECTIONS.values() for name in section]
    found: dict[str, list[_Drawing]] = {section: [] for section in _SECTIONS}
    for section, figures in _SECTIONS.items():
        for name in figures:
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
        chart = draw(name, results)
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


def _read_script() -> str:
    parts = [(TEMPLATES / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "\n})();\n"


def hash_source(text: str) -> str:
    """A script or a style as a source in a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Health:
    """What a reader should know about the judgments."""

    sizes: str
    remarks: tuple[str, ...]
    labels: tuple[tuple[str, int, float], ...]  # label, judgments, share


def _describe_data(results: Results) -> _Health:
    """The sizes, spreads and oddities of the judgments."""
    judgments = results.consensus.judgments
    sizes = [
        count_of(len(judgments), "judgment"),
        count_of(judgments.item_count, "item"),
        count_of(judgments.judge_count, "judge"),
    ]
    if judgments.topics is not None:
        sizes.append(count_of(judgments.topic_count, "topic"))
    if results.gold is not None:
        sizes.append(count_of(len(results.gold), "gold item"))
    used = np.bincount(judgments.label, minlength=len(judgments.scale.labels)).tolist()
    total = max(sum(used), 1)
    shares = zip(judgments.scale.labels[:_BARS], used, strict=False)
    return _Health(
        sizes=", ".join(sizes),
        remarks=tuple(_remarks(results)),
        labels=tuple((name, count, count / total) for name, count in shares),
    )


def _remarks(results: Results) -> list[str]:
    judgments = results.consensus.judgments
    per_item, per_judge = judgments.counts_per_item, judgments.counts_per_judge
    found = []
    if len(judgments):
        found.append(
            f"An item has {count_of(round(np.median(per_item)), 'judgment')} (median), from "
            f"{per_item.min():,} to {per_item.max():,}; a judge gave "
            f"{np.median(per_judge):,.0f} (median), from {per_judge.min():,} to "
            f"{per_judge.max():,}."
        )
        tenth = max(1, len(per_judge) // 10)
        share = float(np.sort(per_judge)[-tenth:].sum()) / len(judgments)
        found.append(
            f"The busiest {count_of(tenth, 'judge')} gave {percent(share)} of all judgments."
        )
    empty, single = int((per_item == 0).sum()), int((per_item == 1).sum())
    if empty:
        found.append(f"{count_of(empty, 'item', 'has', 'have')} no judgment at all.")
    if single:
        found.append(
            f"{count_of(single, 'item', 'has', 'have')} only one, so no disagreement can show."
        )
    if repeats := results.agreement.repeats:
        given = count_of(repeats, "judgment", "repeats", "repeat")
        found.append(f"{given} a judge's earlier one of the same item.")
    if results.gold is not None and (lost := results.gold.without_judgments(judgments).sum()):
        gold = count_of(len(results.gold), "gold item")
        found.append(f"{lost:,} of {gold} {'is' if lost == 1 else 'are'} not judged.")
    if differs := int(np.count_nonzero(results.diagnosis.items["differs"].to_numpy())):
        found.append(f"{count_of(differs, 'label', 'differs', 'differ')} from the majority vote.")
    notes = results.consensus.notes
    families = FamilySummary(results.consensus).sentences
    found += [one for one in families if one.removesuffix(".") not in notes]
    return [*found, *results.provenance.left_out]
