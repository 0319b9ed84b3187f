"""The trace dialect: a nest as Python that touches no data, but logs every touch in the order of execution.

Values are not computed.  What a read gives is a small number made of the place it reads, so that subscripts and
conditions that depend on data take a course, the same one in every nest of a program.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.codegen.c.names import Names
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
    written_out,
)
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.poly.programs.program import Array

INDENT = "    "


@dataclass
class Printer:
    """Prints the nest of one program; `arrays` are the storage objects at this stage."""

    arrays: dict[str, Array]
    names: Names = field(default_factory=Names)
    held: set[str] = field(default_factory=set)
    lane: Lane | None = None
    parallel: bool = False

    def function(self, nest: Nest, symbols: tuple[str, ...]) -> str:
        """`def run(wb_log, M, N): ...`."""
        given = ", ".join(["wb_log", *(self.names("size", s) for s in symbols)])
        return "\n".join([f"def run({given}):", *_deeper(self.lines(nest) or ["pass"]), ""])

    def lines(self, nest: Nest) -> list[str]:
        """The lines of one node."""
        match nest:
            case Block(body):
                return [line for part in body for line in self.lines(part)]
            case Write(group=None):
                return self.in_lanes(self.write(nest))
            case Write():
                return self.lines(written_out(nest))
            case For():
                return self.loop(nest)
            case If(condition, then, otherwise):
                lines = [f"if {self.text(condition)}:", *self.inside(then)]
                return lines if otherwise is None else [*lines, "else:", *self.inside(otherwise)]
            case Define(variable, value, body):
                return [f"{self.names('index', variable)} = {self.text(value)}", *self.lines(body)]
            case Hold(name, value, body):
                head = f"{self.names('held', name)} = wb_log.hold(lambda: {self.text(value)})"
                self.held.add(name)
                return [head, *self.lines(body)]
            case Accumulate(locals_, _, body, loads, stores):
                loaded = [x for x in locals_ if loads and not x.partial]
                before = [line for x in loaded for line in self.moves(x, ("read",))]
                kinds = ("read", "write") if locals_[0].partial else ("write",)
                after = [line for x in locals_ if stores for line in self.moves(x, kinds)]
                return [*before, *self.lines(body), *after]
            case Place(_, body) | Prefetch(_, body) | Invoke(_, _, _, body):
                return self.lines(body)

    def inside(self, nest: Nest) -> list[str]:
        return _deeper(self.lines(nest) or ["pass"])

    def loop(self, loop: For) -> list[str]:
        outermost = loop.kind == "parallel" and not self.parallel
        name, saved = self.names("index", loop.variable), self.lane
        self.parallel |= outermost
        self.lane = Lane(loop.variable, loop.lanes, loop.limit) if loop.lanes > 1 else saved
        thread = [f"wb_log.thread = {name}"] if outermost else []
        body = _deeper([*thread, *(self.lines(loop.body) or ["pass"])])
        self.lane, self.parallel = saved, self.parallel and not outermost
        return [self.head(loop), *body, *(["wb_log.thread = None"] if outermost else [])]

    def head(self, loop: For) -> str:
        """The `for` line; a vector loop gives its first lane, in a name of its own."""
        name = self.base(loop.variable) if loop.lanes > 1 else self.names("index", loop.variable)
        return f"for {name} in range({self.text(loop.lower)}, {self.text(loop.upper)}, {loop.step}):"

    def base(self, variable: str) -> str:
        return self.names("first", f"{variable}.first")

    def in_lanes(self, lines: list[str]) -> list[str]:
        """The lines for every lane of the vector loop around: all lanes finish before what follows."""
        return lines if self.lane is None else self.each_lane(self.lane, lines)

    def each_lane(self, lane: Lane, lines: list[str]) -> list[str]:
        own, count = self.names("index", lane.variable), str(lane.count)
        moved = f"{own} = {self.base(lane.variable)} + wb_log.lane"
        if lane.limit is not None:
            count = f"min({count}, {self.text(lane.limit)} - {self.base(lane.variable)})"
        return [f"for wb_log.lane in range({count}):", *_deeper([moved, *lines]), "wb_log.lane = None"]

    def write(self, write: Write) -> list[str]:
        """One instance: its values, the old contents if it combines, then its cells."""
        instance = "".join(f"{self.text(e)}, " for e in write.instance)
        lines = [f"wb_log.begin({write.statement!r}, ({instance}))", *(self.text(v) for v in write.values)]
        kinds = ("write",) if write.reduction is None else ("accumulate",)
        return [*lines, *(f"wb_log.touch({kind!r}, {self.place(c)})" for c in write.cells for kind in kinds)]

    def moves(self, local: Local, kinds: tuple[str, ...]) -> list[str]:
        """Memory that registers are filled from or go back to."""
        lines = ["wb_log.begin('', ())", *(f"wb_log.touch({kind!r}, {self.place(local.cell)})" for kind in kinds)]
        if local.lanes > 1 and not local.partial:
            lines = self.each_lane(Lane(local.lane_variable, local.lanes, local.limit), lines)
        for loop in reversed(local.dims):
            lines = [self.head(loop), *_deeper(lines)]
        return lines

    def place(self, cell: Cell | Read) -> str:
        """`'C', 16*m + n`: the array, and the element counted from its first."""
        array = cell.array if isinstance(cell, Cell) else cell.tensor
        own = self.arrays[array]
        total: Expr = Const(0, INT64)
        for subscript, lower, stride in zip(cell.subscripts, own.lower, own.strides, strict=True):
            step = Binary("*", Binary("-", subscript, lower, INT64), stride, INT64)
            total = Binary("+", total, step, INT64)
        return f"{array!r}, {self.text(simplify(total))}"

    def text(self, expr: Expr) -> str:
        """An expression in Python; a read logs its touch where it is evaluated."""
        match expr:
            case Const(value, dtype):
                return repr(int(value)) if dtype.is_integral or dtype == BOOL else "1"
            case Index(name, _):
                return self.names("index", name)
            case Size(name, _):
                return self.names("size", name)
            case Read(name, (), _) if name in self.held:
                return f"wb_log.held({self.names('held', name)})"
            case Read():
                return f"wb_log.read({self.place(expr)})"
            case Cast(operand, _):
                return self.text(operand)
            case Unary(op, operand, _):
                return f"({'not ' if op == '!' else op}{self.text(operand)})"
            case Binary(op, left, right, dtype):
                return self.binary(op, self.text(left), self.text(right), logical=dtype == BOOL)
            case Select(c, a, b, _) | Call("select", (c, a, b), _):
                return f"({self.text(a)} if {self.text(c)} else {self.text(b)})"
            case Call(function, arguments, _):
                known = {"min": "min", "max": "max", "whole": "wb_log.whole"}.get(function, "wb_log.function")
                return f"{known}({', '.join(map(self.text, arguments))})"

    def binary(self, op: str, left: str, right: str, *, logical: bool) -> str:
        if op in ("&&", "||") or (logical and op in ("&", "|")):
            return f"({left} {'and' if op[0] == '&' else 'or'} {right})"
        if op in ("/", "%"):
            return f"wb_log.{'divided' if op == '/' else 'remainder'}({left}, {right})"
        return f"wb_log.shifted({op!r}, {left}, {right})" if op in ("<<", ">>") else f"({left} {op} {right})"


def _deeper(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]
