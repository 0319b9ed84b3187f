"""Local arrays get places: subscripts count from where the storage begins, and the storage stands in its loop.

Temporaries that nobody knows but registers have none: their cells need not be stored.

    { C_r = 0;  C_r += A * B;  O = max(C_r, 0);  C = C_r; }   →   { C_r = 0;  C_r += A * B;  O = max(C_r, 0); }
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from workbench import poly
from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Hold,
    If,
    Nest,
    Place,
    Write,
    children,
    rebuild,
    walk,
    writes,
)
from workbench.codegen.nest.nest import transform as transform_nest
from workbench.codegen.passes.register_tiles.accumulators import reads_of
from workbench.lang.algebra.normal_form import polynomial, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, reads, substitute, transform
from workbench.lang.expr import walk as walk_expr
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, at_once, path
from workbench.poly.regions.boxes import coordinate
from workbench.poly.regions.storage import Storage, contracted
from workbench.poly.time.concurrency import on_processors
from workbench.poly.time.timemap import row
from workbench.records import record


def with_local_storage(nest: Nest, program: Program, tree: Tree) -> Nest:
    """The nest with every local array in its storage."""
    for storage in poly.storage_of(program, tree):
        nest = _moved(nest, _Scene(storage, program, tree), {}, {})
        nest = _wrapped(nest, storage)
    return nest


@record
class _Scene:
    """A storage, and where the times of a statement are to be found."""

    storage: Storage
    program: Program
    tree: Tree

    def home(self, write: Write, variables: dict[str, Expr]) -> dict[str, Expr]:
        """The home's loops around a write; one that has a single iteration may have no node in the nest."""
        wanted = {*self.storage.home} - variables.keys()
        missing = [x for x in path(self.tree, write.statement) if x.name in wanted]
        own = self.program.statement(write.statement)
        instance = dict(zip(own.dims, write.instance, strict=True))
        return variables | {x.name: simplify(substitute(row(x, own, self.program), instance)) for x in missing}


def stored(program: Program, tree: Tree) -> Program:
    """The program with its local arrays as they are stored."""
    found = {s.array.name: contracted(s) for s in poly.storage_of(program, on_processors(tree))}
    kept = {name: found.get(name, a) for name, a in program.arrays.items() if a.scope != "local" or name in found}
    return replace(program, arrays=kept) if found else program


def _moved(nest: Nest, scene: _Scene, variables: dict[str, Expr], below: dict[str, int]) -> Nest:
    """Subscripts of the array relative to the storage.

    `variables` are the loops around by name, `below` the bounds of those variables that count from 0.
    """
    match nest:
        case For() | Define() if nest.loop:
            variables = {**variables, nest.loop: Index(nest.variable, INT64)}
            if isinstance(nest, For) and nest.lower == Const(0, INT64) and (bound := _bound(nest.upper)):
                below = {**below, nest.variable: bound}
        case Write():
            return _relative(nest, scene.storage, scene.home(nest, variables), below)
    return rebuild(nest, tuple(_moved(child, scene, variables, below) for child in children(nest)))


def _bound(upper: Expr) -> int | None:
    """A constant that an upper bound does not exceed."""
    match upper:
        case Const(int(value), _):
            return value
        case Call("min", arguments, _):
            return next((b for a in arguments if (b := _bound(a)) is not None), None)
    return None


def _within(expr: Expr, below: dict[str, int]) -> Expr:
    """The expression without quotients and remainders that the bounds decide."""

    def change(node: Expr) -> Expr:
        match node:
            case Binary("/" | "%" as op, value, Const(int(size), _), dtype) if _is_below(value, size, below):
                return value if op == "%" else Const(0, dtype)
        return node

    return simplify(transform(expr, change))


def _is_below(expr: Expr, size: int, below: dict[str, int]) -> bool:
    """Whether a sum of variables that count from 0 surely lies in 0..size - 1."""
    highest = 0
    for atoms, factor in polynomial(expr).terms:
        match atoms:
            case ():
                highest += factor
            case (Index(name, _),) if name in below:
                highest += factor * (below[name] - 1)
            case _:
                return False
        if factor < 0:
            return False
    return highest < size


def _relative(write: Write, storage: Storage, variables: dict[str, Expr], below: dict[str, int]) -> Write:
    name = storage.array.name
    lowest = [(d, substitute(low, variables)) for d, low, _ in storage.kept]

    def places(subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        cell: dict[str, Expr] = {coordinate(d): e for d, e in enumerate(subscripts)}
        low = {d: substitute(e, cell) for d, e in lowest}
        return tuple(_within(simplify(Binary("-", subscripts[d], low[d], INT64)), below) for d, _ in lowest)

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor == name:
            return Read(name, places(node.subscripts), node.dtype)
        return node

    def cell(own: Cell) -> Cell:
        subscripts = tuple(transform(e, change) for e in own.subscripts)
        return replace(own, subscripts=places(subscripts) if own.array == name else subscripts)

    return replace(write, cells=tuple(map(cell, write.cells)), values=tuple(transform(v, change) for v in write.values))


def _wrapped(nest: Nest, storage: Storage) -> Nest:
    """The storage in the innermost loop around all its uses; in every piece of it, if the loop was cut in pieces.

    A loop with one iteration has no node: its place is around what it executes.
    """
    name, home = storage.array.name, storage.home
    if not touches(nest, name):
        return nest
    inside = any(_is_home(n, home) and touches(n, name) for child in children(nest) for n in walk(child))
    if _is_home(nest, home) and (not inside or nest.loop == home[-1]):
        return replace(nest, body=Place(name, nest.body))
    if not inside:
        return Place(name, nest)
    parts = children(nest)
    bare = [touches(p, name) and not any(_is_home(n, home) and touches(n, name) for n in walk(p)) for p in parts]
    if isinstance(nest, Block) and (any(bare) or _parted(parts, storage)):  # pieces of one iteration share the place
        return Place(name, nest)
    return rebuild(nest, tuple(Place(name, p) if b else _wrapped(p, storage) for p, b in zip(parts, bare, strict=True)))


def _parted(parts: tuple[Nest, ...], storage: Storage) -> bool:
    """Whether isl made a loop of its own for each statement of what is one iteration: some only write, others read.

    Pieces in which all statements that touch the array stand together are iterations of their own.
    """
    name, inside = storage.array.name, []
    for part in parts:
        if touches(part, name):
            if any(isinstance(n, For) and at_once(n.kind) and _is_home(n, storage.home) for n in walk(part)):
                return False
            inside.append({n.statement for n in walk(part) if isinstance(n, Write) and touches(n, name)})
    return any(own != inside[0] for own in inside)


def _is_home(nest: Nest, home: tuple[str, ...]) -> TypeGuard[For | Define]:
    return isinstance(nest, For | Define) and nest.loop in home


def touches(nest: Nest, array: str) -> bool:
    """Whether anything inside reads or writes the array."""
    for node in walk(nest):
        if isinstance(node, Write):
            if any(c.array == array for c in node.cells):
                return True
            expressions = (*node.values, *(s for c in node.cells for s in c.subscripts))
            if any(isinstance(e, Read) and e.tensor == array for v in expressions for e in walk_expr(v)):
                return True
    return False


Held = frozenset[Cell]


def without_dead_stores(nest: Nest, program: Program) -> Nest:
    """The nest without the stores, and without the places, of temporaries whose every touch is one of a register."""
    held = dict.fromkeys(x.cell.array for n in walk(nest) if isinstance(n, Accumulate) for x in n.locals)
    known = [a for a in held if program.arrays[a].role == "temporary"]
    dead = {array for array in known if _only_held(nest, array, frozenset())}

    def change(node: Nest) -> Nest:
        if isinstance(node, Accumulate) and {x.cell.array for x in node.locals} <= dead:
            return replace(node, stores=False)
        return node.body if isinstance(node, Place) and node.array in dead else node

    return transform_nest(nest, change) if dead else nest


def _only_held(nest: Nest, array: str, held: Held) -> bool:
    """Whether registers that begin with values of their own stand for every cell of the array that is touched."""
    match nest:
        case Accumulate(locals_, _, body, loads, _):
            own = [x for x in locals_ if x.cell.array == array]
            if own and (loads or len(own) < len(locals_) or any(x.partial for x in own)):
                return False
            return _only_held(body, array, held | {x.cell for x in own})
        case Write(_, cells, values):
            subscripts = [e for c in cells for e in c.subscripts]
            touched = [r for e in (*values, *subscripts) for r in reads(e) if r.tensor == array]
            read = all(Cell(array, r.subscripts, r.dtype) in held for r in touched)
            return read and all(c in held for c in cells if c.array == array)
        case For() | If() | Define() | Hold():
            known = not any(r.tensor == array for e in _own(nest) for r in reads(e))
            return known and all(_only_held(child, array, held) for child in children(nest))
        case Block() | Place():
            return all(_only_held(child, array, held) for child in children(nest))
    written = {c.array for w in writes(nest) for c in w.cells}
    return array not in written | {r.tensor for r in reads_of(nest)}  # what micro-kernels take is in memory


def _own(nest: Nest) -> tuple[Expr, ...]:
    """The expressions of a node itself."""
    match nest:
        case For(_, _, lower, upper):
            return lower, upper
        case If(condition):
            return (condition,)
        case Define(_, value) | Hold(_, value):
            return (value,)
    return ()
