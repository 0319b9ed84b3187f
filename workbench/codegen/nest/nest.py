"""The nest: loops, guards and writes on their way from the time map to text.

Frozen nodes; every rewrite takes a nest and gives another.  Expressions are language expressions; loop variables
are Index nodes, and what a rewrite keeps in registers is a Read of a local.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Const, Expr
from workbench.lang.operator import Monoid
from workbench.poly.programs.tree import LoopKind
from workbench.records import record


@record(slots=True)
class Cell:
    """`array(subscripts)`, in the tensor's own coordinates."""

    array: str
    subscripts: tuple[Expr, ...]
    dtype: DType


@record(slots=True)
class Group:
    """Neighbouring iterations of a loop, from 0 on, that one `instruction` executes for every lane at once."""

    instruction: str
    variable: str
    loop: str
    count: int


@record(slots=True)
class Write:
    """One statement instance: cells take values, or combine with them when `reduction` is set.

    `instance` says which one: the statement's dims as expressions of the loop variables around.  An `atomic` one may
    meet others of its kind in a cell.  Inside the schedule's loops `apart` it reads no cell that it writes there, even
    where it reads the same array.  A `nontemporal` one goes past the caches.
    """

    statement: str
    cells: tuple[Cell, ...]
    values: tuple[Expr, ...]
    reduction: str | Monoid | None = None
    instance: tuple[Expr, ...] = ()
    atomic: bool = False
    apart: frozenset[str] = frozenset()
    nontemporal: bool = False
    group: Group | None = None


@record(slots=True)
class For:
    """`for (variable = lower; variable < upper; variable += step)`.

    `lanes` > 1 makes it a vector loop: one iteration executes `lanes` neighbouring values of the variable, but none
    that reaches `limit`.  `loop` is the schedule's name of the loop.
    """

    variable: str
    loop: str
    lower: Expr
    upper: Expr
    body: Nest
    step: int = 1
    kind: LoopKind = "serial"
    lanes: int = 1
    limit: Expr | None = None


@record(slots=True)
class If:
    """A guard."""

    condition: Expr
    then: Nest
    otherwise: Nest | None = None


@record(slots=True)
class Block:
    """Nests one after another."""

    body: tuple[Nest, ...]


@record(slots=True)
class Define:
    """A variable with one value: an integer for the rest of `body`; `loop` is the schedule's name of such a loop."""

    variable: str
    value: Expr
    body: Nest
    loop: str = ""


@record(slots=True)
class Hold:
    """A scalar with one value during `body`; inside it is a Read of `name` without subscripts."""

    name: str
    value: Expr
    body: Nest


@record(slots=True)
class Local:
    """Registers that stand for cells during `body`: an array over the unrolled loops `dims`.

    `lanes` > 1 makes each a vector: of neighbouring cells if `lane_variable` is in the cell's subscripts (those before
    its `limit` only), else of partial results of one cell.
    """

    name: str
    cell: Cell
    dims: tuple[For, ...]
    lanes: int = 1
    lane_variable: str = ""
    partial: bool = False
    limit: Expr | None = None


@record(slots=True)
class Accumulate:
    """`body` with the cells of one reduction kept in registers.

    `locals` has one entry per cell of the write.  Before the body they take the cells' contents (or the identity
    when they are partial results), after it they go back (or are combined into the cells).  Where the body itself
    gives them their first values, nothing is loaded (`loads` is False); where nobody reads the cells afterwards, or the
    body only reads them, nothing goes back (`stores` is False).
    """

    locals: tuple[Local, ...]
    reduction: str | Monoid
    body: Nest
    loads: bool = True
    stores: bool = True


@record(slots=True)
class Place:
    """Storage of a local array during `body`."""

    array: str
    body: Nest


@record(slots=True)
class Invoke:
    """A micro-kernel executes what `body` says: first cells with strides, then sizes."""

    kernel: str
    arrays: tuple[tuple[Cell, tuple[Expr, ...]], ...]
    sizes: tuple[Expr, ...]
    body: Nest


@record(slots=True)
class Prefetch:
    """Cells that the cache is asked for before `body`: no value changes.

    `rows` is a variable of the cells and how many values it takes, from 0: one cell is asked for with each.
    """

    cells: tuple[Cell, ...]
    body: Nest
    rows: tuple[str, int] | None = None


Nest = Write | For | If | Block | Define | Hold | Accumulate | Place | Invoke | Prefetch


def children(nest: Nest) -> tuple[Nest, ...]:
    """The nests directly inside."""
    match nest:
        case Write():
            return ()
        case For() | Define() | Hold() | Accumulate() | Place() | Invoke() | Prefetch():
            return (nest.body,)
        case If(_, then, otherwise):
            return (then,) if otherwise is None else (then, otherwise)
        case Block(body):
            return body


def rebuild(nest: Nest, parts: tuple[Nest, ...]) -> Nest:
    """The same node around other nests."""
    match nest:
        case Write():
            return nest
        case For() | Define() | Hold() | Accumulate() | Place() | Invoke() | Prefetch():
            return replace(nest, body=parts[0])
        case If(condition, _, otherwise):
            return If(condition, parts[0], None if otherwise is None else parts[1])
        case Block():
            return Block(parts)


def walk(nest: Nest) -> Iterator[Nest]:
    """The nest and everything inside, parents first, in textual order."""
    yield nest
    for child in children(nest):
        yield from walk(child)


def transform(nest: Nest, change: Callable[[Nest], Nest]) -> Nest:
    """Rewrite bottom-up."""
    return change(rebuild(nest, tuple(transform(child, change) for child in children(nest))))


def written_out(write: Write) -> Write | For:
    """The loop that an instruction executes; a write without a group as it is."""
    if write.group is None:
        return write
    own, zero = write.group, Const(0, INT64)
    return For(own.variable, own.loop, zero, Const(own.count, INT64), replace(write, group=None))


def only(nest: Nest) -> Nest:
    """The nest that is all there is in a block of one."""
    while isinstance(nest, Block) and len(nest.body) == 1:
        nest = nest.body[0]
    return nest


def writes(nest: Nest) -> Iterator[Write]:
    """Every write inside."""
    return (node for node in walk(nest) if isinstance(node, Write))


def map_write(write: Write, change: Callable[[Expr], Expr]) -> Write:
    """Rewrite every expression of a write with `change`."""
    own = tuple(replace(c, subscripts=tuple(map(change, c.subscripts))) for c in write.cells)
    instance = tuple(map(change, write.instance))
    return replace(write, cells=own, values=tuple(map(change, write.values)), instance=instance)


def map_expressions(nest: Nest, change: Callable[[Expr], Expr]) -> Nest:
    """Rewrite every expression of the nest with `change`."""

    def cell(c: Cell) -> Cell:
        return replace(c, subscripts=tuple(map(change, c.subscripts)))

    def ending(limit: Expr | None) -> Expr | None:
        return None if limit is None else change(limit)

    def node(n: Nest) -> Nest:
        match n:
            case Write():
                return map_write(n, change)
            case For():
                return replace(n, lower=change(n.lower), upper=change(n.upper), limit=ending(n.limit))
            case If():
                return replace(n, condition=change(n.condition))
            case Define() | Hold():
                return replace(n, value=change(n.value))
            case Accumulate():
                kept = (replace(x, cell=cell(x.cell), limit=ending(x.limit)) for x in n.locals)
                return replace(n, locals=tuple(kept))
            case Prefetch():
                return replace(n, cells=tuple(map(cell, n.cells)))
            case Invoke():
                arrays = tuple((cell(c), tuple(map(change, strides))) for c, strides in n.arrays)
                return replace(n, arrays=arrays, sizes=tuple(map(change, n.sizes)))
        return n

    return transform(nest, node)
