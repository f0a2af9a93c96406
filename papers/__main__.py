"""Run papers again: python -m papers PAPER [options], as ./scripts/replicate does."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

from adjudge import AdjudgeError, __version__
from papers import results, stats

PAPERS = ("zscore", "pmf", "hierarchical", "truelabel", "training")
SIMULATED = "training"  # has no judgments of its own, so other data cannot take their place


def main(arguments: list[str] | None = None) -> int:
    """Run the papers that are named."""
    parser = argparse.ArgumentParser(
        prog="./scripts/replicate",
        description="Run a paper's experiments on its data, or its methods on other data.",
    )
    add = parser.add_argument
    add("papers", nargs="+", metavar="PAPER", choices=[*PAPERS, "all"], help=", ".join(PAPERS))
    add("-o", "--output", type=Path, metavar="FOLDER", help="write pages, CSV and figures there")
    add("--quick", action="store_true", help="fewer seeds, runs and draws; figures, no verdicts")
    add("--seeds", type=int, metavar="N", help="number of seeds, splits or runs")
    add("--data", type=Path, metavar="FOLDER", help="real judgments; default: ADJUDGE_DATA")
    add("--judgments", type=Path, metavar="FILE", help="other judgments: the paper's methods on it")
    add("--gold", type=Path, metavar="FILE", help="their gold; default: in the judgments' file")
    given = parser.parse_args(arguments)
    names = PAPERS if "all" in given.papers else tuple(dict.fromkeys(given.papers))
    if given.judgments and SIMULATED in names:
        parser.error(f"{SIMULATED} is a simulation: choose {', '.join(PAPERS[:-1])}")
    try:
        options = results.Options(
            quick=given.quick, seeds=given.seeds, data=given.data,
            judgments=given.judgments, gold=given.gold,
        )  # fmt: skip
        done = [(name, *_run(name, options, given.output)) for name in names]
    except AdjudgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.output and len(done) == len(PAPERS):
        text = results.index(done, _describe_run(options))
        (given.output / "index.md").write_text(text, encoding="utf-8")
    return 0


def _run(
    name: str, options: results.Options, folder: Path | None
) -> tuple[results.Replication, float]:
    """Run one paper, then write or print its page: result and seconds of CPU time."""
    paper = import_module(f"papers.{name}")
    print(f"{name} ...", file=sys.stderr)
    start, worked = time.perf_counter(), time.process_time()
    result = paper.replicate(options)
    seconds, busy = time.perf_counter() - start, time.process_time() - worked
    quick = " --quick" if options.quick else ""
    made = (
        f"Written by `./scripts/replicate {name}{quick}`, adjudge {__version__}, in {busy:.0f} s "
        f"of CPU time. {_describe_run(options)}"
    )
    verdicts = not options.quick and (options.seeds or stats.LEAST_SEEDS) >= stats.LEAST_SEEDS
    text = results.render(name, made, result, verdicts=verdicts)
    if folder is None:
        print(text)
    else:
        results.write(name, text, result, folder, verdicts=verdicts)
    print(f"{name}: {seconds:.0f} s", file=sys.stderr)
    return result, busy


def _describe_run(options: results.Options) -> str:
    seeds = f" with {options.seeds} seeds" if options.seeds else ""
    return f"This is {'a quick' if options.quick else 'the full'} run{seeds}."


if __name__ == "__main__":
    sys.exit(main())
