"""Candidates on the workers of a Dask cluster: each builds and times with processes of its own, one at a time.

Times of different machines are made comparable by the reference kernel, which each worker times first.  A worker that
dies takes no trial with it: Dask gives it to another.
"""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from workbench.errors import WorkbenchError, shown
from workbench.tune.measuring.builders import Closed
from workbench.tune.measuring.building import Request, Seen, seen_at
from workbench.tune.measuring.gpu_at_hand import usual_runner
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.runner import Assignment, Result

RETRIES = 3
"""Times that a trial is given to another worker."""

WAIT_SECONDS = 0.2


def dask(client: Any, /, resources: Mapping[str, float] | None = None) -> DaskRunner:
    """A runner for `wb.autotune(..., runner=wb.tune.dask(client))` on the workers of a `distributed.Client`.

    `resources` are those of Dask that a trial takes ({"GPU": 1}), so that workers with one time one trial at a time;
    without, each worker takes one at a time anyway.
    """
    if not all(callable(getattr(client, name, None)) for name in ("submit", "run", "scheduler_info")):
        raise WorkbenchError(f"dask takes a distributed.Client, not {shown(client)}")
    return DaskRunner(client, dict(resources or {}))


class DaskRunner:
    """Measures on all workers of a cluster."""

    def __init__(self, client: Any, resources: dict[str, float]) -> None:
        self.client = client
        self.resources = resources
        self.study = ""
        self.closed = False
        self.reference: float | None = None

    def open(self, assignment: Assignment) -> None:
        """Leave the study with the scheduler, from where workers fetch it."""
        self.closed, self.study = False, uuid.uuid4().hex
        self.assignment = assignment
        # Of a task, not scattered: Dask keeps scattered data on one worker and cannot recover it when that one dies.
        self.sent = self.client.submit(bytes, pickle.dumps(assignment), pure=False, retries=RETRIES)
        self.default: Request | None = None

    def measure(self, requests: Sequence[Request], best: float | None) -> Iterator[Result]:
        """Give the requests to the workers; results in the order in which they are there."""
        if self.default is None and requests and requests[0].schedule is not None:
            self.default = requests[0]  # a study begins with its default recipe, the reference everywhere
        yield from self._all(requests, best, 1.0)

    def again(self, requests: Sequence[Request], patience: float) -> Iterator[Result]:
        """Time once more, so many times as long."""
        yield from self._all(requests, None, patience)

    def looks(self, points: Sequence[Mapping[str, Any]]) -> list[Seen | None]:
        """What the schedules of points show, found here."""
        return [seen_at(self.assignment.sketch, p, self.assignment.target) for p in points]

    def close(self) -> None:
        """End what the workers started for this study."""
        self.closed = True
        if self.study:
            with suppress(Exception):  # workers that are gone have nothing to end
                self.client.run(_end, self.study, on_error="ignore")

    def _all(self, requests: Sequence[Request], best: float | None, patience: float) -> Iterator[Result]:
        wanted: dict[str, Any] = {"pure": False, "retries": RETRIES}
        if self.resources:
            wanted["resources"] = self.resources
        ratio = None if best is None or self.reference is None else best / self.reference
        waiting = {
            self.client.submit(
                _measured, self.study, self.sent, request, self.default, ratio, patience, **wanted
            ): request
            for request in requests
        }
        while waiting:
            done = [future for future in waiting if future.done()]
            if self.closed:
                self.client.cancel(list(waiting))
                raise Closed
            for future in done:
                yield self._result(future, waiting.pop(future))
            if not done:
                threading.Event().wait(WAIT_SECONDS)

    def _result(self, future: Any, request: Request) -> Result:
        """A worker's answer, its times in those of the first machine."""
        try:
            result, reference = future.result()
        except Exception as error:  # the worker died again and again, or cannot do it
            return Result(request.number, "crashed", f"the worker: {type(error).__name__}: {error}")
        if result.seconds is None or not reference:
            return result
        self.reference = self.reference or reference
        scale = self.reference / reference
        seconds, lower, upper = (scale * (value or 0.0) for value in (result.seconds, result.lower, result.upper))
        return replace(result, seconds=seconds, lower=lower, upper=upper)


# -- on a worker --

_runners: dict[str, LocalRunner] = {}
_lock = threading.Lock()


def _measured(
    study: str, sent: bytes, request: Request, default: Request | None, ratio: float | None, patience: float
) -> tuple[Result, float | None]:
    """(what came of a candidate, seconds of the reference on this machine)."""
    with _lock:  # one candidate at a time, whatever threads a worker has
        runner = _runners.get(study)
        if runner is None or not runner.is_open:
            assignment = pickle.loads(sent)
            runner = _runners[study] = _runner_of(assignment)
            runner.open(assignment)
            if default is not None and request.schedule is None:
                list(runner.measure([default], None))
        best = None if ratio is None or runner.reference_seconds is None else ratio * runner.reference_seconds
        found = runner.again([request], patience) if patience > 1 else runner.measure([request], best)
        return next(iter(list(found))), runner.first_seconds


def _runner_of(assignment: Assignment) -> LocalRunner:
    """Who measures on this worker; WorkbenchError for a GPU that it has not: estimates are no measurements."""
    found = usual_runner(assignment.target)
    if not isinstance(found, LocalRunner):
        raise WorkbenchError(f"this worker has no {assignment.target.device.name} to measure on")
    found.count = 1
    return found


def _end(study: str) -> None:
    runner = _runners.pop(study, None)
    if runner is not None:
        runner.close()
