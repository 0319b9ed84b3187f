"""Connections to a database: where it is, how SQLite is set up, rows that are new."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from workbench.errors import WorkbenchError, shown
from workbench.runtime.compilers.storage import default_database
from workbench.settings import current
from workbench.tune.storing.tables import primary

BUSY_SECONDS = 30.0

WRITING = "workbench_writing"
"""The option of a connection that is going to write."""


def database_url(location: str | os.PathLike[str] | None = None) -> str:
    """The URL of a database: a path is an SQLite file, None what the settings say, or the user's own."""
    wanted = location if location is not None else current().database
    wanted = default_database() if wanted is None else wanted
    if not isinstance(wanted, str | os.PathLike):
        raise WorkbenchError(f"database={shown(wanted)} does not fit; expected a path, or a URL of SQLAlchemy")
    text = os.fspath(wanted)
    if "://" in str(text):
        try:
            sql.make_url(str(text))
        except (SQLAlchemyError, ValueError) as error:
            raise WorkbenchError(f"database={shown(text)} is no URL of SQLAlchemy: {reason(error)}") from error
        return str(text)
    return f"sqlite:///{Path(os.fsdecode(text)).expanduser().absolute()}"


def engine_of(url: str, *, writable: bool) -> Engine:
    """What connects to the database; SQLite in write-ahead mode, so that readers never wait."""
    made = sql.make_url(url)
    if made.get_backend_name() != "sqlite":
        try:
            return sql.create_engine(made, pool_pre_ping=True)
        except ImportError as error:
            raise WorkbenchError(f"{made.get_backend_name()} needs its driver: {error}") from error
    if writable and made.database and not made.database.startswith("file:"):
        Path(made.database).parent.mkdir(parents=True, exist_ok=True)
    engine = sql.create_engine(made, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, see `begin`
        if writable:
            _patiently(connection, "PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA trusted_schema=OFF")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # One that reads first and writes then is refused at once when another wrote between; this one waits its turn.
        writing = connection.get_execution_options().get(WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _patiently(connection: Any, statement: str) -> None:
    """Execute what SQLite does not wait for by itself while others use the file."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def insert_new(connection: Connection, table: sql.Table, row: Mapping[str, Any]) -> int:
    """Insert a row unless its key is there; whether it was not.  Another process may do the same at this moment."""
    statement: Any = table.insert().values(**row)
    name = connection.dialect.name
    if name == "sqlite":
        statement = statement.prefix_with("OR IGNORE")
    elif name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert

        statement = insert(table).values(**row).on_conflict_do_nothing()
    else:
        own = table.c[primary(table)]
        if connection.execute(sql.select(own).where(own == row[own.name])).first() is not None:
            return 0
    return max(0, connection.execute(statement).rowcount)


def reason(error: Exception) -> str:
    """What the database itself said."""
    own = error.orig if isinstance(error, DatabaseError) and error.orig is not None else error
    return str(own).splitlines()[0] if str(own) else type(own).__name__
