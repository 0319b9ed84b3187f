"""Programs under a time limit: whatever comes in between, none is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from workbench.runtime.host import processes
from workbench.runtime.host.processes import CannotStart, run_limited

SLEEP = (sys.executable, "-c", "import time; time.sleep(100)")


@pytest.fixture
def interruptible():
    """SIGINT raises here, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("delay", [0.0, 0.05], ids=["at once", "soon"])
def test_an_interrupt_while_a_program_starts_leaves_none_running(monkeypatch, interruptible, delay):
    started = []
    real = subprocess.Popen

    def interrupted(*arguments, **options):
        process = real(*arguments, **options)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(delay)
        return process

    monkeypatch.setattr(processes.subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_limited(SLEEP, 60)
    assert [p.returncode for p in started] == [-signal.SIGKILL]


def test_a_program_that_takes_too_long_is_ended():
    finished = run_limited(SLEEP, 0.2)
    assert (finished.code, str(finished)) == (None, "did not finish in time")


def test_a_program_that_is_missing_cannot_be_started(tmp_path):
    with pytest.raises(CannotStart, match="No such file"):
        run_limited((str(tmp_path / "missing"),), 5)


@pytest.mark.parametrize("known", [True, False])
def test_the_status_is_the_same_whether_the_system_can_tell_of_an_end_or_not(known, monkeypatch):
    if not known:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert run_limited((sys.executable, "-c", "import sys; sys.exit(7)"), 60).code == 7
    assert run_limited(SLEEP, 0.2).code is None
    assert run_limited((sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"), 60).code == -9


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="install Linux: nothing else tells of the end of a process")
def test_nobody_looks_at_intervals_whether_a_program_has_ended(monkeypatch):
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    assert run_limited((sys.executable, "-c", "import time; time.sleep(0.2)"), 60).code == 0
    assert waits == []
