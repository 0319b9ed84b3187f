"""Expressions to polynomials and back: floor division, remainders, minima and maxima included."""

from __future__ import annotations

from functools import lru_cache

from workbench.lang.algebra.folding import floor_remainder
from workbench.lang.algebra.polynomial import ZERO, Polynomial, atom, expression, number, split_linear, without
from workbench.lang.dtypes import INT32, INT64, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Size, Unary, reads, walk


@lru_cache(maxsize=1 << 16)
def polynomial(expr: Expr) -> Polynomial:
    """Normal form of an integer expression; what is no polynomial becomes an atom.

    The arithmetic is that of whole numbers: signed types do not wrap, unsigned ones are atoms.

    >>> n = Size("N")
    >>> polynomial(Binary("/", Binary("+", Binary("*", Const(4, INT32), n, INT32), Const(7, INT32), INT32),
    ...     Const(4, INT32), INT32)) == polynomial(n) + 1
    True
    """
    if isinstance(expr, Const) and not isinstance(expr.value, float):
        return number(int(expr.value))
    if expr.dtype.kind != "int":
        return atom(expr)
    match expr:
        case Unary("-", operand, _):
            return -polynomial(operand)
        case Binary("+", left, right, _):
            return polynomial(left) + polynomial(right)
        case Binary("-", left, right, _):
            return polynomial(left) - polynomial(right)
        case Binary("*", left, right, _):
            return polynomial(left) * polynomial(right)
        case Binary("/", left, right, _):
            return divide(polynomial(left), polynomial(right))
        case Binary("%", left, right, _):
            return remainder(polynomial(left), polynomial(right))
        case Call("min" | "max" as which, arguments, _):
            return extreme(which, [polynomial(argument) for argument in arguments])
        case Cast(operand, dtype) if _widens(operand.dtype, dtype) and is_plain(operand):
            return polynomial(operand)
        case _:
            return atom(expr)


def _widens(old: DType, new: DType) -> bool:
    return old.is_integral and new.kind == "int" and new.bits >= old.bits + (old.kind == "uint")


def is_plain(expr: Expr) -> bool:
    """Whether only sizes, indices, numbers, `+ - * / %`, min and max occur, in signed arithmetic."""
    match expr:
        case Const() | Size() | Index():
            return expr.dtype.is_integral
        case Unary("-", operand, dtype):
            return dtype.kind == "int" and is_plain(operand)
        case Binary("+" | "-" | "*" | "/" | "%", left, right, dtype):
            return dtype.kind == "int" and is_plain(left) and is_plain(right)
        case Call("min" | "max", arguments, _):
            return all(is_plain(argument) for argument in arguments)
        case Cast(operand, dtype):
            return _widens(operand.dtype, dtype) and is_plain(operand)
        case _:
            return False


def is_index_arithmetic(expr: Expr) -> bool:
    """Whether a comparison takes it as whole numbers, which do not wrap around: affine in the indices, or the least or
    greatest of such."""
    match expr:
        case Const(value, _):
            return isinstance(value, int) and not isinstance(value, bool)
        case Index() | Size():
            return True
        case Unary() | Binary() if expr.dtype.kind == "uint":
            return False
        case Unary("-", operand, _):
            return is_index_arithmetic(operand)
        case Binary("*", left, right, _):
            scaled = isinstance(left, Const | Size) or isinstance(right, Const | Size)
            return scaled and is_index_arithmetic(left) and is_index_arithmetic(right)
        case Binary("+" | "-", left, right, _):
            return is_index_arithmetic(left) and is_index_arithmetic(right)
        case Binary("/" | "%", left, Const(), _):
            return is_index_arithmetic(left)
        case Call("min" | "max", arguments, _):
            return all(map(is_index_arithmetic, arguments))
        case Cast(Index() | Size() as operand, dtype):  # of a sum or product it says that it wraps around in its type
            return _widens(operand.dtype, dtype)
        case _:
            return False


def is_address(expr: Expr) -> bool:
    """Whether it is index arithmetic of generated code: whole numbers made of bare indices and sizes.

    Values are made of reads, and of indices and sizes that a cast gives a type in which they wrap around.
    """
    match expr:
        case Index() | Size():
            return True
        case Unary("-", operand, _):
            return is_address(operand)
        case Binary("+" | "-" | "*" | "/" | "%", left, right, _):
            sides = (left, right)
        case Call("min" | "max" | "whole", sides, _):
            pass
        case _:
            return False
    varying = [side for side in sides if not isinstance(side, Const)]
    return bool(varying) and all(map(is_address, varying))


def divide(a: Polynomial, b: Polynomial) -> Polynomial:
    """`a / b`, rounded down; multiples of a constant divisor are taken out; 0 where b is 0."""
    divisor = b.constant
    if divisor == 0 or not a:
        return ZERO
    if divisor is None:
        return atom(Binary("/", expression(a), expression(b), INT64))
    if divisor < 0:
        return divide(-a, -b)
    whole = Polynomial({m: x // divisor for m, x in a.terms if x % divisor == 0 or (not m and x // divisor)})
    rest = a - whole * divisor
    value = rest.constant
    if value is not None:
        return whole + value // divisor
    match rest.only_atom():
        case Binary("/", numerator, Const(inner, _), _) if inner > 0:
            return whole + divide(polynomial(numerator), b * int(inner))
    return atom(Binary("/", expression(rest), Const(divisor, INT64), INT64)) + whole


def exact_quotient(a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """`(q, r)` with `a == q*b + r` where q takes the terms that the single monomial `b` divides."""
    ((divisor, factor),) = b.terms
    found = [(_quotient(monomial, divisor), x // factor) for monomial, x in a.terms if x % factor == 0]
    quotient = Polynomial({monomial: x for monomial, x in found if monomial is not None})
    return quotient, a - quotient * b


def _quotient(monomial: tuple[Expr, ...], divisor: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
    for part in divisor:
        if part not in monomial:
            return None
        monomial = without(monomial, part)
    return monomial


def remainder(a: Polynomial, b: Polynomial) -> Polynomial:
    """`a % b` with the sign of b; 0 where b is 0."""
    divisor, value = b.constant, a.constant
    if divisor is not None and value is not None:
        return number(floor_remainder(value, divisor))
    if divisor in (0, 1, -1):
        return ZERO
    if divisor is not None and divisor > 0:
        a = Polynomial({monomial: x % divisor for monomial, x in a.terms if x % divisor})
        if a.constant is not None:
            return a
        match a.only_atom():
            case Binary("%", inner, Const(modulus, _), _) if modulus > 0 and modulus % divisor == 0:
                return remainder(polynomial(inner), b)
    return atom(Binary("%", expression(a), expression(b), INT64))


def extreme(which: str, candidates: list[Polynomial]) -> Polynomial:
    """min or max of several; nested ones are flattened, those that can never win are dropped, a number stands last."""
    flat = list(dict.fromkeys(part for candidate in candidates for part in _flatten(which, candidate)))
    kept: list[Polynomial] = []
    for at, part in enumerate(flat):
        if not any(_always_beats(which, other, part) for other in (*kept, *flat[at + 1 :])):
            kept.append(part)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda form: form.constant is not None)
    return atom(Call(which, tuple(map(expression, kept)), INT64))


def _flatten(which: str, form: Polynomial) -> list[Polynomial]:
    match form.only_atom():
        case Call(function, arguments, _) if function == which:
            return [polynomial(argument) for argument in arguments]
    return [form]


def _always_beats(which: str, winner: Polynomial, loser: Polynomial) -> bool:
    gap = (winner - loser).constant
    return gap is not None and (gap <= 0 if which == "min" else gap >= 0)


def simplify(expr: Expr, dtype: DType = INT64) -> Expr:
    """The same integer in normal form, its arithmetic in `dtype`.

    >>> n = Size("N")
    >>> simplify(Binary("+", Binary("-", n, Const(1, INT32), INT32), Const(1, INT32), INT32), INT32) == n
    True
    """
    if isinstance(expr, Size | Index) and expr.dtype == dtype and dtype.kind == "int":
        return expr
    return expression(polynomial(expr), dtype)


def bound(form: Polynomial) -> Expr:
    """A form as a bound or extent of the language: int32, the type of sizes and indices."""
    return expression(form, INT32)


def constant(expr: Expr) -> int | None:
    """The integer that the expression always is, None if it varies."""
    return polynomial(expr).constant


def data_terms(form: Polynomial) -> tuple[list[tuple[int, Expr]], Expr]:
    """(factor, part that reads data) for each such term, and the rest.

    >>> from workbench.lang.expr import Read
    >>> i = Read("idx", (Index("n"),), INT32)
    >>> found, rest = data_terms(polynomial(i) * 5 + polynomial(Index("d")))
    >>> found == [(5, i)], rest == Index("d", INT64)
    (True, True)
    """
    data = [(x, expression(Polynomial({monomial: 1}))) for monomial, x in form.terms if any(reads(*monomial))]
    return data, expression(Polynomial({monomial: x for monomial, x in form.terms if not any(reads(*monomial))}))


def mentions(expr: Expr, variable: str) -> bool:
    """Whether the variable occurs anywhere, also inside reads."""
    return any(isinstance(node, Index) and node.name == variable for node in walk(expr))


def depends(expr: Expr, variable: str) -> bool:
    """Whether the value may change with the variable (`i - i` does not)."""
    return any(mentions(part, variable) for part in polynomial(expr).atoms)


def growth(expr: Expr, variable: str) -> int | None:
    """What the expression grows by when the variable grows by 1; None if that is not the same number at every step.

    >>> growth(Binary("*", Const(3, INT32), Index("i"), INT32), "i"), growth(Index("j"), "i")
    (3, 0)
    """
    parts = split_linear(polynomial(expr), Index(variable, INT64))
    return parts[0].constant if parts is not None else None
