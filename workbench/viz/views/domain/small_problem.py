"""A schedule on a smaller problem: its steps taken again at sizes at which every instance can be listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.schedules import Schedule, Verdict
from workbench.viz.frames.coordinates import Subject, resized, subject
from workbench.viz.frames.frame import Asked, frames
from workbench.viz.frames.small_sizes import drawn_for
from workbench.viz.frames.small_tree import largest_tile
from workbench.viz.views.domain.domain_data import chosen_groups

LARGEST_TILE = 4
DETAIL = 3  # sizes up to this are those of windows and strides
DOUBLINGS = 7

Value = Program | Schedule | Verdict
T = TypeVar("T")


def small_enough(value: Value, asked: Asked) -> tuple[Subject, Asked]:
    """What is drawn of a value, and what is still asked for: that it is drawn whole.

    A schedule that changed instances or storage takes its steps again at sizes that are small for its operator, or at
    the least larger ones at which each of them still does something.  ScheduleError where there are none.
    """
    of = subject(value)
    if of.program.parent is None or of.program.original.definition is None or not isinstance(value, Schedule):
        return of, asked
    before = subject(of.program.original)
    chosen = frames(before, chosen_groups(before, None), Asked(sizes=asked.sizes), whole=True)[0]
    sizes = _for_tiles(of, {**chosen.of.program.sizes, **chosen.drawn.sizes}) | {**(asked.sizes or {})}
    found = subject(_taken_again(value, sizes, asked.sizes or {}))
    return found, replace(asked, sizes=dict(found.program.sizes))


def _for_tiles(of: Subject, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes, raised so that two small tiles and a rest fit."""
    dims = {d for s in of.program.statements for d in s.dims}
    tiles = [t for d in dims if (t := largest_tile(of.tree, d)) <= LARGEST_TILE]
    least = 2 * max(tiles, default=0) + 1
    return {name: value if value <= DETAIL else max(value, least) for name, value in sizes.items()}


def _taken_again(value: Schedule, sizes: dict[str, int], fixed: Mapping[str, int]) -> Program | Schedule:
    """The schedule at these sizes; where a step has nothing to do there (a loop over blocks that is one), at larger."""
    try:
        return resized(value, sizes)
    except WorkbenchError as refused:
        reason = refused
    for larger in _larger(value.original, sizes, fixed):
        with suppress(WorkbenchError):
            return resized(value, larger)
    raise reason


def _larger(program: Program, sizes: dict[str, int], fixed: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """One size doubled, another one, then all of them, and again; none that is fixed, or more than its own."""
    for doublings in range(1, DOUBLINGS + 1):
        grown = {n: min(v << doublings, max(v, program.sizes.get(n, v << doublings))) for n, v in sizes.items()}
        free = [n for n in sizes if n not in fixed and grown[n] > sizes[n]]
        yield from ({**sizes, name: grown[name]} for name in free)
        if len(free) > 1:
            yield {**sizes, **{name: grown[name] for name in free}}


def resized_words(value: Value, drawn: Program, asked: Asked) -> str:
    """What is said of sizes that nobody asked for and that are not the value's own."""
    own = subject(value).program
    other = {n: v for n, v in drawn.sizes.items() if own.sizes.get(n) != v and n not in (asked.sizes or {})}
    return drawn_for(own, other)


def drawn_of(value: Value, asked: Asked, data: Callable[[Subject, Asked], T]) -> tuple[T, tuple[str, ...]]:
    """What a picture's `data` are of a value; of one with too many instances, those of a smaller problem, and the words
    that say so.
    """
    try:
        return data(subject(value), asked), ()
    except WorkbenchError:
        smaller, left = small_enough(value, asked)
        if left is asked:  # there is no smaller one
            raise
    return data(smaller, left), tuple(filter(None, [resized_words(value, smaller.program, asked)]))
