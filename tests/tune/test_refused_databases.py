"""Studies on databases that are read-only, newer, damaged or malicious; and what is there at all, by name."""

from __future__ import annotations

import inspect
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL, sketch
from workbench.errors import WorkbenchError
from workbench.tune.storing.database import VERSION, Database

PLAN = """
import sys, numpy as np, workbench as wb
from tests.tune.support import SMALL
A, w = np.ones((24, 40), "f4"), np.ones(40, "f4")
print(SMALL.plan(A, w).source)
"""


@pytest.fixture
def tuned(database):
    """A database with a study of three trials."""
    wb.autotune(sketch(), trials=3, searcher="grid", database=database, seed=1).result()
    return database


def again(database, trials: int = 0) -> wb.tune.Study:
    return wb.autotune(sketch(), trials=trials, searcher="grid", database=database, seed=1)


def test_the_names_of_a_study_are_as_they_are_promised():
    given = inspect.signature(wb.autotune).parameters
    usual = {name: p.default for name, p in given.items()}
    assert list(usual)[1:8] == ["sizes", "target", "trials", "searcher", "database", "runner", "seed"]
    promised = {"sizes": None, "target": "c", "trials": 200, "searcher": "xgb", "database": None, "runner": None}
    assert usual.items() >= {**promised, "seed": None}.items()
    for name in ("result", "best", "trials", "pause", "resume", "stop", "figure"):
        assert hasattr(wb.tune.Study, name), name
    assert callable(wb.calibrate)
    assert callable(wb.tune.dask)
    assert {"xgb", "random", "optuna"} <= set(wb.tune.searchers())


def test_a_read_only_database_is_opened_as_it_is_and_not_tuned_on(tuned):
    store = Database(tuned, writable=False)
    study = again(store)
    assert (study.state, len(study.trials)) == ("finished", 4)
    assert study.best.verdict
    with pytest.raises(WorkbenchError, match="was opened to be read"):
        again(store, trials=9)
    other = wb.autotune(SMALL, sizes=SIZES, trials=0, database=store)
    assert other.trials == ()


def test_a_file_that_may_only_be_read_is_named(tuned):
    with pytest.raises(WorkbenchError, match=r"trials.sqlite.* cannot be used: attempt to write a readonly database"):
        again(f"sqlite:///file:{tuned}?mode=ro&uri=true", trials=9)


def test_a_database_of_a_newer_workbench_is_not_tuned_on(tuned):
    with closing(sqlite3.connect(tuned)) as connection, connection:
        connection.execute("UPDATE wb_facts SET value = ? WHERE name = 'version'", (str(VERSION + 1),))
    with pytest.raises(WorkbenchError, match=f"has version '{VERSION + 1}'.*Update the workbench"):
        again(tuned)


def test_a_study_with_malicious_rows_is_opened_goes_on_and_executes_nothing(tuned, tmp_path):
    mark = tmp_path / "executed"
    evil = f"__import__('os').system('touch {mark}')"
    pickled = b"cos\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    study = again(tuned)
    with closing(sqlite3.connect(tuned)) as connection, connection:
        for n, value in enumerate([evil, pickled, "[" * 100_000, '{"steps": "x"}', f'{{"rows": "{evil}"}}']):
            connection.execute(
                "INSERT INTO wb_trials"
                " (uid, study, problem, number, outcome, seconds, source, point, schedule, features)"
                " VALUES (?, ?, ?, ?, 'measured', 1e-9, 'search', ?, ?, ?)",
                (f"evil{n}", study.key.key, study.key.problem.key, 50 + n, value, value, value),
            )
    found = again(tuned)
    assert len(found.trials) == 9
    with pytest.raises(WorkbenchError):
        found.schedule(50)
    assert str(found)
    found.figure()
    more = again(tuned, trials=9).result()
    assert [t.measured and "tile" in t.steps for t in more.trials if t.number > 54] == [True]
    assert not mark.exists()


@pytest.mark.parametrize("variables", [{}, {"WORKBENCH_TUNED": "0"}])
def test_what_calls_run_is_chosen_by_the_environment_too(tuned, variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **variables}
    environment["WORKBENCH_DATABASE"] = str(tuned)
    done = subprocess.run([sys.executable, "-c", PLAN], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the default recipe" if variables else "trial "), done.stdout
