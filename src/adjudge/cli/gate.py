"""adjudge gate: requirements on new judgments of an audited judge, for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import typer

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import progress, say
from adjudge.cli._reading import read_answers, read_judgments, read_runs, read_text
from adjudge.cli._results import check_places, deliver, number, show_rows, tell_written

if TYPE_CHECKING:
    from adjudge.evaluation.model_judges.gate import Gate, Requirement

_MARKS = {"passed": "✅", "failed": "❌", "cannot tell": "❓"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Requiring:
    """What is required, and by what it is measured."""

    card: Path = option("--card FILE", "The card that 'adjudge audit --card' wrote.", required=True)
    require: str = option(
        "--require LIST",
        "Requirements: accuracy, kappa, weighted-kappa, tpr, tnr, recall:LABEL, over-rating, "
        "gold-saved, "
        "judge-shift, system-shift, share, mean-grade, nDCG@10(A) or nDCG@10(A-B) of runs.",
        required=True,
    )
    anchors: str | None = option(
        "--anchors FILE",
        "Earlier labels that the judge gave to fixed items; without it, those in the card.",
    )
    run_files: list[str] | None = option("--runs FILE...", "TREC runs that requirements name.")
    prompt: Path | None = o.PROMPT
    rubric: Path | None = o.RUBRIC
    max_age: int = option("--max-age DAYS", "A card of this age or older is stale.", 180, min=0)
    by_estimate: bool = flag("--by-estimate", "Decide by the estimate, without its interval.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summaries:
    """For whom the outcome is written."""

    junit: Path | None = option("--junit FILE", "Write the outcome as JUnit XML.")
    markdown: Path | None = option(
        "--markdown FILE", "Write the outcome as Markdown, for a step summary."
    )


@command(
    "adjudge gate new.csv --card card.json --require 'kappa>=0.6,tnr>=0.8'",
    "adjudge gate new.csv --card c.json --require 'P@5(A-B)>0' --runs A.run B.run",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    requiring: _Requiring,
    gold: str | None = option(
        "--gold FILE", "Gold for the new judgments; without it, the gold in the card."
    ),
    people: str | None = o.PEOPLE,
    summaries: _Summaries,
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    reading: o.AnswerReading,
    out: o.Delivery,
) -> None:
    """Check requirements on new judgments of an audited judge.

    A requirement passes if it holds on the entire interval of its measure. The exit code is 0 if
    all pass, 1 if one fails, and 3 if the gate cannot decide. It cannot decide if the card is
    stale, or if there is too little gold or too few anchors. A card is stale if the model, prompt,
    rubric, settings or scale changed, or if it is too old. Anchors are fixed items that the judge
    labelled before: they show whether the judge changed or the system that is judged.
    """
    from adjudge.evaluation.model_judges.gate import gate

    places = {"--output": out.output, "--junit": summaries.junit, "--markdown": summaries.markdown}
    files = requiring.run_files or []
    inputs = (*judgments, gold, requiring.card, requiring.anchors, *files)
    check_places(places, inputs=inputs, free=("--junit", "--markdown"), printing=out)
    answers = read_answers(judgments, gold, reading)
    anchors = None
    if requiring.anchors is not None:
        anchors = read_judgments([requiring.anchors], None, o.LabelReading()).judgments
    texts = [
        None if path is None else read_text(path) for path in (requiring.prompt, requiring.rubric)
    ]
    with progress("checking"):
        found = gate(
            answers,
            requiring.card,
            requiring.require,
            gold=answers.gold,
            anchors=anchors,
            runs=read_runs(files, reading),
            people=people,
            prompt=texts[0],
            rubric=texts[1],
            max_age=requiring.max_age,
            by_estimate=requiring.by_estimate,
            resamples=resamples,
            seed=seed,
        )
    _say(found)
    for path, text in ((summaries.junit, _as_junit), (summaries.markdown, _as_markdown)):
        if path is not None:
            path.write_text(text(found), encoding="utf-8")
            tell_written("outcome", path)
    about = found.to_json()
    about.pop("requirements")
    deliver(found.to_table(), "requirements", out, about=about, show=lambda: _show(found))
    if found.code:
        raise typer.Exit(found.code)


def _say(found: Gate) -> None:
    """Print why the card is stale, and what changed."""
    for line in found.stale:
        say((f"  the card is stale: {line}", "yellow"))
    if found.unbound:
        say(f"  the card does not know: {', '.join(found.unbound)}")
    if found.shifts is not None:
        for line in _changes(found):
            say(f"  {line}")
    say(f"{found.judge}: {found.outcome} (exit code {found.code})")


def _changes(found: Gate) -> list[str]:
    """Return what changed since the audit, in sentences."""
    shifts = found.shifts
    if shifts is None:
        return []
    lines = []
    for score in (shifts.judge, *shifts.by_class, shifts.system):
        if score.defined:
            lines.append(
                f"{score.name}: {score.value:+.3f} ({score.low:+.3f} to {score.high:+.3f})"
            )
        else:
            lines.append(f"{score.name}: {score.reason}")
    if shifts.attribution:
        lines.append(f"by {shifts.anchors:,} anchors: {shifts.sentence}")
    return lines


def _show(found: Gate) -> Any:
    return show_rows(
        f"Gate: {found.outcome}",
        found.requirements,
        *("text as requirement", "outcome", "value", "low to high:.3f as 95% interval", "reason"),
    )


def _as_markdown(found: Gate) -> str:
    """Return the outcome as a table in Markdown."""
    rows = ["| requirement | outcome | value | 95% interval |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{one.text}` | {_MARKS[one.outcome]} {one.outcome} | {number(one.value)} | "
        f"{_interval(one) or one.reason} |"
        for one in found.requirements
    ]
    lines = [f"### {found.judge}: {found.outcome}", "", *rows, ""]
    lines += [f"- the card is stale: {line}" for line in found.stale]
    lines += [f"- {line}" for line in _changes(found)]
    return "\n".join([*lines, ""])


def _interval(one: Requirement) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}"


def _as_junit(found: Gate) -> str:
    """The outcome as JUnit XML: a test case per requirement."""
    each = [one.outcome for one in found.requirements]
    suite = ElementTree.Element("testsuite", name="adjudge gate", tests=str(len(each)))
    suite.set("failures", str(each.count("failed")))
    suite.set("errors", str(each.count("cannot tell")))
    for one in found.requirements:
        case = ElementTree.SubElement(suite, "testcase", classname=found.judge, name=one.text)
        kind = {"failed": "failure", "cannot tell": "error"}.get(one.outcome)
        if kind is not None:
            message = "; ".join(found.stale) or one.reason
            if one.value is not None:
                message = f"{number(one.value)} ({_interval(one)}): {message}"
            ElementTree.SubElement(case, kind, message=message)
    lines = [f"the card is stale: {line}" for line in found.stale] + _changes(found)
    ElementTree.SubElement(suite, "system-out").text = "\n".join(lines)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
