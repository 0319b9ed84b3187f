"""What the threads of a block execute together: parts, and the places where they wait for one another.

A `Piece` is executed by threads on their own; everything around pieces is executed by all threads alike, so that a
`Sync` between two parts is reached by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.codegen.nest.nest import Block, Define, For, If, Nest, Place, children, rebuild, walk, writes
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.tree import LoopKind, Tree, path
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.records import record


@record
class Piece:
    """A nest in thread loops, or one for the first thread of the block."""

    nest: Nest

    @property
    def axes(self) -> tuple[LoopKind, ...]:
        """The thread axes its loops are bound to."""
        return tuple(dict.fromkeys(n.kind for n in walk(self.nest) if isinstance(n, For) and is_thread(n.kind)))

    @property
    def statements(self) -> frozenset[str]:
        """Ids of what it executes."""
        return frozenset(w.statement for w in writes(self.nest))


@record
class Sync:
    """All threads of the block wait, and before that each for its asynchronous copies.

    `pending` groups of copies, the youngest, may still be under way; None if no copies are waited for.  `why`
    names what the wait is for: arrays, and what other threads do with them before.
    """

    pending: int | None = None
    why: tuple[str, ...] = ()


@record
class Parts:
    """One after another."""

    parts: tuple[Code, ...]


@record
class Around:
    """A loop, guard or definition (`node`, with an empty body) around parts that all threads execute alike.

    A guard has its other branch in `otherwise`.
    """

    node: For | If | Define
    body: Parts
    otherwise: Parts | None = None


Code = Piece | Sync | Parts | Around
EMPTY = Block(())


def code_of(nest: Nest, places: dict[str, str] | None = None, inside: str = "workspace") -> Parts:
    """The nest of a kernel as parts.

    `places` receives for each local array placed here where it lives: "workspace" around block loops, "shared"
    inside of them, "thread" inside pieces; of several the first of these.
    """
    found: dict[str, str] = {} if places is None else places
    return Parts(tuple(_merged(list(_codes(nest, found, inside)))))


def _codes(nest: Nest, places: dict[str, str], inside: str) -> Iterator[Code]:
    if not _together(nest):
        for node in walk(nest):
            if isinstance(node, Place):
                note_place(places, node.array, "thread" if _in_threads(nest, node) else inside)
        yield Piece(nest)
        return
    match nest:
        case Block(body):
            for part in body:
                yield from _codes(part, places, inside)
        case Place(array, body):
            note_place(places, array, inside)
            yield from _codes(body, places, inside)
        case For():
            inner = "shared" if is_block(nest.kind) else inside
            yield Around(replace(nest, body=EMPTY), code_of(nest.body, places, inner))
        case Define():
            yield Around(replace(nest, body=EMPTY), code_of(nest.body, places, inside))
        case If(condition, then, otherwise):
            other = None if otherwise is None else code_of(otherwise, places, inside)
            yield Around(If(condition, EMPTY), code_of(then, places, inside), other)
        case _:
            raise CodegenError(f"a {type(nest).__name__.lower()} stands around loops bound to threads")


def _in_threads(nest: Nest, place: Place) -> bool:
    """Whether a place of a piece stands inside a thread loop; else only the first thread of the block has it."""
    if nest is place:
        return False
    if isinstance(nest, For) and is_thread(nest.kind):
        return True
    inside = next((c for c in children(nest) if any(n is place for n in walk(c))), None)
    return inside is not None and _in_threads(inside, place)


def note_place(places: dict[str, str], array: str, where: str) -> None:
    """Remember where an array lives: of several places the one that more threads see."""
    order = ("thread", "shared", "workspace")
    places[array] = max(places.get(array, where), where, key=order.index)


def _together(nest: Nest) -> bool:
    """Whether it is executed by all threads together: something bound is inside, and it is no thread loop itself."""
    if isinstance(nest, For) and is_thread(nest.kind):
        return False
    return any(isinstance(n, For) and (is_thread(n.kind) or is_block(n.kind)) for n in walk(nest))


def _merged(codes: list[Code]) -> Iterator[Code]:
    """Neighbouring pieces of the first thread as one."""
    held: Piece | None = None
    for code in codes:
        if isinstance(code, Piece) and not code.axes:
            held = code if held is None else Piece(Block((held.nest, code.nest)))
            continue
        if held is not None:
            yield held
            held = None
        yield code
    if held is not None:
        yield held


def pieces(code: Code) -> Iterator[Piece]:
    """Every piece inside, in textual order."""
    match code:
        case Piece():
            yield code
        case Parts(parts):
            for part in parts:
                yield from pieces(part)
        case Around(_, body, otherwise):
            yield from pieces(body)
            if otherwise is not None:
                yield from pieces(otherwise)


def without_places(nest: Nest, arrays: frozenset[str]) -> Nest:
    """The nest without the places of some arrays, which live elsewhere."""
    if isinstance(nest, Place) and nest.array in arrays:
        return without_places(nest.body, arrays)
    return rebuild(nest, tuple(without_places(c, arrays) for c in children(nest)))


def counting_threads(code: Code, tree: Tree) -> frozenset[str]:
    """Statements whose thread loops all count from 0 by 1, and the same ones in each piece that executes them."""
    found = list(pieces(code))
    loops = [(p, n) for p in found for n in walk(p.nest) if isinstance(n, For) and is_thread(n.kind)]
    uneven = {s for p, n in loops if n.step != 1 or constant(n.lower) != 0 for s in p.statements}
    axes = {s: {frozenset(p.axes) for p in found if s in p.statements} for q in found for s in q.statements}
    return frozenset(s for s, kinds in axes.items() if len(kinds) == 1 and min(kinds) <= _bound(s, tree)) - uneven


def lost_axes(code: Code, tree: Tree) -> frozenset[tuple[str, LoopKind]]:
    """Statements with the axes that they are bound to in the tree, but not in a piece that the first thread does."""
    return frozenset((s, axis) for p in pieces(code) for s in p.statements for axis in _bound(s, tree) - {*p.axes})


def _bound(statement: str, tree: Tree) -> set[LoopKind]:
    """The thread axes that a statement is bound to."""
    return {x.kind for x in path(tree, statement) if is_thread(x.kind)}
