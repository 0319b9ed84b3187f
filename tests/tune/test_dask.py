"""Studies on the workers of a Dask cluster: trials of workers that die are made elsewhere."""

from __future__ import annotations

import os
import signal

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL, waited
from workbench.errors import WorkbenchError

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    # Dask changes the environment of this process (OMP_NUM_THREADS=1) and how it takes signals.
    environment, handler = dict(os.environ), signal.getsignal(signal.SIGINT)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, handler)


def test_workers_measure_a_study(client, database):
    study = wb.autotune(SMALL, sizes=SIZES, trials=10, database=database, runner=wb.tune.dask(client), seed=1).result()
    assert study.outcomes["measured"] == 11, [t for t in study.trials if not t.measured]
    assert study.best.verdict
    assert study.speedup >= 1


def test_the_trial_of_a_worker_that_is_killed_is_made_elsewhere(client, database):
    runner = wb.tune.dask(client)
    study = wb.autotune(SMALL, sizes=SIZES, trials=24, database=database, runner=runner, seed=2)
    assert waited(lambda: len(study.trials) > 3, 60)
    # What the study left with the cluster is lost with whoever has it, and whatever else that one was about to give.
    pids = client.run(os.getpid)
    for worker in client.who_has([runner.sent])[runner.sent.key]:
        os.kill(pids[worker], signal.SIGKILL)
    study.result()
    assert study.done == 24
    assert study.outcomes["measured"] == 25, [t for t in study.trials if not t.measured]


def test_what_is_no_client_is_refused():
    with pytest.raises(WorkbenchError, match=r"dask takes a distributed.Client, not 'x'"):
        wb.tune.dask("x")
