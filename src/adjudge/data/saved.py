"""A consensus in a file of its own, with all that it needs to predict and to go on from.

    saved.json      the values, nested as they are; arrays and tables by their number
    array-N.npy     a NumPy array
    table-N.arrow   an Arrow table or array, as an IPC file

The file is a zip archive of those. Nothing in it is run when it is read: values are frozen
dataclasses of adjudge by name, and what they are made of.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from adjudge.errors import BadData

_MARK, _VERSION = "adjudge saved consensus", 1
_VALUES = "saved.json"
_PLAIN = (bool, int, float, str, type(None))

# The default's predictor in earlier versions: a fit is read without it.
_GONE = {"adjudge.models.type_memory:TypesMemory", "adjudge.models.type_reading:TypesMemory"}
# Classes that have another name since.
_MOVED = {"adjudge.data.consensus:Pair": "adjudge.data.consensus:LookAlikes"}

# Fields that classes had in earlier versions.
_DROPPED = {
    "adjudge.data.consensus:Consensus": {"correlation"},
    "adjudge.data.consensus:Families": {"merged"},
}


def _save(value: Any, path: str | Path) -> None:
    """Write a value, complete or not at all."""
    from adjudge.data.formats.writing import written_whole

    with written_whole(Path(path)) as file, zipfile.ZipFile(file, "w") as archive:
        writer = _Saver(archive)
        content = {"what": _MARK, "version": _VERSION, "value": writer.plain(value)}
        archive.writestr(_VALUES, json.dumps(content), zipfile.ZIP_DEFLATED)


def _load(path: str | Path) -> Any:
    """The value that ``save`` wrote; an error for any other file."""
    name = Path(path).name
    try:
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read(_VALUES))
            if content["what"] != _MARK:
                raise KeyError(_MARK)
            if content["version"] > _VERSION:
                raise BadData(
                    f"was saved by a newer adjudge (version {content['version']} of the file)",
                    source=name,
                )
            return _Loader(archive).value(content["value"])
    except FileNotFoundError:
        raise BadData("there is no such file", source=name) from None
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as fault:
        raise BadData(
            f"is not a saved consensus, or not a complete one ({fault})", source=name
        ) from None


class Saved:
    """What can be written to a file of its own and read again."""

    __slots__ = ()
    holds: ClassVar[str]  # what is in such a file

    def save(self, path: str | Path) -> None:
        """Write it to a file, with all that ``predict``, and ``start`` of a fit, need."""
        _save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What ``save`` wrote."""
        found = _load(path)
        if not isinstance(found, cls):
            raise BadData(f"holds no {cls.holds}", source=str(path))
        return found


class _Saver:
    """Values turned into what JSON holds; arrays and tables go into the archive, each once."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.written: dict[int, dict[str, Any]] = {}  # by identity: an object may be there twice
        self.held: list[Any] = []  # so that no identity is used again

    def plain(self, value: Any) -> Any:
        """A value as JSON holds it."""
        if isinstance(value, np.generic):
            return self.plain(value.item())
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, tuple | list):
            return {type(value).__name__: [self.plain(one) for one in value]}
        if isinstance(value, dict):
            return {"dict": [[self.plain(k), self.plain(v)] for k, v in value.items()]}
        if id(value) not in self.written:
            self.held.append(value)
            self.written[id(value)] = self._object(value, len(self.written))
        return self.written[id(value)]

    def _object(self, value: Any, number: int) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            with self.archive.open(f"array-{number}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(value), allow_pickle=False)
            return {"array": number}
        if isinstance(value, pa.Array | pa.Table):
            self._table(value, number)
            return {"names" if isinstance(value, pa.Array) else "table": number}
        kind = type(value)
        if kind.__module__.startswith("adjudge.engines."):
            return {"engine": None}  # judgments and machines change: it starts here again
        if is_dataclass(value) and kind.__module__.startswith("adjudge."):
            given = {f.name: self.plain(getattr(value, f.name)) for f in fields(value) if f.init}
            module = kind.__module__.replace("._", ".")  # whether it is private may change
            return {"object": f"{module}:{kind.__qualname__}", "fields": given}
        raise BadData(f"a {kind.__name__} cannot be saved")

    def _table(self, value: Any, number: int) -> None:
        table = pa.table({"": value}) if isinstance(value, pa.Array) else value
        with (
            self.archive.open(f"table-{number}.arrow", "w", force_zip64=True) as file,
            pa.ipc.new_stream(file, table.schema) as stream,
        ):
            stream.write_table(table)


class _Loader:
    """What ``_Saver`` wrote, turned back."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.read: dict[str, Any] = {}

    def value(self, plain: Any) -> Any:
        """The value in JSON."""
        if isinstance(plain, _PLAIN):
            return plain
        ((kind, held),) = list(plain.items())[:1]
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(self.value(one) for one in held)
        if kind == "dict":
            return {self.value(k): self.value(v) for k, v in held}
        if kind == "engine":
            return import_module("adjudge.engines.threads").ThreadsEngine()
        if kind == "object":
            if held in _GONE:
                return None
            return self._object(held, plain["fields"])
        name = f"array-{held}.npy" if kind == "array" else f"table-{held}.arrow"
        if name not in self.read:
            self.read[name] = self._read(kind, name)
        return self.read[name]

    def _read(self, kind: str, name: str) -> Any:
        body = io.BytesIO(self.archive.read(name))
        if kind == "array":
            return np.lib.format.read_array(body, allow_pickle=False)
        with pa.ipc.open_stream(body) as stream:
            table = stream.read_all()
        return table.column(0).combine_chunks() if kind == "names" else table

    def _object(self, name: str, given: dict[str, Any]) -> Any:
        module, _, qualified = _MOVED.get(name, name).partition(":")
        kind = getattr(_module_of(module), qualified, None) if _is_ours(module) else None
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise ValueError(f"it holds a {name}, which this version does not know")
        gone = _DROPPED.get(name, set())
        return kind(**{f: self.value(plain) for f, plain in given.items() if f not in gone})


def _is_ours(module: str) -> bool:
    return module.startswith(("adjudge.data.", "adjudge.models."))


def _module_of(name: str) -> Any:
    """The module of that name, or the private one."""
    if find_spec(name) is None:
        room, _, own = name.rpartition(".")
        name = f"{room}._{own}"
    return import_module(name)
