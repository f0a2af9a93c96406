"""Several files of a kind, or those of a folder, taken together as one.

Files of relevance grades (qrels), as evaluation campaigns and submissions have them, are a judge
each, by the name of the file, unless gold is wanted.
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
from adjudge.data._reshaping import tabulate
from adjudge.data.build import load_table
from adjudge.data.comparisons import Comparisons
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
    """What the files of a folder or an archive hold together; those of no format are told."""
    files, strange = known_files(folder)
    content = read_several(files, None, options) if len(files) > 1 else _one(files[0], options)
    if not strange:
        return content
    told = f"{strange[0]}{' and others' if len(strange) > 1 else ''}"
    note = f"{count_of(len(strange), 'file')} of no known format: {told}"
    return replace(content, notes=(*content.notes, note))


def known_files(folder: File) -> tuple[list[File], list[str]]:
    """The files of a folder whose format is known, and the names of the others that hold data."""
    from adjudge.data.formats import detect
    from adjudge.data.formats._unknown import unknown

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


def _one(file: File, options: Options) -> Content:
    from adjudge.data.formats import read_file

    return read_file(file, None, options)


def read_several(files: list[File], format: str | None, options: Options) -> Content:
    """What files of one kind hold together."""
    from adjudge.data.formats import detect, read_file

    kinds = [format or detect(file).name for file in files]
    kind = _one_kind(kinds, files)
    if kind in _JUDGES and options.wanted is None:
        options = replace(options, wanted="judgments")
    contents = [read_file(file, name, options) for file, name in zip(files, kinds, strict=True)]
    names = [PurePath(file.name).name for file in files]
    judged = [content.judgments for content in contents]
    notes = _together(names, contents)
    bad = tuple(chain.from_iterable(content.bad for content in contents))
    each = ", a judge each" if kind in _JUDGES and options.wanted == "judgments" else ""
    notes.insert(0, f"{len(files):,} files of format {kind} are taken together{each}")
    golds = [content.gold for content in contents if content.gold is not None]
    if all(judgments is not None for judgments in judged):
        own = [j.scale for j in judged if j is not None]
        common = _common_scale(own)
        scale: Scale | None = options.scale or common
        mixed = len({label.casefold() for label in common.labels}) < len(common.labels)
        if options.scale is None and (mixed or any(s.ordinal for s in own) > common.ordinal):
            scale = None  # as the labels of all files show it, with a word
        whole, remarks = _joined(
            [j for j in judged if j is not None], scale, names, inferred=options.scale is None
        )
        gold = _joined_gold(golds) if golds else None
        told = (*notes, *remarks)
        same = all(content.columns == contents[0].columns for content in contents)
        columns = contents[0].columns if same else {}
        return Content(
            judgments=whole, gold=gold, format=kind, bad=bad, notes=told, columns=columns
        )
    compared = [content.comparisons for content in contents if content.comparisons is not None]
    if len(compared) == len(contents):
        joined = Comparisons.join(compared)
        return Content(comparisons=joined, format=kind, bad=bad, notes=tuple(notes))
    tables = [content.labels for content in contents if content.labels is not None]
    if len(tables) == len(contents):
        labels = _joined_labels(tables, names)
        scales = [content.scale for content in contents if content.scale is not None]
        shared = options.scale or (_common_scale(scales) if scales else None)
        gold = _joined_gold(golds) if golds else None
        told = tuple(notes)
        return Content(labels=labels, gold=gold, scale=shared, format=kind, bad=bad, notes=told)
    if len(golds) == len(contents):
        return Content(gold=_joined_gold(golds), format=kind, bad=bad, notes=tuple(notes))
    runs = [content.run for content in contents]
    if all(run is not None for run in runs):
        raise BadData(f"these {len(files)} files are runs, which are read one by one")
    raise BadData(
        f"these {len(files)} files of format {kind} do not all hold judgments; wanted files that do"
    )


def _together(names: list[str], contents: list[Content]) -> list[str]:
    """What readers remarked, once for all files of which it is true."""
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
    """The one format that files have; plain ones may be mixed."""
    if set(kinds) <= {"csv", "tsv", "jsonl", "parquet", "json"}:
        return kinds[0] if len(set(kinds)) == 1 else "plain"
    if set(kinds) <= {"pairs", "evalica", "crowd-kit-pairs", "arena", "mt-bench"}:
        return kinds[0] if len(set(kinds)) == 1 else "pairs"
    counts = Counter(kinds)
    if len(counts) > 1:
        told = ", ".join(f"{kind} ({count})" for kind, count in counts.most_common())
        raise BadData(
            f"these files are of several kinds: {told}; such as {files[0].name}; "
            "name those of one kind",
            code="several-formats",
            remedies=(Remedy("format"),),
        )
    return kinds[0]


def _common_scale(scales: list[Scale]) -> Scale:
    """The scale that has every label of several."""
    first = scales[0]
    if all(scale == first for scale in scales):
        return first
    return Scale.infer(label for scale in scales for label in scale.labels)


def _joined(
    parts: list[Judgments], scale: Scale | None, names: list[str], *, inferred: bool
) -> tuple[Judgments, tuple[str, ...]]:
    """Judgments one after the other; topics and documents stay where all have them."""
    source = Source(names[0] if len(names) == 1 else f"{len(names)} files")
    tables = [tabulate(part, coded=True) for part in parts]
    common = set.intersection(*(set(table.column_names) for table in tables))
    roles = {role: role for role in _ROLES if role in common}
    if {"topic", "document"} <= common and not _own_names(parts):
        roles.pop("item")
    whole = pa.concat_tables([table.select(list(roles.values())) for table in tables])
    judgments, _ = load_table(whole, scale=scale, source=source, roles=roles, asked=True)
    if inferred and scale is not None and not scale.ordinal:
        remark_scale(scale, "label", source)
    families = _families(parts, judgments.judges.to_pylist())
    if any(families):
        judgments = judgments.with_families(families)
    return judgments, tuple(source.notes)


def _own_names(parts: list[Judgments]) -> bool:
    """Whether items have names of their own beside topic and document."""
    from adjudge.data.names import pair_names

    for part in parts:
        if part.topics is None or part.documents is None:
            return True
        topics = part.topics.take(pa.array(part.topic))
        if not pair_names(topics, part.documents).equals(part.items):
            return True
    return False


def _families(parts: list[Judgments], judges: list[str]) -> list[str | None]:
    """The family of each judge, as the first file that names one has it."""
    found: dict[str, str] = {}
    for part in parts:
        if part.families is not None and part.family is not None:
            names = part.families.to_pylist()
            for judge, family in zip(part.judges.to_pylist(), part.family.tolist(), strict=True):
                if family >= 0:
                    found.setdefault(judge, names[family])
    return [found.get(judge) for judge in judges]


def _joined_labels(tables: list[Any], names: list[str]) -> Any:
    """Consensus tables one below the other; an item that has two labels is an error."""
    whole = pa.concat_tables(tables, promote_options="permissive")
    counts = pc.value_counts(whole["item"]) if "item" in whole.column_names else pa.array([])
    twice = [entry["values"].as_py() for entry in counts if entry["counts"].as_py() > 1]
    if twice:
        raise BadData(
            f"item {shown(twice[0])} has a label in more than one of these files; "
            "wanted parts of one table of labels",
            source=f"{len(names)} files",
        )
    return whole


def _joined_gold(parts: list[Gold]) -> Gold:
    """Gold of several files; an item with two truths is an error."""
    if len(parts) == 1:
        return parts[0]
    tables: list[Any] = [part.to_table() for part in parts]
    common = set.intersection(*(set(table.column_names) for table in tables))
    kept = [name for name in ("item", "topic", "document", "gold") if name in common]
    roles = {name: name for name in kept}
    return gold_from_table(
        pa.concat_tables([table.select(kept) for table in tables]), source="gold", roles=roles
    )
