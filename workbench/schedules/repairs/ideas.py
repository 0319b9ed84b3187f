"""The list of ideas.  Each is a function (schedule, refused step, verdict) → recipes worth trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.other_loops import another_loop, fewer_loops
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform

Idea = Callable[[Schedule, Transform, Verdict], Iterator[Transform]]

KEEPING: tuple[Idea, ...] = ()
ELSEWHERE: tuple[Idea, ...] = (another_loop, fewer_loops)
