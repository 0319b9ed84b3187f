"""An interpreter of C nests: pycparser's tree of the text as it stands, in plain Python, one operation after another.

It knows nothing of the project, and no compiler is asked: each expression becomes a closure that knows its C type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from pycparser import CParser, c_ast

from tests.chain.c_values import (
    BOOL,
    COMPARISONS,
    DOUBLE,
    FLOAT,
    INT,
    RING,
    CType,
    Undefined,
    Value,
    common,
    constant,
    conversion,
    inside,
    named,
    operation,
    promoted,
    shifted,
    wrapped,
    written,
)

STEPS = 200_000
PRELUDE = "".join(f"typedef int {u}int{n}_t; " for u in ("", "u") for n in (8, 16, 32, 64))
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "fabs": abs, "sqrt": math.sqrt, "fmax": max, "fmin": min, "floor": math.floor, "ceil": math.ceil, "abs": abs,
}  # fmt: skip

Run = Callable[[], Value]
Typed = tuple[CType, Run]


@dataclass
class Cell:
    """A variable: its type, its value (None: nobody wrote it)."""

    ctype: CType
    value: Value = None


@dataclass
class Array:
    """An array: its cells by subscripts; `run` leaves it rather than read a cell that is not there."""

    ctype: CType
    cells: dict[tuple[int, ...], Value]
    rank: int


@dataclass
class Interpreter:
    """Turns statements and expressions into closures over `names`; `budget` bounds what they execute.

    What is compared without a look at data may be a question of index arithmetic (`whole`): there signed numbers do not
    overflow, because C says so.
    """

    names: list[dict[str, Cell | Array]] = field(default_factory=lambda: [{}])
    budget: int = STEPS
    whole: bool = False

    def find(self, name: str) -> Cell | Array:
        return next(scope[name] for scope in reversed(self.names) if name in scope)

    # -- statements

    def block(self, items: list[Any]) -> Run:
        """Statements in their order, with names of their own."""
        self.names.append({})
        runs = [self.statement(item) for item in items]
        self.names.pop()

        def run() -> None:
            for one in runs:
                one()

        return run

    def statement(self, node: Any) -> Run:
        match node:
            case c_ast.Compound():
                return self.block(list(node.block_items or ()))
            case c_ast.For():
                return self.loop(node)
            case c_ast.If():
                condition, then = self.expression(node.cond)[1], self.block([node.iftrue])
                otherwise = self.block([node.iffalse] if node.iffalse else [])
                return lambda: then() if condition() else otherwise()
            case c_ast.DeclList():
                runs = [self.declaration(d) for d in node.decls]
                return lambda: [run() for run in runs]
            case c_ast.Decl():
                return self.declaration(node)
            case c_ast.Assignment():
                return self.assignment(node)
            case c_ast.UnaryOp(op="p++" | "++" | "p--" | "--"):
                one = c_ast.Constant("int", "1")
                return self.assignment(c_ast.Assignment(f"{node.op[-1]}=", node.expr, one))
            case c_ast.EmptyStatement() | c_ast.Pragma():
                return lambda: None
        raise NotImplementedError(type(node).__name__)

    def loop(self, node: Any) -> Run:
        self.names.append({})
        start = self.statement(node.init)
        condition, step = self.expression(node.cond)[1], self.statement(node.next)
        body = self.block([node.stmt])
        self.names.pop()

        def run() -> None:
            start()
            while condition():
                self.spend()
                body()
                step()

        return run

    def spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise Undefined("the text runs for ever, or nearly")

    def declaration(self, node: Any) -> Run:
        """A local variable; each time it is passed it begins anew."""
        if isinstance(node.type, c_ast.ArrayDecl):
            ctype, extents = self.array_type(node.type)
            array = Array(ctype, {}, len(extents))
            self.names[-1][node.name] = array
            keys = list(product(*map(range, extents)))
            return lambda: array.cells.update(dict.fromkeys(keys))
        cell = Cell(named(node.type.type.names))
        if node.init is None:
            self.names[-1][node.name] = cell
            return lambda: setattr(cell, "value", None)
        before, self.whole = self.whole, cell.ctype.kind in ("int", "uint") and not looks_at_data(node.init)
        value = self.as_type(node.init, cell.ctype)
        self.whole = before
        self.names[-1][node.name] = cell
        return lambda: setattr(cell, "value", value())

    def array_type(self, node: Any) -> tuple[CType, list[int]]:
        extents = []
        while isinstance(node, c_ast.ArrayDecl):
            extents.append(self.expression(node.dim)[1]())
            node = node.type
        return named(node.type.names), extents

    def assignment(self, node: Any) -> Run:
        ctype, read, write = self.place(node.lvalue)
        if node.op == "=":
            value = self.as_type(node.rvalue, ctype)
            return lambda: write(value())
        made = self.combined(node.op[:-1], (ctype, read), self.expression(node.rvalue))
        back = conversion(made[0], ctype)
        return lambda: write(back(made[1]()))

    def place(self, node: Any) -> tuple[CType, Run, Callable[[Value], None]]:
        """(type, what reads it, what writes it) of a variable or an element."""
        if isinstance(node, c_ast.ID):
            cell = self.find(node.name)
            assert isinstance(cell, Cell)
            return cell.ctype, lambda: written(cell.value, node.name), lambda v: setattr(cell, "value", v)
        subscripts: list[Run] = []
        name = node
        while isinstance(name, c_ast.ArrayRef):
            subscripts.insert(0, self.expression(name.subscript)[1])
            name = name.name
        array = self.find(name.name)
        assert isinstance(array, Array)
        assert array.rank == len(subscripts)

        def key() -> tuple[int, ...]:
            found = tuple(s() for s in subscripts)
            if found not in array.cells:
                raise Undefined(f"{name.name}{list(found)} is outside")
            return found

        return array.ctype, lambda: written(array.cells[key()], name.name), lambda v: array.cells.update({key(): v})

    # -- expressions

    def as_type(self, node: Any, ctype: CType) -> Run:
        own, run = self.expression(node)
        change = conversion(own, ctype)
        return lambda: change(run())

    def expression(self, node: Any) -> Typed:
        """The type of an expression and what computes it."""
        match node:
            case c_ast.Constant():
                ctype, value = constant(node.value)
                return ctype, lambda: value
            case c_ast.ID() | c_ast.ArrayRef():
                return self.place(node)[:2]
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                left, right = self.expression(node.left)[1], self.expression(node.right)[1]
                if node.op == "&&":
                    return INT, lambda: int(bool(left()) and bool(right()))
                return INT, lambda: int(bool(left()) or bool(right()))
            case c_ast.BinaryOp() if node.op in COMPARISONS:
                left, right = self.as_whole(node, node.left), self.as_whole(node, node.right)
                return self.combined(node.op, left, right)
            case c_ast.BinaryOp():
                return self.combined(node.op, self.expression(node.left), self.expression(node.right))
            case c_ast.TernaryOp():
                condition = self.expression(node.cond)[1]
                ctype = common(self.expression(node.iftrue)[0], self.expression(node.iffalse)[0])
                then, otherwise = self.as_type(node.iftrue, ctype), self.as_type(node.iffalse, ctype)
                return ctype, lambda: then() if condition() else otherwise()
            case c_ast.Cast():
                ctype = named(node.to_type.type.type.names)
                return ctype, self.as_type(node.expr, ctype)
            case c_ast.FuncCall():
                return self.call(node)
        raise NotImplementedError(type(node).__name__)

    def as_whole(self, around: Any, node: Any) -> Typed:
        """An expression; without overflow where all that is `around` it looks at no data."""
        before, self.whole = self.whole, self.whole or not looks_at_data(around)
        found = self.expression(node)
        self.whole = before
        return found

    def unary(self, node: Any) -> Typed:
        own, run = self.expression(node.expr)
        if node.op == "!":
            return INT, lambda: int(not run())
        ctype = promoted(own)
        match node.op:
            case "+":
                return ctype, run
            case "-" if ctype.is_float:
                return ctype, lambda: -run()
            case "-" if self.whole and ctype.kind == "int":
                return ctype, lambda: inside(-run(), ctype)
            case "-":
                return ctype, lambda: wrapped(-run(), ctype)
            case "~":
                return ctype, lambda: wrapped(~run(), ctype)
        raise NotImplementedError(node.op)

    def combined(self, op: str, left: Typed, right: Typed) -> Typed:
        (a, x), (b, y) = left, right
        if op in ("<<", ">>"):
            t = promoted(a)
            return t, lambda: shifted(op, x(), y(), t)
        t = common(a, b)
        first, second, apply = conversion(a, t), conversion(b, t), operation(op, t)
        if self.whole and t.kind == "int" and op in RING:
            return t, lambda: inside(RING[op](first(x()), second(y())), t)
        return INT if op in COMPARISONS else t, lambda: apply(first(x()), second(y()))

    def call(self, node: Any) -> Typed:
        """A function of math.h that rounds nothing, or rounds once."""
        name = node.name.name
        single = name.endswith("f") and name[:-1] in FUNCTIONS
        t = INT if name == "abs" else FLOAT if single else DOUBLE
        apply = FUNCTIONS[name[:-1] if single else name]
        arguments = [self.as_type(a, t) for a in node.args.exprs]
        as_type = {INT: lambda v: wrapped(v, INT), FLOAT: np.float32, DOUBLE: float}[t]
        return t, lambda: as_type(apply(*(a() for a in arguments)))


def interpreted(text: str, arguments: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """What a C function leaves in its arrays; `arguments` by name (arrays are not changed).

    Raises Undefined where C does not say what happens, Rounded where a compiler may get other bits.
    """
    plain = re.sub(r"/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*", " ", text, flags=re.DOTALL | re.MULTILINE)
    function = CParser().parse(PRELUDE + plain).ext[-1]
    world = Interpreter()
    arrays: dict[str, Array] = {}
    scalars = [p for p in function.decl.type.args.params if isinstance(p.type, c_ast.TypeDecl)]
    for parameter in scalars:
        ctype = named(parameter.type.type.names)
        world.names[0][parameter.name] = Cell(ctype, incoming(arguments[parameter.name], ctype))
    for parameter in function.decl.type.args.params:
        if parameter not in scalars:
            ctype, extents = world.array_type(parameter.type)
            given = np.asarray(arguments[parameter.name])
            assert given.shape == tuple(extents), f"{parameter.name} has shape {given.shape}, declared {extents}"
            cells = {tuple(map(int, k)): incoming(v, ctype) for k, v in np.ndenumerate(given)}
            arrays[parameter.name] = Array(ctype, cells, given.ndim)
    world.names[0] |= arrays
    world.block(list(function.body.block_items or ()))()
    return {name: outgoing(array, np.asarray(arguments[name])) for name, array in arrays.items()}


def looks_at_data(node: Any) -> bool:
    """Whether an element of an array is read below."""
    return isinstance(node, c_ast.ArrayRef) or any(looks_at_data(child) for _, child in node.children())


def incoming(value: Any, ctype: CType) -> Value:
    if ctype == FLOAT:
        return np.float32(value)
    return float(value) if ctype == DOUBLE else int(value)


def outgoing(array: Array, before: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = np.empty_like(before)
    for key, value in array.cells.items():
        found[key] = bool(value) if array.ctype == BOOL else value
    return found
