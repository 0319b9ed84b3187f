"""The tree as a grid of blocks executes it: every join of threads lies between two parts of a block, every join of
blocks between two kernels.

What follows a bound loop waits for all its iterations.  So bound loops go inside, around each part between joins:

    for b (block.x): { for t (thread.x): A;  for t (thread.x): B }      one kernel, a join between A and B
    for b (block.x): { for c (block.y): A;  for c (block.y): B }        two kernels, each with loops b and c
    for t (thread.x): for k: { A; barrier; B }                          for k: { for t: A;  join;  for t: B }

That keeps every order the tree gives: iterations of a bound loop have none among themselves but by barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.poly.programs.tree import (
    THREAD_AXES,
    Band,
    Leaf,
    Loop,
    LoopKind,
    Mark,
    Sequence,
    Tree,
    normal,
    path,
    statements,
)
from workbench.poly.time.concurrency import is_block, loops_around, waits
from workbench.records import record

Axis = Callable[[LoopKind], bool]


@record(slots=True)
class Region:
    """Statements (ids) that one kernel executes.

    `host` are the serial loops around the kernel, `loops` what it has inside; `bound` says whether any of those is
    bound to an axis.
    """

    statements: tuple[str, ...]
    host: tuple[Loop, ...]
    loops: tuple[Loop, ...]

    @property
    def bound(self) -> bool:
        return any(is_block(x.kind) or is_thread(x.kind) for x in self.loops)


def is_thread(kind: LoopKind) -> bool:
    """Whether iterations are threads of a block."""
    return kind in THREAD_AXES


def on_grid(tree: Tree) -> Tree:
    """The tree with its bound loops inside, around the parts between joins; no barrier is left in it."""
    return normal(_threads_inside(_sunk(_serial(tree), is_block, ())))


def regions(tree: Tree) -> tuple[Region, ...]:
    """The kernels of a tree that `on_grid` gave, in textual order."""
    return tuple(_regions(tree, ()))


def _regions(tree: Tree, host: tuple[Loop, ...]) -> Iterator[Region]:
    match tree:
        case Sequence(children):
            for child in children:
                yield from _regions(child, host)
        case Mark(_, child) if not isinstance(child, Leaf):
            yield from _regions(child, host)
        case Band(loops, child) if _holds(child, is_block) and not any(is_block(x.kind) for x in loops):
            yield from _regions(child, (*host, *loops))
        case _:
            yield _region(tree, host)


def _region(tree: Tree, host: tuple[Loop, ...]) -> Region:
    if isinstance(tree, Band):
        blocks = [depth for depth, x in enumerate(tree.loops) if is_block(x.kind)]
        host += tree.loops[: blocks[0]] if blocks else ()
    found = [x for s in statements(tree) for x in path(tree, s)]
    own = {x.name: x for x in found if all(x.name != h.name for h in host)}
    return Region(statements(tree), host, tuple(own.values()))


def _serial(tree: Tree) -> Tree:
    """Loops that run on threads of a processor, one iteration after another."""
    match tree:
        case Band(loops, child):
            return Band(tuple(replace(x, kind="serial") if x.kind == "parallel" else x for x in loops), _serial(child))
        case Mark(note, child):
            return Mark(note, _serial(child))
        case Sequence(children):
            return Sequence(tuple(map(_serial, children)))
    return tree


def _threads_inside(tree: Tree) -> Tree:
    """Each region with its thread loops inside."""
    match tree:
        case Band(loops, child) if _holds(child, is_block):
            return Band(loops, _threads_inside(child))
        case Band(loops, child):
            blocks = [depth for depth, x in enumerate(loops) if is_block(x.kind)]
            cut = blocks[-1] + 1 if blocks else 0
            inside = _sunk(Band(loops[cut:], child) if loops[cut:] else child, is_thread, ())
            return Band(loops[:cut], inside) if cut else inside
        case Mark(note, child):
            return _threads_inside(child) if waits(tree) else Mark(note, _threads_inside(child))
        case Sequence(children):
            return Sequence(tuple(map(_threads_inside, children)))
    return tree


def _holds(tree: Tree, axis: Axis) -> bool:
    """Whether there is a loop of such an axis inside, or a barrier where threads are asked for."""
    match tree:
        case Band(loops, child):
            return any(axis(x.kind) for x in loops) or _holds(child, axis)
        case Mark(_, child):
            return (waits(tree) and axis is is_thread) or _holds(child, axis)
        case Sequence(children):
            return any(_holds(child, axis) for child in children)
    return False


def _sunk(tree: Tree, axis: Axis, waiting: tuple[Loop, ...]) -> Tree:
    """The tree inside the loops `waiting`, which go around its parts between joins."""
    if not _holds(tree, axis):
        return loops_around(waiting, tree)
    match tree:
        case Band(loops, child):
            kept: tuple[Loop, ...] = ()
            for depth, loop in enumerate(loops):
                rest = Band(loops[depth:], child)
                if not _holds(rest, axis):
                    return Band(kept, loops_around(waiting, rest))
                kept, waiting = (kept, (*waiting, loop)) if axis(loop.kind) else ((*kept, loop), waiting)
            return Band(kept, _sunk(child, axis, waiting))
        case Mark(note, child):
            inside = _sunk(child, axis, waiting)
            return inside if waits(tree) and axis is is_thread else Mark(note, inside)
        case Sequence(children):
            return Sequence(tuple(_sunk(part, axis, waiting) for part in _parts(children, axis)))
    return tree


def _parts(children: tuple[Tree, ...], axis: Axis) -> list[Tree]:
    """The children, neighbours without a join between them as one; a barrier begins another."""
    groups: list[list[Tree]] = []
    for child in children:
        joins = _holds(child, axis)
        begins = joins and waits(child) and not _holds(child.child, axis)
        if groups and not joins and not _holds(groups[-1][-1], axis):
            groups[-1].append(child)
        else:
            groups.append([child.child] if begins and isinstance(child, Mark) else [child])
    return [group[0] if len(group) == 1 else Sequence(tuple(group)) for group in groups]
