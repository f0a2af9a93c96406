"""Files of a command, read as its options say: judgments, gold and runs.

In place of a file may be given a folder, a pattern, an address or a pipe. Readers look at a file
more than once, so what comes from elsewhere is first copied. What was left out while reading is
said.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import progress, say, warn
from adjudge.cli._endings import advise_with_flags
from adjudge.cli._options import AnswerReading, LabelReading, Reading
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting, remedies_of

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind, Options
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.data.runs import Run
    from adjudge.data.scale import Scale

_LISTED = 10  # bad rows that are listed
_MOST = 200  # grades that can be classes


def is_here(place: str) -> bool:
    """Whether a place is on this machine and can be read twice."""
    from adjudge.data.formats.opening import is_uri

    if is_uri(place) or place == "-":
        return False
    path = Path(place)
    return not path.exists() or path.is_file() or path.is_dir()


@contextmanager
def keep_files(places: list[str]) -> Iterator[list[Path]]:
    """Files that can be read twice: those named, or copies of what comes from elsewhere."""
    from adjudge.data.formats.uris import expand_patterns, fetch_file, is_uri

    with ExitStack() as stack:
        found = []
        for place in expand_patterns(places):
            if is_here(place):
                found.append(Path(place))
            elif is_uri(place):
                with _show_fetching(place) as on_part:
                    found.append(stack.enter_context(fetch_file(place, progress=on_part)))
            else:
                found.append(stack.enter_context(_copy_pipe(place)))
        yield found


@contextmanager
def _show_fetching(place: str) -> Iterator[Any]:
    """A bar while a file is fetched: what to call with the bytes so far, and all."""
    from adjudge.data.formats.uris import name_of
    from adjudge.models.model import Step

    with progress(f"fetching {name_of(place)}") as on_step:

        def on_part(done: int, total: int) -> None:
            if on_step is not None:
                on_step(Step("fetching", done, max(total, done), f"{done / 1e6:,.1f} MB"))

        yield on_part


@contextmanager
def _copy_pipe(place: str) -> Iterator[Path]:
    """A copy of what comes through a pipe or standard input."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / ("standard input" if place == "-" else Path(place).name)
        with ExitStack() as stack:
            pipe: Any = sys.stdin.buffer
            if place != "-":
                pipe = stack.enter_context(Path(place).open("rb"))
            shutil.copyfileobj(pipe, stack.enter_context(copy.open("wb")))
        yield copy


def list_files(places: list[str]) -> list[str]:
    """Every file that is named, matches a pattern or is in a folder, where each is one source.

    Hidden files of a folder are left out.
    """
    from adjudge.data.formats.uris import expand_patterns, is_uri

    found: list[str] = []
    for place in expand_patterns(places):
        if not is_uri(place) and Path(place).is_dir():
            inside = sorted(Path(place).iterdir())
            found += [str(p) for p in inside if p.is_file() and not p.name.startswith(".")]
        else:
            found.append(place)
    return found


def place_of(places: list[str]) -> str:
    """What the files that were named are called in a message."""
    from adjudge.data.formats.uris import name_of

    return name_of(places[0]) if len(places) == 1 else f"{len(places):,} files"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Input:
    """What was read: judgments, the gold given for them, and the gold in the same file."""

    judgments: Judgments
    given: Gold | None = None
    file_gold: Gold | None = None
    contents: tuple[Content, ...] = ()

    @property
    def omissions(self) -> dict[str, list[Any]]:
        """What was left out, as data."""
        return omissions_of(*self.contents)

    @property
    def every(self) -> Gold | None:
        """All gold there is: what was given, or else what is in the file of the judgments."""
        return self.given if self.given is not None else self.file_gold

    def choose_gold(self, use_file_gold: bool) -> Gold | None:
        """The gold that may guide a fit: what was given, or what is in the file, if asked for."""
        return self.every if use_file_gold else self.given


def omissions_of(*contents: Content | ModelAnswers) -> dict[str, list[Any]]:
    """What readers left out: notes, and bad rows with their places."""
    bad = [{"place": row.place, "problem": row.problem} for c in contents for row in c.bad]
    notes = [advise_with_flags(note) for c in contents for note in c.notes]
    return {"left_out": notes, "bad_rows": bad}


def tell_omissions(content: Content | ModelAnswers, name: str) -> None:
    """Warn of what was left out, and list the first of the bad rows."""
    for note in content.notes:
        warn(f"{name}: {advise_with_flags(note)}")
    if content.bad:
        warn(f"{name}: {count_of(len(content.bad), 'bad row')} left out:")
        for row in content.bad[:_LISTED]:
            say(f"  {row.place}: {row.problem}")
        if len(content.bad) > _LISTED:
            say(f"  ... and {len(content.bad) - _LISTED:,} more")


def read_content(
    places: list[str],
    reading: Reading,
    *,
    kind: Kind | None = None,
    truths: Scale | None = None,
    gold: str | None = None,
    reader: Callable[[Options], Content] | None = None,
) -> Content:
    """What files hold, taken together; what was left out of them is said.

    Gold has to be on ``truths``; ``gold`` is the column that holds it, if it is named. ``reader``
    reads the files on a cluster.
    """
    from adjudge.data.formats import read
    from adjudge.data.formats.format import Options
    from adjudge.data.scale import Scale

    labels = reading if isinstance(reading, LabelReading) and kind != "gold" else None
    scale = None
    if labels is not None and labels.labels is not None:
        scale = Scale.parse(labels.labels, relevant=labels.named_relevant)
    columns = name_columns(reading) if kind != "gold" else {}
    columns |= {} if gold is None else {"gold": gold}
    if reader is not None:
        with progress("reading on the cluster"):
            content = reader(Options(scale=scale, columns=columns))
        tell_omissions(content, place_of(places))
        return content
    with keep_files(places) as files:
        name = files[0].name if len(files) == 1 else f"{len(files):,} files"
        with progress(f"reading {name}"):
            content = read(
                files[0] if len(files) == 1 else files,
                format=reading.format,
                kind=kind,
                scale=scale,
                encoding=reading.encoding,
                skip_bad=reading.skip_bad_rows,
                question=reading.question,
                truths=truths,
                columns=columns,
                header=False if reading.no_header else None,
                judges_are=reading.judges_are or (),
                questions_are=reading.questions_are or (),
                transpose=reading.transpose,
                counts=reading.counts,
                repeats=reading.repeats,
                drop_labels=(labels.drop_label or ()) if labels is not None else (),
            )
    if content.judgments is not None:  # ids are text in the files that are written
        content = replace(content, judgments=replace(content.judgments, types={}))
    if labels is not None and len(files) == 1:
        _check_grades(content, labels, name)
    if labels is not None and labels.drop_label:  # what is dropped needs no note
        kept = tuple(
            note
            for note in content.notes
            if all(remedy.setting != "drop-label" for remedy in remedies_of(note))
        )
        content = replace(content, notes=kept)
    tell_omissions(content, name)
    return content


def name_columns(reading: Reading) -> dict[str, str]:
    """The columns that are named by options, by role."""
    roles = ("item", "judge", "label", "topic", "document", "time")
    return {role: name for role in roles if (name := getattr(reading, role)) is not None}


def _check_grades(content: Content, reading: LabelReading, name: str) -> None:
    """Refuse so many grades that no model of classes could be fitted."""
    count = 0 if content.judgments is None else len(content.judgments.scale.labels)
    if count > _MOST and reading.bin is None and not reading.takes_numbers:
        raise BadData(
            f"there are {count:,} different labels; --bin 5 makes grades; as numbers 'adjudge "
            "consensus' has their values, 'adjudge judges' the noise of judges",
            source=name,
        )


def read_judgments(
    places: list[str],
    gold: str | None,
    reading: LabelReading,
    reader: Callable[[Options], Content] | None = None,
) -> Input:
    """The judgments of files, with gold if it is given, and labels as the options say.

    Gold that is not a file is the column of the judgments with that name. ``reader`` reads the
    files on a cluster.
    """
    column = None if gold is None else name_gold_column(gold)
    content = read_content(places, reading, kind="judgments", gold=column, reader=reader)
    if content.judgments is None:
        ways = {
            "; to rank the items, run 'adjudge rank-pairs' with this file": content.comparisons,
            "; give runs to 'adjudge rank --runs', with a file of judgments": content.run,
        }
        way = next((way for way, held in ways.items() if held is not None), "")
        problem = f"there are no judgments in this file: {describe(content)}{way}"
        raise BadData(problem, source=place_of(places))
    if column is None:
        return shape_input(content, gold, reading)
    read = shape_input(content, None, reading)
    return replace(read, given=read.file_gold, file_gold=None)


def read_answers(
    places: list[str], gold: str | None, reading: AnswerReading, items: Path | None = None
) -> ModelAnswers:
    """The answers of LLM judges, with gold and texts that are in other files."""
    from adjudge.data.formats.format import Options
    from adjudge.data.formats.opening import File
    from adjudge.data.formats.plain import read_rows
    from adjudge.data.model_answers import ModelAnswers
    from adjudge.data.scale import Scale

    column = None if gold is None else name_gold_column(gold)
    relevant = tuple(reading.relevant.split(",")) if reading.relevant else ()
    scale = None if not reading.labels else Scale.parse(reading.labels, relevant=relevant)
    settings: dict[str, Any] = {"encoding": reading.encoding, "skip_bad": reading.skip_bad_rows}
    named = name_columns(reading) | ({} if column is None else {"gold": column})
    with keep_files(places) as paths, progress(f"reading {place_of(places)}"):
        answers = ModelAnswers.load(
            paths,
            format=reading.format,
            scale=scale,
            question=reading.question,
            columns=named,
            **settings,
        )
    tell_omissions(answers, place_of(places))
    if items is not None:
        table, _ = read_rows(File.at(items, reading.encoding), Options(**settings), lambda c: c)
        answers = answers.with_items(table, items.name)
    judgments, known = reading.declare(answers.judgments), answers.gold
    if gold is not None and column is None:
        known = read_gold(gold, reading, judgments.scale).gold
    if relevant and scale is None:
        judgments = judgments.with_scale(judgments.scale.with_relevant(relevant))
    if reading.binary:
        known = known and known.collapse(judgments.scale)
        judgments = judgments.collapse()
    return replace(answers, judgments=judgments, gold=known)


def name_gold_column(gold: str) -> str | None:
    """The name of a column, if gold does not name a file."""
    from adjudge.data.formats.opening import is_uri

    if gold == "-" or is_uri(gold) or has_magic(gold):
        return None
    path = Path(gold)
    return None if path.exists() or path.suffix or len(path.parts) > 1 else gold


def read_gold(place: str, reading: Reading, scale: Scale | None) -> Content:
    """Gold in whatever format it is; its values have to be on the scale."""
    content = read_content([place], replace(reading, format=None), kind="gold", truths=scale)
    if content.gold is None or not len(content.gold):
        held = describe(content) if content.gold is None else "no row has a gold label yet"
        raise BadData(f"there is no gold in this file: {held}", source=place_of([place]))
    return content


def read_runs(places: list[str], reading: Reading) -> list[Run]:
    """Runs, one per file."""
    from adjudge.data.runs import Run

    # How judgments are read does not apply to runs.
    own = Reading(format="run", encoding=reading.encoding, skip_bad_rows=reading.skip_bad_rows)
    runs = []
    for place in list_files(places):
        content = read_content([place], own, kind="run")
        if content.run is None:
            raise BadData("there is no run in this file", source=place_of([place]))
        runs.append(Run.from_table(content.run, source=place_of([place])))
    return runs


def describe(content: Content) -> str:
    """What a file holds, in words."""
    kinds = ("judgments", "comparisons", "gold", "labels", "run")
    held = [kind for kind in kinds if getattr(content, kind) is not None]
    return f"it holds {' and '.join(held) or 'nothing'} (read as {content.format})"


def shape_input(content: Content, gold: str | None, reading: LabelReading) -> Input:
    """The judgments of a content with the gold of a file, and labels as the options say."""
    if content.judgments is None:
        raise BadData(f"there are no judgments: {describe(content)}")
    given, known, file_gold = None, None, content.gold
    judgments = reading.declare(content.judgments)
    if gold is not None:
        loose = reading.bin is not None or judgments.scale.has_many_grades
        given = read_gold(gold, reading, None if loose else allow_labels(judgments.scale, reading))
        known = given.gold
    judgments, (known, file_gold) = shape_labels(judgments, reading, known, file_gold)
    contents = (content,) if given is None else (content, given)
    return Input(judgments=judgments, given=known, file_gold=file_gold, contents=contents)


def allow_labels(scale: Scale, reading: LabelReading) -> Scale:
    """The values that gold may have: the labels, those to be dropped, 0 and 1 if it is binary."""
    from adjudge.data.scale import Scale, canonical

    more = [canonical(label) for label in reading.drop_label or ()]
    if reading.binary or reading.binary_truth:
        more += ["0", "1"]
    if set(more) <= set(scale.labels):
        return scale
    return Scale(labels=tuple(dict.fromkeys([*scale.labels, *more])))


def shape_labels(
    judgments: Judgments, reading: LabelReading, *golds: Gold | None
) -> tuple[Judgments, tuple[Gold | None, ...]]:
    """Judgments and gold with labels dropped and collapsed as the options say."""
    if reading.binary and reading.binary_truth:
        raise BadSetting("--binary-truth", True, "either --binary or --binary-truth")
    if reading.relevant and not reading.labels:
        judgments = judgments.with_scale(judgments.scale.with_relevant(reading.named_relevant))
    if reading.bin is not None:
        from adjudge.data._reshaping import put_into_bins

        judgments, golds = put_into_bins(judgments, reading.bin, golds)
        say(f"labels put into {reading.bin} grades: {judgments.scale}")
    if reading.drop_label:
        judgments = _drop_labels(judgments, reading.drop_label, golds)
        golds = tuple(gold and drop_gold(gold, reading.drop_label) for gold in golds)
    if reading.binary_truth:
        scale = judgments.scale.with_binary_truth()
        judgments = judgments.with_scale(scale)
        graded = zip(scale.labels, scale.truth_of, strict=True)
        none = [label for label, truth in graded if truth < 0]
        golds = tuple(gold and drop_gold(gold, none) for gold in golds)
    if reading.binary:
        scale = judgments.scale
        judgments = judgments.collapse()
        golds = tuple(gold and gold.collapse(scale) for gold in golds)
    return judgments, golds


def _drop_labels(
    judgments: Judgments, labels: list[str], golds: tuple[Gold | None, ...]
) -> Judgments:
    """The judgments without those labels, and without the items whose gold is one of them."""
    import numpy as np

    codes = [judgments.scale.label_code(label) for label in labels]
    if -1 in codes:
        label = labels[codes.index(-1)]
        raise BadSetting("--drop-label", label, f"a label of the scale {judgments.scale}")
    kept = np.ones(judgments.item_count, dtype=np.bool_)
    for gold in golds:
        if gold is not None:
            kept &= ~np.isin(gold.align(judgments), codes)
    if not (~np.isin(judgments.label, codes) & kept[judgments.item]).any():
        raise BadSetting("--drop-label", ",".join(labels), "labels that leave some judgments")
    return judgments.select(items=kept).without_labels(*labels)


def drop_gold(gold: Gold, labels: list[str]) -> Gold:
    """Gold without the items whose truth is one of the labels; their number is said."""
    import numpy as np

    from adjudge.data.scale import canonical

    gone = {canonical(label) for label in labels} & set(gold.values)
    if not gone:
        return gold
    marks = np.array([value in gone for value in gold.values], dtype=np.bool_)
    kept = gold.select(~marks[gold.value])
    lost = count_of(len(gold) - len(kept), "gold item")
    say(f"{gold.source}: {lost} left out: truth {' or '.join(sorted(gone))}")
    return kept


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text("utf-8")
    except OSError as fault:
        raise BadData(f"cannot be read ({fault.strerror})", source=str(path)) from None
    except UnicodeDecodeError:
        raise BadData("is not UTF-8; expected UTF-8", source=str(path)) from None


def type_options(group: Any) -> list[str]:
    """The options of a group that differ from their defaults, as a person would type them."""
    typed: list[str] = []
    for entry in fields(group):
        value = getattr(group, entry.name)
        if value is None or value == entry.default:
            continue
        yes, _, no = str(entry.metadata["names"][0]).partition("/")
        if isinstance(value, bool):
            typed.append(yes if value else no)
        else:
            for one in value if isinstance(value, list) else [value]:
                text = str(one)
                typed += [f"{yes}={text}"] if text.startswith("-") else [yes, text]
    return typed
