"""What is worth knowing of a legal step beside what it gains: cells that it computes anew, sums in another order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl
from workbench.records import record
from workbench.schedules import Schedule, preview
from workbench.schedules.edit import find_loop
from workbench.schedules.transform import Transform, singles
from workbench.viz.messages import drawn
from workbench.viz.panels.assumed import with_sizes

REORDERED = "sums in another order"
NOTICED = 1.005
"""Fewer times as many instances are not worth a word."""
TOO_OFTEN = 2
"""So many times as many instances, or more, are worth a warning."""
WARNING = "⚠ "
ADDED = ("+", "*")
WORTH = ("compute_at", "vectorize")
"""Kinds of steps of which there may be something to say."""
SECONDS = 0.5
"""Of counting for all steps of a schedule."""


@record
class Remark:
    """What is worth knowing of a step, or nothing; `warns`: that one should think before taking it."""

    text: str = ""
    warns: bool = False

    def message(self) -> drawn.Remark:
        """As the front end hears of it."""
        return {"text": self.text, "warns": self.warns}


def joined(told: Sequence[Remark]) -> Remark:
    """One for several, which warns where one of them does."""
    return Remark(", ".join(one.text for one in told), any(one.warns for one in told))


def remarks(before: Schedule, step: Transform) -> list[Remark]:
    """What a step computes anew, at the sizes of the schedule (or those that are assumed, which is said then), and
    whether floats are added up in another order; nothing of a step that does not fit.
    """
    found: list[Remark] = []
    try:
        for single in singles(step):
            after = preview(before, single)
            found += [*_anew(before, single, after), *([Remark(REORDERED)] if reorders(before, single) else [])]
            before = after
    except (WorkbenchError, ArithmeticError):
        return found
    return list(dict.fromkeys(found))


@lru_cache(maxsize=64)
def of_trace(schedule: Schedule) -> tuple[Remark, ...]:
    """What is worth knowing of each step that led to a schedule, one remark a step; most are empty."""
    told = [Remark()] * len(schedule.trace)
    places = [n for n, step in enumerate(schedule.trace) if any(single.name in WORTH for single in singles(step))]
    if not places:
        return tuple(told)
    try:
        with isl.deadline(SECONDS):
            now = schedule.undo(len(schedule.trace) - places[0])
            for place in range(places[0], places[-1] + 1):
                step = schedule.trace[place]
                told[place] = joined(remarks(now, step)) if place in places else Remark()
                now = preview(now, step)
    except WorkbenchError:  # what is not known in time is not said
        pass
    return tuple(told)


def reorders(schedule: Schedule, step: Transform) -> bool:
    """Whether a step puts contributions to one sum of floats into several lanes."""
    if step.name != "vectorize":
        return False
    site = find_loop(schedule.program, schedule.tree, step.to_json()["loop"])
    own = (schedule.program.statement(s) for s, _ in site.loop.rows)
    adds = any(s.reduction in ADDED and _floats(schedule.program, s.targets[0][0]) for s in own)
    return adds and not poly.can_parallelize(schedule.program, schedule.tree, step.to_json()["loop"])


def _floats(program: Program, array: str) -> bool:
    return program.arrays[array].dtype.is_float


def _anew(before: Schedule, step: Transform, after: Schedule) -> list[Remark]:
    """`⚠ P: 93 times as many instances`, of each statement that a step computes more often than before."""
    if step.name != "compute_at" or after.program is before.program:
        return []
    base, assumed = with_sizes(before)
    if base is None:
        return []
    then = preview(base, step).program
    found = more_often(base.program, then)
    told = [f"{name}: {times(ratio)} times as many instances" for name, ratio in found]
    warns = any(float(times(ratio)) >= TOO_OFTEN for _, ratio in found)
    text = f"{WARNING if warns else ''}{', '.join(told)}{f' ({assumed})' if assumed else ''}"
    return [Remark(text, warns)] if told else []


def times(ratio: float) -> str:
    """`1.6`, `93`, `1240`: two digits, and all before the point."""
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"


@isl.guarded
def more_often(before: Program, after: Program) -> list[tuple[str, float]]:
    """(name, how many times as many instances) of each statement that is computed more often after a step, exactly."""
    counts: Counter[str] = Counter()
    for s in after.statements:
        if s.part == "computes" and s.origin and s not in before.statements:
            counts[isl.parse_map(s.origin).get_tuple_name(isl.dim.out)] += poly.points(after, s.id)
    kept = {s.id for s in after.statements}
    found = []
    for s in before.statements:
        if s.id in counts:
            now = poly.points(before, s.id)
            ratio = (counts[s.id] + (poly.points(after, s.id) if s.id in kept else 0)) / max(now, 1)
            found += [(s.name, ratio)] if ratio >= NOTICED else []
    return found
