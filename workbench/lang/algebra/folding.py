"""Evaluate integer expressions over known sizes, with the language's rules for `/` and `%`."""

from __future__ import annotations

from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Select, Size, Unary


def floor_divide(a: int, b: int) -> int:
    """`a / b` of the language: rounds towards minus infinity; 0 if b is 0."""
    return a // b if b else 0


def floor_remainder(a: int, b: int) -> int:
    """`a % b` of the language: has the sign of b; 0 if b is 0."""
    return a % b if b else 0


def fold(expr: Expr, sizes: dict[str, int]) -> int:
    """Value of an integer (or boolean: 0 or 1) expression whose Size and Index names are in `sizes`.

    Raises KeyError for a name that is not in `sizes`, ValueError for a node that is no integer arithmetic.

    >>> from workbench.lang.expr import integer
    >>> fold(Binary("/", Size("N"), integer(2), integer(0).dtype), {"N": 7})
    3
    """
    match expr:
        case Const(value, _):
            return int(value)
        case Size(name, _) | Index(name, _):
            return sizes[name]
        case Binary(op, left, right, _):
            return _binary(op, fold(left, sizes), fold(right, sizes))
        case Unary(op, operand, _):
            return _unary(op, fold(operand, sizes))
        case Call("min", arguments, _):
            return min(fold(argument, sizes) for argument in arguments)
        case Call("max", arguments, _):
            return max(fold(argument, sizes) for argument in arguments)
        case Select(condition, then, otherwise, _):
            return fold(then if fold(condition, sizes) else otherwise, sizes)
        case Cast(operand, dtype) if dtype.is_integral:
            return fold(operand, sizes)
        case _:
            raise ValueError(f"{expr} is no integer arithmetic")


def _unary(op: str, value: int) -> int:
    return -value if op == "-" else ~value if op == "~" else int(not value)


def _binary(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return floor_divide(a, b)
        case "%":
            return floor_remainder(a, b)
        case "<<":
            return a << min(b, 64) if b >= 0 else 0
        case ">>":
            return a >> min(b, 64) if b >= 0 else 0
        case "&" | "|" | "^":
            return {"&": a & b, "|": a | b, "^": a ^ b}[op]
        case "&&":
            return int(bool(a) and bool(b))
        case "||":
            return int(bool(a) or bool(b))
        case _:
            return int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])
