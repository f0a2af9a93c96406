"""Files of a command: read as the person wants, and written whole or not at all.

What was left out while reading is said. Folders, patterns, addresses and pipes are in ``_places``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import progress, say
from adjudge.cli._endings import advise_with_flags
from adjudge.cli._options import Labelling, Printing, Reading
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, remedies_of

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind, Options
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.data.scale import Scale

STDOUT = Path("-")
EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")
_LISTED = 10  # bad rows that are listed
_MOST = 200  # grades that can be classes, if need be


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Input:
    """What was read: judgments, the gold given for them, and the gold that stood beside them."""

    judgments: Judgments
    given: Gold | None = None
    beside: Gold | None = None
    contents: tuple[Content, ...] = ()

    @property
    def omissions(self) -> dict[str, list[Any]]:
        """What was left out, as data."""
        return omissions_of(*self.contents)

    @property
    def every(self) -> Gold | None:
        """All gold there is: what was given, or else what stood beside the judgments."""
        return self.given if self.given is not None else self.beside

    def choose_gold(self, use_beside: bool) -> Gold | None:
        """The gold that may guide a fit: what was given, or what stood beside, if wanted."""
        return self.every if use_beside else self.given


def omissions_of(*contents: Content | ModelAnswers) -> dict[str, list[Any]]:
    """What readers left out: notes, and bad rows with their places."""
    bad = [{"place": row.place, "problem": row.problem} for c in contents for row in c.bad]
    return {
        "left_out": [advise_with_flags(note) for c in contents for note in c.notes],
        "bad_rows": bad,
    }


def read_content(
    path: Path | list[str],
    reading: Reading,
    *,
    labels: Labelling | None = None,
    wanted: Kind | None = None,
    truths: Scale | None = None,
    gold: str | None = None,
    reader: Callable[[Options], Content] | None = None,
) -> Content:
    """What a file holds; what was left out of it is told. Gold has to be on ``truths``.

    Several files are taken together. ``gold`` is the column that holds it, if it is named.
    ``reader`` reads the files on a cluster.
    """
    from adjudge.data.formats import read
    from adjudge.data.scale import Scale

    scale = None
    if labels is not None and labels.labels is not None:
        scale = Scale.parse(labels.labels, relevant=labels.named_relevant)
    columns = name_columns(reading) if wanted != "gold" else {}
    columns |= {} if gold is None else {"gold": gold}
    if reader is not None:
        from adjudge.cli._places import place_of
        from adjudge.data.formats.format import Options

        with progress("reading on the cluster"):
            content = reader(Options(scale=scale, columns=columns))
        tell_omissions(content, place_of(path if isinstance(path, list) else [str(path)]))
        return content
    with _open_files(path) as files, progress(f"reading {_name_files(files)}"):
        content = read(
            files[0] if len(files) == 1 else files,
            format=reading.format,
            wanted=wanted,
            scale=scale,
            encoding=reading.encoding,
            skip_bad=reading.skip_bad_rows,
            question=reading.question,
            truths=truths,
            columns=columns,
            header=False if reading.no_header else None,
        )
        if labels is not None and len(files) == 1:
            _check_grades(content, labels, files[0].name)
    if labels is not None and labels.drop_label:  # what is dropped needs no word
        kept = tuple(
            note
            for note in content.notes
            if all(remedy.setting != "drop-label" for remedy in remedies_of(note))
        )
        content = replace(content, notes=kept)
    tell_omissions(content, _name_files(files))
    return content


def name_columns(reading: Reading) -> dict[str, str]:
    """The columns that a person names, by role."""
    roles = ("item", "judge", "label", "topic", "document", "time")
    return {role: name for role in roles if (name := getattr(reading, role)) is not None}


def _name_files(files: list[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files):,} files"


@contextmanager
def _open_files(path: Path | list[str]) -> Iterator[list[Path]]:
    """Files that can be read twice: the one named, or what is brought here for the block."""
    if isinstance(path, Path) and is_here(str(path)):
        yield [path]
        return
    from adjudge.cli._places import keep_files

    with keep_files(path) as files:
        yield files


def _check_grades(content: Content, labels: Labelling, name: str) -> None:
    """Refuse so many grades that no model of classes could be fitted."""
    count = 0 if content.judgments is None else len(content.judgments.scale.labels)
    if count > _MOST and labels.bin is None and not hasattr(labels, "continuous"):
        raise BadData(
            f"there are {count:,} different labels; --bin 5 makes grades; as numbers 'adjudge "
            "consensus' has their values, 'adjudge judges' the noise of judges",
            source=name,
        )


def is_here(place: str) -> bool:
    """Whether a place is of this machine and can be read twice."""
    from adjudge.data.formats.opening import is_uri

    if is_uri(place) or place == "-":
        return False
    path = Path(place)
    return not path.exists() or path.is_file() or path.is_dir()


def tell_omissions(content: Content | ModelAnswers, name: str) -> None:
    """Say what was left out, and list the first of the bad rows."""
    for note in content.notes:
        say(f"{name}: {advise_with_flags(note)}")
    if content.bad:
        say((f"{name}: {count_of(len(content.bad), 'bad row')} left out:", "yellow"))
        for row in content.bad[:_LISTED]:
            say(f"  {row.place}: {row.problem}")
        if len(content.bad) > _LISTED:
            say(f"  ... and {len(content.bad) - _LISTED:,} more")


def read_judgments(
    path: Path | list[str],
    gold: str | None,
    reading: Reading,
    labelling: Labelling,
    reader: Callable[[Options], Content] | None = None,
) -> Input:
    """The judgments of files, with gold if a file of it is given, labels as the person wants.

    Gold that is no file is the column of the judgments that is called so. ``reader`` reads the
    files on a cluster.
    """
    column = None
    if gold is not None:
        from adjudge.cli._labels import name_gold_column

        column = name_gold_column(gold)
    content = read_content(
        path, reading, labels=labelling, wanted="judgments", gold=column, reader=reader
    )
    if content.judgments is None:
        from adjudge.cli._labels import describe
        from adjudge.cli._places import place_of

        name = path.name if isinstance(path, Path) else place_of(path)
        way = "; 'adjudge rank-pairs' ranks by them" if content.comparisons is not None else ""
        way = "; 'adjudge rank' takes runs" if content.run is not None else way
        raise BadData(f"there are no judgments in this file: {describe(content)}{way}", source=name)
    if gold is None and not reading.about_judges and labelling == type(labelling)():
        return Input(judgments=content.judgments, beside=content.gold, contents=(content,))
    from adjudge.cli._labels import shape_input

    if column is None:
        return shape_input(content, gold, reading, labelling)
    read = shape_input(content, None, reading, labelling)
    return replace(read, given=read.beside, beside=None)


def kind_of(path: Path, option: str = "--output") -> str:
    """The kind of table a path asks for; what is no file, such as standard output, gets CSV."""
    if path == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
        return ".csv"
    kind = path.suffix.lower()
    if kind not in EXTENSIONS:
        raise BadSetting(option, str(path), f"a name that ends in {', '.join(EXTENSIONS)}")
    return kind


def check_places(
    places: Mapping[str, Path | None],
    *,
    inputs: Iterable[str | Path | None] = (),
    free: Collection[str] = (),
    printing: Printing | None = None,
) -> None:
    """Refuse places that cannot be written, or must not be, before any work is done.

    ``places`` are paths by their options; those of ``free`` options may have any name, or be
    folders. Nothing is written over an input: that would destroy what cannot be made again.
    With ``printing``, standard output may not have both a table and JSON.
    """
    from adjudge.data.formats.opening import is_uri

    taken = {
        Path(place).resolve(): "the file that is read"
        for place in inputs
        if place is not None and not is_uri(str(place))
    }
    for option, path in places.items():
        if path is None or path == STDOUT:
            continue
        if option not in free:
            kind_of(path, option)
            if path.is_dir():
                raise BadData("is a folder; wanted a file to write", source=str(path))
        if path.resolve() in taken:
            raise BadSetting(option, str(path), f"another place than {taken[path.resolve()]}")
        taken[path.resolve()] = f"that of {option}"
        if not path.parent.is_dir():
            raise BadData("there is no such folder to write into", source=str(path.parent))
        if not os.access(path.parent, os.W_OK):
            raise BadData("is a folder that may not be written into", source=str(path.parent))
    if printing is not None:
        check_printing(printing, places["--output"])


def check_printing(printing: Printing, output: Path | None) -> None:
    """Raise an error where standard output is to have both a table and JSON."""
    if printing.json and output == STDOUT:
        raise BadSetting("--json", True, "-o FILE, since standard output cannot have both")


def is_folder(path: Path | None) -> bool:
    """Whether a path asks for a folder of Parquet files: it has no extension, or is one already."""
    if path is None or path == STDOUT:
        return False
    return path.is_dir() or (not path.suffix and not path.exists())


def write_tables(*tables: tuple[Any, Path | None], guard: bool = True) -> None:
    """Tables in the form that each path's extension asks for: all files whole, or none.

    Standard output comes last, since its reader may go away. ``guard`` disarms cells of CSV that a
    spreadsheet would run. A path of None is left out.
    """
    from adjudge.data.formats.writing import write_table, written_whole

    with ExitStack() as stack:
        for table, path in tables:
            if path is not None and path != STDOUT:
                file = stack.enter_context(written_whole(path))
                write_table(table, file, kind_of(path), guard=guard)
    for table, path in tables:
        if path == STDOUT:
            with written_whole(path) as file:
                write_table(table, file, kind_of(path), guard=guard)


def tell_written(name: str, output: Path) -> None:
    """Say where a result went."""
    if output != STDOUT:
        say(f"{name} written to {output}")
