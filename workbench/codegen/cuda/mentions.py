"""What the text of a kernel mentions: arrays, sizes, variables.  So a kernel takes only the arguments that it uses, and
no variable is declared that nobody reads (compilers warn).

A name is (kind, name), as `Names` takes it.  Every rule here is one of the printer's; a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.collectives import collective
from workbench.codegen.cuda.grid.kernels import KernelNest
from workbench.codegen.cuda.grid.launch_extents import head, thread_limit
from workbench.codegen.cuda.grid.wide_accesses import touched_wide
from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Hold,
    If,
    Invoke,
    Local,
    Nest,
    Place,
    Prefetch,
    Write,
    map_write,
    writes,
)
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Size, children, reads, substitute
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import WarpInstruction

Mentioned = frozenset[tuple[str, str]]
STATUS: Mentioned = frozenset({("status", "wb_status")})
NOTHING: Mentioned = frozenset()
ZERO = Const(0, INT64)


class Mentions:
    """The names that parts of one kernel mention; `checked` says of which (array, dimension) indices are looked at."""

    def __init__(self, kernel: KernelNest, checked: Callable[[str, int], bool]) -> None:
        self.kernel, self.arrays, self.checked = kernel, kernel.arrays, checked
        self.known: dict[tuple[int, tuple[int, ...]], Mentioned] = {}

    def code(self, code: Code) -> Mentioned:
        """What a block executes together."""
        key = id(code), ()
        if key not in self.known:
            self.known[key] = self._code(code)
        return self.known[key]

    def _code(self, code: Code) -> Mentioned:
        match code:
            case Sync():
                return NOTHING
            case Parts(parts):
                return _all(map(self.code, parts))
            case Piece(nest):
                found = collective(nest, self.kernel.extents, "thread.x")
                return self.nest(nest) if found is None else self.write(found[1], ())
            case Around(node, body, otherwise):
                inside = self.code(body) if otherwise is None else self.code(body) | self.code(otherwise)
                return self.around(node, inside)

    def around(self, node: For | If | Define, inside: Mentioned) -> Mentioned:
        match node:
            case If(condition):
                return inside | self.expr(condition)
            case Define():
                return self.defined(node, inside)
            case For() if is_block(node.kind) and head(node) in self.kernel.extents.exact:
                return inside | self.expr(node.lower) if ("index", node.variable) in inside else inside
        return inside | self.loop_head(node)

    def defined(self, node: Define, inside: Mentioned, held: tuple[Local, ...] = ()) -> Mentioned:
        """A definition that nothing mentions is left out."""
        return inside | self.expr(node.value, held) if ("index", node.variable) in inside else inside

    def loop_head(self, loop: For, held: tuple[Local, ...] = ()) -> Mentioned:
        return self.expr(loop.lower, held) | self.expr(loop.upper, held) | {("index", loop.variable)}

    def nest(self, nest: Nest, held: tuple[Local, ...] = ()) -> Mentioned:
        """What is executed while the registers `held` stand for cells."""
        key = id(nest), tuple(map(id, held))
        if key not in self.known:
            self.known[key] = self._nest(nest, held)
        return self.known[key]

    def _nest(self, nest: Nest, held: tuple[Local, ...]) -> Mentioned:
        match nest:
            case Block(body):
                return _all(self.nest(part, held) for part in body)
            case Write():
                return self.write(nest, held)
            case If(condition, then, otherwise):
                parts = (then,) if otherwise is None else (then, otherwise)
                return self.expr(condition, held) | _all(self.nest(part, held) for part in parts)
            case Define():
                return self.defined(nest, self.nest(nest.body, held), held)
            case Hold(_, value, body):
                return self.expr(value, held) | self.nest(body, held)
            case Accumulate(locals_, _, body, _, _):
                cells = _all(self.element(x.cell.array, x.cell.subscripts, held) for x in locals_)
                return cells | self.nest(body, (*locals_, *held))
            case Place(array, body):
                own = {("array", array)} if array in self.kernel.own else NOTHING
                return self.nest(body, held) | own
            case Invoke() if isinstance(registered(nest.kernel), WarpInstruction):
                return self.instruction(nest, held)
            case Prefetch(_, body) | Invoke(_, _, _, body):
                return self.nest(body, held)
            case For():
                return self.loop(nest, held)

    def loop(self, loop: For, held: tuple[Local, ...]) -> Mentioned:
        if loop.lanes > 1:
            return self.wide(loop, held)
        inside, extents = self.nest(loop.body, held), self.kernel.extents
        if not is_thread(loop.kind) or head(loop) not in extents.fitting:
            return inside | self.loop_head(loop, held)
        if head(loop) not in extents.full:
            limit = self.expr(thread_limit(loop, extents), held)
            return inside | limit | self.expr(loop.lower, held) | {("index", loop.variable)}
        return inside | self.expr(loop.lower, held) if ("index", loop.variable) in inside else inside

    def wide(self, loop: For, held: tuple[Local, ...]) -> Mentioned:
        """One lane after the other; iterations that are left, and cells one by one, need the variable."""
        write = next(writes(loop.body))
        wide = touched_wide(write, loop, self.arrays) & self.kernel.aligned
        given = any(self.arrays[a].role != "temporary" for a in wide)
        if given or (constant(loop.upper) or loop.lanes) != loop.lanes:
            return self.write(write, held) | {("index", loop.variable)}
        lanes: list[dict[str, Expr]] = [{loop.variable: Const(lane, INT64)} for lane in range(2)]
        return _all(self.write(map_write(write, lambda e, at=at: substitute(e, at)), held) for at in lanes)

    def instruction(self, call: Invoke, held: tuple[Local, ...]) -> Mentioned:
        """The result, where operands begin, their strides; how much there is where that may be less than a part."""
        result = next(writes(call.body)).cells[0].array
        found = _all(self.element(c.array, c.subscripts, held) for c, _ in call.arrays)
        found |= _all(self.expr(s, held) for _, strides in call.arrays for s in strides)
        unsure = [constant(left) != constant(span) for left, span in zip(call.sizes[3:], call.sizes[:3], strict=True)]
        left = _all(self.expr(s, held) for s in call.sizes[3:]) if any(unsure) else NOTHING
        return found | left | {("array", result)}

    def write(self, write: Write, held: tuple[Local, ...]) -> Mentioned:
        return _all(self.cell(c, held) for c in write.cells) | _all(self.expr(v, held) for v in write.values)

    def cell(self, cell: Cell, held: tuple[Local, ...]) -> Mentioned:
        return self.expr(Read(cell.array, cell.subscripts, cell.dtype), held)

    def expr(self, expr: Expr, held: tuple[Local, ...] = ()) -> Mentioned:
        match expr:
            case Index(name, _):
                return frozenset({("index", name)})
            case Size(name, _):
                return frozenset({("size", name)})
            case Read(tensor, subscripts, _):
                for local in held:
                    if local.cell.array == tensor and local.cell.subscripts == subscripts:
                        return frozenset(("index", x.variable) for x in local.dims)
                return self.element(tensor, subscripts, held)
        return _all(self.expr(e, held) for e in children(expr))

    def element(self, array: str, subscripts: tuple[Expr, ...], held: tuple[Local, ...]) -> Mentioned:
        """A cell in memory; what stands still in memory is not mentioned."""
        own, found = self.arrays.get(array), frozenset({("array", array)})
        if own is None or not subscripts:
            return found
        for d, (subscript, stride) in enumerate(zip(subscripts, own.strides, strict=True)):
            place = simplify(Binary("-", subscript, own.lower[d], INT64))
            looked_at = any(reads(subscript)) and self.checked(array, d)
            if stride == ZERO or (place == ZERO and not looked_at):
                continue
            found |= self.expr(place, held) | self.expr(stride, held)
            found |= self.expr(own.extent[d], held) | STATUS if looked_at else NOTHING
        return found


def _all(parts: Iterable[Mentioned]) -> Mentioned:
    return frozenset(chain.from_iterable(parts))
