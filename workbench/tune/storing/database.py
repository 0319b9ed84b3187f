"""Where trials are kept: an append-only database, SQLite by default, any that SQLAlchemy knows for a team.

Each trial is a transaction of its own, so that none is lost whatever ends the process; several processes may write at
once.  Everything in it is numbers and JSON: nothing is executed or unpickled when it is read.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import IO, Any, Literal

import sqlalchemy as sql
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError, ProgrammingError, SQLAlchemyError

from workbench.errors import WorkbenchError, shown
from workbench.records import record
from workbench.tune.problem import Problem
from workbench.tune.storing.connecting import WRITING, database_url, engine_of, insert_new, reason
from workbench.tune.storing.tables import (
    FACTS,
    PROBLEMS,
    STUDIES,
    TABLES,
    TRIALS,
    primary,
    read_json,
    row_of,
    trial_of,
)
from workbench.tune.trials import DEFAULT_NUMBER, TIED, Trial

VERSION = 1

_NEW_TRIAL = TRIALS.insert()
"""Made once, with its values apart: to write it anew takes longer than the whole transaction."""


@record
class StudyKey:
    """Which study: its problem, and what makes its trials one sequence."""

    key: str
    problem: Problem
    sketch: str
    searcher: str
    seed: str


class Database:
    """An open database.  WorkbenchError where it cannot be read or written, or was made by a newer workbench."""

    def __init__(self, location: str | os.PathLike[str] | None = None, *, writable: bool = True) -> None:
        self.url = database_url(location)
        self.writable = writable
        self.lock = threading.Lock()
        try:
            self.engine = engine_of(self.url, writable=writable)
            self._prepare()
        except (SQLAlchemyError, OSError) as error:
            raise WorkbenchError(f"the database {self.shown} cannot be used: {reason(error)}") from error

    @property
    def shown(self) -> str:
        """The location without a password."""
        return sql.make_url(self.url).render_as_string(hide_password=True)

    def add_study(self, study: StudyKey) -> None:
        """Note a study, unless it is known."""
        problem = study.problem
        with self._writing() as connection:
            insert_new(connection, PROBLEMS, {
                "key": problem.key, "family": problem.family, "name": problem.program.original.name,
                "operator": problem.operator, "sizes": json.dumps(problem.sizes),
                "strides": json.dumps(problem.strides), "machine": json.dumps(problem.machine),
            })  # fmt: skip
            insert_new(connection, STUDIES, {
                "key": study.key, "problem": problem.key, "sketch": study.sketch, "searcher": study.searcher,
                "seed": study.seed, "created": time.time(),
            })  # fmt: skip

    def add(self, study: StudyKey, trial: Trial) -> None:
        """Note a trial; it is safe when this returns."""
        with self._writing() as connection:
            connection.execute(_NEW_TRIAL, row_of(study.key, study.problem.key, trial))

    def trials(self, study: str) -> list[Trial]:
        """The trials of a study in the order of their numbers; a final timing follows the first one."""
        order = (TRIALS.c.number, TRIALS.c.began)
        return [trial_of(row) for row in self._rows(TRIALS.select().where(TRIALS.c.study == study).order_by(*order))]

    def of_problem(self, problem: str) -> list[Trial]:
        """The trials of a problem by all studies."""
        wanted = TRIALS.select().where(TRIALS.c.problem == problem).order_by(TRIALS.c.began)
        return [trial_of(row) for row in self._rows(wanted)]

    def fastest(self, problem: str) -> Trial | None:
        """The fastest trial of a problem, as `trials.fastest` chooses; finals count more than what they confirm."""
        seconds = sql.case((TRIALS.c.number == DEFAULT_NUMBER, TRIALS.c.seconds / TIED), else_=TRIALS.c.seconds)
        wanted = TRIALS.select().where(TRIALS.c.problem == problem, TRIALS.c.seconds.is_not(None))
        finals = wanted.where(TRIALS.c.source == "final")
        for query in (finals, wanted):
            for row in self._rows(query.order_by(seconds).limit(1)):
                return trial_of(row)
        return None

    def relatives(self, problem: Problem) -> dict[str, dict[str, int]]:
        """Problems of the same operator and machine at other sizes: key → sizes."""
        wanted = PROBLEMS.select().where(PROBLEMS.c.family == problem.family, PROBLEMS.c.key != problem.key)
        return {row["key"]: read_json(row["sizes"], dict) for row in self._rows(wanted)}

    def problems(self) -> list[dict[str, Any]]:
        """Every problem: key, name, operator, sizes, machine, and how many trials it has."""
        counted = sql.select(TRIALS.c.problem, sql.func.count()).group_by(TRIALS.c.problem)
        with self._reading() as connection:
            counts = {row[0]: row[1] for row in connection.execute(counted)}
        return [
            {
                "key": row["key"], "name": row["name"], "operator": row["operator"],
                "sizes": read_json(row["sizes"], dict), "machine": read_json(row["machine"], dict),
                "trials": counts.get(row["key"], 0),
            }
            for row in self._rows(PROBLEMS.select().order_by(PROBLEMS.c.name))
        ]  # fmt: skip

    def studies(self) -> list[dict[str, Any]]:
        """Every study: key, searcher, seed, sketch, when it began, how many trials it has, and its problem's data."""
        counted = sql.select(TRIALS.c.study, sql.func.count(TRIALS.c.number.distinct())).group_by(TRIALS.c.study)
        joined = sql.select(PROBLEMS, STUDIES).join(STUDIES, STUDIES.c.problem == PROBLEMS.c.key)
        with self._reading() as connection:
            counts = {row[0]: row[1] for row in connection.execute(counted)}
            rows = connection.execute(joined.order_by(STUDIES.c.created)).all()
        texts, numbers = ("name", "operator", "sketch", "searcher", "seed", "created"), ("sizes", "strides", "machine")
        return [
            {
                **{name: row._mapping[name] for name in texts}, "key": row._mapping[STUDIES.c.key],
                **{name: read_json(row._mapping[name], dict) for name in numbers},
                "trials": counts.get(row._mapping[STUDIES.c.key], 0),
            }
            for row in rows
        ]  # fmt: skip

    def merge(self, other: Database) -> int:
        """Take over everything that another database has and this one has not; how many trials those were."""
        added = 0
        for table in (PROBLEMS, STUDIES, TRIALS):
            rows = [dict(row) for row in other._rows(table.select())]
            for start in range(0, len(rows), 500):
                with self._writing() as connection:
                    found = sum(insert_new(connection, table, row) for row in rows[start : start + 500])
                added += found if table is TRIALS else 0
        return added

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write everything as JSON lines, one a problem, study or trial (compressed, to `.gz`); how many trials."""
        count = 0
        with _lines(path, "wt") as file:
            for table in (PROBLEMS, STUDIES, TRIALS):
                for row in self._rows(table.select()):
                    file.write(json.dumps({"table": table.name, **row}) + "\n")
                    count += table is TRIALS
        return count

    def load(self, path: str | os.PathLike[str]) -> int:
        """Take over what `export` wrote; how many trials were new.  WorkbenchError names the line that is wrong."""
        tables, added = {t.name: t for t in (PROBLEMS, STUDIES, TRIALS)}, 0
        with _lines(path) as file, self._writing() as connection:
            for number, line in enumerate(file, 1):
                row = read_json(line, dict)
                table = tables.get(row.pop("table", "")) if isinstance(row, dict) else None
                if table is None or not set(row) <= set(table.c.keys()) or not row.get(primary(table)):
                    raise WorkbenchError(f"{path}:{number}: no line of an exported database: {shown(line[:80])}")
                added += insert_new(connection, table, row) * (table is TRIALS)
        return added

    def close(self) -> None:
        """Let go of the file or the server."""
        self.engine.dispose()

    # -- how --

    def _prepare(self) -> None:
        if self.writable:
            with self.lock:
                try:
                    self._make_tables()
                except WorkbenchError as error:
                    if not isinstance(error.__cause__, IntegrityError | ProgrammingError):
                        raise
                    self._make_tables()  # another process made them between the look and the making
        with self._reading() as connection:
            found = connection.execute(sql.select(FACTS.c.value).where(FACTS.c.name == "version")).scalar()
        if not str(found).isdigit() or int(str(found)) > VERSION:
            raise WorkbenchError(
                f"the database {self.shown} has version {shown(found)}; this workbench knows versions up to {VERSION}. "
                "Update the workbench, or give another database=..."
            )

    def _make_tables(self) -> None:
        """Make the tables that are not there."""
        with self._writing() as connection:
            TABLES.create_all(connection)
            insert_new(connection, FACTS, {"name": "version", "value": str(VERSION)})

    def _rows(self, query: Any) -> Iterator[Mapping[str, Any]]:
        with self._reading() as connection:
            yield from connection.execute(query).mappings().all()

    def _reading(self) -> Any:
        return _Guarded(self, self.engine.connect())

    def _writing(self) -> Any:
        if not self.writable:
            raise WorkbenchError(f"the database {self.shown} was opened to be read")
        return _Guarded(self, self.engine.execution_options(**{WRITING: True}).begin())


def _lines(path: str | os.PathLike[str], mode: Literal["rt", "wt"] = "rt") -> IO[str]:
    """A file of lines, compressed where its name says so."""
    return gzip.open(path, mode, encoding="utf-8") if str(path).endswith(".gz") else open(path, mode, encoding="utf-8")


class _Guarded:
    """A connection whose errors are the workbench's."""

    def __init__(self, database: Database, context: Any) -> None:
        self.database = database
        self.context = context

    def __enter__(self) -> Connection:
        try:
            return self.context.__enter__()
        except SQLAlchemyError as error:
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {reason(error)}") from error

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        try:
            done = self.context.__exit__(kind, error, trace)
        except SQLAlchemyError as failed:
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {reason(failed)}") from failed
        if isinstance(error, SQLAlchemyError):
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {reason(error)}") from error
        return done
