"""What runs at once: execution axes, barriers and atomic updates as a tree says them, and the loops that do the same.

A mark `BarrierBefore` around a part of the tree is a barrier before that part: the iterations of the loops around that
run at once, up to the innermost block loop, wait there for one another.  A mark `AtomicUpdates` says that the updates
below are executed atomically.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard

from workbench.poly.programs.marks import AtomicUpdates, BarrierBefore, ExecutedBy
from workbench.poly.programs.tree import (
    AXES,
    BLOCK_AXES,
    THREAD_AXES,
    Band,
    Leaf,
    Loop,
    LoopKind,
    Mark,
    Sequence,
    Tree,
    at_once,
    normal,
    statements,
)
from workbench.records import record


@record(slots=True)
class Barrier:
    """A barrier: the loops around it from the outside in, what stands behind it, and all that those loops hold.

    `waiting` are the depths of the loops whose iterations wait for one another.
    """

    loops: tuple[Loop, ...]
    behind: tuple[str, ...]
    within: tuple[str, ...]

    @property
    def waiting(self) -> tuple[int, ...]:
        blocks = [depth for depth, loop in enumerate(self.loops) if is_block(loop.kind)]
        start = blocks[-1] + 1 if blocks else 0
        return tuple(depth for depth in range(start, len(self.loops)) if at_once(self.loops[depth].kind))


def is_block(kind: LoopKind) -> bool:
    """Whether iterations are blocks of threads, which never wait for one another."""
    return kind in BLOCK_AXES


def waits(tree: Tree) -> TypeGuard[Mark]:
    """Whether a part stands behind a barrier of its own."""
    return isinstance(tree, Mark) and isinstance(tree.note, BarrierBefore)


@lru_cache(maxsize=1024)
def barriers(tree: Tree) -> tuple[Barrier, ...]:
    """Every barrier, in textual order."""
    return tuple(_barriers(tree, (), statements(tree)))


def _barriers(tree: Tree, around: tuple[Loop, ...], within: tuple[str, ...]) -> Iterator[Barrier]:
    match tree:
        case Band(loops, child):
            yield from _barriers(child, (*around, *loops), statements(child))
        case Mark(_, child):
            if waits(tree):
                yield Barrier(around, statements(child), within)
            yield from _barriers(child, around, within)
        case Sequence(children):
            for child in children:
                yield from _barriers(child, around, within)


@lru_cache(maxsize=1024)
def atomic_statements(tree: Tree) -> frozenset[str]:
    """The statements (ids) whose updates are atomic."""
    match tree:
        case Mark(ExecutedBy(), _):
            return frozenset()
        case Mark(AtomicUpdates(), child):
            return frozenset(statements(_visible(child)))
        case Mark(_, child) | Band(_, child):
            return atomic_statements(child)
        case Sequence(children):
            return frozenset().union(*map(atomic_statements, children))
    return frozenset()


def _visible(tree: Tree) -> Tree:
    """The tree without what micro-kernels execute."""
    match tree:
        case Mark(ExecutedBy(), _):
            return Sequence(())
        case Mark(_, child):
            return _visible(child)
        case Band(loops, child):
            return Band(loops, _visible(child))
        case Sequence(children):
            return Sequence(tuple(map(_visible, children)))
    return tree


def misplaced(tree: Tree) -> str:
    """Why the execution axes or barriers of a tree cannot be as they are; empty if they can."""
    return next(_misplaced(tree, ()), "")


def _misplaced(tree: Tree, around: tuple[Loop, ...]) -> Iterator[str]:
    match tree:
        case Band(loops, child):
            for loop in loops:
                yield from _misbound(loop, around)
                around = (*around, loop)
            yield from _misplaced(child, around)
        case Mark(_, child):
            lane = next((x.name for x in around if x.kind == "vector"), None)
            if waits(tree) and lane is not None:
                yield f"a barrier stands in lanes (loop {lane}): lanes run in lockstep and cannot wait for one another"
            if isinstance(tree.note, ExecutedBy) and _holds_barrier(child):
                yield "a barrier stands in what a micro-kernel executes"
            yield from _misplaced(child, around)
        case Sequence(children):
            for child in children:
                yield from _misplaced(child, around)


def _misbound(loop: Loop, around: tuple[Loop, ...]) -> Iterator[str]:
    if loop.kind not in AXES:
        return
    for outer in around:
        if outer.kind == loop.kind:
            yield f"loops {outer.name} and {loop.name} are both bound to {loop.kind}, an axis for one loop of a nest"
        elif is_block(loop.kind) and outer.kind in THREAD_AXES:
            inside = f"{loop.name} ({loop.kind}) stands inside loop {outer.name} ({outer.kind})"
            yield f"loop {inside}; blocks hold threads"
        elif outer.kind == "vector":
            yield f"loop {loop.name} is bound to {loop.kind} inside the lanes of {outer.name}"


def _holds_barrier(tree: Tree) -> bool:
    """Whether a barrier inside waits for the iterations of a loop around the tree."""
    match tree:
        case Band(loops, child):
            return not any(is_block(x.kind) for x in loops) and _holds_barrier(child)
        case Mark(_, child):
            return waits(tree) or _holds_barrier(child)
        case Sequence(children):
            return any(map(_holds_barrier, children))
    return False


@lru_cache(maxsize=512)
def on_processors(tree: Tree) -> Tree:
    """The tree as the threads of a processor execute it: blocks in parallel, the threads of a block one after another.

    Where iterations wait at a barrier, their loop goes inside, around each part between barriers:

        for t (thread.x): for k: { A; barrier; B }   →   for k: { for t: A;  for t: B }

    That keeps every order the tree gives: instances of one thread stay in order, and what a barrier parts is parted.
    """
    if not any(waits(x) for x in _nodes(tree)):
        return _spelled(tree)
    return normal(_spelled(_phases(tree, ())))


def _nodes(tree: Tree) -> Iterator[Tree]:
    yield tree
    match tree:
        case Band(_, child) | Mark(_, child):
            yield from _nodes(child)
        case Sequence(children):
            for child in children:
                yield from _nodes(child)


def _phases(tree: Tree, waiting: tuple[Loop, ...]) -> Tree:
    """The tree inside the loops `waiting`, which go around its parts between barriers."""
    if not _holds_barrier(tree):
        return loops_around(waiting, _inner(tree))
    match tree:
        case Band(loops, child):
            kept: tuple[Loop, ...] = ()
            for depth, loop in enumerate(loops):
                if at_once(loop.kind) and _holds_barrier(Band(loops[depth + 1 :], child)):
                    waiting = (*waiting, loop)
                else:
                    kept = (*kept, loop)
            return Band(kept, _phases(child, waiting))
        case Mark(note, child):
            inside = _phases(child, waiting)
            return inside if waits(tree) else Mark(note, inside)
        case Sequence(children):
            return Sequence(tuple(_phases(part, waiting) for part in _groups(children)))
    return tree


def _inner(tree: Tree) -> Tree:
    """A tree whose barriers, if it has any, stand inside blocks of their own."""
    match tree:
        case Band(loops, child):
            blocks = [depth for depth, x in enumerate(loops) if is_block(x.kind)]
            if not blocks:
                return Band(loops, _inner(child))
            cut = blocks[-1] + 1
            return Band(loops[:cut], _phases(Band(loops[cut:], child), ()))
        case Mark(note, child):
            return Mark(note, _inner(child))
        case Sequence(children):
            return Sequence(tuple(map(_inner, children)))
    return tree


def _groups(children: tuple[Tree, ...]) -> list[Tree]:
    """Neighbours between which nobody waits, as one."""
    groups: list[list[Tree]] = []
    for child in children:
        alone = _holds_barrier(child)
        if groups and not alone and not _holds_barrier(groups[-1][-1]):
            groups[-1].append(child)
        elif alone and waits(child) and not _holds_barrier(child.child):
            groups.append([child.child])  # what follows may join it
        else:
            groups.append([child])
    return [group[0] if len(group) == 1 else Sequence(tuple(group)) for group in groups]


def loops_around(loops: tuple[Loop, ...], tree: Tree) -> Tree:
    """A tree inside loops, which keep what they say of its statements; the tree itself without loops."""
    below = set(statements(tree))
    return Band(tuple(x.only(below) for x in loops), tree) if loops else tree


def _spelled(tree: Tree) -> Tree:
    match tree:
        case Leaf():
            return tree
        case Band(loops, child):
            return Band(tuple(_processor(x) for x in loops), _spelled(child))
        case Mark(note, child):
            return Mark(note, _spelled(child))
        case Sequence(children):
            return Sequence(tuple(map(_spelled, children)))


def _processor(loop: Loop) -> Loop:
    if loop.kind not in AXES:
        return loop
    return replace(loop, kind="parallel" if is_block(loop.kind) else "serial")
