"""Builders: several processes that make libraries of candidates, or look at their schedules, at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from typing import Any

from workbench.tune.measuring.building import Built, Look, Request, Seen, Task, named
from workbench.tune.measuring.helpers import Died, Helper, TooLate

ANSWERING = "workbench.tune.measuring.building:answer"
GRACE = 0.5
"""Seconds that a builder has after its time is over: where the machine stood still, both wake at once."""


Job = Request | Look
Busy = dict[Helper, tuple[Job, float]]


class Closed(BaseException):
    """The runner was closed while it measured: nothing on the way may take it for a fault of a candidate."""


def helpers(count: int) -> list[Helper]:
    """So many processes that build, started; nobody waits for them yet."""
    found = [Helper(ANSWERING, {"OMP_NUM_THREADS": "1"}) for _ in range(count)]
    for helper in found:
        helper.spawn()
    return found


class Builders:
    """Helper processes for one task, each with so many `seconds` for a candidate."""

    def __init__(self, task: Task, helpers: Sequence[Helper], seconds: float) -> None:
        self.task = task
        self.seconds = seconds
        self.helpers = list(helpers)
        self.prepared: set[int] = set()
        self.looked: dict[str, Helper] = {}
        self.seen: dict[str, Seen | None] = {}
        self.ahead: list[Mapping[str, Any]] = []
        self.closed = False

    def close(self) -> None:
        """End them, also while another thread waits for them, which then meets `Closed`."""
        self.closed = True
        for helper in self.helpers:
            helper.stop()

    def looks(self, points: Sequence[Mapping[str, Any]]) -> list[Seen | None]:
        """What the schedules of points show; None for one that is no legal schedule."""
        self.ahead = []
        self._look_at([Look((p,)) for p in points if named(p) not in self.seen])
        found = [self.seen.get(named(p)) for p in points]
        for point in points:
            self.seen.pop(named(point), None)
        return found

    def foresee(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Points that will be looked at: a builder that has nothing to do while others build looks at them before."""
        self.ahead, self.seen = list(points), {}

    def built(self, requests: Sequence[Request]) -> Iterator[Built]:
        """What each builder makes of the next request, as it is there."""
        waiting, limit = list(requests), self.seconds
        busy: Busy = {}
        while waiting or busy:
            for helper in self.helpers:
                if helper in busy or not (job := self._next(helper, waiting, busy)):
                    continue
                failed = self._begin(helper, job)
                if failed is None:
                    busy[helper] = job, time.monotonic() + limit
                elif isinstance(job, Request):
                    yield failed
            for helper in self._answering(busy):
                job, deadline = busy.pop(helper)
                left = max(GRACE, deadline - time.monotonic())
                if isinstance(job, Request):
                    yield self._received(helper, job, left)
                else:
                    self._note(helper, job, left)

    def _look_at(self, waiting: list[Look]) -> None:
        """Give each builder the next look as it is ready: some take many times as long as others."""
        busy: Busy = {}
        while waiting or busy:
            for helper in self.helpers:
                if waiting and helper not in busy:
                    look = waiting.pop(0)
                    if self._begin(helper, look) is None:
                        busy[helper] = look, time.monotonic() + self.seconds
            for helper in self._answering(busy):
                look, deadline = busy.pop(helper)
                assert isinstance(look, Look)
                self._note(helper, look, max(GRACE, deadline - time.monotonic()))

    def _next(self, helper: Helper, waiting: list[Request], busy: Busy) -> Job | None:
        """What a builder does next: a request, or a look ahead as long as others build; None if there is nothing."""
        if waiting:
            return waiting.pop(self._suited(helper, waiting))
        if self.ahead and any(isinstance(job, Request) for job, _ in busy.values()):
            return Look((self.ahead.pop(0),))
        return None

    def _note(self, helper: Helper, look: Look, seconds: float) -> None:
        """Note what a builder saw; nothing if it did not answer."""
        try:
            answer = helper.receive(seconds)
        except Exception:  # nothing is known, then
            self._require_open()
            return
        for point, seen in zip(look.points, answer, strict=True):
            self.seen[named(point)] = seen
            self.looked[named(point)] = helper

    def _suited(self, helper: Helper, waiting: Sequence[Request]) -> int:
        """The place of the request for a builder: what it looked at, else what nobody did, else the first."""
        lookers = [self.looked.get(named(r.point)) for r in waiting]
        return next((n for wanted in (helper, None) for n, own in enumerate(lookers) if own is wanted), 0)

    def _begin(self, helper: Helper, job: Job) -> Built | None:
        """Give a builder something to do; what is wrong if it cannot."""
        self._require_open()
        try:
            helper.start()
            if helper.pid not in self.prepared:
                helper.ask(self.task, self.seconds)
                self.prepared.add(helper.pid or 0)
            helper.send(job)
        except (Died, TooLate) as how:
            self._require_open()
            return Built(job.number if isinstance(job, Request) else 0, "crashed", f"the builder {how}")
        return None

    def _answering(self, busy: Busy) -> list[Helper]:
        """Builders that have an answer, or took too long, or are gone."""
        if not busy:
            return []
        first = min(deadline for _, deadline in busy.values())
        connections = {h.connection: h for h in busy if h.connection is not None}
        try:
            found = wait(list(connections), max(0.0, first - time.monotonic()))
        except OSError:  # closed meanwhile
            self._require_open()
            return list(busy)
        gone = [h for h in busy if h.connection is None]
        late = [h for h, (_, deadline) in busy.items() if time.monotonic() >= deadline]
        return list(dict.fromkeys([*(connections[c] for c in found), *gone, *late]))  # type: ignore[index]

    def _received(self, helper: Helper, request: Request, seconds: float) -> Built:
        try:
            return helper.receive(seconds)
        except TooLate:
            return Built(request.number, "timed out", f"the builder did not answer within {self.seconds:.3g} s")
        except Died as how:
            self._require_open()
            return Built(request.number, "crashed", f"the builder {how}")
        except Exception as error:  # a mistake of ours in making a candidate costs that candidate
            return Built(request.number, "not built", f"{type(error).__name__}: {error}")

    def _require_open(self) -> None:
        if self.closed:
            raise Closed
