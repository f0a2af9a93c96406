"""What 'judges', 'next' and 'report' do where the file holds comparisons instead of judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import grid, name
from adjudge.cli.rank_pairs import (
    built_pair_model,
    fitted_pairs,
    pair_grid,
    pair_summary,
    read_comparisons,
    write_pair_page,
)
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.cli import options as o
    from adjudge.data.formats import Content
    from adjudge.data.preferences import Preferences

_ONLY = ("pairs", "evalica", "crowd-kit-pairs", "arena", "mt-bench")


def holds_comparisons(places: list[str], reading: o.Reading) -> bool:
    """Whether files of this machine are of formats that hold comparisons and nothing else."""
    from adjudge.cli.reading import each_file
    from adjudge.data.formats import detect

    if reading.format is not None:
        return reading.format in _ONLY
    try:
        paths = [Path(place) for place in each_file(places)]
        if not paths or not all(path.is_file() for path in paths):
            return False
        return all(detect(path, encoding=reading.encoding).name in _ONLY for path in paths)
    except BadData:
        return False  # whoever reads it says what is wrong


def refuse(given: dict[str, object]) -> None:
    """Refuse options that say nothing of comparisons."""
    for option, value in given.items():
        if value:
            raise BadSetting(option, str(value), "a file of judgments, not of comparisons")


def _fitted(
    places: list[str], fitting: o.Fitting, reading: o.Reading
) -> tuple[Preferences, Content]:
    """What a model makes of comparisons, and what was read."""
    compared, content = read_comparisons(places, reading)
    return fitted_pairs(built_pair_model(fitting), compared), content


def pair_judges(
    places: list[str],
    output: Path | None,
    top: int,
    fitting: o.Fitting,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """The judges of comparisons."""
    from adjudge.cli.writing import deliver

    found, content = _fitted(places, fitting, reading)
    deliver(
        found.judges,
        "judges",
        output,
        printing,
        about=pair_summary(found, content),
        show=lambda: _judges_grid(found.judges, top),
    )


def _judges_grid(table: Any, top: int) -> Any:
    """The busiest judges for people."""
    from adjudge.cli.writing import interval, number

    rows = table.sort_by([("comparisons", "descending")]).slice(0, top or len(table)).to_pylist()
    skilled = bool(rows) and "skill" in rows[0]
    placed = bool(rows) and "position" in rows[0]
    heads = [("judge", "left"), ("n", "right"), ("agreement", "right")]
    heads += [("skill", "right"), ("interval", "right"), ("verdict", "left")] * skilled
    heads += [("position", "right")] * placed
    heads += [("ties", "right")]
    cells = [
        [
            name(row["judge"]),
            f"{row['comparisons']:,}",
            number(row["agreement"], 2),
            *(
                [
                    number(row["skill"], 2),
                    interval(row["skill_low"], row["skill_high"]),
                    row["verdict"],
                ]
                if skilled
                else []
            ),
            *([number(row["position"], 2)] if placed else []),
            number(row["tie_share"], 2),
        ]
        for row in rows
    ]
    return grid("Judges (skill .5 tells nothing; position in log odds)", heads, cells)


def pair_next(
    places: list[str],
    output: Path | None,
    top: int,
    fitting: o.Fitting,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """The pairs to ask next, of comparisons."""
    from adjudge.cli.writing import deliver
    from adjudge.evaluation.preferences import next_pairs

    found, content = _fitted(places, fitting, reading)
    table = next_pairs(found, top)
    about = pair_summary(found, content)
    deliver(table, "pairs", output, printing, about=about, show=lambda: pair_grid(table))


def pair_report(
    places: list[str],
    output: Path,
    title: str | None,
    fitting: o.Fitting,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """The page of comparisons."""
    from adjudge.cli.reading import place_of
    from adjudge.cli.writing import print_json

    found, content = _fitted(places, fitting, reading)
    write_pair_page(found, output, title or place_of(places))
    if printing.json:
        print_json({"output": str(output)} | pair_summary(found, content))
