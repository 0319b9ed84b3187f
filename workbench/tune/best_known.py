"""The best known schedule of a call: what the database has for just these sizes, layouts and machine."""

from __future__ import annotations

import sqlite3
import warnings
from contextlib import closing, suppress
from pathlib import Path

from workbench.errors import ScheduleError, WorkbenchError
from workbench.poly.programs.program import Program
from workbench.runtime.compilers.storage import default_database
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.measuring.timing import duration
from workbench.schedules import Schedule
from workbench.settings import current
from workbench.target import Target
from workbench.tune.problem import Problem
from workbench.tune.trials import DEFAULT_NUMBER, TIED

FASTEST = f"""
    SELECT schedule, seconds, number, study FROM wb_trials
    WHERE problem = ? AND outcome = 'measured' AND seconds > 0
    ORDER BY source = 'final' DESC, CASE WHEN number = {DEFAULT_NUMBER} THEN seconds / {TIED} ELSE seconds END LIMIT 1
"""
"""As `trials.fastest` chooses in a study."""

WAIT_SECONDS = 1.0


def best_known(program: Program, target: Target, toolchain: Toolchain, threads: int) -> tuple[Schedule, str] | None:
    """(schedule, where it comes from); None where nothing is known, or the settings say not to look.

    A record that cannot be used is left aside with a warning: a call never fails for what a database holds.
    """
    settings = current()
    if not settings.tuned:
        return None
    location = settings.database or str(default_database())
    if "://" not in location and not Path(location).expanduser().is_file():
        return None
    problem = Problem(program, target, toolchain, threads)
    try:
        found = _from_file(location, problem.key) if "://" not in location else _from_server(location, problem.key)
        if found is None:
            return None
        record, seconds, number = found
        schedule = Schedule.from_json(program, record)
    except (WorkbenchError, sqlite3.Error, OSError) as error:
        warnings.warn(f"the database of tuned schedules was not used: {error}", RuntimeWarning, stacklevel=2)
        return None
    return schedule, f"trial {number} of a study ({duration(seconds)} when it was measured), {location}"


def _from_file(location: str, key: str) -> tuple[str, float, int] | None:
    """The fastest trial of a problem in an SQLite file, which is only read."""
    path = Path(location).expanduser().absolute()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=WAIT_SECONDS)) as connection:
        try:
            row = connection.execute(FASTEST, (key,)).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
    return None if row is None else _checked(*row[:3])


def _from_server(location: str, key: str) -> tuple[str, float, int] | None:
    from workbench.tune.storing.database import Database  # SQLAlchemy takes longer to load than a kernel to build

    database = Database(location, writable=False)
    try:
        trial = database.fastest(key)
    finally:
        with suppress(WorkbenchError):
            database.close()
    return None if trial is None or trial.seconds is None else (trial.schedule, trial.seconds, trial.number)


def _checked(record: object, seconds: object, number: object) -> tuple[str, float, int]:
    if not (isinstance(record, str) and isinstance(seconds, float) and isinstance(number, int)):
        raise ScheduleError("a trial in it is damaged")
    return record, seconds, number
