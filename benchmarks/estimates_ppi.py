"""ppi-python's intervals, by the Python of its own environment: power-tuned, as it comes."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from ppi_py import ppi_mean_ci


def main() -> None:
    """The means over draws for every target and size, by the best judge and by hindsight."""
    given = np.load(sys.argv[1])
    truth, labels, draws = given["truth"], given["labels"], int(given["draws"])
    accurate = int(np.argmax((labels == truth).mean(axis=1)))
    found = []
    for target, true in enumerate(given["nudge"].tolist()):
        best = int(np.argmax([_fits(target, row, truth) for row in labels]))
        for size in given["sizes"].tolist():
            for side, judge in (
                ("most accurate judge", accurate),
                ("best judge by hindsight", best),
            ):
                worth = _worth(target, labels[judge], given)
                figures = _measure(worth(truth), worth(labels[judge]), int(size), draws, true)
                found.append({"target": target, "labels": int(size), "side": side, **figures})
    print(json.dumps(found))


def _fits(target: int, row: Any, truth: Any) -> float:
    """How well a judge's labels go with the truth, as far as the target sees them."""
    if target == 1:
        return float(np.corrcoef(row >= 2, truth >= 2)[0, 1])
    return float(np.corrcoef(row, truth)[0, 1])


def _worth(target: int, judge: Any, given: Any) -> Any:
    """What an item adds to N times the target; the ideal of a topic is by the judge's labels."""
    if target == 0:
        return lambda label: label.astype(float)
    if target == 1:
        return lambda label: (label >= 2).astype(float)
    topics = given["topic"]
    count = int(topics.max()) + 1
    discount = 1 / np.log2(np.arange(10) + 2)
    ideal = np.array(
        [
            np.sort(judge[topics == t])[::-1][:10] @ discount[: (topics == t).sum()]
            for t in range(count)
        ]
    )
    scale = len(judge) / count * given["weight"] / ideal[topics]
    return lambda label: scale * label


def _measure(truth: Any, believed: Any, size: int, draws: int, true: float) -> dict[str, float]:
    held, widths, errors = [], [], []
    for number in range(draws):
        random = np.random.default_rng([size, number])
        items = np.sort(random.choice(len(truth), size, replace=False))
        rest = np.ones(len(truth), dtype=bool)
        rest[items] = False
        low, high = ppi_mean_ci(truth[items], believed[items], believed[rest], alpha=0.05)
        low, high = float(np.ravel(low)[0]), float(np.ravel(high)[0])
        held.append(low <= true <= high)
        widths.append(high - low)
        errors.append((low + high) / 2 - true)
    return {
        "cover": float(np.mean(held)),
        "width": float(np.mean(widths)),
        "error": float(np.mean(errors)),
    }


if __name__ == "__main__":
    main()
