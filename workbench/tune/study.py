"""`Study`: a search that runs beside the notebook, can be paused, stopped and taken up again, and loses nothing."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Literal

from workbench.errors import WorkbenchError
from workbench.schedules import Schedule
from workbench.schedules.sketches.space import Point
from workbench.tune.measuring.builders import Closed
from workbench.tune.measuring.runner import Assignment, Runner
from workbench.tune.models.quality import RankQuality, rank_quality
from workbench.tune.models.ranker import Group
from workbench.tune.progress import LOOK_SECONDS, wait_for
from workbench.tune.searching import Searcher, Surroundings
from workbench.tune.storing.database import Database, StudyKey
from workbench.tune.study_texts import headline, study_text
from workbench.tune.trials import OUTCOMES, Trial, default_of, fastest, merged
from workbench.tune.tuner import Round, Tuner

State = Literal["running", "paused", "finished", "stopped", "failed"]


class Study:
    """The trials of one problem, and the search that makes them; `wb.autotune` starts one.

    `state` is "running", "paused", "finished", "stopped" or "failed".  `trials` are those so far, `best` is the
    schedule of the fastest; where it is `ranked`, no GPU can be used and estimates stand for seconds.  `rounds` say
    what each round of the search was like.
    """

    def __init__(
        self, assignment: Assignment, key: StudyKey, database: Database, budget: int, *,
        default: Schedule, make: Callable[[Surroundings], Searcher], runner: Runner, others: Sequence[Group] = (),
        starts: Sequence[Point] = (), shared: bool = False, refers: bool = True,
    ) -> None:  # fmt: skip
        self.assignment = assignment
        self.key = key
        self.database = database
        self.budget = budget
        self.default = default
        self._make = make
        self._runner = runner
        self._others = others
        self._starts = starts
        self._refers = refers
        self._going = threading.Event()
        self._going.set()
        self._ended = threading.Event()
        self._stop = False
        self._error: BaseException | None = None
        self._listeners: list[Callable[[], None]] = []
        self._tuner: Tuner | None = None
        self._stored = merged(database.trials(key.key))
        self._shares = threading.Condition() if shared else None
        self.waits = False
        self._thread: threading.Thread | None = None

    def start(self) -> Study:
        """Begin, in a thread of its own; a study that has all its trials already is finished at once."""
        if self._missing <= 0 and self._shares is None:
            self._ended.set()
            return self
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="tuning", daemon=True)
        self._thread.start()
        return self

    # -- what it is --

    @property
    def state(self) -> State:
        if self._error is not None:
            return "failed"
        if self._ended.is_set():
            return "stopped" if self._stop and self._missing > 0 else "finished"
        return "running" if self._going.is_set() else "paused"

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials so far, in the order in which they were asked for; number 0 is the default recipe."""
        return tuple(sorted(self._tuner.trials if self._tuner else self._stored, key=lambda t: t.number))

    @property
    def rounds(self) -> tuple[Round, ...]:
        return tuple(self._tuner.rounds) if self._tuner is not None else ()

    @property
    def ranking(self) -> dict[int, RankQuality]:
        """How well the model ranked the trials of each round before they were measured, by round."""
        rounds: dict[int, list[Trial]] = {}
        for trial in self.trials:
            if trial.predicted is not None and trial.seconds is not None:
                rounds.setdefault(trial.round, []).append(trial)
        found = {
            number: rank_quality([t.predicted or 0.0 for t in own], [t.seconds or 0.0 for t in own])
            for number, own in sorted(rounds.items())
        }
        return {number: quality for number, quality in found.items() if quality is not None}

    @property
    def best_trial(self) -> Trial | None:
        """The fastest trial, or the best estimate where nothing is measured; None before there is one."""
        return fastest(self.trials)

    @property
    def best(self) -> Schedule:
        """The schedule of the fastest trial, or of the best estimate; before there is one the default recipe."""
        trial = self.best_trial
        return self.default if trial is None else self.schedule(trial)

    @property
    def measured(self) -> bool:
        return (best := self.best_trial) is not None and best.measured

    @property
    def ranked(self) -> bool:
        """Whether schedules are ranked by a model, because no GPU can be used: then nothing is ever measured."""
        return self.key.problem.ranked

    @property
    def speedup(self) -> float | None:
        """How many times as fast as the default recipe the best trial is; None before both were measured."""
        default, best = default_of(self.trials), self.best_trial
        if default is None or default.seconds is None or best is None or not best.seconds:
            return None
        return default.seconds / best.seconds

    @property
    def outcomes(self) -> dict[str, int]:
        """How many trials came to what; twins are not counted."""
        found = [t for t in self.trials if t.twin_of is None]
        return {outcome: sum(t.outcome == outcome for t in found) for outcome in OUTCOMES}

    @property
    def twins(self) -> int:
        """How many points gave the schedule of an earlier trial, and were not built again."""
        return sum(t.twin_of is not None for t in self.trials)

    def schedule(self, trial: Trial | int) -> Schedule:
        """The schedule of a trial, or of the trial of that number."""
        if isinstance(trial, int):
            known = {t.number: t for t in self.trials}
            if trial not in known:
                raise WorkbenchError(f"there is no trial {trial}; there are 0 to {max(known, default=0)}")
            trial = known[trial]
        if not trial.schedule:
            raise WorkbenchError(f"trial {trial.number} has no schedule: {trial.message or trial.outcome}")
        return Schedule.from_json(self.assignment.program.original, trial.schedule)

    @property
    def done(self) -> int:
        """Trials that count: what was built, or could not be."""
        return sum(t.counts for t in self.trials)

    @property
    def headline(self) -> str:
        """The best so far, in a few words; empty before there is one."""
        return headline(self.best_trial)

    @property
    def reason(self) -> str:
        """What made it fail, or end before it had all its trials, in words; empty where nothing did."""
        return str(self._error or (self._tuner.ended if self._tuner is not None else ""))

    # -- what may be done with it --

    def result(self) -> Study:
        """Wait until the study ends, and return it.  An interrupt pauses it (`resume` goes on); what made it fail is
        raised.
        """
        wait_for(self, self._ended)
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self

    def pause(self) -> None:
        """Begin nothing new until `resume`; what is being measured is finished and kept."""
        if not self._ended.is_set():
            self._going.clear()
            self._tell()

    def resume(self) -> None:
        """Go on after a pause, or after a stop."""
        if self._ended.is_set() and self._stop and self._missing > 0:
            self._stored, self._tuner = list(self.trials), None
            self._stop = False
            self._ended.clear()
            self._going.set()
            self.start()
        self._going.set()
        self._tell()

    def stop(self) -> None:
        """End the study now: what is being measured is given up, what was measured is kept."""
        self._stop = True
        self._going.set()
        self.conclude()
        if self._thread is not None and self._thread.is_alive():
            self._runner.close()
            if threading.current_thread() is not self._thread:
                self._thread.join()
        self._ended.set()
        self._tell()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function, from the study's thread, after each trial and each change of state."""
        self._listeners.append(listener)

    # -- one of many, which is given its trials by and by --

    def grant(self, trials: int) -> None:
        """So many more trials."""
        if (shares := self._shares) is not None:
            with shares:
                self.budget = max(self.budget, self.done) + trials
                self.waits = False
                shares.notify_all()

    def conclude(self) -> None:
        """No more trials will be granted: the finalists are timed again, and the study ends."""
        shares, self._shares = self._shares, None
        if shares is not None:
            with shares:
                shares.notify_all()

    def _granted(self) -> int:
        """Trials that may be made; where they are granted by and by, it waits for more or for the end of them."""
        while (shares := self._shares) is not None and not self._stop:
            with shares:
                if self._missing > 0:
                    break
                self.waits = True
                shares.wait(LOOK_SECONDS)
        self.waits = False
        return self.budget

    # -- how --

    @property
    def _missing(self) -> int:
        return self.budget - self.done

    def _run(self) -> None:
        try:
            self._tuner = tuner = Tuner(
                self.assignment, self._runner, self._make, keep=self._keep, going=self._wait, others=self._others,
                starts=self._starts, default=self.default if self._refers else None,
            )  # fmt: skip
            tuner.resume(self._stored)
            tuner.run(self._granted)
        except Closed:
            pass
        except BaseException as error:  # shown by result()
            if not self._stop:
                self._error = error
        finally:
            self._runner.close()
            self._forget_calls()
            self._ended.set()
            self._tell()

    def _forget_calls(self) -> None:
        """The operator's next call looks again for the best schedule."""
        definition = self.assignment.program.original.definition
        if definition is not None:
            definition.__dict__.pop("calls", None)

    def _keep(self, trial: Trial) -> None:
        self.database.add(self.key, trial)
        self._tell()

    def _wait(self) -> bool:
        """Wait while paused; whether to go on."""
        self._going.wait()
        return not self._stop

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def __str__(self) -> str:
        return study_text(self)

    __repr__ = __str__
