"""The database of trials on a real PostgreSQL, which the test starts on a socket of its own and stops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

import workbench as wb
from tests.tune.support import SIZES, SMALL
from tests.tune.test_storing import PROBLEM, STUDY, WRITER, trial
from workbench.errors import WorkbenchError
from workbench.tune.storing.database import Database

BINARIES = next(iter(sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)), "")
INITDB = shutil.which("initdb", path=f"{BINARIES}{os.pathsep}{os.environ.get('PATH', '')}")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(INITDB is None, reason="install postgresql, for the tests of a database that a team shares"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The URL of an empty database; the server listens on a socket in a folder of ours, and on no port."""
    assert INITDB is not None
    home = tmp_path_factory.mktemp("pg")
    # A path of a socket has at most a hundred characters, and root may not run the server.
    short = Path(f"/tmp/wb-pg-{os.getpid()}")
    short.mkdir(mode=0o777)
    folders = (home, short) if os.geteuid() else (short, short)
    run = _as_user(short)
    data = folders[0] / "data"
    try:
        run([INITDB, "-D", str(data), "-A", "trust", "-U", "tester"])
        control = str(Path(INITDB).with_name("pg_ctl"))
        options = f"-c listen_addresses='' -c unix_socket_directories={short}"
        run([control, "-D", str(data), "-l", str(folders[0] / "log"), "-w", "-o", options, "start"])
        yield f"postgresql+pg8000://tester@/postgres?unix_sock={short}/.s.PGSQL.5432"
        run([control, "-D", str(data), "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(short, ignore_errors=True)


def _as_user(folder: Path):
    """What runs a program of the server; as the user `postgres` where we are root."""
    prefix = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def run(command: list[str]) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
        whole = [*prefix, *command]
        done = subprocess.run(whole, cwd="/", capture_output=True, text=True, timeout=120, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def test_trials_are_kept_and_the_same_one_is_not_added_twice(server):
    store = Database(server)
    store.add_study(STUDY)
    store.add_study(STUDY)
    for n in range(4):
        store.add(STUDY, trial(n, 1e-3 / (n + 1)))
    with pytest.raises(WorkbenchError, match="cannot be used"):
        store.add(STUDY, trial(2))
    again = Database(server)
    assert [t.number for t in again.trials("study")] == [0, 1, 2, 3]
    assert again.fastest(PROBLEM.key).number == 3


@pytest.fixture
def empty(server):
    """The URL of a database without tables."""
    with create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("CREATE DATABASE empty"))
    return server.replace("/postgres?", "/empty?")


def test_four_processes_make_the_tables_and_write_at_once(empty):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, empty, str(n), "25"], env=environment) for n in range(4)
    ]
    assert [w.wait(120) for w in writers] == [0] * 4
    assert sum(t.uid.count("-") == 1 for t in Database(empty).of_problem(PROBLEM.key)) == 100


def test_a_study_runs_on_it_and_calls_find_their_schedule_there(server):
    import numpy as np

    study = wb.autotune(SMALL, sizes=SIZES, trials=5, database=server, seed=1).result()
    assert study.outcomes["measured"] == 6
    A, w = np.ones((24, 40), "f4"), np.ones(40, "f4")
    with wb.settings(database=server):
        assert wb.operator(SMALL.text).plan(A, w).source.startswith("trial ")


def test_a_server_that_is_not_there_is_named_without_its_password():
    with pytest.raises(WorkbenchError, match=r"postgresql\+pg8000://me:\*\*\*@/none.*cannot be used") as caught:
        Database("postgresql+pg8000://me:secret@/none?unix_sock=/nowhere")
    assert "secret" not in str(caught.value)
