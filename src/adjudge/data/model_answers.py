"""What models answered: judgments, and what is next to each of them in a plain table.

Models say more than a label: how sure they are (``confidence``, or ``logprob``), what it cost, in
which ``position`` a result was shown. Their names have parts: model, prompt and version. Items may
have their ``length`` and texts next to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.build import load_table
from adjudge.data.columns import (
    as_text,
    join_item,
    letters_of,
    named_columns,
    need_columns,
    numbers,
    roles_of,
)
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, as_names, encode, look_up, pair_names
from adjudge.data.scale import Scale
from adjudge.data.source import BadRow, Source, warn_of
from adjudge.data.synonyms import SYNONYMS, split_names
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.formats.format import Options
    from adjudge.data.formats.opening import File

_Floats = NDArray[np.float64]
_PLAIN = {"csv", "tsv", "jsonl", "parquet"}

_FURTHER = split_names(
    {
        "confidence": "confidence certainty probability",
        "logprob": "logprob logprobability labellogprob",
        "cost": "cost price money costusd costeur totalcost",
        "tokens": "tokens totaltokens",
        "position": "position place order",
        "length": "length words characters doclength",
        "texts": (
            "title text snippet body description passage content contents documenttext "
            "producttitle productdescription abstract"
        ),
        "sample": "sample samplenumber repetition repeat seed",
        "system": "system systemname generator generatormodel slice",
    }
)
_SETTINGS = ("rubric", "temperature", "topp", "maxtokens", "reasoningeffort")
_TEXTS, _SAMPLES, _SYSTEMS = (_FURTHER.pop(role) for role in ("texts", "sample", "system"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelAnswers:
    """Judgments of models and the columns next to them; None where there is no such column."""

    judgments: Judgments
    model: tuple[str, ...]  # (judge,) "" where it is not said
    prompt: tuple[str, ...]  # (judge,)
    version: tuple[str, ...]  # (judge,)
    confidence: _Floats | None = None  # (judgment,) that the label is right, NaN unknown
    cost: _Floats | None = None  # (judgment,)
    tokens: _Floats | None = None  # (judgment,)
    position: _Floats | None = None  # (judgment,)
    length: _Floats | None = None  # (item,)
    texts: Any = None  # Arrow table, one row per item
    system: NDArray[np.int32] | None = None  # (item,) what the item is an output of, -1 unknown
    system_names: tuple[str, ...] = ()  # (system,)
    settings: tuple[dict[str, str], ...] = ()  # (judge,) rubric and sampling settings, as given
    gold: Gold | None = None  # in the same table
    notes: tuple[str, ...] = ()  # what was left out or guessed in reading
    bad: tuple[BadRow, ...] = ()  # rows that were left out

    def __repr__(self) -> str:
        return f"ModelAnswers({self.judgments!r})"

    @classmethod
    def of(cls, judgments: Judgments, gold: Gold | None = None) -> ModelAnswers:
        """Judgments that have nothing next to them; a family is taken for the model."""
        families: list[str] = [""] * judgments.judge_count
        if judgments.families is not None and judgments.family is not None:
            names = [*judgments.families.to_pylist(), ""]
            families = [names[code] for code in judgments.family.tolist()]
        blank = ("",) * judgments.judge_count
        return cls(
            judgments=judgments, model=tuple(families), prompt=blank, version=blank, gold=gold
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        scale: Scale | None = None,
        source: str | Source = "table",
        columns: Mapping[str, str] | None = None,
    ) -> ModelAnswers:
        """Answers from a table with item, judge (or model) and label, and whatever else it has.

        ``columns`` names the column of a role where its header does not.
        """
        place = source if isinstance(source, Source) else Source(source)
        place.repeats = True
        rows = pa.table(table)
        named = named_columns(columns or {}, rows.column_names, place.name)
        rows = join_item(rows, named, place)
        roles = roles_of(rows.column_names, named=named)
        judgments, gold = load_table(rows, scale=scale, source=place, roles=roles)
        if place.row_of is not None:
            rows = rows.take(pa.array(place.row_of))
        need_columns(roles, rows.column_names, place)
        items = look_up(_item_names(rows, roles), judgments.items)
        order = np.argsort(items, kind="stable")  # by item, those of one item as they came
        judgments = _pooled(rows, judgments, order)
        figures = {
            role: numbers(rows[name], place, name, strict=True)[order]
            for role, name in roles_of(rows.column_names, _FURTHER).items()
        }
        given = pc.take(rows, pa.array(order))
        length = figures.pop("length", None)
        first = judgments.offsets[:-1]
        system, system_names = _systems(given, first)
        return cls(
            judgments=judgments,
            system=system,
            system_names=system_names,
            **{role: _of_judges(given, judgments, role) for role in ("model", "prompt", "version")},
            confidence=_confidence(figures, place),
            cost=figures.get("cost"),
            tokens=figures.get("tokens"),
            position=figures.get("position"),
            length=None if length is None else length[first],
            texts=_texts(given, first),
            settings=_settings(given, judgments),
            gold=gold,
            notes=tuple(place.notes),
            bad=place.skipped,
        )

    @classmethod
    def read(
        cls, path: str | Path | Sequence[str | Path], *, format: str | None = None, **options: Any
    ) -> ModelAnswers:
        """Answers from files of any known format; tables and evaluations hold more than judgments.

        What was left out, merged or guessed is warned of (``ReadingWarning``) and kept in
        ``notes``.
        """
        name = Path(path).name if isinstance(path, str | Path) else f"{len(path):,} files"
        found = cls.load(path, format=format, **options)
        return replace(found, notes=warn_of(name, found.notes, found.bad))

    @classmethod
    def load(
        cls, path: str | Path | Sequence[str | Path], *, format: str | None = None, **options: Any
    ) -> ModelAnswers:
        """What ``read`` reads, without a warning, for callers that report ``notes`` and ``bad``."""
        from adjudge.data.formats import detect, list_files, read
        from adjudge.data.formats.format import Options
        from adjudge.data.formats.uris import local_files

        chosen = Options(kind="judgments", **options)
        places = [path] if isinstance(path, str | Path) else list(path)
        with local_files(places) as paths:
            files = list_files(paths, chosen.encoding)
            if files and {format or detect(file).name for file in files} <= _PLAIN:
                return cls._of_files(files, chosen)
            content = read(paths, format=format, kind="judgments", **options)
        if content.judgments is None:
            held = "comparisons of two items" if content.comparisons is not None else content.format
            raise BadData(
                f"expected judgments, one label per judge and item; this file has {held}",
                source=str(places[0]),
            )
        found = cls.of(content.judgments)
        if content.answers is not None:
            source = chosen.source(str(places[0]))
            found = cls.from_table(content.answers, scale=chosen.scale, source=source)
        return replace(found, gold=content.gold, notes=content.notes, bad=content.bad)

    @classmethod
    def _of_files(cls, files: list[File], options: Options) -> ModelAnswers:
        """The answers of plain tables; each by itself first, so that errors have lines."""
        from adjudge.data.formats.plain import read_rows

        tables = []
        notes: list[str] = []
        bad: list[BadRow] = []
        for file in files:
            table, source = read_rows(file, options, list)
            found = cls.from_table(
                table, scale=options.scale, source=source, columns=options.columns
            )
            if len(files) == 1:
                return found
            kept = table if source.row_of is None else table.take(pa.array(source.row_of))
            flat = [name for name in kept.column_names if not pa.types.is_nested(kept[name].type)]
            tables.append(pa.table({name: as_names(as_text(kept[name])) for name in flat}))
            notes += [note for note in source.notes if note not in notes]
            bad += source.bad
        joined = pa.concat_tables(tables, promote_options="default")
        source = Source(f"{len(files)} files", bad=bad, notes=notes)
        return cls.from_table(joined, scale=options.scale, source=source, columns=options.columns)

    def with_items(self, table: Any, source: str = "items") -> ModelAnswers:
        """The same with texts and lengths from a table of items, by their names."""
        rows = pa.table(table)
        roles = roles_of(rows.column_names)
        need_columns(roles, rows.column_names, Source(source), ["item"])
        names = _item_names(rows, roles)
        at = look_up(self.judgments.items, names)
        if (at < 0).all():
            raise BadData(
                "none of its items was judged; expected texts of the items", source=source
            )
        where = pa.array(at, mask=at < 0)
        texts = _texts(rows, None)
        column = roles_of(rows.column_names, _FURTHER).get("length")
        length = self.length
        if column is not None:
            given = numbers(rows[column], Source(source), column, strict=True)
            length = np.where(at >= 0, given[np.maximum(at, 0)], np.nan)
        return replace(
            self, texts=self.texts if texts is None else texts.take(where), length=length
        )


def _item_names(rows: Any, roles: dict[str, str]) -> Names:  # (row,)
    """The item of each row: as named, or its topic and document."""
    if "item" in roles:
        return as_names(as_text(rows[roles["item"]]))
    return pair_names(as_text(rows[roles["topic"]]), as_text(rows[roles["document"]]))


def _pooled(rows: Any, judgments: Judgments, order: NDArray[np.int64]) -> Judgments:
    """The judgments with judges who differ only in their sample put together.

    Only where a column numbers samples and another names the model: else two judges are two.
    """
    if not any(letters_of(name) in _SAMPLES for name in rows.column_names):
        return judgments
    given = rows.take(pa.array(order))
    parts = [_of_judges(given, judgments, role) for role in ("model", "prompt", "version")]
    judged = zip(judgments.judges.to_pylist(), *parts, strict=True)
    names = ["/".join(filter(None, said)) if said[0] else judge for judge, *said in judged]
    code, judges = encode(pa.array(names, pa.large_string()))
    if len(judges) == judgments.judge_count:
        return judgments
    first = np.unique(code, return_index=True)[1]
    pooled = replace(
        judgments,
        judges=judges,
        judge=code[judgments.judge].astype(np.int32),
        families=None,
        family=None,
        kind=None if judgments.kind is None else judgments.kind[first],
    )
    return pooled.with_families([parts[0][at] or None for at in first.tolist()])


def _of_judges(rows: Any, judgments: Judgments, role: str) -> tuple[str, ...]:
    """What a column says of each judge: the value of their first row that has one."""
    found = {letters_of(name): name for name in reversed(rows.column_names)}
    known = SYNONYMS.get(role, ("model", "modelname", "modelid"))
    name = next((found[word] for word in known if word in found), None)
    said = [""] * judgments.judge_count
    if name is None:
        return tuple(said)
    texts = pc.fill_null(as_names(as_text(rows[name])), "")
    filled = np.flatnonzero(np.asarray(pc.not_equal(pc.utf8_trim_whitespace(texts), "")))
    judge, first = np.unique(judgments.judge[filled], return_index=True)
    values = texts.take(pa.array(filled[first])).to_pylist()
    for code, value in zip(judge.tolist(), values, strict=True):
        said[code] = value.strip()
    return tuple(said)


def _systems(
    rows: Any, first: NDArray[np.int64]
) -> tuple[NDArray[np.int32] | None, tuple[str, ...]]:
    """The system of each item and the systems' names, where a column has them."""
    column = next((name for name in rows.column_names if letters_of(name) in _SYSTEMS), None)
    if column is None:
        return None, ()
    code, names = encode(as_names(as_text(rows[column].take(pa.array(first)))))
    return code.astype(np.int32), tuple(names.to_pylist())


def _settings(rows: Any, judgments: Judgments) -> tuple[dict[str, str], ...]:
    """The rubric and the sampling settings of each judge: all values that its rows have."""
    found: list[dict[str, str]] = [{} for _ in range(judgments.judge_count)]
    for name in rows.column_names:
        if letters_of(name) not in _SETTINGS:
            continue
        code, values = encode(as_names(pc.fill_null(as_text(rows[name]), "")))
        for judge in range(judgments.judge_count):
            given = np.unique(code[judgments.judge == judge]).tolist()
            said = sorted(filter(None, (values[at].as_py() for at in given)))
            if said:
                found[judge][letters_of(name)] = ", ".join(said)
    return tuple(found)


def _confidence(figures: dict[str, _Floats], place: Source) -> _Floats | None:
    """How sure the model was of its label, from 0 to 1."""
    column = next((name for name in ("confidence", "logprob") if name in figures), None)
    if column is None:
        return None
    given, expected = figures[column], "from 0 to 1, or in percent"
    sure = given / 100.0 if 1 < np.nanmax(given, initial=0.0) <= 100 else given
    wrong = (sure < 0) | (sure > 1)
    if column == "logprob":
        expected = "at most 0"
        sure, wrong = np.exp(np.minimum(given, 0.0)), given > 1e-6
    if wrong.any():
        value = float(given[np.argmax(wrong)])
        problem = f"{value:g} is not a {column}; expected a number {expected}"
        raise place.error(None, problem, column=column, value=value)
    return np.asarray(sure)


def _texts(rows: Any, first: NDArray[np.int64] | None) -> Any:
    """The columns that hold words of items, one row per item; None where there are none."""
    columns = [name for name in rows.column_names if letters_of(name) in _TEXTS]
    if not columns:
        return None
    chosen = rows.select(columns)
    chosen = chosen if first is None else chosen.take(pa.array(first))
    return pa.table({name: as_names(as_text(chosen[name])) for name in columns})
