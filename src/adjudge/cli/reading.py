"""Reading for commands: the file a person names, as they want it, with a word on what was left out.

Readers look at a file more than once, so what comes through a pipe is first kept in a file.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import progress, say
from adjudge.cli.options import Labelling, Reading
from adjudge.data.formats.opening import is_uri
from adjudge.data.source import count_of
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.data.scale import Scale

_LISTED = 10  # bad rows that are listed


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


def omissions_of(*contents: Content | ModelAnswers) -> dict[str, list[Any]]:
    """What readers left out: notes, and bad rows with their places."""
    bad = [{"place": row.place, "problem": row.problem} for c in contents for row in c.bad]
    return {"left_out": [note for c in contents for note in c.notes], "bad_rows": bad}


def read_content(
    path: Path | list[str],
    reading: Reading,
    *,
    labels: Labelling | None = None,
    wanted: Kind | None = None,
    truths: Scale | None = None,
    gold: str | None = None,
) -> Content:
    """What a file holds; what was left out of it is told. Gold has to be on ``truths``.

    Several files are taken together. ``gold`` is the column that holds it, if it is named.
    """
    from adjudge.data.formats import read
    from adjudge.data.scale import Scale

    scale = None
    if labels is not None and labels.labels is not None:
        scale = Scale.parse(labels.labels, relevant=labels.named_relevant)
    columns = columns_named(reading) if wanted != "gold" else {}
    with kept_files(path) as files, progress(f"reading {_called(files)}"):
        content = read(
            files[0] if len(files) == 1 else files,
            format=reading.format,
            wanted=wanted,
            scale=scale,
            encoding=reading.encoding,
            skip_bad=reading.skip_bad_rows,
            question=reading.question,
            truths=truths,
            columns=columns | ({} if gold is None else {"gold": gold}),
            header=False if reading.no_header else None,
        )
        if len(files) == 1:
            _check_grades(content, labels, files[0].name)
    if labels is not None and labels.drop_label:  # what is dropped needs no word
        kept = tuple(note for note in content.notes if "--drop-label" not in note)
        content = replace(content, notes=kept)
    tell_omissions(content, _called(files))
    return content


def columns_named(reading: Reading) -> dict[str, str]:
    """The columns that a person names, by role."""
    roles = ("item", "judge", "label", "topic", "document", "time")
    return {role: name for role in roles if (name := getattr(reading, role)) is not None}


def _called(files: list[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files):,} files"


_MOST = 200  # grades that can be classes, if need be


def _check_grades(content: Content, labels: Labelling | None, name: str) -> None:
    """Refuse so many grades that no model of classes could be fitted."""
    judgments = content.judgments
    if judgments is None or labels is None or labels.bin is not None:
        return
    if not hasattr(labels, "continuous") and len(judgments.scale.labels) > _MOST:
        raise BadData(
            f"there are {len(judgments.scale.labels):,} different labels; --bin 5 makes grades; as "
            "numbers 'adjudge consensus' has their values, 'adjudge judges' the noise of judges",
            source=name,
        )


@contextmanager
def kept_files(path: Path | list[str]) -> Iterator[list[Path]]:
    """Files that can be read twice: those named, or copies of what comes from elsewhere."""
    from adjudge.data.formats.uris import expand_patterns, fetch_file

    with ExitStack() as stack:
        if isinstance(path, Path):
            yield [stack.enter_context(_one_kept(path))]
            return
        found = []
        for place in expand_patterns(path):
            if is_uri(place):
                with fetching(place) as on_part:
                    found.append(stack.enter_context(fetch_file(place, progress=on_part)))
            else:
                found.append(stack.enter_context(_one_kept(Path(place))))
        yield found


def is_here(place: str) -> bool:
    """Whether a place is of this machine and can be read twice."""
    if is_uri(place) or place == "-":
        return False
    path = Path(place)
    return not path.exists() or path.is_file() or path.is_dir()


@contextmanager
def fetching(place: str) -> Iterator[Any]:
    """A bar while a file comes from elsewhere: what to call with bytes that came, and all."""
    from adjudge.data.formats.uris import name_of
    from adjudge.models.model import Step

    with progress(f"fetching {name_of(place)}") as on_step:

        def tell(done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step("fetching", done, max(total, done), f"{done / 1e6:,.1f} MB"))

        yield tell


@contextmanager
def _one_kept(path: Path) -> Iterator[Path]:
    """A file that can be read twice: the one named, or a copy of what comes through a pipe."""
    is_input = str(path) == "-"
    if is_here(str(path)):
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / ("standard input" if is_input else path.name)
        with copy.open("wb") as file:
            if is_input:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        yield copy


def each_file(places: list[str]) -> list[str]:
    """Every file that is named, fits a pattern or stands in a folder, where each counts by itself.

    Hidden files of a folder are left out.
    """
    from adjudge.data.formats.uris import expand_patterns

    found: list[str] = []
    for place in expand_patterns(places):
        if not is_uri(place) and Path(place).is_dir():
            inside = sorted(Path(place).iterdir())
            found += [str(p) for p in inside if p.is_file() and not p.name.startswith(".")]
        else:
            found.append(place)
    return found


def place_of(judgments: list[str]) -> str:
    """What the files that were named are called in a message."""
    from adjudge.data.formats.uris import name_of

    return name_of(judgments[0]) if len(judgments) == 1 else f"{len(judgments):,} files"


def tell_omissions(content: Content | ModelAnswers, name: str) -> None:
    """Say what was left out, and list the first of the bad rows."""
    for note in content.notes:
        say(f"{name}: {note}")
    if content.bad:
        say((f"{name}: {count_of(len(content.bad), 'bad row')} left out:", "yellow"))
        for row in content.bad[:_LISTED]:
            say(f"  {row.place}: {row.problem}")
        if len(content.bad) > _LISTED:
            say(f"  ... and {len(content.bad) - _LISTED:,} more")


def read_gold(place: str, reading: Reading, scale: Scale | None) -> Content:
    """Gold in whatever format it is; its values have to be on the scale."""
    content = read_content([place], replace(reading, format=None), wanted="gold", truths=scale)
    if content.gold is None:
        problem = f"there is no gold in this file: {holds(content)}"
        raise BadData(problem, source=place_of([place]))
    return content


def read_judgments(
    path: Path | list[str], gold: str | None, reading: Reading, labelling: Labelling
) -> Input:
    """The judgments of files, with gold if a file of it is given, labels as the person wants.

    Gold that is no file is the column of the judgments that is called so.
    """
    column = _gold_column(gold)
    content = read_content(path, reading, labels=labelling, wanted="judgments", gold=column)
    if content.judgments is None:
        name = path.name if isinstance(path, Path) else place_of(path)
        way = "; 'adjudge rank-pairs' ranks by them" if content.comparisons is not None else ""
        way = "; 'adjudge rank' takes runs" if content.run is not None else way
        raise BadData(f"there are no judgments in this file: {holds(content)}{way}", source=name)
    if column is None:
        return with_gold(content, gold, reading, labelling)
    read = with_gold(content, None, reading, labelling)
    return replace(read, given=read.beside, beside=None)


def _gold_column(gold: str | None) -> str | None:
    """The name of a column, where gold is none of a file."""
    if gold is None or gold == "-" or is_uri(gold) or has_magic(gold):
        return None
    path = Path(gold)
    return None if path.exists() or path.suffix or len(path.parts) > 1 else gold


def with_gold(content: Content, gold: str | None, reading: Reading, labelling: Labelling) -> Input:
    """The judgments of a content beside the gold of a file, labels as the person wants them."""
    if content.judgments is None:
        raise BadData(f"there are no judgments: {holds(content)}")
    given, judgments, known, beside = None, content.judgments, None, content.gold
    if reading.family is not None:
        judgments = judgments.with_family_rule(reading.family)
    if gold is not None:
        from adjudge.cli.shaping import allow_labels

        loose = labelling.bin is not None or judgments.scale.has_many_grades
        scale = None if loose else allow_labels(judgments.scale, labelling)
        given = read_gold(gold, reading, scale)
        known = given.gold
    if labelling != type(labelling)():
        from adjudge.cli.shaping import shape_labels

        judgments, (known, beside) = shape_labels(judgments, labelling, known, beside)
    contents = (content,) if given is None else (content, given)
    return Input(judgments=judgments, given=known, beside=beside, contents=contents)


def holds(content: Content) -> str:
    """What a file holds, in words."""
    kinds = ("judgments", "comparisons", "gold", "labels", "run")
    held = [kind for kind in kinds if getattr(content, kind) is not None]
    return f"it holds {' and '.join(held) or 'nothing'} (read as {content.format})"
