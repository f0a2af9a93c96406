"""adjudge agreement: how far the judges agree with each other, chance taken off."""

from __future__ import annotations

from adjudge.cli import _options as o
from adjudge.cli import command
from adjudge.cli._console import labels_of, progress, say
from adjudge.cli._reading import read_judgments
from adjudge.cli._results import check_places, deliver
from adjudge.cli._summary import scores_grid
from adjudge.data.source import count_of


@command("adjudge agreement judgments.csv --binary")
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    reading: o.LabelReading,
    out: o.Delivery,
) -> None:
    """Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.

    Judgments may be missing: items judged once are left out and counted. Intervals are
    over items, by bootstrap.
    """
    from adjudge.evaluation.agreement import measure_agreement

    check_places({"--output": out.output}, inputs=judgments, printing=out)
    read = read_judgments(judgments, None, reading)
    with progress("measuring agreement"):
        result = measure_agreement(read.judgments, resamples=resamples, seed=seed)
    say(
        f"{count_of(result.items, 'item')} with two judgments or more "
        f"({result.left_out:,} with fewer left out), {count_of(result.judgments, 'judgment')}, "
        f"{count_of(read.judgments.judge_count, 'judge')}; labels {labels_of(read.judgments.scale)}"
    )
    counts = ("items", "left_out", "judgments", "pairs", "repeats", "judge_pairs")
    deliver(
        table := result.to_table(),
        "scores",
        out,
        about={
            "counts": {key: getattr(result, key) for key in counts},
            "level": result.level,
            **read.omissions,
        },
        show=lambda: scores_grid("Agreement", table, result.level),
    )
