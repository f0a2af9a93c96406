"""Do the intervals and checks of the audit and the gate hold? Simulated changes, and real panels.

    python benchmarks/audit.py [--draws 1000] [--only shifts|transport|biases|stale|coverage|time]

Each part writes its table into ``audit.md``. The panels are in the folder that ADJUDGE_DATA names.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from machine import commit, versions
from numpy.typing import NDArray
from pyarrow import csv

from adjudge import Gold, Judgments, audit
from adjudge.data.model_answers import ModelAnswers
from adjudge.evaluation.model_judges._checks import find_biases
from adjudge.evaluation.model_judges._shifts import Labels, Shifts, measure_shifts
from adjudge.evaluation.model_judges.card import Card, identity
from adjudge.evaluation.model_judges.corrected import check_transport, correct_targets

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
PAGE = HERE / "audit.md"
GRADES = np.array([0.0, 1.0])
PANELS = {  # file, judge, target
    "llmjudge": ("panels/llmjudge.csv", "Olz-gpt4o", "mean-grade"),
    "summeval": ("panels/summeval.csv", "gpt-4o", "mean-grade"),
    "dl20_binary": ("sets/panels/dl20_binary.csv.gz", None, "share"),
    "css_emotion": ("sets/panels/css_emotion.csv.gz", None, "agreement"),
}
Rows = list[tuple[Any, ...]]
Ints = NDArray[np.int64]


# --- a change of the judge, and a change of the system ------------------------------------------


def shifted(
    seed: int, judge: float, system: float, *, repeats: float, anchors: int = 200
) -> Shifts:
    """Measure a rise of false positives by ``judge`` and of the mean grade by ``system``.

    ``repeats`` is the share of items on which the judge, asked again, decides by the same dice.
    """
    random = np.random.default_rng([seed, 1])
    items = 5000
    grades = [(random.random(items) < share).astype(int) for share in (0.4, 0.4 + system)]
    dice = random.random((2, items))
    rates = np.array([[0.1, 0.1], [0.1 + judge, 0.1]])
    labels = [_decide(grades[at], dice[at], rates[at]) for at in (0, 1)]
    truth = grades[0][:anchors]
    same = random.random(anchors) < repeats
    again = np.where(same, dice[0][:anchors], random.random(anchors))
    known = 600
    classes = [np.bincount(labels[0][:known][grades[0][:known] == k], minlength=2) for k in (0, 1)]
    return measure_shifts(
        GRADES[labels[0][:anchors]],
        GRADES[_decide(truth, again, rates[1])],
        truth,
        GRADES,
        [Labels.of(GRADES, counts) for counts in classes],
        *(Labels.of(GRADES, np.bincount(one, minlength=2)) for one in labels),
        ("0", "1"),
    )


def _decide(truth: Ints, dice: NDArray[np.float64], rates: NDArray[np.float64]) -> Ints:
    return np.where(dice < rates[truth], 1 - truth, truth)


def simulate_shifts(draws: int) -> tuple[tuple[str, ...], Rows]:
    """Coverage of the judge's and the system's change, and what is named as the cause."""
    rows: Rows = []
    planted = (
        (0.1, 0.0, "judge"),
        (0.0, 0.05, "system"),
        (0.1, 0.05, "both"),
        (0.0, 0.0, "neither"),
    )
    for repeats in (1.0, 0.95, 0.9):
        for judge, system, cause in planted:
            found = [shifted(seed, judge, system, repeats=repeats) for seed in range(draws)]
            named = {one: np.mean([s.attribution == one for s in found])
                     for one in ("judge", "system", "both", "neither")}  # fmt: skip
            rows.append(
                (
                    f"{repeats:.2f}",
                    judge,
                    system,
                    _share(_inside(s.by_class[0], judge) for s in found),
                    _share(_inside(s.judge, 0.6 * judge) for s in found),
                    _share(_inside(s.system, system) for s in found),
                    f"{cause} {named[cause]:.3f}",
                    ", ".join(f"{n} {v:.3f}" for n, v in named.items() if n != cause and v),
                )
            )
    head = ("repeats", "judge", "system", "judge-shift:0 covers", "judge-shift covers",
            "system-shift covers", "named rightly", "otherwise")  # fmt: skip
    return head, rows


def _inside(score: Any, value: float) -> bool:
    return bool(score.defined and score.low <= value <= score.high)


def _share(flags: Any) -> str:
    return f"{np.mean(list(flags)):.3f}"


# --- a correction that does not carry over ------------------------------------------------------


def transported(
    seed: int, systems: int, gold: int, shift: float, share: float
) -> tuple[bool, bool, bool]:
    """Whether the last system is refused, for its errors, and whether any other system is."""
    random = np.random.default_rng([seed, 2])
    each = 1000
    system = np.repeat(np.arange(systems), each)
    truth = (random.random(len(system)) < share).astype(np.int64)
    rates = np.where(truth == 1, 0.1, 0.1 + shift * (system == systems - 1))
    label = np.where(random.random(len(system)) < rates, 1 - truth, truth)
    known = np.full(len(system), -1, dtype=np.int16)
    for at in range(systems):
        chosen = at * each + random.permutation(each)[:gold]
        known[chosen] = truth[chosen]
    table = {"item": [f"i{n:06}" for n in range(len(system))], "judge": ["m"] * len(system)}
    judgments = Judgments.from_table(pa.table({**table, "label": label}))
    names = tuple(f"s{at}" for at in range(systems))
    found = check_transport(judgments, known, (names, system.astype(np.int32)), seed=seed)
    last = found[-1]
    return bool(last.refused), last.differs, any(one.differs for one in found[:-1])


def simulate_transport(draws: int) -> tuple[tuple[str, ...], Rows]:
    """How often a system that raises false positives by 0.15 is refused, and a clean one."""
    rows: Rows = []
    for systems, share in ((2, 0.4), (2, 0.65), (5, 0.4)):
        for gold in (100, 400, 600):
            for shift in (0.15, 0.0):
                found = [transported(seed, systems, gold, shift, share) for seed in range(draws)]
                shares = (f"{value:.3f}" for value in np.mean(found, axis=0))
                rows.append((systems, share, gold, shift, *shares))
    head = ("systems", "positives", "gold per system", "false positives raised by", "refused",
            "of these for its errors", "another system's errors differ")  # fmt: skip
    return head, rows


# --- biases -------------------------------------------------------------------------------------


def biased(
    seed: int, size: dict[str, float], judges: int, *, only: str = "", items: int = 500
) -> set[tuple[str, str]]:
    """Which biases of which judges are found; the first judge has biases of these sizes.

    With ``only`` they are in items that deserve 0 alone, in items that deserve 1 errors are rare.
    """
    random = np.random.default_rng([seed, 3])
    truth = (random.random(items) < 0.4).astype(np.int64)
    place, long = random.integers(2, size=items), random.normal(size=items)
    own = random.integers(2, size=items)
    causes = {"position": place, "length": long, "own family": own}
    names = ["gpt-4", "claude-3", "llama-3"][:judges]
    columns: dict[str, list[Any]] = {"item": [], "model": [], "label": [], "position": [],
                                     "length": [], "system": []}  # fmt: skip
    for name in names:
        chance = np.where(truth == 1, 0.99 if only else 0.9, 0.1)
        if name == "gpt-4":
            added = sum(size.get(what, 0.0) * value for what, value in causes.items())
            chance = chance + (np.where(truth == 0, added, 0.0) if only else added)
        columns["item"] += [f"i{n}" for n in range(items)]
        columns["model"] += [name] * items
        columns["label"] += (random.random(items) < chance).astype(int).tolist()
        columns["position"] += (place + 1).tolist()
        columns["length"] += (300 + 80 * long).tolist()
        columns["system"] += np.where(own == 1, "gpt-3.5", "palm-2").tolist()
    answers = ModelAnswers.from_table(pa.table(columns))
    gold = Gold.of({f"i{n}": int(value) for n, value in enumerate(truth)})
    biases, _ = find_biases(
        answers, gold.align(answers.judgments), np.ones(answers.judgments.judge_count, np.bool_)
    )
    return {(one.judge, one.what) for one in biases if one.found}


def simulate_biases(draws: int) -> tuple[tuple[str, ...], Rows]:
    """Power on planted biases, and how often anything is found that is not there."""
    rows: Rows = []
    for judges in (1, 3):
        for what, size, only in (
            *((what, 0.1, "") for what in ("position", "length", "own family", "")),
            ("position", 0.15, ", of items that deserve 0 only"),
        ):
            planted = {what: size} if what else {}
            found = [biased(seed, planted, judges, only=only) for seed in range(draws)]
            power = f"{np.mean([('gpt-4', what) in one for one in found]):.3f}" if what else ""
            false = np.mean([len(one - {("gpt-4", what)}) / max(len(one), 1) for one in found])
            named = f"{what} {size}{only}" if what else "none"
            rows.append((judges, named, power, f"{false:.3f}"))
    return ("judges", "planted", "power", "false discovery rate"), rows


# --- stale cards --------------------------------------------------------------------------------


def simulate_stale(draws: int) -> tuple[tuple[str, ...], Rows]:
    """How often a card is refused whose model, prompt or other part differs."""
    bound = {"model": "gpt", "prompt": "grade", "version": "1", "rubric": "old", "temperature": "0"}
    base = {"item": [f"i{n}" for n in range(60)], "label": [n % 2 for n in range(60)]}

    def answers(parts: dict[str, str], leave: str = "") -> ModelAnswers:
        given = {name: [value] * 60 for name, value in parts.items() if name != leave}
        return ModelAnswers.from_table(pa.table(base | given))

    gold = Gold.of(dict(zip(base["item"], base["label"], strict=True)))
    card = Card.of(audit(answers(bound), gold, resamples=0))
    random = np.random.default_rng(4)
    counts = dict.fromkeys([*bound, "left out", "the same"], (0, 0))
    for draw in range(draws):
        what = list(counts)[draw % len(counts)]
        parts = dict(bound)
        leave = str(random.choice(["prompt", "rubric", "version"])) if what == "left out" else ""
        if what in bound:
            parts[what] = f"{bound[what]} {random.integers(1_000_000)}"
        refused = bool(card.differences(identity(answers(parts, leave), 0)))
        counts[what] = counts[what][0] + refused, counts[what][1] + 1
    return ("changed", "refused", "of"), [(what, *count) for what, count in counts.items()]


# --- real panels --------------------------------------------------------------------------------


def read_panel(name: str) -> tuple[Judgments, Gold, str]:
    """The judgments of one judge on items with gold, all gold, and the target."""
    file, judge, target = PANELS[name]
    table = csv.read_csv(DATA / file)
    table = table.filter(
        pc.and_(pc.is_valid(table["gold"]), pc.not_equal(pc.cast(table["gold"], pa.string()), ""))
    )
    judge = judge or min(set(table["judge"].to_pylist()))
    own = table.filter(pc.equal(table["judge"], judge))
    gold = {str(row["item"]): str(row["gold"]) for row in own.select(["item", "gold"]).to_pylist()}
    scale = Judgments.from_table(table.drop_columns("gold")).scale
    judgments = Judgments.from_table(own.drop_columns("gold")).with_scale(scale)
    return judgments, Gold.of(gold), target


def cover_panels(draws: int) -> tuple[tuple[str, ...], Rows]:
    """How often the corrected and the gold-only interval hold what all gold says."""
    rows: Rows = []
    for name in PANELS:
        judgments, every, target = read_panel(name)
        truth = every.align(judgments)
        names = np.array(judgments.items.to_pylist(), dtype=object)
        true = truth_of(target, judgments, truth)
        for many in (100, 200):
            hits: list[tuple[bool, bool, float, float]] = []
            refused = 0
            for seed in range(draws):
                chosen = np.random.default_rng([seed, 5]).permutation(len(truth))[:many]
                gold = Gold.of({names[i]: judgments.scale.truths[truth[i]] for i in chosen})
                (one,) = correct_targets(judgments, gold, [target], seed=seed)
                if one.refused:
                    refused += 1
                    continue
                hits.append((one.low <= true <= one.high, one.gold_low <= true <= one.gold_high,
                             one.high - one.low, one.gold_high - one.gold_low))  # fmt: skip
            mean = np.mean(np.array(hits, dtype=np.float64), axis=0)
            rows.append((name, target, len(truth), many, f"{mean[0]:.3f}", f"{mean[1]:.3f}",
                         f"{mean[2] / mean[3]:.2f}", refused))  # fmt: skip
    head = ("panel", "target", "items", "gold", "corrected covers", "gold only covers",
            "width by gold only's", "refused")  # fmt: skip
    return head, rows


def truth_of(target: str, judgments: Judgments, truth: NDArray[np.int16]) -> float:
    """The value of a target by the gold of all items."""
    scale = judgments.scale
    if target == "mean-grade":
        return float(scale.truth_values[truth].mean())
    if target == "share":
        return float(np.asarray(scale.truth_relevant)[truth].mean())
    label = np.empty(len(truth), dtype=np.int64)
    label[judgments.item] = judgments.label
    return float(scale.stands[truth, label].mean())


def time_audit(_: int) -> tuple[tuple[str, ...], Rows]:
    """Time of an audit of the largest panel."""
    begin, cpu = time.perf_counter(), time.process_time()
    found = audit(DATA / "panels" / "llmjudge.csv")
    spent = time.perf_counter() - begin, time.process_time() - cpu
    row = (len(found.judges), len(found.answers.judgments), *(f"{part:.1f}" for part in spent))
    return ("judges", "judgments", "seconds", "CPU seconds"), [row]


PARTS: dict[str, Callable[[int], tuple[tuple[str, ...], Rows]]] = {
    "shifts": simulate_shifts,
    "transport": simulate_transport,
    "biases": simulate_biases,
    "stale": simulate_stale,
    "coverage": cover_panels,
    "time": time_audit,
}


def lines_of(head: tuple[str, ...], rows: Rows) -> Iterator[str]:
    """The lines of a Markdown table."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(str(cell) for cell in row)} |"


def write(part: str, table: str) -> None:
    """Put a table between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    before, after = text.split(begin)[0], text.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    """Run the parts, and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", choices=list(PARTS), action="append")
    parser.add_argument("--print", action="store_true", help="print the tables, write nothing")
    given = parser.parse_args()
    for part in given.only or PARTS:
        begin = time.process_time()
        table = "\n".join(lines_of(*PARTS[part](given.draws)))
        print(f"{table}\n({part}: {time.process_time() - begin:.0f} CPU seconds)\n", flush=True)
        if not given.print:
            used = ", ".join(f"{name} {number}" for name, number in versions().items())
            about = f"{given.draws:,} draws. Commit {commit(HERE.parent)}; {used}."
            write(part, f"{table}\n\n{about}")


if __name__ == "__main__":
    main()
