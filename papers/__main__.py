"""Run papers again: python -m papers PAPER [options], as ./scripts/replicate does."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge import AdjudgeError, __version__
from papers import results, stats

# Each is a module of its name; "training-server" is papers.training.server.
PAPERS = ("zscore", "pmf", "hierarchical", "truelabel", "training", "training-server")
SERVER = "training-server"  # takes most of an hour, so "all" leaves it out
HELP = f"{', '.join(PAPERS)}, or all (all but {SERVER})"


def main(arguments: list[str] | None = None) -> int:
    """Run the papers that are named."""
    parser = argparse.ArgumentParser(
        prog="./scripts/replicate",
        description="Run a paper's experiments, and show published values next to those obtained.",
    )
    add = parser.add_argument
    add("papers", nargs="+", metavar="PAPER", choices=[*PAPERS, "all"], help=HELP)
    add("-o", "--output", type=Path, metavar="FOLDER", help="write pages, CSV and figures there")
    add("--quick", action="store_true", help="fewer seeds, runs and draws")
    add("--seeds", type=int, metavar="N", help="number of seeds, splits or runs")
    add("--data", type=Path, metavar="FOLDER", help="real judgments; default: ADJUDGE_DATA")
    given = parser.parse_args(arguments)
    names = [name for name in PAPERS if name != SERVER] if "all" in given.papers else given.papers
    try:
        options = results.Options(quick=given.quick, seeds=given.seeds, data=given.data)
        done = [(name, *_run(name, options, given.output)) for name in dict.fromkeys(names)]
    except AdjudgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.output and len(done) > 1:
        text = results.index(done, _manner(options))
        (given.output / "index.md").write_text(text, encoding="utf-8")
    return 0


def _run(name: str, options: results.Options, folder: Path | None) -> tuple[str, Any, float]:
    """Run one paper, then write or print its page: text, result, seconds."""
    paper = import_module(f"papers.{name.replace('-', '.')}")
    print(f"{name} ...", file=sys.stderr)
    stats.reset_peak_memory()
    start, worked = time.perf_counter(), time.process_time()
    result = paper.replicate(options)
    seconds, busy = time.perf_counter() - start, time.process_time() - worked
    quick = " --quick" if options.quick else ""
    made = (
        f"Made by `./scripts/replicate {name}{quick}`, adjudge {__version__}, in {seconds:.0f} s "
        f"({busy:.0f} s of CPU time), with at most {stats.peak_memory() / 1e6:.0f} MB of memory. "
        f"{_manner(options)}"
    )
    text = results.render(name, made, result)
    if folder is None:
        print(text)
    else:
        results.write(name, text, result, folder)
    print(f"{name}: {seconds:.0f} s", file=sys.stderr)
    return text, result, seconds


def _manner(options: results.Options) -> str:
    seeds = f", {options.seeds} seeds" if options.seeds else ""
    return f"This is the {'quick' if options.quick else 'full'} run{seeds}."


if __name__ == "__main__":
    sys.exit(main())
