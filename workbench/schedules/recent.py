"""Steps that changed a program of late, and what came of them: recipes and searches take the same ones again and again.

A step is a pure function of a schedule, which its program and its trace determine.  A program that is found here is the
same object as before, so that what was found out about it (dependences, violations) is found again, too.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule
    from workbench.schedules.transform import Transform

MOST = 128


class Recent:
    """At most so many results, the ones used least recently forgotten first."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.found: OrderedDict[Any, tuple[Schedule, Schedule]] = OrderedDict()
        self.lock = threading.Lock()

    def recall(self, step: Transform, before: Schedule) -> Schedule | None:
        """What came of this step on this schedule; None where that is not known."""
        with self.lock:
            known = self.found.get(key := _key(step, before))
            if known is None or known[0].program is not before.program or known[0].tree != before.tree:
                return None
            self.found.move_to_end(key)
            return known[1]

    def note(self, step: Transform, before: Schedule, after: Schedule) -> None:
        """Keep the result of a step that changed the program: one that edits the tree alone is quickly done again."""
        if after.program is before.program or (key := _key(step, before)) is None:
            return
        with self.lock:
            self.found[key] = before, after
            while len(self.found) > self.most:
                self.found.popitem(last=False)


def _key(step: Transform, before: Schedule) -> Any:
    """What entries are found by; None for a step that cannot be one (a user's own, with a list in it)."""
    key = (id(before.program), before.trace, step)
    try:
        hash(key)
    except TypeError:
        return None
    return key


recent = Recent()
