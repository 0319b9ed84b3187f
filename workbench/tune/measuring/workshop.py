"""Where the candidates of a study are built: a folder that goes when the study ends, and the builders' processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from workbench.tune.measuring.builders import Builders, Closed, helpers
from workbench.tune.measuring.building import Built, Request, Seen, Task
from workbench.tune.measuring.helpers import Helper
from workbench.tune.measuring.runner import Assignment, Result
from workbench.tune.trials import Outcome

PREFIX = "tensor-workbench-study-"

MOST = 8
"""Builders, where nobody says how many."""


class Workshop:
    """Builders with a folder, in processes that are there already or new ones; `ranked` ones also estimate what they
    build.
    """

    def __init__(
        self, assignment: Assignment, builders: int | None, *, ranked: bool = False, warm: Sequence[Helper] = ()
    ) -> None:
        self.closed = False
        self.folder = folder_of_study()
        self.home = Path(self.folder.name)
        self.workload = self.home / "workload"
        task = Task(
            assignment.sketch, assignment.target, assignment.toolchain, str(self.home), assignment.kernels,
            ranked=ranked,
        )  # fmt: skip
        processes = warm or helpers(builders or builder_count(assignment.threads))
        self.builders = Builders(task, processes, assignment.limits.build_seconds)

    def built(self, requests: Sequence[Request]) -> Iterator[Built]:
        """Each of them as it is built, or refused."""
        return self.builders.built(requests)

    def looks(self, points: Sequence[Mapping[str, Any]]) -> list[Seen | None]:
        """What the schedules of points show; None for one that is no legal schedule."""
        return self.builders.looks(points)

    def foresee(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Points whose looks will be asked for, which builders without work begin with."""
        self.builders.foresee(points)

    def require_open(self) -> None:
        """Closed, once it is."""
        if self.closed:
            raise Closed

    def close(self) -> None:
        """End the processes; nothing may be asked for any more."""
        self.closed = True
        self.builders.close()

    def clear(self) -> None:
        """Remove what was built."""
        with suppress(OSError):
            self.folder.cleanup()


def builder_count(threads: int) -> int:
    """Builders where a call has so many threads, and nobody says how many."""
    return max(1, min(MOST, threads))


def folder_of_study() -> TemporaryDirectory[str]:
    """A folder of this process, after those of processes that were killed are removed."""
    remove_left_behind()
    return TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-")


def remove_left_behind() -> None:
    """Folders of studies whose process was killed: nobody else removes them."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not _runs(int(number)):
            rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def refused(built: Built) -> Result:
    """The result of what could not be built."""
    assert built.outcome is not None
    return replace(result_of(built, built.outcome, built.message), began=time.time())


def result_of(built: Built, outcome: Outcome, message: str) -> Result:
    """What came of a candidate, with all that its builder found."""
    return Result(
        built.number, outcome, message, key=built.key, record=built.record, steps=built.steps,
        features=built.features, build_seconds=built.seconds,
    )  # fmt: skip
