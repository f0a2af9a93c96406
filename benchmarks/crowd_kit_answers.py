"""Answers of crowd-kit's classes, or of ours with its names, on simulated data: JSON on stdout.

python crowd_kit_answers.py crowdkit.aggregation     in the peers' environment
python crowd_kit_answers.py adjudge.crowdkit         in ours

tests/golden/crowd-kit.json is the output of the first with crowd-kit 1.4.2.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

TASKS, WORKERS, LABELS = 100, 12, ("bad", "fair", "good")
CONVERGED = {"n_iter": 5_000, "tol": 1e-13}


def simulate_labels(seed: int = 1) -> Any:
    """Return a frame of task, worker and label; each task has seven labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(LABELS), TASKS)
    skill = rng.uniform(0.4, 0.95, WORKERS)
    rows = []
    for task in range(TASKS):
        for worker in rng.choice(WORKERS, 7, replace=False).tolist():
            right = rng.random() < skill[worker]
            label = truth[task] if right else rng.integers(0, len(LABELS))
            rows.append((f"t{task:03}", f"w{worker:02}", LABELS[int(label)]))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def simulate_pairs(seed: int = 2) -> Any:
    """Return a frame of worker, left, right and label: the better of the two."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-1.5, 1.5, 12)
    rows = []
    for _ in range(2_000):
        left, right = rng.choice(len(strength), 2, replace=False).tolist()
        wins = rng.random() < 1 / (1 + np.exp(strength[right] - strength[left]))
        names = f"i{left:02}", f"i{right:02}"
        rows.append((f"w{rng.integers(5)}", *names, names[0 if wins else 1]))
    return pd.DataFrame(rows, columns=["worker", "left", "right", "label"])


def rounded(value: Any) -> Any:
    """Return JSON data with its numbers rounded to nine decimals."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return round(float(value), 9) if isinstance(value, float) else value


def answer(module: Any) -> dict[str, Any]:
    """Return what the classes of a module answer."""
    frame = simulate_labels()
    found: dict[str, Any] = {}
    for name, settings in (("MajorityVote", {}), ("Wawa", {}), ("DawidSkene", CONVERGED)):
        model = getattr(module, name)(**settings)
        labels = model.fit_predict(frame)
        found[name] = {"labels": labels.to_dict(), "probas": model.probas_.to_dict()}
        if name == "DawidSkene":
            errors = {"|".join(key): row for key, row in model.errors_.to_dict("index").items()}
            found[name] |= {"errors": errors, "priors": model.priors_.to_dict()}
        else:
            found[name]["skills"] = model.skills_.to_dict()
    scores = module.BradleyTerry(**CONVERGED).fit_predict(simulate_pairs())
    found["BradleyTerry"] = {"scores": scores.to_dict()}
    return found


if __name__ == "__main__":
    json.dump(rounded(answer(import_module(sys.argv[1]))), sys.stdout, indent=0)
