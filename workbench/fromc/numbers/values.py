"""C expressions as typed expressions of the language."""

from __future__ import annotations

import re
from typing import Any

from pycparser import CParser, c_ast

from workbench.errors import unknown_name
from workbench.fromc.numbers.arithmetic import divided, folded_constant
from workbench.fromc.numbers.unwrapped_integers import unwrapped_comparison, whole
from workbench.fromc.numbers.wraparound import wrapped_value
from workbench.fromc.text.functions import EXTREMES, function_of
from workbench.fromc.text.literals import CONSTANTS, c_literal
from workbench.fromc.text.scope import Cells, Ended, Known, Scope
from workbench.fromc.text.syntax import Unit, at_use, divides
from workbench.fromc.text.types import common_type, converted, promoted
from workbench.lang.dtypes import BOOL, FLOAT64, INT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Read, Select, Unary, reads
from workbench.lang.syntax.diagnostics import Problem
from workbench.wording import number_of

_SIMPLE = re.compile(r"-?\s*(?:\w+|\d[\w.]*(?:[eEpP][+-]\w+)?|\.\d+\w*)")


class Values:
    """Raises expressions; `scope` says what names mean, `unit` where nodes stand."""

    def __init__(self, unit: Unit, scope: Scope) -> None:
        self.unit, self.scope = unit, scope
        self.expanding: list[str] = []
        self.whole = False

    def problem(self, message: str, node: Any, fix: str = "") -> Problem:
        """A Problem at a node."""
        return Problem(message, self.unit.span(node), fix)

    def value(self, node: Any) -> Expr:
        """The value of an expression; comparisons are bool, everything else has C's type."""
        match node:
            case c_ast.Constant():
                return self.constant(node)
            case c_ast.ID():
                return self.name(node)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                tensor, subscripts, dtype = self.cell(node)
                return Read(tensor, subscripts, dtype)
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp():
                return self.binary(node)
            case c_ast.TernaryOp():
                return self.ternary(node)
            case c_ast.Cast():
                return self.cast(node)
            case c_ast.FuncCall():
                return self.call(node)
            case c_ast.Assignment():
                fix = "make it a statement of its own"
                raise self.problem("an assignment inside an expression", node, fix)
        what = {"ExprList": "a comma expression", "StructRef": "a field of a struct"}.get(type(node).__name__)
        raise self.problem(f"{what or type(node).__name__} is not read; expected numbers and array elements", node)

    def number(self, node: Any) -> Expr:
        """The value as a number: a comparison counts as the int 0 or 1."""
        found = self.value(node)
        return converted(found, promoted(found.dtype)) if found.dtype == BOOL else found

    def index(self, node: Any, what: str) -> Expr:
        """An integer expression as a whole number, for a subscript or an extent."""
        return whole(self.integer(node, what), self.scope.spans)

    def integer(self, node: Any, what: str) -> Expr:
        """The value of an integer expression; Problem for any other."""
        found = self.as_whole(node)
        if not found.dtype.is_integral:
            raise self.problem(f"{what} must be an integer, but this is {found.dtype}", node, "cast it: (int)...")
        return found

    def as_whole(self, node: Any) -> Expr:
        """The value as a number, with the divisions of whole numbers."""
        before, self.whole = self.whole, True
        try:
            return self.number(node)
        finally:
            self.whole = before

    def condition(self, node: Any) -> Expr:
        """The truth of an expression."""
        found = self.value(node)
        return found if found.dtype == BOOL else self.truth(found)

    def truth(self, value: Expr) -> Expr:
        """Whether a value is not 0."""
        zero = Const(0.0 if value.dtype.is_float else 0, value.dtype)
        return unwrapped_comparison("!=", value, zero, self.scope.spans)

    # -- leaves

    def constant(self, node: Any) -> Expr:
        """A literal with C's type for it."""
        text: str = node.value
        if node.type in ("char", "string"):
            raise self.problem(f"a {node.type} literal is not read; expected a number", node)
        found = c_literal(text)
        if found is None:
            raise self.problem(f"the number {text} is not read", node)
        return found

    def name(self, node: Any) -> Expr:
        """What a name stands for, as a value."""
        name: str = node.name
        if name in self.unit.source.defines:
            return self.macro(node)
        match self.scope.find(name):
            case Known(value, dtype):
                return value if value.dtype == dtype else Cast(value, dtype)
            case Cells(tensor, dtype, place, 0):
                return Read(tensor, place, dtype)
            case Cells(_, _, _, rank):
                subscripts = "[...]" * rank
                raise self.problem(f"{name} is an array; expected an element of it: {name}{subscripts}", node)
            case Ended():
                fix = "use the loop's bound instead"
                raise self.problem(f"the loop variable {name} is used outside its loop", node, fix)
        if name in CONSTANTS:
            return CONSTANTS[name]
        known = [n for n in self.scope.known_names() if not n.startswith("wb_")]
        fix = f"declare it before the loops: int {name};" if self.unit.is_nest else ""
        raise self.problem(unknown_name("name", name, known), node, fix)

    def macro(self, node: Any) -> Expr:
        """The value of an object-like macro."""
        text, _ = self.unit.source.defines[node.name]
        closed = text.startswith("(") and _closes_at_end(text)
        if not (closed or _SIMPLE.fullmatch(text)) or node.name in self.expanding:
            fix = f"write #define {node.name} ({text})" if text and not closed else "write a number"
            raise self.problem(f"the macro {node.name} is not a number, a name or something in parentheses", node, fix)
        self.expanding.append(node.name)
        try:
            tree = CParser().parse(f"double x = {text};")
            return self.value(at_use(tree.ext[0].init, node.coord))
        except Problem:
            raise
        except Exception:
            raise self.problem(f"the macro {node.name} stands for {text!r}, which is no expression", node) from None
        finally:
            self.expanding.pop()

    def cell(self, node: Any) -> tuple[str, tuple[Expr, ...], DType]:
        """(tensor, subscripts, element type) of an array element, or of a scalar that holds data."""
        subscripts: list[Expr] = []
        where = node
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, self.index(node.subscript, "a subscript"))
            node = node.name
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            node, offset = self._pointed(node.expr)
            subscripts.insert(0, offset)
        if not isinstance(node, c_ast.ID):
            raise self.problem("expected an element of an array with a name", where, "write A[i][j]")
        found = self.scope.find(node.name)
        if not isinstance(found, Cells):
            what = "is not an array" if found is not None else "is not declared"
            raise self.problem(f"{node.name} {what}", node, f"declare it: double {node.name}[n]")
        if len(subscripts) != found.rank:
            has = number_of(found.rank, "dimension") if found.rank else "no dimensions"
            raise self.problem(f"{node.name} has {has} but {len(subscripts)} subscripts", where)
        return found.tensor, (*found.place, *subscripts), found.dtype

    def _pointed(self, node: Any) -> tuple[Any, Expr]:
        """The array and the subscript of what `*` is applied to: `*A` or `*(A + i + j)`."""
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            array, offset = self._pointed(node.left)
            more = self.index(node.right, "a subscript")
            return array, Binary(node.op, offset, more, INT32) if offset != Const(0, INT32) or node.op == "-" else more
        return node, Const(0, INT32)

    # -- operations

    def unary(self, node: Any) -> Expr:
        """`-x`, `+x`, `!x`, `~x`."""
        match node.op:
            case "-" | "+" | "~":
                operand = self.number(node.expr)
                operand = converted(operand, promoted(operand.dtype))
                if node.op == "+":
                    return operand
                if isinstance(operand, Const) and node.op == "-":
                    return Const(_opposite(operand), operand.dtype)
                if node.op == "~" and operand.dtype.is_float:
                    raise self.problem("~ needs an integer", node)
                return Unary(node.op, operand, operand.dtype)
            case "!":
                return Unary("!", self.condition(node.expr), BOOL)
            case "p++" | "p--" | "++" | "--":
                raise self.problem(f"{node.op[-2:]} inside an expression", node, "make it a statement of its own")
        raise self.problem(f"{node.op} is not read; addresses and sizes of objects have no meaning here", node)

    def binary(self, node: Any) -> Expr:
        """Arithmetic in the common type, comparisons, logical connectives."""
        op: str = node.op
        if op in ("&&", "||"):
            return Binary(op, self.condition(node.left), self.condition(node.right), BOOL)
        if op in COMPARISONS and not self.whole and divides(node):
            left, right = self.as_whole(node.left), self.as_whole(node.right)
            if left.dtype.is_integral and right.dtype.is_integral and not any(reads(left, right)):
                return self.combined(op, left, right, node)
        left, right = self.number(node.left), self.number(node.right)
        return self.combined(op, left, right, node)

    def combined(self, op: str, left: Expr, right: Expr, node: Any) -> Expr:
        """`left op right` as C computes it."""
        if op in ("<<", ">>"):
            dtype = promoted(left.dtype)
            self._integers(op, dtype, right.dtype, node)
            return Binary(op, converted(left, dtype), converted(right, dtype), dtype)
        dtype = common_type(left.dtype, right.dtype)
        left, right = converted(left, dtype), converted(right, dtype)
        if op in COMPARISONS:
            return unwrapped_comparison(op, left, right, self.scope.spans)
        if op in ("%", "&", "|", "^"):
            self._integers(op, left.dtype, right.dtype, node)
        if op in ("/", "%") and dtype.is_integral:
            if isinstance(right, Const) and right.value == 0:
                raise self.problem("division by zero", node)
            return divided(op, left, right, self.scope.spans, whole=self.whole)
        return folded_constant(op, left, right) or Binary(op, left, right, dtype)

    def _integers(self, op: str, left: DType, right: DType, node: Any) -> None:
        if left.is_float or right.is_float:
            raise self.problem(f"{op} needs integers, but one side is {left if left.is_float else right}", node)

    def ternary(self, node: Any) -> Expr:
        """`c ? a : b` in the common type of a and b."""
        condition = self.condition(node.cond)
        then, otherwise = self.number(node.iftrue), self.number(node.iffalse)
        dtype = common_type(then.dtype, otherwise.dtype)
        return Select(condition, converted(then, dtype), converted(otherwise, dtype), dtype)

    def cast(self, node: Any) -> Expr:
        """`(type)x`."""
        inner = node.to_type.type
        dtype = self.scope.element(inner.type) if isinstance(inner, c_ast.TypeDecl) else None
        if dtype is None:
            raise self.problem("a cast to this type is not read; expected int, float, double, ...", node)
        value = self.number(node.expr)
        return self.truth(value) if dtype == BOOL else converted(value, dtype)

    def call(self, node: Any) -> Expr:
        """A function of mathematics."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else "?"
        found = function_of(name)
        if found is None:
            message = f"the function {name} is not known here, nor whether it has effects"
            raise self.problem(message, node, "expected a function of math.h; or write its formula")
        given = list(node.args.exprs) if node.args else []
        if found.arity and len(given) != found.arity:
            expected = number_of(found.arity, "argument")
            raise self.problem(f"{name} takes {expected}, found {len(given)}", node)
        if found.name == "select":
            then, otherwise = (converted(self.number(a), found.dtype or FLOAT64) for a in given[1:])
            return Select(self.condition(given[0]), then, otherwise, then.dtype)
        arguments = [self.number(a) for a in given]
        if name in EXTREMES and any(a.dtype.is_float for a in arguments):
            raise self.problem(f"{name} is not a function of C", node, f"write f{name.lower()}")
        return self._applied(found.name, found.dtype, arguments)

    def _applied(self, name: str, dtype: DType | None, arguments: list[Expr]) -> Expr:
        if dtype is None:
            dtype = promoted(arguments[0].dtype)
            for argument in arguments[1:]:
                dtype = common_type(dtype, argument.dtype)
        own = tuple(converted(a, dtype) for a in arguments)
        if name == "cast":
            return own[0]
        if name in ("isnan", "isinf"):
            return Call(name, own, BOOL)
        operator = {"floordiv": "/", "mod": "%", "shl": "<<", "shr": ">>"}.get(name)
        if operator is not None and len(own) == 2:
            return Binary(operator, own[0], own[1], dtype)
        return Call(name, own, dtype)


def _opposite(number: Const) -> int | float:
    """The number of the other sign, as its type keeps it."""
    return -number.value if isinstance(number.value, float) else wrapped_value(-int(number.value), number.dtype)


def _closes_at_end(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
