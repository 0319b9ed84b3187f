"""The database of trials: append-only, shared by processes, mergeable, and nothing in it is ever executed."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL
from workbench.errors import WorkbenchError
from workbench.poly import lower
from workbench.tune.best_known import _from_file
from workbench.tune.problem import problem_of
from workbench.tune.storing.database import VERSION, Database, StudyKey
from workbench.tune.trials import Trial, fastest, merged

PROBLEM = problem_of(lower(SMALL, SIZES), "c")
STUDY = StudyKey("study", PROBLEM, "{}", "random", "1")

WRITER = """
import sys
from tests.tune.test_storing import *
database = Database(sys.argv[1])
study = StudyKey(f"study{sys.argv[2]}", PROBLEM, "{}", "random", sys.argv[2])
database.add_study(study)
for n in range(int(sys.argv[3])):
    database.add(study, Trial(n, {"rows": n}, "measured", 1e-3 * (n + 1), uid=f"{sys.argv[2]}-{n}"))
"""


def trial(number: int, seconds: float | None = 1e-3, **more) -> Trial:
    return Trial(number, {"rows": number}, "measured" if seconds else "wrong", seconds, uid=f"t{number}", **more)


def filled(path, count: int = 4) -> Database:
    database = Database(path)
    database.add_study(STUDY)
    for n in range(count):
        database.add(STUDY, trial(n, 1e-3 / (n + 1)))
    return database


def test_what_was_added_comes_back(database):
    store = filled(database)
    store.add(STUDY, trial(9, None))
    found = Database(database).trials("study")
    assert [t.number for t in found] == [0, 1, 2, 3, 9]
    assert found[2] == trial(2, 1e-3 / 3, features={}, confirmed=False)
    assert found[-1].outcome == "wrong"
    assert store.fastest(PROBLEM.key).number == 3
    (problem,) = store.problems()
    assert (problem["name"], problem["sizes"], problem["trials"]) == ("odd", SIZES, 5)


@pytest.mark.parametrize(("seconds", "chosen"), [(0.99e-3, 0), (0.9e-3, 1)])
def test_a_call_has_what_a_study_would_choose(database, seconds, chosen):
    store = Database(database)
    store.add_study(STUDY)
    for number, took in ((0, 1e-3), (1, seconds), (2, 0.1e-3)):
        first = trial(number, took, schedule=f"schedule {number}", source="search" if number else "default")
        store.add(STUDY, first)
        if number < 2:
            store.add(STUDY, replace(first, source="final", uid=f"f{number}"))
    assert fastest(merged(store.trials("study"))).number == chosen
    assert store.fastest(PROBLEM.key).number == chosen
    assert _from_file(str(database), PROBLEM.key)[2] == chosen


def test_a_trial_is_never_changed_and_the_same_one_is_not_added_twice(database):
    store = filled(database)
    with pytest.raises(WorkbenchError):
        store.add(STUDY, trial(2, 5.0))
    assert store.trials("study")[2].seconds == 1e-3 / 3


def test_four_processes_write_at_once_and_nothing_is_lost(database):
    Database(database).close()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(database), str(n), "60"], env=environment) for n in range(4)
    ]
    assert [w.wait(120) for w in writers] == [0] * 4
    assert len(Database(database).of_problem(PROBLEM.key)) == 240


def test_databases_are_merged_and_exported_as_lines(tmp_path):
    first, second = filled(tmp_path / "a.sqlite", 3), filled(tmp_path / "b.sqlite", 5)
    assert first.merge(second) == 2
    assert first.merge(second) == 0
    assert second.export(tmp_path / "lines.jsonl") == 5
    third = Database(tmp_path / "c.sqlite")
    assert third.load(tmp_path / "lines.jsonl") == 5
    assert third.trials("study") == second.trials("study")
    (tmp_path / "bad.jsonl").write_text('{"table": "wb_trials", "uid": "x", "evil": 1}\n')
    with pytest.raises(WorkbenchError, match=r"bad.jsonl:1: no line of an exported database"):
        third.load(tmp_path / "bad.jsonl")


def test_a_database_of_a_newer_workbench_is_left_alone(database):
    filled(database).close()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE wb_facts SET value = ? WHERE name = 'version'", (str(VERSION + 1),))
    with pytest.raises(WorkbenchError, match=f"has version '{VERSION + 1}'; this workbench knows versions up to"):
        Database(database)


def test_files_that_are_no_database_and_places_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / "text.sqlite").write_text("not a database at all, " * 100)
    with pytest.raises(WorkbenchError, match=r"text.sqlite cannot be used: file is not a database"):
        Database(tmp_path / "text.sqlite")
    with pytest.raises(WorkbenchError, match="cannot be used"):
        Database("/proc/nowhere/trials.sqlite")
    with pytest.raises(WorkbenchError, match="no URL of SQLAlchemy"):
        Database("what://:::")
    with pytest.raises(WorkbenchError, match="database=3 does not fit"):
        Database(3)


def test_a_read_only_database_can_be_opened_to_read_and_not_to_tune(database):
    filled(database).close()
    assert len(Database(database, writable=False).trials("study")) == 4
    with pytest.raises(WorkbenchError, match="was opened to be read"):
        Database(database, writable=False).add(STUDY, trial(8))


def test_nothing_in_a_malicious_database_is_executed(database, tmp_path):
    filled(database).close()
    mark = tmp_path / "executed"
    evil = f"__import__('os').system('touch {mark}')"
    pickled = b"cos\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    with closing(sqlite3.connect(database)) as connection, connection:
        for n, value in enumerate([evil, pickled, "[" * 100_000, '{"steps": "x"}', "x" * 11_000_000]):
            connection.execute(
                "INSERT INTO wb_trials"
                " (uid, study, problem, number, outcome, seconds, source, point, schedule, features)"
                " VALUES (?, 'study', ?, ?, ?, ?, 'search', ?, ?, ?)",
                (f"evil{n}", PROBLEM.key, 50 + n, "measured", 1e-9, value, value, value),
            )
    found = Database(database).trials("study")
    assert len(found) == 9
    import numpy as np

    A, w = np.ones((24, 40), "f4"), np.ones(40, "f4")
    with wb.settings(database=database), pytest.warns(RuntimeWarning, match="was not used"):
        assert wb.operator(str(SMALL.text)).plan(A, w).source == "the default recipe"
    assert not mark.exists()


def test_numbers_that_are_none_are_not_believed(database):
    filled(database).close()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE wb_trials SET seconds = -1 WHERE number = 1")
        connection.execute("UPDATE wb_trials SET seconds = 'fast' WHERE number = 2")
        connection.execute("UPDATE wb_trials SET outcome = 'excellent' WHERE number = 3")
    found = {t.number: t for t in Database(database).trials("study")}
    assert [found[n].seconds for n in (1, 2, 3)] == [None, None, None]
    assert found[3].outcome == "not built"


def test_the_key_of_a_problem_is_the_operator_the_sizes_the_layout_and_the_machine():
    other = problem_of(lower(SMALL, {"N": 25, "M": 40}), "c")
    assert other.key != PROBLEM.key
    assert other.family == PROBLEM.family
    with wb.settings(threads=1):
        assert problem_of(lower(SMALL, SIZES), "c").family != PROBLEM.family
    strided = problem_of(lower(SMALL, SIZES, {"A": (80, 1)}), "c")
    assert strided.key != PROBLEM.key
    assert json.dumps(PROBLEM.machine)
