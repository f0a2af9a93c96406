"""Reading for commands: the file a person names, as they want it, with a word on what was left out.

Readers look at a file more than once, so what comes through a pipe is first kept in a file.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import count, progress, say
from adjudge.cli.options import Labelling, Reading
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
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


def omissions_of(*contents: Content) -> dict[str, list[Any]]:
    """What readers left out: notes, and bad rows with their places."""
    bad = [{"place": row.place, "problem": row.problem} for c in contents for row in c.bad]
    return {"left_out": [note for c in contents for note in c.notes], "bad_rows": bad}


def read_content(
    path: Path,
    reading: Reading,
    *,
    labels: Labelling | None = None,
    wanted: Kind | None = None,
    truths: Scale | None = None,
) -> Content:
    """What a file holds; what was left out of it is told. Gold has to be on ``truths``."""
    from adjudge.data.formats import read
    from adjudge.data.scale import Scale

    scale = None
    if labels is not None and labels.labels is not None:
        scale = Scale.parse(labels.labels, relevant=labels.named_relevant)
    with _kept(path) as file, progress(f"reading {file.name}"):
        content = read(
            file,
            format=reading.format,
            wanted=wanted,
            scale=scale,
            encoding=reading.encoding,
            skip_bad=reading.skip_bad_rows,
            question=reading.question,
            truths=truths,
        )
    _tell_omissions(content, file.name)
    return content


@contextmanager
def _kept(path: Path) -> Iterator[Path]:
    """A file that can be read twice: the one named, or a copy of what comes through a pipe."""
    is_input = str(path) == "-"
    if not is_input and (not path.exists() or path.is_file() or path.is_dir()):
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


def _tell_omissions(content: Content, name: str) -> None:
    """Say what was left out, and list the first of the bad rows."""
    for note in content.notes:
        say(f"{name}: {note}")
    if content.bad:
        say((f"{name}: {count(len(content.bad), 'bad row')} left out:", "yellow"))
        for row in content.bad[:_LISTED]:
            say(f"  {row.place}: {row.problem}")
        if len(content.bad) > _LISTED:
            say(f"  ... and {len(content.bad) - _LISTED:,} more")


def read_gold(path: Path, reading: Reading, scale: Scale | None) -> Content:
    """A file of gold in whatever format it is; its values have to be on the scale."""
    content = read_content(path, replace(reading, format=None), wanted="gold", truths=scale)
    if content.gold is None:
        raise BadData(f"there is no gold in this file: {holds(content)}", source=path.name)
    return content


def read_judgments(path: Path, gold: Path | None, reading: Reading, labelling: Labelling) -> Input:
    """The judgments of a file, with gold if a file of it is given, labels as the person wants."""
    content = read_content(path, reading, labels=labelling, wanted="judgments")
    if content.judgments is None:
        raise BadData(f"there are no judgments in this file: {holds(content)}", source=path.name)
    return with_gold(content, gold, reading, labelling)


def with_gold(content: Content, gold: Path | None, reading: Reading, labelling: Labelling) -> Input:
    """The judgments of a content beside the gold of a file, labels as the person wants them."""
    if content.judgments is None:
        raise BadData(f"there are no judgments: {holds(content)}")
    given, judgments, known, beside = None, content.judgments, None, content.gold
    if reading.family is not None:
        judgments = judgments.with_family_rule(reading.family)
    if gold is not None:
        from adjudge.cli.shaping import allow_labels

        given = read_gold(gold, reading, allow_labels(judgments.scale, labelling))
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
