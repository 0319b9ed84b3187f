"""How far integer arithmetic on indices and sizes reaches, and so whether it may wrap around."""

from __future__ import annotations

from workbench.lang.dtypes import BOOL, INT32
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Select, Size, Unary, children
from workbench.lang.unify import limits

Ends = tuple[int, int]


def reach(expr: Expr, nonnegative: frozenset[str] = frozenset(), most: int = limits(INT32)[1]) -> Ends | None:
    """Least and greatest value as a value of its type; None if it may wrap around, or reads data.

    Indices and sizes are up to `most`, above and below 0; `nonnegative` names those that are not below.

    >>> i, two = Index("i"), Const(2, INT32)
    >>> reach(Binary("/", i, two, INT32), frozenset({"i"})), reach(Binary("*", i, two, INT32))
    ((0, 1073741823), None)
    """
    match expr:
        case Const(value, _):
            return (int(value), int(value)) if isinstance(value, int) else None
        case Size(name, _) | Index(name, _):
            return (0 if name in nonnegative else -most), most
    if expr.dtype == BOOL:
        return 0, 1
    parts = [reach(child, nonnegative, most) for child in children(expr)]
    ends = [part for part in parts if part is not None]
    if len(ends) < len(parts) or not expr.dtype.is_integral:
        return None
    found = _combined(expr, ends)
    low, high = limits(expr.dtype)
    return found if found is not None and low <= found[0] and found[1] <= high else None


def _combined(expr: Expr, ends: list[Ends]) -> Ends | None:
    """The ends of a result from those of its operands."""
    match expr:
        case Cast():
            return ends[0]
        case Unary("-", _, _):
            return -ends[0][1], -ends[0][0]
        case Unary("~", _, _):
            return -1 - ends[0][1], -1 - ends[0][0]
        case Binary("+", _, _, _):
            return ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]
        case Binary("-", _, _, _):
            return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
        case Binary("*", _, _, _):
            corners = [x * y for x in ends[0] for y in ends[1]]
            return min(corners), max(corners)
        case Binary("/", _, Const(int(by), _), _) if by > 0:
            return ends[0][0] // by, ends[0][1] // by
        case Binary("%", _, Const(int(by), _), _) if by > 0:
            return 0, by - 1
        case Call("abs", _, _):
            return 0, max(-ends[0][0], ends[0][1])
        case Select():
            return min(ends[1][0], ends[2][0]), max(ends[1][1], ends[2][1])
        case Call("min" | "max" as name, _, _):
            pick = min if name == "min" else max
            return pick(low for low, _ in ends), pick(high for _, high in ends)
    return None
