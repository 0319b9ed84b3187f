"""Copy propagation: a temporary that only repeats cells of another array is read through."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import ScheduleError
from workbench.lang.expr import Const, Read, Select, reads
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.schedules.analysis.structure import structure
from workbench.schedules.scheduled_program import Schedule


def without_copies(schedule: Schedule) -> Schedule:
    """Inline the temporaries whose rows are rows of another array, such as a picture that is padded by nothing."""
    return _read_through(schedule, _copied(schedule.program))


def without_frames(schedule: Schedule) -> Schedule:
    """Inline the temporaries that are another array with a frame of constants, where that only adds conditions.

    A product reads its operands many times, from copies near to it: there the frame is written once.
    """
    return _read_through(schedule, _framed(schedule.program))


def _read_through(schedule: Schedule, arrays: list[str]) -> Schedule:
    for array in arrays:
        from workbench.schedules.steps import inline  # with what it needs, for the few programs that have copies

        try:
            after = inline(array).on(schedule)
        except ScheduleError:
            continue
        schedule = after if after.verdict else schedule
    return schedule


def _copied(program: Program) -> list[str]:
    """The temporaries written by one plain copy along memory."""
    found = []
    for name, s in _assigned_once(program):
        if isinstance(s.values[0], Read):
            shape = structure(program, s.id)
            touches = (*shape.writes, *shape.reads)
            if s.dims and len(touches) == 2 and all(t.along(s.dims[-1]) == 1 for t in touches):
                found.append(name)
    return found


def _framed(program: Program) -> list[str]:
    """The temporaries whose cells are one read or a constant, by a condition on places, and whose readers use no other
    arrays.
    """
    found = []
    for name, s in _assigned_once(program):
        match s.values[0]:
            case Select(condition, Read(_, subscripts, _), Const()) if not [*reads(condition, *subscripts)]:
                readers = [r for r in program.statements if any(a.array == name for a in r.reads)]
                if all(_arrays_read(r) == {name} for r in readers):
                    found.append(name)
    return found


def _arrays_read(statement: ProgramStatement) -> set[str]:
    written = {array for array, _ in statement.targets}
    return {access.array for access in statement.reads} - written


def _assigned_once(program: Program) -> Iterator[tuple[str, ProgramStatement]]:
    """The temporaries that one assignment writes, with it."""
    for s in program.statements:
        name = s.targets[0][0]
        alone = len([t for other in program.statements for t, _ in other.targets if t == name]) == 1
        if alone and s.kind == "assign" and program.arrays[name].role == "temporary":
            yield name, s
