"""A small schedule executed instance by instance: who runs when, on which thread, in which lane, touching what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import rewritten
from workbench.codegen.trace.tracing import Touch, traced
from workbench.errors import ScheduleError, WorkbenchError
from workbench.lang.expr import Binary
from workbench.poly import lower
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import Loop, at_once, path
from workbench.records import record
from workbench.target import Target
from workbench.viz.frames.coordinates import Coordinate, Point, Subject, component, known_axis, subject
from workbench.viz.frames.frame import Asked, Frame, frames
from workbench.viz.frames.small_sizes import drawn_for
from workbench.viz.views.domain.domain_data import chosen_groups
from workbench.viz.views.domain.order_data import shaped_dims
from workbench.viz.views.domain.small_problem import DETAIL, Value, resized_words, small_enough
from workbench.wording import number_of

MOST_MOMENTS = 2000
ROUNDS = 4


@record
class Event:
    """Instances of one statement that are executed at once by one thread: one, or the lanes of a vector.

    `thread` numbers the threads of a parallel loop from 0; it is None where there is one.
    """

    statement: str
    instances: tuple[Point, ...]
    thread: int | None
    touches: tuple[Touch, ...]


Moment = tuple[Event, ...]


@record
class Execution:
    """Moments in order: in each, every thread of a parallel loop executes one event.

    `program` has the drawn sizes, `frames` say where its instances stand, `arrays` how their cells lie in memory,
    `threads` names the threads' iterations.
    """

    program: Program
    frames: tuple[Frame, ...]
    arrays: dict[str, Array]
    moments: tuple[Moment, ...]
    notes: tuple[str, ...]

    @property
    def threads(self) -> int:
        """The most threads that run at once."""
        return max((len(m) for m in self.moments), default=1)


def executed(value: Value, asked: Asked, limit: int = MOST_MOMENTS) -> Execution:
    """A value executed at sizes small enough to look at: smaller ones than a picture's where it has many nests.

    WorkbenchError for unknown axes, sizes or statements, and when there are more than `limit` moments at sizes that
    were asked for, or at any.
    """
    found = _executed(value, asked)
    for _ in range(ROUNDS if asked.sizes is None else 0):
        if len(found.moments) <= limit:
            return found
        sizes = _smaller(found.program)
        note = drawn_for(subject(value).program, sizes)
        try:
            fewer = _executed(value, replace(asked, sizes=sizes))
        except ScheduleError:  # a step has nothing to do at sizes as small as these
            break
        found = replace(fewer, notes=(note, *fewer.notes))
    if len(found.moments) > limit:
        count = f"{number_of(len(found.moments), 'moment')} here, more than {limit}"
        raise WorkbenchError(f"{found.program.name} has {count}; give smaller sizes")
    return found


def _smaller(program: Program) -> dict[str, int]:
    """Each size one less, but none that is a window's or a stride's."""
    fixed = program.definition.scalars if program.definition is not None else ()
    return {name: v if name in fixed or v <= DETAIL else v - 1 for name, v in program.sizes.items()}


def _executed(value: Value, asked: Asked) -> Execution:
    found = _framed(value, asked)
    small = found[0].of
    nests = rewritten(small.program, small.tree, Target())
    arrays = stored(small.program, small.tree).arrays
    touches = traced(small.program, nests[1], arrays, {})
    clock = _Clock(small.program, {s.id: path(small.tree, s.id) for s in small.program.statements})
    notes = dict.fromkeys(n for f in found for n in f.notes)
    if not any(n.startswith("drawn for") for n in notes) and (said := resized_words(value, small.program, asked)):
        notes = {said: None, **notes}
    return Execution(small.program, tuple(found), dict(arrays), tuple(clock.moments(touches)), tuple(notes))


def small_subject(value: Value, asked: Asked) -> Subject:
    """A value at sizes small enough to list its instances."""
    return _framed(value, asked)[0].of


def _framed(value: Value, asked: Asked) -> list[Frame]:
    """Axes for each group of statements, at small sizes.

    A schedule that changed instances or storage takes its steps again at sizes that are small for its operator.
    """
    of = subject(value)
    for axis in filter(None, (asked.x, asked.y)):
        known_axis(of, axis)
    of, asked = small_enough(value, asked)
    everything = _frames(of, asked)
    small, drawn = everything[0].of, everything[0].drawn
    if small.program.symbols and small.program.definition is not None:
        bound = lower(small.program.definition, {**small.program.sizes, **drawn.sizes})
        everything = _frames(replace(small, program=bound), replace(asked, sizes=bound.sizes))
    small = everything[0].of
    if small.program.symbols:
        wanted = ", ".join(f'"{s}": 8' for s in small.program.symbols)
        raise WorkbenchError(
            f"{small.program.name}: nothing small enough was found; give sizes={{{wanted}}}, or others"
        )
    return [f for f in everything if f.shown]


def _frames(of: Subject, asked: Asked) -> list[Frame]:
    first = tuple(dict.fromkeys(d for s in of.program.statements for d in _lanes(path(of.tree, s.id))))
    return frames(of, chosen_groups(of, asked.statement), asked, first=first, whole=True)


def _lanes(loops: tuple[Loop, ...]) -> tuple[str, ...]:
    """The dims worth seeing: those of threads and lanes, else those that are tiled."""
    kinds = shaped_dims(tuple(x for x in loops if x.kind not in ("serial", "unroll")))
    return kinds or shaped_dims(
        tuple(x for x in loops if any(isinstance(r, Binary) and r.op == "/" for _, r in x.rows))
    )


Times = tuple[int, ...]
Region = tuple[Loop | None, Times]


@dataclass
class _Clock:
    """Turns touches in sequential order into moments of threads and lanes."""

    program: Program
    paths: dict[str, tuple[Loop, ...]]

    def __post_init__(self) -> None:
        own = {s.id: s for s in self.program.statements}
        self.times: dict[str, tuple[Coordinate, ...]] = {
            s: tuple(component(self.program, loop, own[s], {}) for loop in loops) for s, loops in self.paths.items()
        }

    def moments(self, touches: tuple[Touch, ...]) -> Iterator[Moment]:
        """Regions one after another; within one the threads side by side, each in its own order."""
        instances = [(*key, tuple(group)) for key, group in groupby(touches, key=lambda t: (t.statement, t.instance))]
        for (loop, _), region in groupby(instances, key=lambda i: self._region(i[0], i[1])):
            threads: dict[Times, list[tuple[str, Point, tuple[Touch, ...]]]] = {}
            for one in region:
                threads.setdefault(self._thread(one[0], one[1]), []).append(one)
            rows = [
                list(self._events(own, None if loop is None else number))
                for number, (_, own) in enumerate(sorted(threads.items()))
            ]
            for together in zip_longest(*rows):
                yield tuple(e for e in together if e is not None)

    def _events(self, own: list[tuple[str, Point, tuple[Touch, ...]]], thread: int | None) -> Iterator[Event]:
        """Instances that differ only in the vector loop are one event."""
        events: dict[tuple[str, Times], list[tuple[str, Point, tuple[Touch, ...]]]] = {}
        for one in own:
            events.setdefault(self._but_lane(one[0], one[1]), []).append(one)
        for lanes in events.values():
            yield Event(lanes[0][0], tuple(i[1] for i in lanes), thread, tuple(t for i in lanes for t in i[2]))

    def _when(self, statement: str, instance: Point) -> list[tuple[Loop, int]]:
        return list(zip(self.paths[statement], (t(instance) for t in self.times[statement]), strict=True))

    def _region(self, statement: str, instance: Point) -> Region:
        """The outermost parallel loop around, and the iterations of the loops around that."""
        before: list[int] = []
        for loop, value in self._when(statement, instance):
            if at_once(loop.kind):
                return loop, tuple(before)
            before.append(value)
        return None, ()

    def _thread(self, statement: str, instance: Point) -> Times:
        return tuple(v for loop, v in self._when(statement, instance) if at_once(loop.kind))

    def _but_lane(self, statement: str, instance: Point) -> tuple[str, Times]:
        when = self._when(statement, instance)
        if not any(loop.kind == "vector" for loop, _ in when):
            return statement, (*(v for _, v in when), *instance)
        return statement, tuple(v for loop, v in when if loop.kind != "vector")
