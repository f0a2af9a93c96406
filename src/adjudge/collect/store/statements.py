"""Statements that are run very often: compiled once, and on SQLite sent straight to the driver.

What SQLAlchemy does around a small statement takes several times as long as SQLite takes for it. So
the text is kept, with what has to be done to values on their way in and out; rows are plain named
tuples. On PostgreSQL, and where somebody listens to what is sent, statements go the usual way.
"""

from __future__ import annotations

import json
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.exc import DBAPIError

_PIECE = 5_000  # rows of a long answer that are held at a time
_MOST_MARKS = 900  # values in one statement; every SQLite takes 999
_Parameters = Mapping[str, Any]
_Process = Callable[[Any], Any]


class Statement:
    """A statement with named parameters, of which those that expand are lists.

    ``packed``: the column that a select is ordered by, for one of more than a few rows without
    floating point numbers. Between two rows the driver lets other threads run, and waits for them;
    packed into one JSON text, all rows come at once.
    """

    def __init__(self, statement: Any, *, packed: str = "") -> None:
        self.statement = statement
        self._packed = packed
        self._plain: _Plain | None = None

    def all(self, on: Connection, parameters: _Parameters) -> Sequence[Any]:
        """Every row."""
        driver = _driver(on)
        if driver is None:
            rows: Sequence[Any] = on.execute(self.statement, parameters).all()
            return rows
        return self._made(on.dialect).all(on, driver, parameters)

    def one_or_none(self, on: Connection, parameters: _Parameters) -> Any:
        """The only row, or None."""
        rows = self.all(on, parameters)
        if len(rows) > 1:
            raise sa.exc.MultipleResultsFound("one row was wanted")
        return rows[0] if rows else None

    def one(self, on: Connection, parameters: _Parameters) -> Any:
        """The only row, which is there."""
        row = self.one_or_none(on, parameters)
        if row is None:
            raise sa.exc.NoResultFound("a row was wanted")
        return row

    def scalar(self, on: Connection, parameters: _Parameters) -> Any:
        """The first value of the first row, or None."""
        rows = self.all(on, parameters)
        return rows[0][0] if rows else None

    def scalars(self, on: Connection, parameters: _Parameters) -> list[Any]:
        """The first value of every row."""
        return [row[0] for row in self.all(on, parameters)]

    def run(self, on: Connection, parameters: _Parameters) -> None:
        """Change something; no rows come of it."""
        driver = _driver(on)
        if driver is None:
            on.execute(self.statement, parameters)
        else:
            self._made(on.dialect).execute(on, driver, parameters)

    def run_many(self, on: Connection, rows: Sequence[_Parameters]) -> None:
        """Change something for each of these parameters."""
        if not rows:
            return
        driver = _driver(on)
        if driver is None:
            on.execute(self.statement, list(rows))
        else:
            self._made(on.dialect).execute_many(on, driver, rows)

    def _made(self, dialect: Dialect) -> _Plain:
        if self._plain is None:
            self._plain = _Plain(self.statement, dialect, self._packed)
        return self._plain


class _Plain:
    """A statement as the driver of SQLite takes it."""

    def __init__(self, statement: Any, dialect: Dialect, packed: str) -> None:
        compiled = statement.compile(dialect=dialect)
        names = {name: bind for bind, name in compiled.bind_names.items()}
        self._text = str(compiled)
        self._order = tuple(compiled.positiontup or ())
        self._constants = {
            name: value for name, value in compiled.params.items() if not names[name].required
        }
        self._lists = tuple(name for name, bind in names.items() if bind.expanding)
        self._ingoing: dict[str, _Process] = {
            name: process
            for name, bind in names.items()
            if not bind.expanding
            and (process := bind.type.dialect_impl(dialect).bind_processor(dialect))
        }
        for name, process in self._ingoing.items():
            if name in self._constants:
                self._constants[name] = process(self._constants[name])
        columns = list(getattr(statement, "exported_columns", ()))
        keys = [column.key for column in columns]
        row: Any = namedtuple("Row", keys, rename=True)  # type: ignore[misc]
        self._make: Callable[[Iterable[Any]], Any] = row._make
        self._sorted = itemgetter(keys.index(packed)) if packed else None
        if packed:
            listed = ", ".join(f'"{key}"' for key in keys)
            inner = self._text
            self._text = f"SELECT json_group_array(json_array({listed})) FROM ({inner})"  # noqa: S608
        self._outgoing = [
            (place, process)
            for place, column in enumerate(columns)
            if (process := column.type.dialect_impl(dialect).result_processor(dialect, None))
        ]

    def all(self, on: Connection, driver: sqlite3.Connection, parameters: _Parameters) -> list[Any]:
        rows = self.execute(on, driver, parameters).fetchall()
        if self._sorted is not None:
            rows = sorted(json.loads(rows[0][0]), key=self._sorted)
        make = self._make
        if not self._outgoing:
            return list(map(make, rows))
        made = []
        for row in rows:
            values = list(row)
            for place, process in self._outgoing:
                values[place] = process(values[place])
            made.append(make(values))
        return made

    def execute(
        self, on: Connection, driver: sqlite3.Connection, parameters: _Parameters
    ) -> sqlite3.Cursor:
        text, given = self._text, self._given(parameters)
        if self._lists:
            every = {**self._constants, **parameters}
            for name in self._lists:
                marks = ", ".join("?" * len(every[name]))
                text = text.replace(f"__[POSTCOMPILE_{name}]", marks)
            given = [
                value
                for name, held in zip(self._order, given, strict=True)
                for value in (held if name in self._lists else (held,))
            ]
        return _send(on, driver.execute, text, given)

    def execute_many(
        self, on: Connection, driver: sqlite3.Connection, rows: Sequence[_Parameters]
    ) -> None:
        _send(on, driver.executemany, self._text, [self._given(row) for row in rows])

    def _given(self, parameters: _Parameters) -> list[Any]:
        every = {**self._constants, **parameters}
        for name, process in self._ingoing.items():
            if name in parameters:
                every[name] = process(every[name])
        return [every[name] for name in self._order]


class BulkInsert:
    """Many rows into one table, past the machinery that a row would cost each time.

    Every row is a dictionary of the same columns, whose values the driver takes as they are.
    """

    def __init__(self, table: sa.Table) -> None:
        self._table = table
        self._made: dict[tuple[str, tuple[str, ...]], tuple[str, Sequence[str] | None]] = {}

    def run(self, on: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows."""
        if not rows:
            return
        names = tuple(rows[0])
        key = (on.dialect.name, names)
        if key not in self._made:
            statement = sa.insert(self._table).values({n: sa.bindparam(n) for n in names})
            compiled = statement.compile(dialect=on.dialect)
            self._made[key] = (str(compiled), compiled.positiontup)
        text, order = self._made[key]
        if order is None:
            on.exec_driver_sql(text, list(rows))
            return
        driver = _driver(on)
        if driver is None:
            on.exec_driver_sql(text, [tuple(row[name] for name in order) for row in rows])
            return
        head, _, marks = text.rpartition(" VALUES ")
        most = max(1, _MOST_MARKS // len(order))
        for start in range(0, len(rows), most):  # in one step each: others run between two
            part = rows[start : start + most]
            given = [row[name] for row in part for name in order]
            _send(on, driver.execute, f"{head} VALUES {', '.join([marks] * len(part))}", given)


class PreparedSelect:
    """A select that is run very often: compiled once, its rows taken as the driver gives them."""

    def __init__(self, statement: sa.Select[Any]) -> None:
        self.statement = statement
        self._made: dict[str, tuple[str, Sequence[str] | None, dict[str, Any]]] = {}

    def all(self, on: Connection, parameters: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Every row, as a tuple."""
        rows: Sequence[tuple[Any, ...]] = self._run(on, parameters).fetchall()
        return rows

    def pieces(
        self, on: Connection, parameters: dict[str, Any]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Every row, some thousands at a time: where there may be more than memory should hold."""
        cursor = self._run(on, parameters)
        while rows := cursor.fetchmany(_PIECE):
            yield rows

    def _run(self, on: Connection, parameters: dict[str, Any]) -> Any:
        name = on.dialect.name
        if name not in self._made:
            compiled = self.statement.compile(dialect=on.dialect)
            self._made[name] = (str(compiled), compiled.positiontup, dict(compiled.params))
        text, order, constants = self._made[name]
        every = {**constants, **parameters}
        if order is None:
            return on.exec_driver_sql(text, every).cursor
        given = tuple([every[key] for key in order])
        driver = _driver(on)
        if driver is None:
            return on.exec_driver_sql(text, given).cursor
        return _send(on, driver.execute, text, given)


def _driver(on: Connection) -> sqlite3.Connection | None:
    """SQLite's own connection, in a transaction; None on PostgreSQL, and where somebody listens."""
    if on.dialect.name != "sqlite" or on.dispatch.before_cursor_execute:
        return None
    if not on.in_transaction():  # the usual way begins one
        return None
    held: sqlite3.Connection | None = on.connection.dbapi_connection  # type: ignore[assignment]
    return held


def _send(
    on: Connection, how: Callable[[str, Any], sqlite3.Cursor], text: str, given: Any
) -> sqlite3.Cursor:
    """Send a statement; what goes wrong is told as SQLAlchemy tells it."""
    try:
        return how(text, given)
    except sqlite3.Error as fault:
        raise DBAPIError.instance(text, given, fault, sqlite3.Error, dialect=on.dialect) from fault
