"""Several files of a kind, or those of a folder, taken together as one.

Files of relevance grades (qrels), as evaluation campaigns and submissions have them, are one
judge each, by the name of the file, unless gold is asked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data._repeats import settle_repeats
from adjudge.data._reshaping import join_judgments, tabulate
from adjudge.data.build import load_table
from adjudge.data.comparisons import Comparisons
from adjudge.data.formats._unknown import unknown
from adjudge.data.formats.format import Content, Options
from adjudge.data.formats.opening import File
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.labels import remark_scale
from adjudge.data.scale import Scale
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, Note, Remedy, remedies_of, shown

_JUDGES = ("qrels", "beir", "opensearch", "quepid-case", "umbrela")  # a file may be a judge's
_ABOUT = (".md", ".rst", ".pdf", ".png", ".py", ".sh", ".yaml", ".yml", ".toml", ".html", ".lock")
_ORDERED = "these labels look ordered"  # said of all files together
_ROLES = ("item", "topic", "document", "judge", "label", "time", "seconds", "gold")


def read_folder(folder: File, options: Options) -> Content:
    """Return what the files of a folder or an archive hold together, and note the others."""
    files, strange = known_files(folder)
    content = read_several(files, None, options)
    if not strange:
        return content
    named = f"{strange[0]}{' and others' if len(strange) > 1 else ''}"
    note = f"{count_of(len(strange), 'file')} of no known format: {named}"
    return replace(content, notes=(*content.notes, note))


def known_files(folder: File) -> tuple[list[File], list[str]]:
    """Return the files of a folder whose format is known, and the names of the other data files."""
    from adjudge.data.formats import detect

    files, strange = [], []
    for file in folder.files():
        if PurePath(file.name).suffix.lower() in _ABOUT or file.is_folder:
            continue
        try:
            detect(file)
            files.append(file)
        except BadData:
            strange.append(file.name)
    if not files:
        raise unknown(folder)
    return files, strange


def read_several(files: list[File], format: str | None, options: Options) -> Content:
    """Return what files of one kind hold together."""
    from adjudge.data.formats import detect, read_file

    if len(files) == 1:
        return read_file(files[0], format, options)
    kinds = [format or detect(file).name for file in files]
    kind = _one_kind(kinds, files)
    if kind in _JUDGES and options.kind is None:
        options = replace(options, kind="judgments")
    contents = [read_file(file, name, options) for file, name in zip(files, kinds, strict=True)]
    names = [PurePath(file.name).name for file in files]
    each = ", one judge each" if kind in _JUDGES and options.kind == "judgments" else ""
    count = f"{len(files):,} files of format {kind} are taken together{each}"
    content = _together(contents, options, names, kind)
    return replace(
        content,
        format=kind,
        bad=tuple(chain.from_iterable(part.bad for part in contents)),
        notes=(count, *_merge_notes(names, contents), *content.notes),
    )


def _together(contents: list[Content], options: Options, names: list[str], kind: str) -> Content:
    """Return the judgments, comparisons, labels or gold that every file holds."""
    golds = [content.gold for content in contents if content.gold is not None]
    gold = join_gold(golds) if golds else None
    judged = [content.judgments for content in contents if content.judgments is not None]
    if len(judged) == len(contents):
        same = all(content.columns == contents[0].columns for content in contents)
        content = _join_judgments(judged, options.scale, names)
        tables = [part.answers for part in contents if part.answers is not None]
        if len(tables) == len(contents):
            answers = pa.concat_tables(tables, promote_options="permissive")
            content = replace(content, answers=answers)
        return replace(content, gold=gold, columns=contents[0].columns if same else {})
    compared = [content.comparisons for content in contents if content.comparisons is not None]
    if len(compared) == len(contents):
        return Content(comparisons=Comparisons.join(compared))
    tables = [content.labels for content in contents if content.labels is not None]
    if len(tables) == len(contents):
        scales = [content.scale for content in contents if content.scale is not None]
        scale = options.scale or (_common_scale(scales) if scales else None)
        return Content(labels=_join_labels(tables, names), gold=gold, scale=scale)
    if len(golds) == len(contents):
        return Content(gold=gold)
    problem = f"these {len(contents)} files of format {kind} do not all hold judgments"
    raise BadData.at(None, "not-joinable", problem)


def _merge_notes(names: list[str], contents: list[Content]) -> list[str]:
    """Return the notes of the readers, once for all files of which they are true."""
    found: dict[str, list[str]] = {}
    for name, content in zip(names, contents, strict=True):
        for note in content.notes:
            if not (_ORDERED in note or note.startswith("every grade is a judgment of one judge")):
                found.setdefault(note, []).append(name)
    return [
        Note(
            f"{own[0]}{f' and {len(own) - 1} more' if len(own) > 1 else ''}: {note}",
            remedies_of(note),
        )
        for note, own in found.items()
    ]


def _one_kind(kinds: list[str], files: list[File]) -> str:
    """Return the one format that files have; plain ones may be mixed."""
    if set(kinds) <= {"csv", "tsv", "jsonl", "parquet", "json"}:
        return kinds[0] if len(set(kinds)) == 1 else "plain"
    if set(kinds) <= {"pairs", "evalica", "crowd-kit-pairs", "arena", "mt-bench"}:
        return kinds[0] if len(set(kinds)) == 1 else "pairs"
    counts = Counter(kinds)
    if len(counts) > 1:
        listed = ", ".join(f"{kind} ({count})" for kind, count in counts.most_common())
        problem = f"expected files of one kind, got {listed}; such as {files[0].name}"
        remedies = [Remedy("format")]
        raise BadData.at(None, "several-formats", problem, value=dict(counts), remedies=remedies)
    return kinds[0]


def _common_scale(scales: list[Scale]) -> Scale:
    """Return the scale that has every label of several."""
    first = scales[0]
    if all(scale == first for scale in scales):
        return first
    return Scale.infer(label for scale in scales for label in scale.labels)


def _join_judgments(parts: list[Judgments], given: Scale | None, names: list[str]) -> Content:
    """Return judgments one after the other, without copies of rows."""
    every = dict.fromkeys(label for part in parts for label in part.scale.labels)
    mixed = len({label.casefold() for label in every}) < len(every)
    source = Source(names[0] if len(names) == 1 else f"{len(names)} files")
    if given is None and mixed:  # one spelling per label, with a note
        tables = [tabulate(part, coded=True) for part in parts]
        common = [name for name in _ROLES if all(name in t.column_names for t in tables)]
        table = pa.concat_tables([one.select(common) for one in tables])
        roles = {name: name for name in common}
        loaded = load_table(table, source=source, roles=roles, asked=True)[0]
        return Content(judgments=loaded, notes=tuple(source.notes))
    judgments = join_judgments(parts, scale=given)
    if given is None:
        remark_scale(judgments.scale, "label", source)
    table, roles = tabulate(judgments), {name: name for name in _ROLES}
    judgments = settle_repeats(judgments, judgments.item, table, roles, source)
    return Content(judgments=judgments, notes=tuple(source.notes))


def _join_labels(tables: list[Any], names: list[str]) -> Any:
    """Return consensus tables one below the other; an item that has two labels is an error."""
    joined = pa.concat_tables(tables, promote_options="permissive")
    counts = pc.value_counts(joined["item"]) if "item" in joined.column_names else pa.array([])
    twice = [entry["values"].as_py() for entry in counts if entry["counts"].as_py() > 1]
    if twice:
        problem = f"item {shown(twice[0])} has a label in more than one of these files"
        raise BadData.at(f"{len(names)} files", "repeated-row", problem, value=twice[0])
    return joined


def join_gold(parts: list[Gold]) -> Gold:
    """Return the gold of several files; an item with two gold labels is an error."""
    if len(parts) == 1:
        return parts[0]
    tables: list[Any] = [part.to_table() for part in parts]
    common = set.intersection(*(set(table.column_names) for table in tables))
    kept = [name for name in ("item", "topic", "document", "gold") if name in common]
    roles = {name: name for name in kept}
    return gold_from_table(
        pa.concat_tables([table.select(kept) for table in tables]), source="gold", roles=roles
    )
