"""Reading a project's items and gold from files, with every fault named before anything is stored.

Items and gold in CSV, TSV or JSON Lines; TREC topics, run and documents; a BEIR folder or archive;
a Quepid book in JSON. Files may be packed (zip, gz, bz2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from adjudge.collect.importing import tables
from adjudge.collect.importing._collections import (
    is_quepid_book,
    is_run,
    read_beir,
    read_quepid,
    read_trec,
)
from adjudge.collect.importing._preview import Gathering, Preview
from adjudge.collect.importing._upload import ImportLimits, Upload, unpack_all
from adjudge.collect.importing.tables import SHOWN, find_roles, read_json_text, read_table
from adjudge.data.scale import Scale
from adjudge.errors import BadData

__all__ = [
    "SHOWN",
    "Gathering",
    "ImportLimits",
    "Preview",
    "Upload",
    "find_roles",
    "read",
    "read_json_text",
    "read_table",
    "unpack_all",
]


def read(
    files: Iterable[Path | Upload],
    *,
    scale: Scale | None = None,
    known: frozenset[str] = frozenset(),
    depth: int = 10,
    qrels_as_gold: bool = False,
    limits: ImportLimits | None = None,
    columns: Mapping[str, str] | None = None,
    topics: Mapping[str, str] | None = None,
) -> Preview:
    """What the files hold, and everything that is wrong with them.

    ``scale``: gold has to be on it. ``known``: items that are stored already. ``depth``: results
    that are taken of each topic of a run. ``qrels_as_gold``: grades of a BEIR folder are gold.
    ``columns``: the part that a column of a table plays (``query``, ``title``, ...), or none where
    it is empty; others are known by their names. ``topics``: the topic of each query that is
    stored already.
    """
    limits = limits or ImportLimits()
    gathering = Gathering(
        limits=limits, scale=scale, known=known, columns=columns or {}, topics=topics or {}
    )
    kind = "plain"
    try:
        unpacked = unpack_all(files, limits)
        uploads = [upload for upload in unpacked if not upload.base.startswith((".", "__"))]
        if not uploads:
            raise BadData("there is no file to read", code="no-file")
        if {"corpus.jsonl", "queries.jsonl"} <= {upload.base for upload in uploads}:
            kind = "beir"
            read_beir(uploads, gathering, depth=depth, gold=qrels_as_gold)
        elif any(map(is_run, uploads)):
            kind = "trec"
            read_trec(uploads, gathering, depth=depth)
        else:
            for upload in uploads:
                try:
                    if is_quepid_book(upload):
                        kind = "quepid"
                        read_quepid(upload, gathering)
                    else:
                        tables.read(upload, gathering)
                except BadData as fault:
                    gathering.add_fault(fault)
    except BadData as fault:
        gathering.add_fault(fault)
    except RecursionError:  # lists in lists in lists
        gathering.add_fault("is nested too deep", source="what was sent", code="bad-json")
    return gathering.preview(kind)
