"""What the comparison of samplers does with adjudge: prepare the judgments, fit, weigh draws."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import jags_files
import numpy as np
from meter import Meter, answer

from adjudge import HierarchicalRelevance, Judgments, Scale, ThreadsEngine
from adjudge.simulation import number_names

SCALE = Scale(labels=("0", "1"), ordinal=True)
JUDGMENTS = "judgments.npz"


def prepare(folder: str, source: str | None, chains: int) -> dict[str, Any]:
    """The judgments as arrays and as JAGS takes them: TREC 2011 task 2, or a tiny made crowd."""
    judgments = _made() if source is None else _real(Path(source))
    parts = {
        "offsets": judgments.offsets,
        "judge": judgments.judge,
        "label": judgments.label,
        "topic": judgments.topic,
        "judges": judgments.judge_count,
        "topics": judgments.topic_count,
    }
    np.savez(Path(folder) / JUDGMENTS, **parts)
    jags_files.write(Path(folder), parts, chains)
    return {
        "judgments": len(judgments),
        "items": judgments.item_count,
        "judges": judgments.judge_count,
        "topics": judgments.topic_count,
    }


def _real(path: Path) -> Judgments:
    from adjudge.data.formats import read
    from adjudge.data.formats.trec_rf10 import trec_2011_subset

    judgments = trec_2011_subset(read(path)).judgments
    if judgments is None:
        raise ValueError("the file has no judgments")
    return judgments


def _made() -> Judgments:
    from adjudge.simulation import Crowd, Population

    population = Population.parse("two-coin(8,2,8,2):20")
    return Crowd(items=300, population=population, topics=5).make(seed=1).judgments


def _load(folder: Path) -> Judgments:
    """The judgments again, with made-up names: what the models see is the same."""
    parts = np.load(folder / JUDGMENTS)
    items = len(parts["offsets"]) - 1
    return Judgments(
        scale=SCALE,
        items=number_names("item", items, 7),
        judges=number_names("judge", int(parts["judges"]), 4),
        topics=number_names("topic", int(parts["topics"]), 4),
        topic=parts["topic"],
        offsets=parts["offsets"],
        judge=parts["judge"],
        label=parts["label"],
    )


def fit(
    folder: str, chains: int, warmup: int, draws: int, seed: int, threads: int, warm: bool
) -> dict[str, Any]:
    """The model on the judgments; ``warm``: what is compiled is loaded before the measurement.

    The draws are only kept: ArviZ would add to the memory of this process.
    """
    judgments = _load(Path(folder))
    engine = ThreadsEngine(threads=threads)
    if warm:
        HierarchicalRelevance(chains=1, warmup=1, draws=8).fit(judgments, engine=engine)
    model = HierarchicalRelevance(chains=chains, warmup=warmup, draws=draws, seed=seed)
    with Meter() as meter:
        consensus = model.fit(judgments, engine=engine)
    kept = consensus.draws
    if kept is None:
        raise ValueError("the model kept no draws")
    np.savez(Path(folder) / "adjudge.npz", **kept.hyper)
    return meter.reading


def weighed(hyper: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Mean, standard deviation, R-hat and bulk effective draws, by ArviZ, of (chain, draw)."""
    stats: Any = import_module("arviz_stats.base").array_stats
    return {
        name: {
            "mean": float(values.mean()),
            "sd": float(values.std()),
            "r_hat": float(stats.rhat(values, chain_axis=0, draw_axis=1)),
            "effective": float(stats.ess(values, method="bulk", chain_axis=0, draw_axis=1)),
        }
        for name, values in hyper.items()
    }


def of_jags(folder: str, chains: int) -> dict[str, Any]:
    """What JAGS drew."""
    return {"hyper": weighed(jags_files.read_coda(Path(folder), chains))}


def of_arrays(path: str) -> dict[str, Any]:
    """What another sampler drew, kept as arrays."""
    held = np.load(path)
    return {"hyper": weighed({name: held[name] for name in jags_files.HYPER})}


if __name__ == "__main__":
    answer({"prepare": prepare, "fit": fit, "of jags": of_jags, "of arrays": of_arrays})
