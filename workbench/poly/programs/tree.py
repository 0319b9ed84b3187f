"""The time map as a tree of four nodes: Band, Sequence, Mark, Leaf.

A Band holds loops from the outside in; each loop gives every statement below it one time component,
an integer expression over that statement's dims.  Time is the concatenation of the
components along the path from the root, with the child's position for each Sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal

from workbench.lang.expr import Expr
from workbench.poly.programs.marks import Annotation
from workbench.records import Hashed, record

LoopKind = Literal[
    "serial", "parallel", "vector", "unroll", "block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z"
]
BLOCK_AXES: tuple[LoopKind, ...] = ("block.x", "block.y", "block.z")
THREAD_AXES: tuple[LoopKind, ...] = ("thread.x", "thread.y", "thread.z")
AXES = BLOCK_AXES + THREAD_AXES


@record(slots=True)
class Loop(Hashed):
    """One loop: `rows[s]` is its time component for statement id `s`, over Index(dim) and Size, quasi-affine.

    `rows` is a tuple of pairs, sorted by statement id.  `kind` says how iterations are executed.
    """

    name: str
    rows: tuple[tuple[str, Expr], ...]
    kind: LoopKind = "serial"

    def row(self, statement: str) -> Expr:
        return dict(self.rows)[statement]

    def only(self, statements: set[str]) -> Loop:
        """The same loop restricted to some statements."""
        return replace(self, rows=tuple(r for r in self.rows if r[0] in statements))


@record(slots=True)
class Band(Hashed):
    """Loops directly inside one another around `child`."""

    loops: tuple[Loop, ...]
    child: Tree


@record
class Sequence(Hashed):
    """Children executed one after another."""

    children: tuple[Tree, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """Statement (id) → the place of the child that it is in."""
        return {s: place for place, child in enumerate(self.children) for s in statements(child)}


@record(slots=True)
class Mark(Hashed):
    """What is said of a subtree, beside its order."""

    note: Annotation
    child: Tree


@record(slots=True)
class Leaf:
    """One statement, by id."""

    statement: str


Tree = Band | Sequence | Mark | Leaf


def at_once(kind: LoopKind) -> bool:
    """Whether iterations of such a loop run on threads, without an order of their own."""
    return kind == "parallel" or kind in AXES


def leaf_ids(tree: Tree) -> Iterator[str]:
    """The id at each leaf, in order: a malformed tree has a statement more than once."""
    match tree:
        case Leaf(s):
            yield s
        case Band(_, child) | Mark(_, child):
            yield from leaf_ids(child)
        case Sequence(children):
            for child in children:
                yield from leaf_ids(child)


def statements(tree: Tree) -> tuple[str, ...]:
    """Ids of the statements below, in order of the leaves."""
    match tree:
        case Leaf(s):
            return (s,)
        case Band(_, child) | Mark(_, child):
            return statements(child)
        case Sequence():
            return tuple(tree.places)


def loops(tree: Tree) -> Iterator[Loop]:
    """Every loop, parents before children, in textual order."""
    match tree:
        case Band(own, child):
            yield from own
            yield from loops(child)
        case Mark(_, child):
            yield from loops(child)
        case Sequence(children):
            for c in children:
                yield from loops(c)


def path(tree: Tree, statement: str) -> tuple[Loop, ...]:
    """The loops around one statement, from the outside in."""
    match tree:
        case Band(own, child):
            return own + path(child, statement)
        case Mark(_, child):
            return path(child, statement)
        case Sequence(children):
            return path(children[tree.places[statement]], statement)
        case Leaf():
            return ()


def restrict(tree: Tree, keep: set[str]) -> Tree | None:
    """The tree of some of its statements only; None when none of them is in it."""
    match tree:
        case Leaf(s):
            return tree if s in keep else None
        case Band(own, child):
            below = restrict(child, keep)
            return below and Band(tuple(loop.only(keep) for loop in own), below)
        case Mark(note, child):
            below = restrict(child, keep)
            return below and Mark(note, below)
        case Sequence(children):
            kept = [c for c in (restrict(child, keep) for child in children) if c is not None]
            return kept[0] if len(kept) == 1 else Sequence(tuple(kept)) if kept else None


def marked(tree: Tree, kind: type[Annotation]) -> frozenset[str]:
    """The statements (ids) below marks of a kind."""
    match tree:
        case Mark(note, child):
            return frozenset(statements(child)) if isinstance(note, kind) else marked(child, kind)
        case Band(_, child):
            return marked(child, kind)
        case Sequence(children):
            return frozenset().union(*(marked(child, kind) for child in children))
        case Leaf():
            return frozenset()


def all_serial(tree: Tree) -> Tree:
    """The tree with every loop serial."""
    match tree:
        case Band(own, child):
            return Band(tuple(replace(x, kind="serial") for x in own), all_serial(child))
        case Mark(note, child):
            return Mark(note, all_serial(child))
        case Sequence(children):
            return Sequence(tuple(map(all_serial, children)))
        case Leaf():
            return tree


def unmarked(tree: Tree) -> Tree:
    """The tree without its marks."""
    match tree:
        case Band(own, child):
            return Band(own, unmarked(child))
        case Sequence(children):
            return Sequence(tuple(map(unmarked, children)))
        case Mark(_, child):
            return unmarked(child)
        case Leaf():
            return tree


def normal(tree: Tree) -> Tree:
    """Bands directly inside one another become one, sequences are flat, empty bands vanish."""
    match tree:
        case Leaf():
            return tree
        case Mark(_, child):
            return replace(tree, child=normal(child))
        case Band(own, child):
            inner = normal(child)
            if not own:
                return inner
            if isinstance(inner, Band):
                return Band(own + inner.loops, inner.child)
            return Band(own, inner)
        case Sequence(parts):
            flat: list[Tree] = []
            for part in map(normal, parts):
                flat.extend(part.children if isinstance(part, Sequence) else (part,))
            return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
