"""Where trials are kept: an append-only database, SQLite by default, any that SQLAlchemy knows for a team.

Each trial is a transaction of its own, so that none is lost whatever ends the process; several processes may write at
once.  Everything in it is numbers and JSON: nothing is executed or unpickled when it is read.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from workbench.errors import WorkbenchError, shown
from workbench.records import record
from workbench.runtime.storage import default_directory
from workbench.settings import current
from workbench.tune.problem import Problem
from workbench.tune.trials import OUTCOMES, Trial

VERSION = 1
BUSY_SECONDS = 30.0
LONGEST = 10_000_000
"""Characters of one JSON text that are read."""

TABLES = sql.MetaData()
FACTS = sql.Table(
    "wb_facts", TABLES, sql.Column("name", sql.String(40), primary_key=True), sql.Column("value", sql.Text)
)
PROBLEMS = sql.Table(
    "wb_problems", TABLES,
    sql.Column("key", sql.String(64), primary_key=True),
    sql.Column("family", sql.String(64), index=True),
    *(sql.Column(name, sql.Text) for name in ("name", "operator", "sizes", "strides", "machine")),
)  # fmt: skip
STUDIES = sql.Table(
    "wb_studies", TABLES,
    sql.Column("key", sql.String(64), primary_key=True),
    sql.Column("problem", sql.String(64), index=True),
    *(sql.Column(name, sql.Text) for name in ("sketch", "searcher", "seed")),
    sql.Column("created", sql.Float),
)  # fmt: skip
TRIALS = sql.Table(
    "wb_trials", TABLES,
    sql.Column("uid", sql.String(40), primary_key=True),
    sql.Column("study", sql.String(64), index=True),
    sql.Column("problem", sql.String(64), index=True),
    sql.Column("number", sql.Integer),
    sql.Column("outcome", sql.String(20)),
    sql.Column("seconds", sql.Float),
    *(sql.Column(name, sql.Float) for name in ("lower", "upper", "predicted", "build_seconds", "run_seconds", "began")),
    sql.Column("round", sql.Integer),
    *(sql.Column(name, sql.Text) for name in ("source", "point", "schedule", "steps", "message", "features")),
)  # fmt: skip
sql.Index("wb_fastest", TRIALS.c.problem, TRIALS.c.seconds)


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
            self.engine = _engine(self.url, writable=writable)
            self._prepare()
        except (SQLAlchemyError, OSError) as error:
            raise WorkbenchError(f"the database {self.shown} cannot be used: {_reason(error)}") from error

    @property
    def shown(self) -> str:
        """The location without a password."""
        return sql.make_url(self.url).render_as_string(hide_password=True)

    def add_study(self, study: StudyKey) -> None:
        """Note a study, unless it is known."""
        problem = study.problem
        with self._writing() as connection:
            _insert_new(connection, PROBLEMS, {
                "key": problem.key, "family": problem.family, "name": problem.program.original.name,
                "operator": problem.operator, "sizes": json.dumps(problem.sizes),
                "strides": json.dumps(problem.strides), "machine": json.dumps(problem.machine),
            })  # fmt: skip
            _insert_new(connection, STUDIES, {
                "key": study.key, "problem": problem.key, "sketch": study.sketch, "searcher": study.searcher,
                "seed": study.seed, "created": time.time(),
            })  # fmt: skip

    def add(self, study: StudyKey, trial: Trial) -> None:
        """Note a trial; it is safe when this returns."""
        with self._writing() as connection:
            connection.execute(TRIALS.insert().values(**_row(study.key, study.problem.key, trial)))

    def trials(self, study: str) -> list[Trial]:
        """The trials of a study in the order of their numbers; a final timing follows the first one."""
        order = (TRIALS.c.number, TRIALS.c.began)
        return [_trial(row) for row in self._rows(TRIALS.select().where(TRIALS.c.study == study).order_by(*order))]

    def of_problem(self, problem: str) -> list[Trial]:
        """The trials of a problem by all studies."""
        wanted = TRIALS.select().where(TRIALS.c.problem == problem).order_by(TRIALS.c.began)
        return [_trial(row) for row in self._rows(wanted)]

    def fastest(self, problem: str) -> Trial | None:
        """The fastest trial of a problem; finals count more than what they confirm."""
        wanted = TRIALS.select().where(TRIALS.c.problem == problem, TRIALS.c.seconds.is_not(None))
        finals = wanted.where(TRIALS.c.source == "final")
        for query in (finals, wanted):
            for row in self._rows(query.order_by(TRIALS.c.seconds).limit(1)):
                return _trial(row)
        return None

    def relatives(self, problem: Problem) -> dict[str, dict[str, int]]:
        """Problems of the same operator and machine at other sizes: key → sizes."""
        wanted = PROBLEMS.select().where(PROBLEMS.c.family == problem.family, PROBLEMS.c.key != problem.key)
        return {row["key"]: _json(row["sizes"], dict) for row in self._rows(wanted)}

    def problems(self) -> list[dict[str, Any]]:
        """Every problem: key, name, operator, sizes, machine, and how many trials it has."""
        counted = sql.select(TRIALS.c.problem, sql.func.count()).group_by(TRIALS.c.problem)
        with self._reading() as connection:
            counts = {row[0]: row[1] for row in connection.execute(counted)}
        return [
            {
                "key": row["key"], "name": row["name"], "operator": row["operator"],
                "sizes": _json(row["sizes"], dict), "machine": _json(row["machine"], dict),
                "trials": counts.get(row["key"], 0),
            }
            for row in self._rows(PROBLEMS.select().order_by(PROBLEMS.c.name))
        ]  # fmt: skip

    def merge(self, other: Database) -> int:
        """Take over everything that another database has and this one has not; how many trials those were."""
        added = 0
        for table in (PROBLEMS, STUDIES, TRIALS):
            rows = [dict(row) for row in other._rows(table.select())]
            for start in range(0, len(rows), 500):
                with self._writing() as connection:
                    found = sum(_insert_new(connection, table, row) for row in rows[start : start + 500])
                added += found if table is TRIALS else 0
        return added

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write everything as JSON lines, one a problem, study or trial; how many trials."""
        count = 0
        with Path(path).open("w", encoding="utf-8") as file:
            for table in (PROBLEMS, STUDIES, TRIALS):
                for row in self._rows(table.select()):
                    file.write(json.dumps({"table": table.name, **row}) + "\n")
                    count += table is TRIALS
        return count

    def load(self, path: str | os.PathLike[str]) -> int:
        """Take over what `export` wrote; how many trials were new.  WorkbenchError names the line that is wrong."""
        tables, added = {t.name: t for t in (PROBLEMS, STUDIES, TRIALS)}, 0
        with Path(path).open(encoding="utf-8") as file, self._writing() as connection:
            for number, line in enumerate(file, 1):
                row = _json(line, dict)
                table = tables.get(row.pop("table", "")) if isinstance(row, dict) else None
                if table is None or not set(row) <= set(table.c.keys()) or not row.get(_primary(table)):
                    raise WorkbenchError(f"{path}:{number}: no line of an exported database: {shown(line[:80])}")
                added += _insert_new(connection, table, row) if table is TRIALS else 0 * _insert_new(connection, table, row)
        return added

    def close(self) -> None:
        """Let go of the file or the server."""
        self.engine.dispose()

    # -- how --

    def _prepare(self) -> None:
        if self.writable:
            with self.lock, self.engine.begin() as connection:
                TABLES.create_all(connection)
                _insert_new(connection, FACTS, {"name": "version", "value": str(VERSION)})
        with self._reading() as connection:
            found = connection.execute(sql.select(FACTS.c.value).where(FACTS.c.name == "version")).scalar()
        if not str(found).isdigit() or int(str(found)) > VERSION:
            raise WorkbenchError(
                f"the database {self.shown} has version {shown(found)}; this workbench knows versions up to {VERSION}. "
                "Update the workbench, or give another database=..."
            )

    def _rows(self, query: Any) -> Iterator[Mapping[str, Any]]:
        with self._reading() as connection:
            yield from connection.execute(query).mappings().all()

    def _reading(self) -> Any:
        return _Guarded(self, self.engine.connect())

    def _writing(self) -> Any:
        if not self.writable:
            raise WorkbenchError(f"the database {self.shown} was opened to be read")
        return _Guarded(self, self.engine.begin())


class _Guarded:
    """A connection whose errors are the workbench's."""

    def __init__(self, database: Database, context: Any) -> None:
        self.database = database
        self.context = context

    def __enter__(self) -> Connection:
        try:
            return self.context.__enter__()
        except SQLAlchemyError as error:
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {_reason(error)}") from error

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        try:
            done = self.context.__exit__(kind, error, trace)
        except SQLAlchemyError as failed:
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {_reason(failed)}") from failed
        if isinstance(error, SQLAlchemyError):
            raise WorkbenchError(f"the database {self.database.shown} cannot be used: {_reason(error)}") from error
        return done


def database_url(location: str | os.PathLike[str] | None = None) -> str:
    """The URL of a database: a path is an SQLite file, None what the settings say, or the user's own."""
    wanted = location if location is not None else current().database
    if wanted is None:
        folder = default_directory()
        folder.mkdir(parents=True, exist_ok=True)
        wanted = folder / "tuning.sqlite"
    if not isinstance(wanted, str | os.PathLike):
        raise WorkbenchError(f"database={shown(wanted)} does not fit; expected a path, or a URL of SQLAlchemy")
    text = os.fspath(wanted)
    if "://" in str(text):
        try:
            sql.make_url(str(text))
        except SQLAlchemyError as error:
            raise WorkbenchError(f"database={shown(text)} is no URL of SQLAlchemy: {_reason(error)}") from error
        return str(text)
    return f"sqlite:///{Path(os.fsdecode(text)).expanduser().absolute()}"


def _engine(url: str, *, writable: bool) -> Engine:
    """What connects to the database; SQLite in write-ahead mode, so that readers never wait."""
    made = sql.make_url(url)
    if made.get_backend_name() != "sqlite":
        try:
            return sql.create_engine(made, pool_pre_ping=True)
        except ImportError as error:
            raise WorkbenchError(f"{made.get_backend_name()} needs its driver: {error}") from error
    if writable and made.database:
        Path(made.database).parent.mkdir(parents=True, exist_ok=True)
    engine = sql.create_engine(made, connect_args={"timeout": BUSY_SECONDS})

    @sql.event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        if writable:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA trusted_schema=OFF")
        cursor.close()

    @sql.event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        del connection

    return engine


def _insert_new(connection: Connection, table: sql.Table, row: Mapping[str, Any]) -> int:
    """Insert a row unless its key is there; whether it was not.  Another process may do the same at this moment."""
    statement: Any = table.insert().values(**row)
    name = connection.dialect.name
    if name == "sqlite":
        statement = statement.prefix_with("OR IGNORE")
    elif name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert

        statement = insert(table).values(**row).on_conflict_do_nothing()
    else:
        primary = table.c[_primary(table)]
        if connection.execute(sql.select(primary).where(primary == row[primary.name])).first() is not None:
            return 0
    return max(0, connection.execute(statement).rowcount)


def _primary(table: sql.Table) -> str:
    return next(iter(table.primary_key.columns)).name


def _row(study: str, problem: str, trial: Trial) -> dict[str, Any]:
    return {
        "uid": trial.uid or uuid.uuid4().hex, "study": study, "problem": problem, "number": trial.number,
        "outcome": trial.outcome, "seconds": trial.seconds, "lower": trial.lower, "upper": trial.upper,
        "predicted": trial.predicted, "build_seconds": trial.build_seconds, "run_seconds": trial.run_seconds,
        "began": trial.began, "round": trial.round, "source": trial.source,
        "point": json.dumps(_storable(trial.point)), "schedule": trial.schedule, "steps": trial.steps,
        "message": trial.message[:4000], "features": json.dumps(dict(trial.features or {})),
    }  # fmt: skip


def _storable(point: Mapping[str, Any]) -> dict[str, Any]:
    """Options as JSON has them; those that are steps by their text."""
    plain = (str, int, float, bool, type(None), list, tuple)
    return {name: value if isinstance(value, plain) else str(value) for name, value in point.items()}


def _trial(row: Mapping[str, Any]) -> Trial:
    """A trial of a row, whatever stands in it."""
    features = _json(row["features"], dict)
    numbers = {n: float(v) for n, v in features.items() if isinstance(v, int | float)}
    outcome = row["outcome"] if row["outcome"] in OUTCOMES else "not built"
    seconds = _number(row["seconds"]) if outcome == "measured" else None
    return Trial(
        int(_number(row["number"]) or 0), _json(row["point"], dict), outcome if seconds or outcome != "measured" else "wrong",
        seconds, _number(row["lower"]), _number(row["upper"]), str(row["schedule"] or ""), str(row["steps"] or ""),
        str(row["message"] or ""), _number(row["predicted"]), numbers, _number(row["build_seconds"]) or 0.0,
        _number(row["run_seconds"]) or 0.0, _number(row["began"]) or 0.0, int(_number(row["round"]) or 0),
        str(row["source"] or ""), str(row["uid"]),
    )  # fmt: skip


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if good else None


def _json(text: Any, kind: type) -> Any:
    """JSON of some kind; an empty one for anything else."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return kind()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()


def _reason(error: Exception) -> str:
    """What the database itself said."""
    own = error.orig if isinstance(error, DatabaseError) and error.orig is not None else error
    return str(own).splitlines()[0] if str(own) else type(own).__name__
