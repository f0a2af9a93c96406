"""What is measured of nutpie, with the model written for PyMC; run by an environment of its own."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt
from meter import Meter, answer


def fit(folder: str, chains: int, warmup: int, draws: int, seed: int, cores: int) -> dict[str, Any]:
    """Sample the model with every z summed out; compiling it is not counted here."""
    parts = np.load(Path(folder) / "judgments.npz")
    with Meter() as compiling:
        compiled = nutpie.compile_pymc_model(_model(parts))
    with Meter() as meter:
        trace = nutpie.sample(
            compiled,
            chains=chains,
            tune=warmup,
            draws=draws,
            seed=seed,
            cores=cores,
            progress_bar=False,
        )
    names = [f"{kind}_{which}" for kind in ("phi", "kappa") for which in ("pi", "0", "1")]
    np.savez(Path(folder) / "nutpie.npz", **{name: trace.posterior[name].values for name in names})
    return {
        **meter.reading,
        "compiling": compiling.reading["cpu"],
        "steps": float(trace.sample_stats["n_steps"].mean()),
        "divergences": int(trace.sample_stats["diverging"].sum()),
    }


def _model(parts: Any) -> pm.Model:
    """The hierarchical relevance model; the log-likelihood of an item is a sum over both truths.

    Chains start at rates of 0.7, well away from the mirrored mode.
    """
    counts = np.diff(parts["offsets"])
    item = np.repeat(np.arange(len(counts)), counts)
    cell = parts["judge"].astype(np.int64) * 2 + parts["label"]
    topic = parts["topic"].astype(np.int64)
    with pm.Model() as model:

        def rates(name: str, which: str, size: int, start: float) -> Any:
            phi = pm.Beta(f"phi_{which}", 1, 1, initval=start)
            kappa = pm.Pareto(f"kappa_{which}", alpha=1.5, m=1.0, initval=3.0)
            first = np.full(size, start)
            return pm.Beta(name, kappa * phi, kappa * (1 - phi), shape=size, initval=first)

        pi = rates("pi", "pi", int(parts["topics"]), 0.5)
        specificity = rates("theta0", "0", int(parts["judges"]), 0.7)
        sensitivity = rates("theta1", "1", int(parts["judges"]), 0.7)
        if_1 = pt.stack([pt.log1p(-sensitivity), pt.log(sensitivity)], axis=1).reshape((-1,))
        if_0 = pt.stack([pt.log(specificity), pt.log1p(-specificity)], axis=1).reshape((-1,))
        log_1 = pt.inc_subtensor(pt.log(pi)[topic][item], if_1[cell])
        log_0 = pt.inc_subtensor(pt.log1p(-pi)[topic][item], if_0[cell])
        pm.Potential("items", pt.logaddexp(log_1, log_0).sum())
    return model


def versions() -> dict[str, str]:
    """The versions that matter."""
    names = ("nutpie", "pymc", "pytensor", "numba", "numpy")
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }


if __name__ == "__main__":
    answer({"fit": fit, "versions": versions})
