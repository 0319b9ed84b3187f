"""The measurements of a panel: asked for by a click or from Python, made beside, kept by schedule."""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.measuring.builders import Closed
from workbench.tune.measuring.runner import Limits
from workbench.viz.messages.measuring import MeasuredData
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.history import History
from workbench.viz.panels.measuring.bench import NO_GPU, Bench, has_gpu, wants_gpu
from workbench.viz.panels.measuring.gained import gained_by_place
from workbench.viz.panels.measuring.known import Key, Known, key_of, places, told
from workbench.viz.panels.measuring.measured import Measured, came_of, hardware_words, said_of

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

IDLE_SECONDS = 600.0
"""Processes that nobody asked anything for so long end."""

RUN_SECONDS = 30.0
"""A kernel, or NumPy, is given up after so long."""


STOPPED = Measured("stopped")


@dataclass(eq=False)
class Job:
    """A schedule that is to be measured for a machine (or only what it takes to be `warm`).

    `ended` is set when it was measured, or stopped.
    """

    schedule: Schedule
    target: Target
    warm: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    came: Measured = STOPPED

    @property
    def key(self) -> Key:
        return key_of(self.schedule, self.target)


class Measuring:
    """Keeps the trait `measured` of a panel.

    A panel's lock is taken before this one, never after: whoever holds this one waits for nothing.
    """

    def __init__(self, panel: Panel, limits: Limits | None = None) -> None:
        self.limits = limits or Limits(run_seconds=RUN_SECONDS, counters=True)
        self._panel = weakref.ref(panel)
        self._changed = threading.Condition()
        self._waiting: list[Job] = []
        self._now: Job | None = None
        self._doing = self._said = self._about = ""
        self._known = Known()
        self._benches: dict[tuple[Any, ...], Bench] = {}
        self._thread: threading.Thread | None = None
        weakref.finalize(panel, self.stop)

    # -- what is asked for

    def act(self, do: str = "now") -> None:
        """What the front end asks for; WorkbenchError that lists what there is."""
        if do not in _ACTIONS:
            raise WorkbenchError(unknown_name("action", str(do), list(_ACTIONS)))
        _ACTIONS[do](self)
        self._tell()

    def begin(self, schedule: Schedule, *, warm: bool = False) -> Job:
        """A schedule to be measured after those that wait; the job of one that waits already."""
        job = Job(schedule, self._shown().target, warm)
        with self._changed:
            same = [known for known in self._jobs() if known.key == job.key and known.warm == warm]
            if same:
                return same[0]
            self._waiting.append(job)
            if self._thread is None:
                inside = contextvars.copy_context()
                self._thread = threading.Thread(target=inside.run, args=(self._work,), name="measuring", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return job

    def begin_all(self) -> None:
        """Every schedule of the history of which nothing is known yet."""
        panel = self._shown()
        with self._changed:
            wanted = [m.schedule for m in panel.history.moments if key_of(m.schedule, panel.target) not in self._known]
        for schedule in dict.fromkeys(wanted):
            self.begin(schedule)

    def now(self, schedule: Schedule) -> Measured:
        """Measure and wait for it; an interrupt stops it."""
        job = self.begin(schedule)
        self._tell()
        try:
            while not job.ended.wait(0.05):  # an interrupt is heard in between
                pass
        except KeyboardInterrupt:
            self.stop()
            raise
        return job.came

    def stop(self) -> None:
        """What runs and what waits is given up, with its processes; what is known stays."""
        with self._changed:
            jobs = self._jobs()
            self._said = f"stopped: {self._doing}" if self._doing else ""
            self._doing, self._now, self._waiting = "", None, []
            self._leave()
        for job in jobs:
            job.ended.set()

    def known(self, target: Target) -> Mapping[Schedule, Measured]:
        """What was measured for a machine, by schedule."""
        with self._changed:
            return self._known.on(target)

    # -- what the front end is told

    def payload(self, history: History, target: Target) -> MeasuredData:
        """By places of a history; see docs/panel.md."""
        with self._changed:
            naive, numpy = self._known.beside(history, target)
            busy = {job.key for job in self._jobs() if not job.warm}
            about, doing, said = self._about, self._doing, self._said
            came = self._known.by_place(history, target)
        return {
            "about": about, "doing": doing, "said": said, "busy": places(history, target, busy),
            "moments": [told(one) for one in came], "gained": gained_by_place(history, came, target),
            "naive": naive, "numpy": numpy,
        }  # fmt: skip

    def _tell(self) -> None:
        panel = self._panel()
        if panel is not None:
            with panel.lock:
                panel.measured = dict(self.payload(panel.history, panel.target))

    def _say(self, doing: str, about: str = "") -> None:
        with self._changed:
            if self._mine():
                self._doing, self._about = doing, about or self._about
        self._tell()

    def _shown(self) -> Panel:
        panel = self._panel()
        assert panel is not None
        return panel

    def _jobs(self) -> list[Job]:
        return [job for job in (self._now, *self._waiting) if job]

    # -- beside

    def _work(self) -> None:
        """One job after another, until nobody asks for a while, or another thread works instead."""
        while job := self._next():
            try:
                self._measure(job)
            except Closed:  # it was stopped
                return
            except Exception as error:  # the front end waits, whatever happened
                self._keep(job, Measured("not built", message=f"{type(error).__name__}: {error}"))
            self._end(job)

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or not self._mine(), IDLE_SECONDS)
            if not self._mine():
                return None
            if not self._waiting:
                self._leave()
                return None
            self._now = self._waiting.pop(0)
            return self._now

    def _mine(self) -> bool:
        """Whether this thread is the one that works: one that was stopped may still wait for something."""
        return self._thread is threading.current_thread()

    def _require_mine(self) -> None:
        if not self._mine():
            raise Closed

    def _leave(self) -> None:
        """The thread is left to itself, and its processes end: the next job meets new ones."""
        self._thread = None
        for bench in self._benches.values():
            bench.close()
        self._benches = {}
        self._changed.notify_all()

    def _end(self, job: Job) -> None:
        with self._changed:
            if not self._mine():
                return
            came = self._known.of(job.key)
            job.came = job.came if came is None else came
            self._doing, self._now = "", None
            self._said = self._said if job.warm else said_of(job.came, job.schedule.program.name)
        self._tell()
        job.ended.set()

    def _measure(self, job: Job) -> None:
        """The schedule first, as that is what somebody waits for; then, once, what it is compared with."""
        if job.warm:
            with suppress(WorkbenchError):
                self._bench(job)
            return
        self._keep(job, self._came(job, _words(job.schedule)))
        naive = Job(job.schedule.start, job.target)
        if naive.key not in self._known:
            self._keep(naive, self._came(naive, "the naive schedule"))
        self._compare(naive)

    def _compare(self, naive: Job) -> None:
        """What NumPy takes, where the program can be measured at all."""
        program = naive.schedule.original
        if self._known.of_numpy(program) is not None:
            return
        self._say("timing NumPy")
        try:
            bench = self._bench(naive)
            came = came_of(bench.of_numpy(), bench.numpy.busy)
        except WorkbenchError as error:
            came = Measured("not measured", message=str(error).partition("\n")[0])
        with self._changed:
            self._require_mine()
            self._known.keep_numpy(program, came)

    def _keep(self, job: Job, came: Measured) -> None:
        with self._changed:
            self._require_mine()
            self._known.keep(job.key, came)
        self._tell()

    def _came(self, job: Job, words: str) -> Measured:
        base, note = with_sizes(job.schedule)
        if base is None:
            return Measured("not measured", message=note)
        self._say(f"building, checking and timing {words}")
        try:
            bench = self._bench(job)
        except WorkbenchError as error:
            return Measured("not measured", message=str(error).partition("\n")[0])
        instead = NO_GPU if wants_gpu(base) and not bench.on_gpu else ""
        about = ", ".join(filter(None, (bench.about, note, instead)))
        self._say(f"building, checking and timing {words}", about)
        result = bench.measured(base)
        came = came_of(result, bench.threads_of(base))
        return replace(came, hardware=hardware_words(result.counts, base.program, job.target.line_bytes))

    def _bench(self, job: Job) -> Bench:
        """The bench for a schedule, kept for the ones that come next; those of other programs end."""
        base = with_sizes(job.schedule)[0] or job.schedule
        key = base.original, job.target, has_gpu(base)
        with self._changed:
            self._require_mine()
            for other in [one for one in self._benches if one[:2] != key[:2]]:
                self._benches.pop(other).close()
            if key in self._benches:
                return self._benches[key]
        made = Bench(base.original, job.target, self.limits, on_gpu=key[2])
        with self._changed:
            if not self._mine():
                made.close()
            self._require_mine()
            self._benches[key] = made
        return made


def _words(schedule: Schedule) -> str:
    return f"the schedule after {schedule.trace[-1]}" if schedule.trace else "the naive schedule"


_ACTIONS: dict[str, Callable[[Measuring], Any]] = {
    "now": lambda own: own.begin(own._shown().schedule),
    "all": Measuring.begin_all,
    "stop": Measuring.stop,
    "warm": lambda own: own.begin(own._shown().schedule, warm=True),
}
