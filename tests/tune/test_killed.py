"""kill -9 at any moment: no finished trial is lost, the study goes on or is taken up again, nothing is left running."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import workbench as wb
from tests.support import examples
from tests.tune.support import SIZES, SMALL, alive, descendants, waited
from workbench.tune.measuring.workshop import PREFIX, remove_left_behind
from workbench.tune.storing.database import Database

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import workbench as wb
from tests.tune.support import SMALL, SIZES
study = wb.autotune(SMALL, sizes=SIZES, trials=400, database=sys.argv[1], seed=7)
study.listen(lambda: print(*(t.uid for t in study.trials if t.measured), flush=True))
study.result()
"""


def test_a_helper_that_is_killed_costs_its_candidate_at_most(database):
    draw, wished = random.Random(0), examples(quick=6, ci=12, full=60)
    many = {"M": 24, "N": 20, "K": 28}  # of the small one all schedules are soon tried
    study = wb.autotune(wb.ops.matmul, sizes=many, trials=10_000, database=database, seed=5)
    assert waited(lambda: len(study.trials) > 2)
    for _ in range(wished):
        time.sleep(draw.uniform(0.0, 0.5))
        helpers = [p for p in descendants(os.getpid()) if alive(p)]
        if helpers:
            try:
                os.kill(draw.choice(helpers), signal.SIGKILL)
            except ProcessLookupError:
                continue
        assert study.state == "running", study.reason
    count = len(study.trials)
    assert waited(lambda: len(study.trials) > count + 4, 120.0), (study.state, study.reason)
    study.stop()
    broken = [t for t in study.trials if not t.measured]
    assert len(broken) <= wished
    assert all(t.outcome in ("crashed", "not built") for t in broken), broken
    assert len(Database(database).trials(study.key.key)) >= len(study.trials)


def test_a_notebook_that_is_killed_loses_no_trial_and_leaves_nothing_running(database):
    draw, known = random.Random(1), set()
    for _ in range(examples(quick=2, ci=4, full=40)):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(database)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()  # the study runs
        time.sleep(draw.uniform(0.0, 2.0))
        helpers = descendants(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read()
        process.wait()
        said = {uid for text in (line, *rest.splitlines()[:-1]) for uid in text.split()}
        assert waited(lambda own=helpers: not any(map(alive, own)), 10.0)
        stored = {t.uid for t in _all(database)}
        assert said | known <= stored
        known = stored
    remove_left_behind()
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{process.pid}-*"))
    study = wb.autotune(SMALL, sizes=SIZES, trials=0, database=database, seed=7)
    assert {t.uid for t in study.trials} <= known
    assert len(study.trials) > 2


def _all(database):
    store = Database(database)
    return [t for problem in store.problems() for t in store.of_problem(problem["key"])]
