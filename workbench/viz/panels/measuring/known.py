"""What is known of schedules that were measured, by schedule and machine: undo and redo find it again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from workbench.poly.programs.program import Program
from workbench.runtime import this_machine
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.messages.measuring import Timing
from workbench.viz.panels.history import History
from workbench.viz.panels.measuring.measured import Measured, timing_payload

Key = tuple[Schedule, Target]


def key_of(schedule: Schedule, target: Target) -> Key:
    """The sizes of caches, which sliders change, are in no kernel that is measured."""
    here = this_machine()
    return schedule, replace(target, cache_bytes=here.cache_bytes, line_bytes=here.line_bytes)


class Known:
    """Measurements of schedules, and for each program what NumPy took; not to be asked by two threads at once."""

    def __init__(self) -> None:
        self._schedules: dict[Key, Measured] = {}
        self._numpy: dict[Program, Measured] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._schedules

    def keep(self, key: Key, came: Measured) -> None:
        """What came of a schedule."""
        self._schedules[key] = came

    def keep_numpy(self, program: Program, came: Measured) -> None:
        """What NumPy took for a program."""
        self._numpy[program] = came

    def of_numpy(self, program: Program) -> Measured | None:
        """What NumPy took, if that is known."""
        return self._numpy.get(program)

    def of(self, key: Key) -> Measured | None:
        """What came of a schedule, beside the naive one and NumPy; None where it was not measured."""
        schedule, target = key
        if (came := self._schedules.get(key)) is None:
            return None
        naive = self._schedules.get((schedule.start, target)) if schedule.trace else None
        numpy = self._numpy.get(schedule.original)
        return replace(came, naive=naive, numpy=numpy)

    def on(self, target: Target) -> dict[Schedule, Measured]:
        """All that was measured for a machine."""
        keys = [key for key in self._schedules if key == key_of(key[0], target)]
        return {key[0]: came for key in keys if (came := self.of(key)) is not None}

    def by_place(self, history: History, target: Target) -> list[Measured | None]:
        """What came of each moment of a history."""
        return [self.of(key_of(m.schedule, target)) for m in history.moments]

    def beside(self, history: History, target: Target) -> tuple[Timing | None, Timing | None]:
        """The naive schedule and NumPy."""
        naive = self.of(key_of(history.schedule.start, target))
        return told(naive), told(self._numpy.get(history.schedule.original))


def places(history: History, target: Target, keys: Collection[Key]) -> list[int]:
    """The moments whose schedules are among some."""
    own: Iterable[Key] = (key_of(m.schedule, target) for m in history.moments)
    return [place for place, key in enumerate(own) if key in keys]


def told(came: Measured | None) -> Timing | None:
    """The same for the front end."""
    return None if came is None else timing_payload(came)
