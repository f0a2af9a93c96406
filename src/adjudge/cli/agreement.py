"""adjudge agreement: how far the judges agree with each other, chance taken off."""

from __future__ import annotations

from adjudge.cli import Command
from adjudge.cli import _options as o
from adjudge.cli._console import labels_of, progress, say
from adjudge.cli._files import check_places, read_judgments
from adjudge.cli._results import deliver
from adjudge.cli._summary import scores_grid
from adjudge.data.source import count_of


def _run(
    judgments: o.JudgmentsFiles,
    *,
    output: o.Output = None,
    resamples: o.Resamples = 1000,
    seed: o.Seed = 0,
    labelling: o.Labelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Measure agreement: percent, Cohen's and Fleiss' kappa, Krippendorff's alpha.

    Missing judgments are no trouble: items judged once are left out and counted. Intervals are
    over items, by bootstrap.
    """
    from adjudge.evaluation.agreement import measure_agreement

    check_places({"--output": output}, inputs=judgments, printing=printing)
    read = read_judgments(judgments, None, reading, labelling)
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
        output,
        printing,
        about={
            "counts": {key: getattr(result, key) for key in counts},
            "level": result.level,
            **read.omissions,
        },
        show=lambda: scores_grid("Agreement", table, result.level),
    )


COMMAND = Command(_run, examples=("adjudge agreement judgments.csv --binary",))
