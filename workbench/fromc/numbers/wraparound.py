"""Numbers beside the types they go around: what a C type keeps of a whole number, and how two such numbers compare."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.dtypes import BOOL, INT32, INT64, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Select, Size, Unary, children, rebuild
from workbench.records import record

Span = tuple[int, int]

MOST_TURNS = 4
# Sizes and loop variables of kernels have 64 bits and a sign; so have the numbers of their conditions.
SYMBOLS = (-(1 << 63), (1 << 63) - 1)


class NotWhole(Exception):
    """An expression that is no whole number isl could compute."""


@record
class Case:
    """`value + offset` is the number where all `conditions` hold; it lies between `low` and `high`."""

    value: Expr
    low: int
    high: int
    offset: int = 0
    conditions: tuple[Expr, ...] = ()

    @property
    def expression(self) -> Expr:
        """Value and offset together."""
        return _plus(self.value, self.offset)

    def less(self, amount: int) -> Expr | None:
        """The number less an amount, None where 64 bits do not hold that."""
        offset = self.offset - amount
        fits = SYMBOLS[0] <= self.low - amount and self.high - amount <= SYMBOLS[1]
        return _plus(self.value, offset) if fits and (abs(offset) <= SYMBOLS[1] or _is_number(self)) else None

    def fitting(self) -> Expr:
        """The number in 64 bits; NotWhole where they do not hold it.

        Sums may leave them on the way, as they come back modulo their size; what is compared or divided may not.
        """
        if (found := self.less(0)) is None:
            raise NotWhole
        return found

    def under(self, *conditions: Expr) -> Case:
        """The case under more conditions."""
        return replace(self, conditions=(*conditions, *self.conditions))


def span_of(dtype: DType) -> Span:
    """The least and the largest number of an integer type."""
    if dtype == BOOL:
        return 0, 1
    if dtype.kind == "uint":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1


def numbered(value: int) -> Case:
    """A number."""
    within = min(max(value, SYMBOLS[0]), SYMBOLS[1])
    return Case(number(within), value, value, value - within)


def number(value: int) -> Const:
    """A whole number as a constant of a type it fits; NotWhole where there is none."""
    if not SYMBOLS[0] <= value <= SYMBOLS[1]:
        raise NotWhole
    return Const(value, INT32 if -(1 << 31) <= value < 1 << 31 else INT64)


def _is_number(case: Case) -> bool:
    return isinstance(case.value, Const)


def wrapped_value(value: int, dtype: DType) -> int:
    """A number as a type keeps it."""
    low, _ = span_of(dtype)
    return (value - low) % (1 << dtype.bits) + low


def _plus(expr: Expr, amount: int) -> Expr:
    """The expression and a number together."""
    if not amount:
        return expr
    if isinstance(expr, Const):
        return number(int(expr.value) + amount)
    return Binary("+" if amount > 0 else "-", expr, number(abs(amount)), INT32)


def wrapped(case: Case, dtype: DType) -> tuple[Case, ...]:
    """A number as a type keeps it: one case for each turn around the type that it may be away."""
    low, high = span_of(dtype)
    size = 1 << dtype.bits
    first, last = (case.low - low) // size, (case.high - low) // size
    if first == last:
        return (_back(case, first * size),)
    if last - first >= MOST_TURNS:
        return (_remainder(case, low, size),)
    return tuple(_turn(case, turn, (low + turn * size, high + turn * size)) for turn in range(first, last + 1))


def _back(case: Case, amount: int) -> Case:
    return replace(case, low=case.low - amount, high=case.high - amount, offset=case.offset - amount)


def _turn(case: Case, turn: int, within: Span) -> Case:
    low, high = within
    conditions = []
    if case.low < low:
        conditions.append(compare(">=", case, numbered(low)))
    if case.high > high:
        conditions.append(compare("<=", case, numbered(high)))
    kept = replace(case, low=max(case.low, low), high=min(case.high, high))
    return _back(kept, turn * (high - low + 1)).under(*conditions)


def _remainder(case: Case, low: int, size: int) -> Case:
    if size > 1 << 32:
        raise NotWhole
    found = floor_divided("%", replace(case, low=case.low - low, high=case.high - low, offset=case.offset - low), size)
    return Case(found.value, low, low + size - 1, low, case.conditions)


def floor_divided(op: str, case: Case, by: int) -> Case:
    """Quotient or remainder of floor division by a positive number, of what is nearest to zero and leaves the same."""
    turns = 0 if case.less(0) else case.low // by
    near = case.less(turns * by)
    if near is None:
        raise NotWhole
    value = Binary(op, near, number(by), INT32)
    if op == "%":
        return Case(value, 0, by - 1, 0, case.conditions)
    return Case(value, case.low // by, case.high // by, turns, case.conditions)


def compare(op: str, a: Case, b: Case) -> Expr:
    """`a op b`, both less what lets 64 bits hold them: nothing where that is enough, with no offset beside a number."""
    plain = a.offset if _is_number(b) else b.offset if _is_number(a) else 0
    middle = (min(a.low, b.low) + max(a.high, b.high) + 1) // 2
    for amount in (plain, 0, a.offset, b.offset, middle):
        left, right = a.less(amount), b.less(amount)
        if left is not None and right is not None:
            return Binary(op, left, right, BOOL)
    raise NotWhole


def decided(op: str, a: Case, b: Case) -> bool | None:
    """What a comparison comes to wherever the numbers lie, None if that depends."""
    match op:
        case "<" | ">=":
            found = True if a.high < b.low else False if a.low >= b.high else None
        case "<=" | ">":
            found = True if a.high <= b.low else False if a.low > b.high else None
        case _:
            found = False if a.high < b.low or b.high < a.low else None
    return found if found is None or op in ("<", "<=", "==") else not found


def widened(expr: Expr) -> Expr:
    """Whole numbers in 64 bits, where the arithmetic of an element is that of its type."""
    match expr:
        case Const(int() as value, dtype) if dtype != BOOL:
            return Const(value, INT64)
        case Size(name, _):
            return Size(name, INT64)
        case Index():
            return Cast(expr, INT64)
        case Unary(op, operand, dtype) if dtype != BOOL:
            return Unary(op, widened(operand), INT64)
        case Binary(op, left, right, dtype):
            return Binary(op, widened(left), widened(right), dtype if dtype == BOOL else INT64)
        case Select(condition, then, otherwise, dtype) if dtype != BOOL:
            return Select(widened(condition), widened(then), widened(otherwise), INT64)
        case Call(name, arguments, _):
            return Call(name, tuple(map(widened, arguments)), INT64)
    parts = tuple(map(widened, children(expr)))
    return rebuild(expr, parts) if parts else expr
