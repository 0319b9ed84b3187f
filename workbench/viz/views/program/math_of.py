"""Expressions of the language as mathematics: subscripts, fractions, roots, cases."""

from __future__ import annotations

from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.viz.views.program.math_tree import (
    Cases,
    Fence,
    Fraction,
    Math,
    Name,
    Number,
    Root,
    Script,
    Sign,
    listed,
    math_row,
)

# Operator → (strength, sign).  What stands inside something stronger gets parentheses.
STRENGTH = {
    "||": (1, "∨"), "&&": (2, "∧"), "|": (3, "|"), "^": (4, "⊕"), "&": (5, "&"),
    "==": (6, "="), "!=": (6, "≠"), "<": (6, "<"), "<=": (6, "≤"), ">": (6, ">"), ">=": (6, "≥"),
    "<<": (7, "≪"), ">>": (7, "≫"), "+": (8, "+"), "-": (8, "−"), "*": (9, "·"), "%": (9, "mod"),
}  # fmt: skip
UNARY = 10
ATOM = 12


def math_of(expr: Expr, outside: int = 0) -> Math:
    """The expression; in parentheses when it binds more weakly than `outside`."""
    inner, strength = _node(expr)
    return Fence("(", inner, ")") if strength < outside else inner


def _node(expr: Expr) -> tuple[Math, int]:
    """Mathematics and how strongly it holds together."""
    match expr:
        case Const(value, _):
            return _constant(value)
        case Size(name, _) | Index(name, _):
            return Name(name), ATOM
        case Read(tensor, (), _):
            return Name(tensor), ATOM
        case Read(tensor, subscripts, _):
            return Script(Name(tensor), tuple(math_of(s) for s in subscripts)), ATOM
        case Unary("-", operand, _):
            return math_row(Sign("−", tight=True), math_of(operand, UNARY)), UNARY - 2
        case Unary(op, operand, _):
            return math_row(Sign({"!": "¬"}.get(op, op), tight=True), math_of(operand, UNARY)), UNARY
        case Binary("/", left, right, dtype):
            return _quotient(left, right, whole=dtype.is_integral)
        case Binary(op, left, right, _):
            return _binary(op, left, right)
        case Select():
            return _cases(expr), 0
        case Call(function, arguments, _):
            return _call(function, arguments)
        case Cast(operand, dtype):
            if dtype.is_integral and not operand.dtype.is_integral:
                return _applied(dtype.name, (operand,)), ATOM
            return _node(operand)


def _constant(value: float) -> tuple[Math, int]:
    if isinstance(value, bool):
        return Name("true" if value else "false", upright=True), ATOM
    if value < 0:
        inner, _ = _constant(-value)
        return math_row(Sign("−", tight=True), inner), UNARY - 2
    text = str(value)
    if value == float("inf"):
        return Number("∞"), ATOM
    if "e" in text and "n" not in text:
        digits, _, exponent = text.partition("e")
        power = Script(Number("10"), (), Number(str(int(exponent)).replace("-", "−")))
        return (power if digits == "1" else math_row(Number(digits), Sign("·"), power)), 9
    return Number(text.removesuffix(".0")), ATOM


def _quotient(left: Expr, right: Expr, *, whole: bool) -> tuple[Math, int]:
    fraction = Fraction(math_of(left), math_of(right))
    return (Fence("⌊", fraction, "⌋"), ATOM) if whole else (fraction, ATOM - 1)


def _binary(op: str, left: Expr, right: Expr) -> tuple[Math, int]:
    strength, sign = STRENGTH[op]
    if op == "*" and left == right and not isinstance(left, Const):
        return Script(math_of(left, ATOM), (), Number("2")), ATOM - 1
    a, b = math_of(left, strength), math_of(right, strength + (op in ("-", "%")))
    if op == "*" and isinstance(left, Const) and not isinstance(right, Const):
        return math_row(a, b) if _starts_with_letter(right) else math_row(a, Sign("·"), b), strength
    return math_row(a, Sign(sign), b), strength


def _starts_with_letter(expr: Expr) -> bool:
    return isinstance(expr, Index | Size | Read)


def _cases(expr: Expr) -> Math:
    rows: list[tuple[Math, Math | None]] = []
    while isinstance(expr, Select):
        rows.append((math_of(expr.then), math_of(expr.condition)))
        expr = expr.otherwise
    return Cases((*rows, (math_of(expr), None)))


def _call(function: str, arguments: tuple[Expr, ...]) -> tuple[Math, int]:
    match function, arguments:
        case "sqrt", (a,):
            return Root(math_of(a)), ATOM
        case "rsqrt", (a,):
            return Fraction(Number("1"), Root(math_of(a))), ATOM - 1
        case "abs" | "fabs", (a,):
            return Fence("|", math_of(a), "|"), ATOM
        case "floor", (a,):
            return Fence("⌊", math_of(a), "⌋"), ATOM
        case "ceil", (a,):
            return Fence("⌈", math_of(a), "⌉"), ATOM
        case "pow", (a, b):
            return Script(math_of(a, ATOM), (), math_of(b)), ATOM
        case "fma", (a, b, c):
            return math_row(math_of(a, 9), Sign("·"), math_of(b, 9), Sign("+"), math_of(c, 8)), 8
    return _applied(function, arguments), ATOM


def _applied(function: str, arguments: tuple[Expr, ...]) -> Math:
    inside = listed([math_of(a) for a in arguments])
    return math_row(Name(function, upright=True), Fence("(", inside, ")"))
