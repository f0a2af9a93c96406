"""What JAGS reads and writes: data and starts as R assignments, a script, and CODA output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

HYPER = ("phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1")
STEM = "draws"


def assignments(values: Mapping[str, Any]) -> str:
    """Numbers, texts and vectors as R assignments, one a line."""
    return "".join(f'"{name}" <- {_in_r(value)}\n' for name, value in values.items())


def _in_r(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, np.ndarray):
        return f"c({', '.join(f'{number:.9g}' for number in value.tolist())})"
    return f"{value:.9g}"


def data(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The judgments as the model takes them: everything counted from 1."""
    return {
        "items": len(parts["offsets"]) - 1,
        "judges": int(parts["judges"]),
        "topics": int(parts["topics"]),
        "judgments": len(parts["label"]),
        "item": _item(parts) + 1,
        "judge": parts["judge"] + 1,
        "topic": parts["topic"] + 1,
        "y": parts["label"],
    }


def start(parts: Mapping[str, Any], chain: int) -> dict[str, Any]:
    """Where a chain starts: z from votes, coin flips for ties, and the rates that follow from z.

    With z alone, JAGS draws z again from rates that know nothing of it, and mostly lands in the
    mirrored mode, where every label means its opposite. phi and kappa start anywhere.
    """
    rng = np.random.default_rng([chain, 2011])
    item, judge, label = _item(parts), parts["judge"], parts["label"].astype(np.int64)
    counts = np.diff(parts["offsets"])
    votes = np.bincount(item, label, len(counts)) * 2 - counts
    z = np.where(votes == 0, rng.random(len(counts)) < 0.5, votes > 0).astype(np.int64)
    judges, topics = int(parts["judges"]), int(parts["topics"])
    true = z[item]
    starts: dict[str, Any] = {
        "z": z,
        "theta0": _rates(judge, 1 - true, 1 - label, judges),
        "theta1": _rates(judge, true, label, judges),
        "pi": _rates(parts["topic"], np.ones_like(z), z, topics),
    }
    for which in ("pi", "0", "1"):
        starts[f"phi.{which}"] = rng.uniform(0.2, 0.8)
        starts[f"kappa.{which}"] = 1 + rng.exponential(2)
    return starts | {".RNG.name": "base::Mersenne-Twister", ".RNG.seed": chain + 1}


def _item(parts: Mapping[str, Any]) -> Any:
    return np.repeat(np.arange(len(parts["offsets"]) - 1), np.diff(parts["offsets"]))


def _rates(group: Any, counted: Any, hit: Any, groups: int) -> Any:
    """The share of hits among what is counted in each group, with one more of both kinds."""
    return (np.bincount(group, counted * hit, groups) + 1) / (
        np.bincount(group, counted, groups) + 2
    )


def script(model: str, chains: int, warmup: int, draws: int) -> str:
    """The commands of a run; JAGS adapts in the first of the two updates. No draws, no updates."""
    lines = [f'model in "{model}"', 'data in "data.R"', f"compile, nchains({chains})"]
    lines += [f'parameters in "start{n + 1}.R", chain({n + 1})' for n in range(chains)]
    lines.append("initialize")
    if draws:
        lines.append(f"update {warmup}")
        lines += [f"monitor {name.replace('_', '.')}" for name in HYPER]
        lines += [f"update {draws}", f'coda *, stem("{STEM}")']
    return "\n".join([*lines, "exit"]) + "\n"


def write(folder: Path, parts: Mapping[str, Any], chains: int) -> None:
    """The data and the starts of all chains, into a folder."""
    (folder / "data.R").write_text(assignments(data(parts)), encoding="ascii")
    for chain in range(chains):
        path = folder / f"start{chain + 1}.R"
        path.write_text(assignments(start(parts, chain)), encoding="ascii")


def read_coda(folder: Path, chains: int) -> dict[str, Any]:
    """The draws of each hyper-parameter, (chain, draw), from CODA files."""
    every = [_column(folder / f"{STEM}chain{chain + 1}.txt") for chain in range(chains)]
    found = {}
    for line in (folder / f"{STEM}index.txt").read_text(encoding="ascii").splitlines():
        name, first, last = line.split()
        found[name.replace(".", "_")] = np.array([v[int(first) - 1 : int(last)] for v in every])
    return {name: found[name] for name in HYPER}


def _column(path: Path) -> Any:
    rows: Iterable[str] = path.read_text(encoding="ascii").splitlines()
    return np.array([float(row.split()[1]) for row in rows])
