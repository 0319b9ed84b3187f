"""C's integers as whole numbers: a value that a type wraps around is one case for each turn it may take.

C computes in types that wrap (unsigned arithmetic, conversions to unsigned and to narrower types); isl computes in
whole numbers.  `cases` says what a C expression is there: values of which each holds under its conditions, together
exhaustive.  Signed arithmetic does not wrap, as C demands of whoever writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import product

from workbench.fromc.numbers.wraparound import (
    SYMBOLS,
    Case,
    NotWhole,
    Span,
    compare,
    decided,
    floor_divided,
    number,
    numbered,
    span_of,
    widened,
    wrapped,
    wrapped_value,
)
from workbench.lang.algebra.normal_form import constant, is_index_arithmetic
from workbench.lang.dtypes import BOOL, INT32, INT64
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Select,
    Size,
    Unary,
    children,
    conjunction,
    reads,
    walk,
)
from workbench.poly.programs.affine import guard

Spans = Mapping[Expr, Span]
Cases = tuple[Case, ...]

MOST_CASES = 8
MEMORY = 1 << 47  # bytes: no array, and so no loop over one, is as long
RING = frozenset({"+", "-", "*", "<<"})


def cases(expr: Expr, spans: Spans, *, reduced: bool = True) -> Cases:
    """The cases of an integer expression; NotWhole where it has none.

    `spans` bounds sizes, loop variables and their values.  Unless `reduced`, the number may be another one of the
    same remainder modulo the size of the type: enough for sums and products, and for subscripts.
    """
    if (whole := _whole_leaf(expr, spans)) is not None:
        return (whole,)
    found = _cases(expr, spans)
    if len(found) > MOST_CASES:
        raise NotWhole
    if not _wraps(expr):
        low, high = span_of(expr.dtype)
        return tuple(replace(c, low=max(c.low, low), high=min(c.high, high)) for c in found)
    if not reduced:
        return found
    found = tuple(turned for case in found for turned in wrapped(case, expr.dtype))
    if len(found) > MOST_CASES:
        raise NotWhole
    return found


def _whole_leaf(expr: Expr, spans: Spans) -> Case | None:
    match expr:
        case Const(int() as value, dtype):
            return numbered(int(value) if dtype == BOOL else wrapped_value(int(value), dtype))
        case Size(name, dtype) | Index(name, dtype):
            plain = type(expr)(name, INT32)
            widest = span_of(dtype) if isinstance(expr, Size) else SYMBOLS
            low, high = spans.get(plain, widest)
            return Case(plain, max(low, SYMBOLS[0]), min(high, SYMBOLS[1]))
    return Case(expr, *spans[expr]) if expr in spans else None


def _wraps(expr: Expr) -> bool:
    """Whether the number of an expression is only right modulo the size of its type."""
    match expr:
        case Cast(_, dtype):
            return dtype != BOOL
        case Unary("-" | "~", _, dtype):
            return dtype.kind == "uint"
        case Binary(op, _, _, dtype):
            return op in RING and dtype.kind == "uint"
    return False


def _cases(expr: Expr, spans: Spans) -> Cases:
    match expr:
        case Cast(operand, dtype) if not operand.dtype.is_float:
            if dtype == BOOL and operand.dtype != BOOL:
                return _truth(compared("!=", operand, Const(0, operand.dtype), spans))
            return cases(operand, spans, reduced=dtype.bits > operand.dtype.bits or operand.dtype == BOOL)
        case Unary("-" | "~" as op, operand, dtype) if dtype.is_integral:
            below = -1 if op == "~" else 0
            return tuple(_negated(c, below) for c in cases(operand, spans, reduced=dtype.kind != "uint"))
        case Binary(op, left, right, dtype) if dtype != BOOL and dtype.is_integral:
            lazy = op in RING and dtype.kind == "uint"
            amount = op in ("<<", ">>")
            pairs = product(cases(left, spans, reduced=not lazy), cases(right, spans, reduced=amount or not lazy))
            return tuple(_combined(op, a, b) for a, b in pairs)
        case Select(condition, then, otherwise, dtype) if dtype.is_integral:
            return _selected(condition, cases(then, spans), cases(otherwise, spans))
        case Call("min" | "max" | "abs" as name, arguments, dtype) if dtype.is_integral:
            return tuple(_called(name, chosen) for chosen in product(*(cases(a, spans) for a in arguments)))
    if expr.dtype == BOOL:
        return _truth(expr)
    raise NotWhole


def fits(expr: Expr, spans: Spans) -> bool:
    """Whether no signed arithmetic in it leaves its type, and so would wrap around."""
    near = {of: (max(low, -MEMORY), min(high, MEMORY)) for of, (low, high) in spans.items()}
    try:
        return _fits(expr, near)
    except NotWhole:
        return False


def _fits(expr: Expr, spans: Spans) -> bool:
    if _whole_leaf(expr, spans) is not None:
        return True
    if not all(_fits(child, spans) for child in children(expr)):
        return False
    match expr:
        case Unary("-", _, dtype) | Binary("+" | "-" | "*" | "<<", _, _, dtype) | Call("abs", _, dtype):
            low, high = span_of(dtype)
            return dtype.kind != "int" or all(low <= c.low and c.high <= high for c in _cases(expr, spans))
    return True


def _truth(condition: Expr) -> Cases:
    """A condition as 1 or 0."""
    if not guard(condition)[1]:
        raise NotWhole
    return numbered(1).under(condition), numbered(0).under(Unary("!", condition, BOOL))


def _selected(condition: Expr, then: Cases, otherwise: Cases) -> Cases:
    if not guard(condition)[1]:
        raise NotWhole
    if len(then) == len(otherwise) == 1 and not (then[0].conditions or otherwise[0].conditions):
        a, b = then[0], otherwise[0]
        return (Case(Select(condition, a.expression, b.expression, INT32), min(a.low, b.low), max(a.high, b.high)),)
    yes = tuple(c.under(condition) for c in then)
    return yes + tuple(c.under(Unary("!", condition, BOOL)) for c in otherwise)


def _negated(case: Case, below: int) -> Case:
    if (of := constant(case.value)) is not None:
        return replace(numbered(below - int(of) - case.offset), conditions=case.conditions)
    value = Unary("-", case.value, INT32)
    return replace(case, value=value, low=below - case.high, high=below - case.low, offset=below - case.offset)


def _combined(op: str, a: Case, b: Case) -> Case:
    conditions = (*a.conditions, *b.conditions)
    match op:
        case "+":
            found = Case(_joined("+", a.value, b.value), a.low + b.low, a.high + b.high, a.offset + b.offset)
        case "-":
            found = Case(_joined("-", a.value, b.value), a.low - b.high, a.high - b.low, a.offset - b.offset)
        case "*":
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            found = Case(_joined("*", a.expression, b.expression), min(corners), max(corners))
        case "/" | "%":
            found = _divided(op, a, b)
        case "<<" | ">>":
            found = _shifted(op, a, b)
        case _:
            raise NotWhole
    return replace(found, conditions=conditions)


def _joined(op: str, left: Expr, right: Expr) -> Expr:
    x, y = constant(left), constant(right)
    if x is None or y is None:
        return Binary(op, left, right, INT32)
    folded: dict[str, Callable[[int, int], int]] = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b
    }  # fmt: skip
    return number(folded[op](int(x), int(y)))


def _divided(op: str, a: Case, b: Case) -> Case:
    """Floor division, 0 where the divisor is; C's own rounding was said in its terms before."""
    if b.low == b.high and b.low > 0:
        return floor_divided(op, a, b.low)
    value = Binary(op, a.fitting(), b.fitting(), INT32)
    if op == "/":
        most = max(abs(a.low), abs(a.high)) + 1
        return Case(value, 0 if min(a.low, b.low) >= 0 else -most, most)
    return Case(value, min(0, b.low), max(0, b.high))


def _shifted(op: str, a: Case, b: Case) -> Case:
    if b.low != b.high or not 0 <= b.low < 63:
        raise NotWhole
    by = 1 << b.low
    if op == ">>":
        return floor_divided("/", a, by)
    return Case(_joined("*", number(by), a.expression), a.low * by, a.high * by)


def _called(name: str, chosen: tuple[Case, ...]) -> Case:
    value = Call(name, tuple(c.fitting() for c in chosen), INT32)
    conditions = tuple(condition for c in chosen for condition in c.conditions)
    if name == "abs":
        (only,) = chosen
        reach = max(abs(only.low), abs(only.high))
        return Case(value, max(0, only.low, -only.high), reach, 0, conditions)
    best = min if name == "min" else max
    return Case(value, best(c.low for c in chosen), best(c.high for c in chosen), 0, conditions)


def compared(op: str, left: Expr, right: Expr, spans: Spans) -> Expr:
    """A comparison of two values of one type, as whole numbers; NotWhole where they are none."""
    a, b = cases(left, spans), cases(right, spans)
    if len(a) == len(b) == 1:
        return _all((*a[0].conditions, *b[0].conditions, compare(op, a[0], b[0])))
    found: list[Expr] = []
    for x, y in product(a, b):
        known = decided(op, x, y)
        if known is not False:
            own = () if known else (compare(op, x, y),)
            found.append(_all((*x.conditions, *y.conditions, *own)))
    if not found:
        return Const(False, BOOL)
    return reduce(lambda some, more: Binary("||", some, more, BOOL), found)


def _all(conditions: tuple[Expr, ...]) -> Expr:
    return conjunction(list(dict.fromkeys(conditions))) if conditions else Const(True, BOOL)


def _chosen(found: Cases) -> Expr:
    """The cases as one expression."""
    value = found[-1].expression
    for case in reversed(found[:-1]):
        value = Select(_all(case.conditions), case.expression, value, INT32)
    return value


def whole(value: Expr, spans: Spans) -> Expr:
    """An integer value as a whole number, for a subscript or an extent; one that isl cannot say stays as it is.

    The last turns of a type of 32 bits or more need no cases: a number outside such a type is outside the array.
    """
    if any(reads(value)):
        return value
    try:
        return _chosen(cases(value, spans, reduced=value.dtype.bits < 32))
    except NotWhole:
        return value


def unwrapped_comparison(op: str, left: Expr, right: Expr, spans: Spans) -> Expr:
    """A comparison: of whole numbers where isl can say it, else of values of their C type."""
    typed = Binary(op, left, right, BOOL)
    if not left.dtype.is_integral or any(reads(typed)):
        return typed
    try:
        found = compared(op, left, right, spans)
    except NotWhole:
        return typed
    return found if _fits_32_bits(found, spans) else widened(found)


def _fits_32_bits(found: Expr, spans: Spans) -> bool:
    """Whether it is sums of numbers, sizes and loop variables of 32 bits: other arithmetic is done in its type."""
    low, high = span_of(INT32)
    for part in walk(found):
        match part:
            case Const(_, dtype) if dtype == INT64:
                return False
            case Size():
                least, most = spans.get(Size(part.name), SYMBOLS)
                if least < low or most > high:
                    return False
            case Binary(op, left, right, _) if op in COMPARISONS:
                if not (is_index_arithmetic(left) and is_index_arithmetic(right)):
                    return False
    return True
