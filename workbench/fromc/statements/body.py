"""C statements as steps of an operator: loops are sequential axes, assignments statements, `if` a condition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.values import Values
from workbench.fromc.statements.conditions import affine_part, negated
from workbench.fromc.statements.declarations import (
    declare_local,
    first_values,
    local_tensor,
    new_cells,
    require_listed,
    zeroed_array,
)
from workbench.fromc.statements.loops import opened_loop, read_head
from workbench.fromc.statements.subscripts import require_known
from workbench.fromc.statements.updates import as_reduction
from workbench.fromc.text.locals import homes
from workbench.fromc.text.scope import Cells, Ended, Known
from workbench.fromc.text.types import converted
from workbench.lang.dtypes import BOOL, INT32, DType
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Select, Size, conjunction
from workbench.lang.operator import For, Range, Statement, Step, Target
from workbench.lang.syntax.diagnostics import Diagnostics
from workbench.lang.syntax.limits import check_resolved_depth, count_statement
from workbench.poly.programs.accumulating import taken_out

WITHOUT_EFFECT = (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef, c_ast.Cast, c_ast.ID, c_ast.Constant)
REFUSED = {
    "While": ("while loops are not read: how often they run is known only when they do", "write a for loop"),
    "DoWhile": ("do loops are not read: how often they run is known only when they do", "write a for loop"),
    "Break": ("break is not read: the loop's end would depend on data", "bound the loop in its head"),
    "Continue": ("continue is not read", "put what it skips under an if"),
    "Goto": ("goto is not read", "write loops and ifs"),
    "Label": ("labels are not read", "write loops and ifs"),
    "Switch": ("switch is not read", "write ifs"),
    "Return": ("return is only read as the last statement of the function", "leave it out"),
    "BinaryOp": ("this computes a value that nothing uses", "write A[i] = ..."),
    "FuncCall": ("a call for its effects is not read", "write what it does, or leave it out"),
}


@dataclass
class Body:
    """Raises statements one after another; the conditions around are those of the affine `if`s, then of data."""

    values: Values
    diagnostics: Diagnostics
    reassociate: bool = False
    in_order: bool = False
    conditions: list[Expr] = field(default_factory=list)
    data: list[Expr] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    private: dict[int, list[Any]] = field(default_factory=dict)

    def steps(self, items: list[Any]) -> tuple[Step, ...]:
        """The steps of a block; a problem in one statement does not stop the others."""
        self.private |= homes(items)
        moved = {id(node) for nodes in self.private.values() for node in nodes}
        found: list[Step] = []
        for item in items:
            if id(item) not in moved:
                with self.diagnostics.collect():
                    found += self.step(item)
        return tuple(found)

    def step(self, node: Any) -> Iterator[Step]:
        """The steps of one C statement."""
        match node:
            case c_ast.Compound():
                with self.values.scope.block():
                    yield from self.steps(list(node.block_items or ()))
            case c_ast.For():
                yield from self.loop(node)
            case c_ast.If():
                yield from self.branch(node)
            case c_ast.Decl():
                yield from self.declaration(node)
            case c_ast.DeclList():
                for declaration in node.decls:
                    yield from self.declaration(declaration)
            case c_ast.Assignment():
                yield from self.assignment(node)
            case c_ast.UnaryOp(op="p++" | "++" | "p--" | "--"):
                one = c_ast.Constant("int", "1", node.coord)
                yield from self.assignment(c_ast.Assignment(f"{node.op[-1]}=", node.expr, one, node.coord))
            case c_ast.FuncCall(name=c_ast.ID(name="memset" | "__builtin_memset")):
                yield self.zeroed(node)
            case _ if isinstance(node, WITHOUT_EFFECT):
                return
            case _:
                message, fix = REFUSED.get(type(node).__name__, (f"{type(node).__name__} is not read here", ""))
                raise self.values.problem(message, node, fix or "expected loops, ifs, declarations and assignments")

    # -- loops and conditions

    def loop(self, node: Any) -> Iterator[Step]:
        """A loop as a sequential axis."""
        scope = self.values.scope
        head = read_head(self.values, node)
        with scope.block():
            axis = opened_loop(self.values, node, head)
            scope.ranges.append(axis)
            try:
                for declaration in self.private.get(id(node), ()):
                    local_tensor(self.values, declaration)
                items = node.stmt.block_items if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
                body = self.steps(list(items or ()))
            finally:
                scope.ranges.pop()
        if body:
            yield For(axis, body)

    def branch(self, node: Any) -> Iterator[Step]:
        """`if`: an affine condition says which instances there are; data select between the new value and the old."""
        condition = self.values.condition(node.cond)
        affine, rest = affine_part(condition)
        several = _leaves(node.iftrue) + _leaves(node.iffalse) > 1 or _loops(node.iftrue) or _loops(node.iffalse)
        if rest is not None and several:
            rest = yield from self.remembered(node.cond, affine, rest)
        with self.under(affine, rest), self.values.scope.block():
            yield from self.steps([node.iftrue])
        if node.iffalse is None:
            return
        if rest is None:
            with self.under([negated(conjunction(affine))], None), self.values.scope.block():
                yield from self.steps([node.iffalse])
            return
        whole = conjunction([*affine, rest])
        with self.under([], negated(whole)), self.values.scope.block():
            yield from self.steps([node.iffalse])

    def remembered(self, node: Any, affine: list[Expr], condition: Expr) -> Iterator[Step]:
        """The condition kept in a variable of its own, because what it guards may change what it is made of."""
        cells = new_cells(self.values.scope, "condition", INT32, ())
        with self.under(affine, None):
            yield self.statement(cells.tensor, cells.place, converted(condition, INT32), node)
        return Binary("!=", Read(cells.tensor, cells.place, INT32), Const(0, INT32), BOOL)

    @contextmanager
    def under(self, affine: list[Expr], data: Expr | None) -> Iterator[None]:
        """More conditions for the statements inside."""
        self.conditions += affine
        self.data += [] if data is None else [data]
        try:
            yield
        finally:
            del self.conditions[len(self.conditions) - len(affine) :]
            if data is not None:
                self.data.pop()

    def declaration(self, node: Any) -> Iterator[Step]:
        """A local variable, and the statements that give it its first value."""
        cells = declare_local(self.values, node)
        if cells is None or node.init is None or isinstance(node.type, c_ast.PtrDecl):
            return
        if cells.rank:
            require_listed(self.values, node, cells.rank)
            yield self.zeros(node, cells, self.values.scope.tensors[cells.tensor].extent[-cells.rank :])
            for place, element in first_values(node):
                subscripts = (*cells.place, *(Const(number, INT32) for number in place))
                value = converted(self.values.number(element), cells.dtype)
                yield self.statement(cells.tensor, subscripts, value, element)
            return
        value = converted(self.values.number(node.init), cells.dtype)
        yield self.statement(cells.tensor, cells.place, value, node)

    def zeroed(self, node: Any) -> Step:
        """`memset(A, 0, bytes)`: the first elements of a one-dimensional array become 0."""
        arguments = node.args.exprs if node.args else []
        cells = zeroed_array(self.values, node, arguments)
        count = self.values.index(arguments[2], "a number of bytes")
        return self.zeros(node, cells, (Binary("/", count, Const(cells.dtype.bytes, INT32), INT32),))

    def zeros(self, node: Any, cells: Cells, extents: tuple[Expr, ...]) -> Step:
        """Loops that set elements to 0."""
        scope, outer = self.values.scope, list(self.values.scope.ranges)
        names = [f"{cells.tensor}_{d}" for d in range(cells.rank)]
        axes = [Range(n, Const(0, INT32), e, "sequential", "its extent") for n, e in zip(names, extents, strict=True)]
        scope.ranges += axes
        place = (*cells.place, *(Index(n) for n in names))
        step: Step = self.statement(cells.tensor, place, converted(Const(0, INT32), cells.dtype), node)
        scope.ranges[:] = outer
        for axis in reversed(axes):
            step = For(axis, (step,))
        return step

    # -- assignments

    def assignment(self, node: Any) -> Iterator[Step]:
        """`x = e`, `x += e`, `x = y = e`."""
        values, value = self.values, node.rvalue
        if isinstance(value, c_ast.Assignment):
            yield from self.assignment(value)
            value = value.lvalue
        tensor, subscripts, dtype = self.target(node.lvalue)
        require_known(values, node.lvalue, Read(tensor, subscripts, dtype))
        right = values.number(value)
        if node.op != "=":
            if node.op[:-1] not in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"):
                raise values.problem(f"{node.op} is not read", node)
            right = values.combined(node.op[:-1], Read(tensor, subscripts, dtype), right, node)
        yield self.statement(tensor, subscripts, converted(right, dtype), node)

    def target(self, node: Any) -> tuple[str, tuple[Expr, ...], DType]:
        """The cell an assignment writes."""
        if isinstance(node, c_ast.ID):
            match self.values.scope.find(node.name):
                case Cells(tensor, dtype, place, 0):
                    return tensor, place, dtype
                case Known(Size(), _):
                    message = f"{node.name} is a parameter that shapes the program; it cannot change"
                    raise self.values.problem(message, node, "use a variable of its own")
                case Known() | Ended():
                    message = f"{node.name} is a loop variable or a constant; it can only be set in the head of a loop"
                    raise self.values.problem(message, node)
        return self.values.cell(node)

    def statement(self, tensor: str, subscripts: tuple[Expr, ...], value: Expr, node: Any) -> Statement:
        """One assignment, under the conditions around."""
        values, scope = self.values, self.values.scope
        span = values.unit.span(node)
        count_statement(self.diagnostics, span)
        old = Read(tensor, subscripts, scope.tensors[tensor].dtype)
        for condition in reversed(self.data):
            value = Select(condition, value, old, value.dtype)
        check_resolved_depth(value, span)
        require_known(values, node, value)
        number = self.counts.get(tensor, 0)
        self.counts[tensor] = number + 1
        name = f"{tensor}.{number}" if number else tensor
        reduction = self.reduction(old, value)
        condition = conjunction(self.conditions) if self.conditions else None
        return Statement(
            name, (Target(tensor, subscripts),), reduction[0] if reduction else None, False,
            (reduction[1] if reduction else value,), tuple(scope.ranges), _line(values, node), condition,
        )  # fmt: skip

    def reduction(self, cell: Read, value: Expr) -> tuple[str, Expr] | None:
        """(operator, contribution) of an update whose order is free: by declaration, or because integers are exact."""
        if self.reassociate:
            return as_reduction(cell, value)
        return taken_out(cell, value) if cell.dtype.is_integral and not self.in_order else None


def _line(values: Values, node: Any) -> str:
    """The statement as written, on one line."""
    start = values.unit.span(node).start
    plain = values.unit.source.plain
    ends = [e for c in ";{" if (e := plain.find(c, start)) >= 0]
    text = plain[start : min(ends)] if ends else plain[start:]
    return " ".join(text.split())[:200]


def _loops(node: Any) -> bool:
    """Whether a loop stands below: what it guards is executed several times."""
    return node is not None and (isinstance(node, c_ast.For) or any(_loops(child) for _, child in node.children()))


def _leaves(node: Any) -> int:
    """How many assignments stand below."""
    if node is None:
        return 0
    own = isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.Decl) and node.init is not None)
    own = own or (isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--", "++", "--"))
    return own + sum(_leaves(child) for _, child in node.children())
