"""Measure the default model on real sets, and fit the powers of its blend to families left out.

Every set of ``sets/sets.csv`` is scored complete and thinned. Sets of one family share judges or
items, so a family counts once, and is left out as one. Log loss is in nats, clipped at 1e-6; ties
count in expectation; "below" is the share of cases more than .03 in accuracy below the vote share.

    python benchmarks/default_model.py                  the tables of default_model.md
    python benchmarks/default_model.py --peers --each   with Dawid-Skene, and by kind of thinning
    python benchmarks/default_model.py --ablate         change one element of the model at a time
    python benchmarks/default_model.py --scores-only    public interface only: any version
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

import adjudge

HERE = Path(__file__).resolve().parent
GROUPS = ("crowds", "panels", "mixed")
COMPLETE = "complete"
THINNINGS = ("3 per item", "2 per item", "5 busiest judges", "second judge on 30%")
SEEDS = (1, 2)
KEPT = 0.9  # share of the judgments above which a thinned version is left out
GOLD = 40  # gold items that a case needs
JUDGE_GOLD = 30  # gold items that a judge needs, to check their interval
BELOW = 0.03  # accuracy below the vote share that counts as a loss
SIDES = VOTE, DEFAULT, HELD_OUT, PEER = (
    "vote share",
    "default",
    "default, powers held out",
    "Dawid-Skene",
)
# One element changed: a setting of ItemTypes, or a constant of _type_answer (with _).
ABLATIONS: dict[str, dict[str, Any]] = {
    "one kind per label": {"kinds": 1},
    "strength 10": {"strength": 10.0},
    "strength 40": {"strength": 40.0},
    "families not weighed": {"weigh_copies": False},
    "no even judge in the reading": {"_EVEN": 0.0},
    "judges of the reading alike (exponent 0)": {"_EXPONENT": 0.0},
    "exponent 8": {"_EXPONENT": 8.0},
}
# x: the information that types lose against the vote share; v: the judgments of an item
POWERS = ("types", "types, times x", "types, times log v", "vote share", "vote share, times x")
TYPES_ALONE = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
_Floats = NDArray[np.float64]
Powers = dict[str, _Floats]  # family -> (power,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """A set, complete or thinned, and what was answered for its gold items."""

    group: str
    name: str
    family: str
    how: str
    gold: NDArray[np.int64]  # (gold item,) label, -1 if no judge gave it
    answers: dict[str, _Floats]  # side -> (gold item, label)
    logs: _Floats  # (gold item, label, power) what the answer's log is a sum of, by powers
    judges: _Floats  # (judge, 3) interval, and accuracy on gold; NaN where there is no figure

    def blend(self, powers: _Floats) -> _Floats:
        """The answer with other powers."""
        return np.asarray(softmax(self.logs @ powers, axis=1))

    def without(self, *names: str) -> Case:
        """The case with some powers left out of the blend."""
        return replace(self, logs=self.logs * [power not in names for power in POWERS])


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is fitted to each case."""

    data: Path
    peers: bool = False
    scores_only: bool = False
    declare: bool = False  # judges of crowds are people, and of panels LLMs
    changed: tuple[tuple[str, Any], ...] = ()  # an ablation


def read_sets(row: dict[str, str], data: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Read the sets of one row of sets.csv: item, judge, label, gold, each judgment once."""
    trec = row["name"] == "trec-rf10"
    table = pd.read_csv(
        data / row["path"], sep="\t" if trec else ",", dtype=str, keep_default_na=False
    )
    if not trec:
        yield row["name"], table.drop_duplicates(["item", "judge", "label"])
        return
    table = table.rename(columns={"workerID": "judge"})
    table["item"] = table["topicID"] + "_" + table["docID"]
    readings: dict[str, dict[str, str]] = {
        "binary": {"0": "0", "1": "1", "2": "1"},
        "grades": {"0": "0", "1": "1", "2": "2"},
        "broken links": {"0": "no", "1": "relevant", "2": "highly relevant", "-2": "broken"},
    }
    for name, text in readings.items():
        kept = table[table["label"].isin(text)].copy()
        kept["label"] = kept["label"].map(text)
        kept["gold"] = kept["gold"].map(text).fillna("")
        yield f"trec-rf10 {name}", kept.drop_duplicates(["item", "judge", "label"])


def thin(table: pd.DataFrame, how: str, seed: int) -> pd.DataFrame:
    """Keep some of the judgments."""
    if how == "5 busiest judges":
        return table[table["judge"].isin(table["judge"].value_counts().index[:5])]
    random = np.random.default_rng(seed)
    codes, items = pd.factorize(table["item"])
    most = (
        1 + (random.random(len(items)) < 0.3)
        if how == "second judge on 30%"
        else np.full(len(items), int(how[0]))
    )
    order = random.permutation(len(table))
    place = np.empty(len(table), np.int64)
    place[order] = pd.Series(codes[order]).groupby(codes[order]).cumcount()
    return table[place < most[codes]]


def make_versions(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Make a set's complete and thinned versions that have enough gold."""
    versions = [(COMPLETE, table)]
    for how in THINNINGS:
        for seed in SEEDS[:1] if how == "5 busiest judges" else SEEDS:
            version = thin(table, how, seed)
            if len(version) <= KEPT * len(table):
                versions.append((how, version))
    for how, version in versions:
        if version.loc[version["gold"] != "", "item"].nunique() >= GOLD:
            yield how, version


def measure_sets(row: dict[str, str], options: Options) -> list[Case]:
    """Fit all versions of the sets of one row of sets.csv."""
    warnings.filterwarnings("ignore")
    about = {"group": row["kind"], "family": row["family"]}
    return [
        Case(name=name, how=how, **about, **measure(version, row["kind"], how, options))
        for name, table in read_sets(row, options.data)
        for how, version in make_versions(table)
    ]


def measure(table: pd.DataFrame, group: str, how: str, options: Options) -> dict[str, Any]:
    """Fit one case; the fields of ``Case`` that come of it."""
    judged = table[["item", "judge", "label"]].assign(label=order_labels(table["label"]))
    kind = {"crowds": "person", "panels": "model"}.get(group)
    if options.declare and kind is not None:
        judged = judged.assign(kind=kind)
    consensus = fit(judged, dict(options.changed))
    labels = consensus.labels
    names = [name[2:] for name in labels.column_names if name.startswith("p_")]
    items = pd.Index([str(item) for item in labels["item"].to_pylist()])
    gold = table[table["gold"] != ""].drop_duplicates("item")
    rows = items.get_indexer(gold["item"])
    votes = np.full((len(items), len(names)), 0.5)
    np.add.at(votes, (items.get_indexer(table["item"]), _codes(table["label"], names)), 1.0)
    answers = {VOTE: votes[rows] / votes[rows].sum(axis=1, keepdims=True)}
    answers[DEFAULT] = _probabilities(consensus, names)[rows]
    if options.peers:
        answers[PEER] = _probabilities(adjudge.fit(judged, model="dawid-skene"), names)[rows]
    logs = np.empty(0) if options.scores_only else take_logs(consensus, rows)
    judges = np.empty((0, 3)) if how != COMPLETE else check_judges(consensus.judges, table)
    codes = _codes(gold["gold"], names)
    return {"gold": codes, "answers": answers, "logs": logs, "judges": judges}


def order_labels(labels: Any) -> Any:
    """Order labels that are numbers, so that a negative one is a grade and not a question."""
    numbers = pd.to_numeric(labels, errors="coerce")
    if numbers.isna().any():
        return labels
    return pd.Categorical(labels, sorted(labels.unique(), key=float), ordered=True)


def take_logs(consensus: Any, rows: NDArray[np.int64]) -> _Floats:  # (row, label, power)
    """What the default blends for some items: the powers of ``POWERS`` multiply it."""
    from adjudge.models import _types, item_types
    from adjudge.models.model import prepare

    fit, judged, families = consensus.predictor, consensus.judgments, consensus.families
    prepared = prepare(judged, None, fit.engine, repeats=True, families=families)
    types = item_types._read_items(prepared, fit.types.parameters, fit.reading)
    votes = _types.sum_votes(prepared, np.arange(len(types)), types.shape[1])
    x = _types.measure_loss(prepared, types)
    answer = np.log(np.maximum(types[rows], 1e-12))
    share = np.log((votes[rows] + 0.5) / (votes[rows] + 0.5).sum(axis=1, keepdims=True))
    many = np.log(np.maximum(votes[rows].sum(axis=1, keepdims=True), 1.0))
    return np.stack([answer, x * answer, many * answer, share, x * share], axis=-1)


def fit(judged: pd.DataFrame, changed: dict[str, Any]) -> Any:
    """Fit the default, or the default with one element changed."""
    if not changed:
        return adjudge.fit(judged)
    from adjudge.models import _types as _type_answer

    constants = {name: value for name, value in changed.items() if name.startswith("_")}
    settings = {name: value for name, value in changed.items() if name not in constants}
    with patch.dict(vars(_type_answer), constants):
        return adjudge.ItemTypes(**settings).fit(judged)


def _codes(texts: Iterable[str], names: list[str]) -> NDArray[np.int64]:
    return pd.Index(names).get_indexer(list(texts)).astype(np.int64)


def _probabilities(consensus: Any, names: list[str]) -> _Floats:
    return np.stack([consensus.labels[f"p_{name}"].to_numpy() for name in names], axis=1)


def check_judges(judges: Any, table: pd.DataFrame) -> _Floats:
    """The interval and the accuracy on gold of judges with enough gold items."""
    known = table[table["gold"] != ""]
    right = (known["label"] == known["gold"]).groupby(known["judge"]).agg(["mean", "size"])
    right = right["mean"][right["size"] >= JUDGE_GOLD]
    given = judges.to_pandas().astype({"judge": str}).set_index("judge").reindex(right.index)
    ends = given[["accuracy_low", "accuracy_high"]].astype(float)
    return np.column_stack([ends.to_numpy(), right.to_numpy()])


def score(case: Case, answer: _Floats) -> _Floats:  # (3,)
    """Accuracy, log loss, and whether the accuracy is well below the vote share's."""
    accuracy = _accuracy(answer, case.gold)
    given = answer[np.arange(len(case.gold)), case.gold]
    loss = -np.log(np.maximum(np.where(case.gold >= 0, given, 0.0), 1e-6)).mean()
    below = accuracy < _accuracy(case.answers[VOTE], case.gold) - BELOW
    return np.array([accuracy, loss, below])


def _accuracy(answer: _Floats, gold: NDArray[np.int64]) -> float:
    best = answer >= answer.max(axis=1, keepdims=True) - 1e-9
    right = best[np.arange(len(gold)), gold] & (gold >= 0)
    return float((right / best.sum(axis=1)).mean())


def weigh(cases: list[Case]) -> _Floats:
    """Weigh families alike, in a family kinds of thinning, and of a kind its cases."""
    kinds = Counter((case.family, case.how) for case in cases)
    families = Counter(family for family, _ in kinds)
    return np.array([
        1.0 / (len(families) * families[case.family] * kinds[case.family, case.how])
        for case in cases
    ])  # fmt: skip


def fit_powers(cases: list[Case], start: _Floats) -> _Floats:
    """Find the powers with the least mean log loss over families, by Newton's method."""
    powers, weights = start, weigh(cases)
    for _ in range(50):
        gradient, hessian = np.zeros(len(powers)), np.zeros((len(powers), len(powers)))
        for case, weight in zip(cases, weights, strict=True):
            known = case.gold >= 0
            logs, given = case.logs[known], case.blend(powers)[known]
            mean = np.einsum("ik,ikf->if", given, logs)
            off = mean - logs[np.arange(len(logs)), case.gold[known]]
            apart = (logs - mean[:, None]).reshape(-1, len(powers))
            gradient += weight / len(known) * off.sum(axis=0)
            hessian += weight / len(known) * (apart.T @ (given.reshape(-1, 1) * apart))
        step = np.linalg.lstsq(hessian, gradient)[0]
        powers = powers - step
        if np.abs(step).max() < 1e-3:
            break
    return powers


def leave_out(cases: list[Case]) -> tuple[_Floats, Powers]:
    """Fit the powers to all families, and for each family to all the others."""
    every = fit_powers(cases, TYPES_ALONE)
    families = sorted({case.family for case in cases})
    others = ([case for case in cases if case.family != family] for family in families)
    return every, {
        family: fit_powers(rest, every) for family, rest in zip(families, others, strict=True)
    }


def score_families(cases: list[Case], powers: Powers) -> pd.Series:
    """The log loss of each family with its powers: mean over kinds of thinning, then cases."""
    rows = [
        (case.family, case.how, score(case, case.blend(powers[case.family]))[1]) for case in cases
    ]
    table = pd.DataFrame(rows, columns=["family", "how", "loss"])
    return table.groupby(["family", "how"])["loss"].mean().groupby("family").mean()


def average(side: str, cases: list[Case], scores: _Floats) -> str:
    """A cell: accuracy / log loss, means over families, / share of cases below the vote."""
    mean = weigh(cases) @ scores
    below = "" if side == VOTE else f" / {scores[:, 2].mean():.0%}"
    return f"{mean[0]:.3f} / {mean[1]:.3f}{below}"


def tabulate_scores(cases: list[Case], *, each: bool) -> str:
    """Groups and complete or thinned (with ``each``: every kind of thinning), by side."""
    sides = [side for side in SIDES if side in cases[0].answers]
    found = {side: np.array([score(case, case.answers[side]) for case in cases]) for side in sides}
    parts = {COMPLETE: (COMPLETE,), "thinned": THINNINGS}
    if each:
        parts = {how: (how,) for how in (COMPLETE, *THINNINGS)}
    rows = []
    for group in (*GROUPS, "all"):
        for part, hows in parts.items():
            chosen = [k for k, case in enumerate(cases)
                      if group in (case.group, "all") and case.how in hows]  # fmt: skip
            if chosen:
                some = [cases[k] for k in chosen]
                cells = [average(side, some, found[side][chosen]) for side in sides]
                rows.append([group, part, str(len(chosen)), *cells])
    return render(["sets", "", "cases", *sides], rows)


def list_losses(cases: list[Case]) -> str:
    """The complete sets on which the default is more than .01 below the vote share."""
    losses = {
        case.name: _accuracy(case.answers[DEFAULT], case.gold)
        - _accuracy(case.answers[VOTE], case.gold)
        for case in cases
        if case.how == COMPLETE
    }
    text = ", ".join(
        f"{name} {loss:+.3f}"
        for name, loss in sorted(losses.items(), key=lambda pair: pair[1])
        if loss < -0.01
    )
    return f"Complete sets more than .01 below the vote share: {text or 'none'}."


def list_shipped() -> _Floats:
    """The powers of the default."""
    from adjudge.models import _types as answer

    types = (answer._TYPES, -answer._TYPES_LESS, -answer._TYPES_MANY)
    return np.array([*types, answer._SHARE, answer._SHARE_MORE])


def tabulate_powers(every: _Floats, held_out: Powers, shipped: _Floats) -> str:
    """The powers: shipped, fitted to all families, and their spread over families left out."""
    folds = np.array(list(held_out.values()))
    spread = folds.std(axis=0, ddof=1)
    jackknife = spread * (len(folds) - 1) / np.sqrt(len(folds))
    columns = zip(POWERS, shipped, every, spread, jackknife, strict=True)
    rows = [[name, *(f"{value:+.3f}" for value in values)] for name, *values in columns]
    heads = ["power", "shipped", "fitted to all", "deviation over folds", "standard error"]
    return render(heads, rows)


def tabulate_coverage(cases: list[Case]) -> str:
    """How often judges' 90% intervals hold on complete sets, and how wide they are."""
    rows = []
    complete = [case for case in cases if len(case.judges)]
    for group in (*GROUPS, "all"):
        some = [case for case in complete if group in (case.group, "all")]
        shown = [case for case in some if not np.isnan(case.judges).any(axis=1).all()]
        if not shown:
            continue
        judges = [case.judges[~np.isnan(case.judges).any(axis=1)] for case in shown]
        pooled = _check(np.concatenate(judges))
        means = weigh(shown) @ np.array([_check(rows) for rows in judges])
        total = sum(len(case.judges) for case in some)
        share = sum(len(rows) for rows in judges) / total
        cells = [f"{value:.2f}" for value in (*means, *pooled)]
        rows.append([group, str(len(some)), f"{total:,}", f"{share:.0%}", *cells])
    heads = ["judges of", "sets", "judges", "with a figure", "coverage, mean of families", "width"]
    return render([*heads, "coverage, all judges", "width"], rows)


def _check(judges: _Floats) -> tuple[float, float]:  # (judge, 3)
    low, high, right = judges.T
    return float(((low <= right) & (right <= high)).mean()), float((high - low).mean())


def tabulate_ablations(cases: list[Case], rows: list[dict[str, str]], options: Options) -> str:
    """The held-out log loss with one element changed, less that of the default."""
    held_out = leave_out(cases)[1]
    base = score_families(cases, held_out)

    def describe(name: str, changed: list[Case], powers: Powers) -> list[str]:
        apart = score_families(changed, powers) - base
        below = [
            score(case, case.blend(powers[case.family]))[2]
            for case in changed
            if case.how != COMPLETE
        ]
        error = apart.std() / np.sqrt(len(apart))
        return [name, f"{apart.mean():+.4f}", f"{error:.4f}", f"{np.mean(below):.0%}"]

    found = [describe("default", cases, held_out)]
    found.append(describe("no blend", cases, dict.fromkeys(held_out, TYPES_ALONE)))
    for name, left_out in (
        ("powers without x", ("types, times x", "vote share, times x")),
        ("powers without log v", ("types, times log v",)),
    ):
        some = [case.without(*left_out) for case in cases]
        found.append(describe(name, some, leave_out(some)[1]))
    for name, changed in ABLATIONS.items():
        again = measure_all(rows, replace(options, peers=False, changed=tuple(changed.items())))
        found.append(describe(name, again, leave_out(again)[1]))
    return render(["changed", "log loss", "standard error", "thinned below"], found)


def render(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def measure_all(rows: list[dict[str, str]], options: Options) -> list[Case]:
    """Fit all cases in two processes, the largest sets first."""
    rows = sorted(rows, key=lambda row: -int(row["judgments"]))
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(partial(measure_sets, options=options), rows))
    return [case for cases in found for case in cases]


def list_rows(data: Path, names: str) -> list[dict[str, str]]:
    """The rows of sets.csv; with names, joined by commas, only these."""
    table = pd.read_csv(data / "sets" / "sets.csv", dtype=str, keep_default_na=False)
    chosen = table[table["name"].isin(names.split(","))] if names else table
    return [
        {str(name): str(text) for name, text in row.items()} for row in chosen.to_dict("records")
    ]


def report(asked: argparse.Namespace, data: Path) -> Iterator[str]:
    """The tables, one by one."""
    rows = list_rows(data, asked.sets)
    options = Options(
        data=data, peers=asked.peers, scores_only=asked.scores_only, declare=asked.declare
    )
    cases = measure_all(rows, options)
    if not (asked.scores_only or asked.declare):
        every, held_out = leave_out(cases)
        for case in cases:
            case.answers[HELD_OUT] = case.blend(held_out[case.family])
        yield tabulate_powers(every, held_out, list_shipped())
    yield tabulate_scores(cases, each=False)
    if asked.each:
        yield tabulate_scores(cases, each=True)
    yield list_losses(cases)
    yield tabulate_coverage(cases)
    if asked.ablate:
        yield tabulate_ablations(cases, rows, options)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="", help="only these rows of sets.csv, joined by commas")
    parser.add_argument("--peers", action="store_true", help="Dawid-Skene too")
    parser.add_argument("--each", action="store_true", help="every kind of thinning too")
    parser.add_argument("--ablate", action="store_true", help="change one element at a time")
    parser.add_argument(
        "--declare", action="store_true", help="declare judges of crowds people, of panels LLMs"
    )
    parser.add_argument("--scores-only", action="store_true", help="public interface only")
    data = Path(os.environ.get("ADJUDGE_DATA", HERE.parent.parent / "shared" / "data"))
    asked = parser.parse_args()
    if not (data / "sets" / "sets.csv").is_file():
        sys.exit(f"skipped: {data / 'sets' / 'sets.csv'} is missing; ADJUDGE_DATA names the folder")
    for text in report(asked, data):
        print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
