"""The final nest without vectors: lanes are loops, registers are small arrays, every instance says which it is.

Before each write of a statement stands a *claim*: a write to an array `claim_S1` whose subscripts are the instance (to
`claim_combine_S1` where partial results of S1 are combined).  Before an atomic update stands one to `claim_atomic`, and
in each parallel loop one to `claim_parallel`.  Whoever checks the text may use claims, and has to prove them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    For,
    Invoke,
    Local,
    Nest,
    Place,
    Prefetch,
    Write,
    children,
    map_expressions,
    rebuild,
    writes,
    written_out,
)
from workbench.codegen.passes.register_tiles.accumulators import SCALAR, Lane
from workbench.lang.algebra.identities import identity
from workbench.lang.algebra.normal_form import constant, is_address, simplify
from workbench.lang.dtypes import INT32, INT64, DType
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, substitute, transform
from workbench.lang.expr import children as operands
from workbench.lang.expr import rebuild as rebuild_expr
from workbench.lang.operator import Role
from workbench.poly.programs.accumulating import as_written
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import at_once


@dataclass
class Scalars:
    """Rewrites one nest; `claims` are those of statements, `arrays` collects the registers and claims it needs."""

    program: Program
    claims: Mapping[str, Array]
    arrays: dict[str, Array] = field(default_factory=dict)
    held: list[Local] = field(default_factory=list)

    def visit(self, nest: Nest, lane: Lane = SCALAR) -> Nest:
        match nest:
            case Write(group=None):
                return self.write(nest, lane)
            case Write():
                return self.visit(written_out(nest), lane)
            case For():
                inner = Lane(nest.variable, nest.lanes, nest.limit) if nest.lanes > 1 else lane
                body = self.visit(nest.body, inner)
                if at_once(nest.kind):
                    body = Block((self.claim(_made("claim_parallel", INT32, [], [], "output")), body))
                return replace(nest, kind="serial", lanes=1, limit=None, body=body)
            case Invoke(_, _, _, body) | Prefetch(_, body):
                return self.visit(body, lane)
            case Accumulate():
                return self.accumulate(nest, lane)
        return rebuild(nest, tuple(self.visit(child, lane) for child in children(nest)))

    def write(self, write: Write, lane: Lane) -> Nest:
        """The claim and the write, for every lane."""
        own = replace(write, cells=tuple(map(self.cell, write.cells)), values=tuple(map(self.value, write.values)))
        if write.reduction and write.statement and self.program.statement(write.statement).kind == "assign":
            value = as_written(self.program.statement(write.statement), _read(own.cells[0]), own.values[0])
            own = replace(own, reduction=None, values=(value,))
        claimed = self.after_claim(own, self.claims.get(write.statement))
        if write.atomic:
            claimed = Block((self.claim(_made("claim_atomic", INT32, [], [], "output")), claimed))
        return self.lanes(claimed, lane)

    def lanes(self, nest: Nest, lane: Lane) -> Nest:
        if not lane.variable:
            return nest
        name = f"{lane.variable}.lane"
        moved = Binary("+", Index(lane.variable, INT64), Index(name, INT64), INT64)
        body = _substituted(nest, {lane.variable: moved})
        count: Expr = Const(lane.count, INT64)
        if lane.limit is not None:
            count = Call("min", (count, lane.present), INT64)
        return For(name, name, Const(0, INT64), count, body)

    def after_claim(self, write: Write, array: Array | None) -> Nest:
        """The write with its claim before it, if it claims anything."""
        return write if array is None else Block((self.claim(array, write.instance[: array.rank]), write))

    def claim(self, array: Array, instance: tuple[Expr, ...] = ()) -> Write:
        """`claim_S1(m, n, k) = 0`."""
        self.arrays[array.name] = array
        return Write("", (Cell(array.name, instance, INT32),), (Const(0, INT32),))

    def cell(self, cell: Cell) -> Cell:
        local = next((x for x in self.held if x.cell == cell), None)
        return cell if local is None else self.register(local)

    def value(self, expr: Expr) -> Expr:
        def change(node: Expr) -> Expr:
            if isinstance(node, Read):
                for local in self.held:
                    if (local.cell.array, local.cell.subscripts) == (node.tensor, node.subscripts):
                        return _read(self.register(local))
            return node

        return transform(expr, change)

    def register(self, local: Local) -> Cell:
        """The element of the small array that stands for a register, in the lane `lane_variable.lane`."""
        places = [_position(x) for x in local.dims]
        if local.lanes > 1:
            places.append(Index(f"{local.lane_variable}.lane", INT64))
        return Cell(local.name, tuple(places), local.cell.dtype)

    def accumulate(self, node: Accumulate, lane: Lane) -> Nest:
        for local in node.locals:
            self.arrays[local.name] = _array(local)
        self.held[:0] = node.locals
        body = self.visit(node.body, lane)
        del self.held[: len(node.locals)]
        first = [self.around(x, self.start(node, i, x)) for i, x in enumerate(node.locals) if node.loads]
        nest: Nest = Block((*first, body, *self.finish(node)))
        for local in reversed(node.locals):
            nest = Place(local.name, nest)
        return nest

    def start(self, node: Accumulate, position: int, local: Local) -> Write:
        value = identity(node.reduction, position, local.cell.dtype) if local.partial else _read(local.cell)
        return Write("", (self.register(local),), (value,))

    def finish(self, node: Accumulate) -> list[Nest]:
        if not node.stores:
            return []
        if not node.locals[0].partial:
            return [self.around(x, Write("", (x.cell,), (_read(self.register(x)),))) for x in node.locals]
        kept = [w for w in writes(node.body) if w.reduction and w.cells[0].array == node.locals[0].cell.array]
        claim = next((self.claims[w.statement] for w in kept if w.statement in self.claims), None)
        if claim is not None and "_combine_" not in claim.name:
            claim = _made(claim.name.replace("claim_", "claim_combine_"), INT32, [], [], "output")
        cells = tuple(x.cell for x in node.locals)
        values = tuple(_read(self.register(x)) for x in node.locals)
        return [self.around(node.locals[0], Write("", cells, values, node.reduction), claim)]

    def around(self, local: Local, write: Write, claim: Array | None = None) -> Nest:
        """What happens before or after, for every register and lane."""
        lane = Lane(local.lane_variable, local.lanes, local.limit) if local.lanes > 1 else SCALAR
        nest = self.lanes(self.after_claim(write, claim), lane)
        for loop in reversed(local.dims):
            nest = replace(loop, kind="serial", lanes=1, limit=None, body=nest)
        return nest


def scalar_nest(program: Program, nest: Nest, claims: Mapping[str, Array]) -> tuple[Program, Nest]:
    """The nest without vectors, and the program with the arrays it needs; `claims` are arrays by statement."""
    scalars = Scalars(program, claims)
    result = scalars.visit(map_expressions(nest, lambda e: transform(e, _spelled)))
    if not list(writes(result)):
        result = scalars.claim(_made("claim_nothing", INT32, [], [], "output"))
    written = tuple(name for name, a in scalars.arrays.items() if a.role == "output")
    arrays = {**program.arrays, **scalars.arrays}
    return replace(program, arrays=arrays, outputs=(*program.outputs, *written)), result


def _spelled(expr: Expr) -> Expr:
    """Whole blocks in plain arithmetic."""
    match expr:
        case Call("whole", (count, block), dtype):
            positive = Call("max", (count, Const(0, dtype)), dtype)
            return Binary("*", Binary("/", positive, block, dtype), block, dtype)
    return expr


def _substituted(nest: Nest, names: dict[str, Expr]) -> Nest:
    return map_expressions(nest, lambda e: _shortest(substitute(e, names)))


def _shortest(expr: Expr) -> Expr:
    """Index arithmetic in its shortest form; values, which wrap around, as they are but for their subscripts."""
    if is_address(expr):
        return simplify(expr)
    parts = tuple(map(_shortest, operands(expr)))
    return rebuild_expr(expr, parts) if parts else expr


def _read(cell: Cell) -> Read:
    return Read(cell.array, cell.subscripts, cell.dtype)


def _position(loop: For) -> Expr:
    index = Index(loop.variable, INT64)
    return index if loop.step == 1 else Binary("/", index, Const(loop.step, INT64), INT64)


def _array(local: Local) -> Array:
    extents = [(constant(x.upper) or 0) // x.step for x in local.dims] + ([local.lanes] if local.lanes > 1 else [])
    strides, total = [], 1
    for extent in reversed(extents):
        strides.insert(0, total)
        total *= extent
    return _made(local.name, local.cell.dtype, extents, strides)


def _made(name: str, dtype: DType, extents: list[int], strides: list[int], role: Role = "temporary") -> Array:
    def constants(numbers: list[int]) -> tuple[Expr, ...]:
        return tuple(Const(n, INT64) for n in numbers)

    zeros, scope = constants([0] * len(extents)), "local" if role == "temporary" else "global"
    return Array(name, dtype, zeros, constants(extents), constants(strides), role, scope=scope)
