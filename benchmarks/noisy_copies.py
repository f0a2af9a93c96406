"""What four noisy copies of a judge cost, whether they are reported, and what declaring them does.

The worst and the median judge by gold of real sets are copied four times, with 5, 10 and 20% of
the labels of each copy changed at random. A copy is free if accuracy does not fall.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scoring import score
from sets import Set, judges_by_accuracy, list_sets, read_set, with_copies

from adjudge import ItemTypes, Judgments

SETS = ("css_emotion", "dl20_graded", "alt_cebab_aspects", "10k_prompts", "summeval")
COPIES, FLIPS = 4, (0.05, 0.1, 0.2)
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def copy_noisily(judgments: Judgments, judge: int, flip: float, seed: int = 0) -> Judgments:
    """The judgments and four more judges: copies of one, with a share of their labels changed."""
    rng, labels = np.random.default_rng(seed), len(judgments.scale.labels)
    found = with_copies(judgments, judge, COPIES)
    chosen = np.flatnonzero(found.judge >= judgments.judge_count)
    chosen = chosen[rng.random(len(chosen)) < flip]
    found.label[chosen] = (found.label[chosen] + rng.integers(1, labels, len(chosen))) % labels
    return found


def measure(name: str, data: Path) -> list[str]:
    """The lines of a set's table."""
    held = read_set(list_sets(data)[name])
    order, lines = judges_by_accuracy(held), []
    alone = _accuracy(held, held.judgments)[0]
    for who, judge in (("worst", int(order[0])), ("median", int(order[len(order) // 2]))):
        for flip in FLIPS:
            noisy = copy_noisily(held.judgments, judge, flip)
            names = [None] * held.judgments.judge_count + ["copied"] * COPIES
            names[judge] = "copied"
            copied = frozenset(n for n, name in enumerate(names) if name)
            accuracy, reported = _accuracy(held, noisy, copied)
            declared = _accuracy(held, noisy.with_families(names))[0]
            lines.append(
                f"| {name} | {who} | {flip:.0%} | {alone:.3f} | {accuracy - alone:+.3f} | "
                f"{reported} | {declared - alone:+.3f} |"
            )
    return lines


def _accuracy(
    held: Set, judgments: Judgments, copied: frozenset[int] = frozenset()
) -> tuple[float, str]:
    """The accuracy of the default, and what it says of the judges who are one source."""
    consensus = ItemTypes().fit(judgments)
    families = consensus.families
    assert families is not None
    known = {"merged": families.groups, "yes": [alike.judges for alike in families.suspected]}
    said = next((how for how, groups in known.items() if copied in map(frozenset, groups)), "no")
    return score(held.truth, consensus.posterior)["accuracy"], said


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default=",".join(SETS))
    asked = parser.parse_args()
    print(
        "| set | judge | changed labels | accuracy | with 4 copies | reported | declared |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    for name in asked.sets.split(","):
        print(*measure(name, asked.data), sep="\n", flush=True)


if __name__ == "__main__":
    main()
