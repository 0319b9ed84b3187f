"""Integer expressions over sizes in a normal form: `{monomial: coefficient}`.

A monomial is a sorted tuple of atoms: Size, Index, or an expression that is no polynomial (a floor
division, a remainder, a min or max), itself normalised.  Equal polynomials are equal expressions, so this
is how bounds are simplified and compared.
"""

from __future__ import annotations

from workbench.lang.dtypes import INT32, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Size, Unary, index_names
from workbench.lang.folding import floor_divide, floor_remainder

Monomial = tuple[Expr, ...]
Poly = dict[Monomial, int]

ZERO: Poly = {}
ONE: Poly = {(): 1}


def constant(value: int) -> Poly:
    """The polynomial of a number."""
    return {(): value} if value else {}


def atom(expr: Expr) -> Poly:
    """The polynomial of one unknown."""
    return {(expr,): 1}


def add(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """`a + factor * b`."""
    total = dict(a)
    for monomial, coefficient in b.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def scale(a: Poly, factor: int) -> Poly:
    """`factor * a`."""
    return {monomial: factor * coefficient for monomial, coefficient in a.items()} if factor else {}


def multiply(a: Poly, b: Poly) -> Poly:
    """`a * b`."""
    total: Poly = {}
    for left, x in a.items():
        for right, y in b.items():
            total = add(total, {tuple(sorted(left + right, key=_order)): x * y})
    return total


def _order(expr: Expr) -> str:
    return expr.name if isinstance(expr, Size | Index) else "~" + repr(expr)


def as_constant(a: Poly) -> int | None:
    """The number it is, if it is one."""
    if not a:
        return 0
    return a[()] if len(a) == 1 and () in a else None


def polynomial(expr: Expr) -> Poly:
    """Normal form of an integer expression; what is no polynomial becomes an atom."""
    match expr:
        case Const(value, _):
            return constant(int(value))
        case Unary("-", operand, _):
            return scale(polynomial(operand), -1)
        case Binary("+", left, right, _):
            return add(polynomial(left), polynomial(right))
        case Binary("-", left, right, _):
            return add(polynomial(left), polynomial(right), -1)
        case Binary("*", left, right, _):
            return multiply(polynomial(left), polynomial(right))
        case Binary("/", left, right, _):
            return divide(polynomial(left), polynomial(right))
        case Binary("%", left, right, _):
            return remainder(polynomial(left), polynomial(right))
        case Call("min" | "max" as which, arguments, _):
            return extreme(which, [polynomial(argument) for argument in arguments])
        case Cast(operand, dtype) if _widens(operand.dtype, dtype):
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


def divide(a: Poly, b: Poly) -> Poly:
    """`a / b`, rounded down; multiples of a constant divisor are taken out."""
    divisor = as_constant(b)
    if divisor is None:
        return atom(Binary("/", expression(a), expression(b), INT32))
    if divisor == 0:
        return ZERO
    if divisor < 0:
        return divide(scale(a, -1), constant(-divisor))
    whole = {monomial: x // divisor for monomial, x in a.items() if x % divisor == 0 or monomial == ()}
    rest = add(a, scale(whole, divisor), -1)
    whole = {monomial: x for monomial, x in whole.items() if x}
    if as_constant(rest) is not None:
        return add(whole, constant(floor_divide(as_constant(rest) or 0, divisor)))
    inner = _floor_division(rest)
    if inner:
        return add(whole, divide(inner[0], constant(inner[1] * divisor)))
    return add(whole, atom(Binary("/", expression(rest), Const(divisor, INT32), INT32)))


def _floor_division(a: Poly) -> tuple[Poly, int] | None:
    """Numerator and divisor if `a` is exactly one floor division by a positive constant."""
    if len(a) == 1:
        ((monomial, coefficient),) = a.items()
        if coefficient == 1 and len(monomial) == 1:
            match monomial[0]:
                case Binary("/", numerator, Const(divisor, _), _) if divisor > 0:
                    return polynomial(numerator), int(divisor)
    return None


def exact_quotient(a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """`(q, r)` with `a == q*b + r` where q takes the terms that the single monomial `b` divides."""
    ((divisor, factor),) = b.items()
    quotient: Poly = {}
    for monomial, x in a.items():
        left = list(monomial)
        if x % factor == 0 and all(_take(left, part) for part in divisor):
            quotient[tuple(left)] = x // factor
    return quotient, add(a, multiply(quotient, b), -1)


def _take(parts: list[Expr], part: Expr) -> bool:
    if part in parts:
        parts.remove(part)
        return True
    return False


def remainder(a: Poly, b: Poly) -> Poly:
    """`a % b` with the sign of b."""
    divisor, value = as_constant(b), as_constant(a)
    if divisor is not None and value is not None:
        return constant(floor_remainder(value, divisor))
    if divisor in (0, 1, -1):
        return ZERO
    if divisor is not None and divisor > 0:
        a = {monomial: x % divisor for monomial, x in a.items() if x % divisor}
        if as_constant(a) is not None:
            return a
    return atom(Binary("%", expression(a), expression(b), INT32))


def extreme(which: str, candidates: list[Poly]) -> Poly:
    """min or max of several; nested ones are flattened, those that can never win are dropped."""
    flat: list[Poly] = []
    for candidate in candidates:
        for part in _flatten(which, candidate):
            if part not in flat:
                flat.append(part)
    kept: list[Poly] = []
    for at, part in enumerate(flat):
        others = kept + flat[at + 1 :]
        if not any(_constant_beats(which, other, part) for other in others):
            kept.append(part)
    if len(kept) == 1:
        return kept[0]
    return atom(Call(which, tuple(expression(part) for part in kept), INT32))


def _flatten(which: str, a: Poly) -> list[Poly]:
    if len(a) == 1:
        ((monomial, coefficient),) = a.items()
        if coefficient == 1 and len(monomial) == 1:
            match monomial[0]:
                case Call(function, arguments, _) if function == which:
                    return [polynomial(argument) for argument in arguments]
    return [a]


def _constant_beats(which: str, winner: Poly, loser: Poly) -> bool:
    gap = as_constant(add(winner, loser, -1))
    return gap is not None and (gap <= 0 if which == "min" else gap >= 0)


def expression(a: Poly) -> Expr:
    """The expression of a normal form: positive terms first, the constant last."""
    signed = [(m, x) for m, x in a.items() if m and x > 0] + [(m, x) for m, x in a.items() if m and x < 0]
    result: Expr | None = None
    for monomial, coefficient in signed:
        result = _append(result, _term(monomial, abs(coefficient)), coefficient)
    rest = a.get((), 0)
    if result is None:
        return Const(rest, INT32)
    if rest > 0 and isinstance(result, Unary):
        return Binary("-", Const(rest, INT32), result.operand, INT32)
    return _append(result, Const(abs(rest), INT32), rest) if rest else result


def _append(total: Expr | None, term: Expr, sign: int) -> Expr:
    if total is None:
        return term if sign > 0 else Unary("-", term, INT32)
    return Binary("+" if sign > 0 else "-", total, term, INT32)


def _term(monomial: Monomial, coefficient: int) -> Expr:
    factors: list[Expr] = [Const(coefficient, INT32)] if coefficient != 1 else []
    factors += monomial
    product = factors[0]
    for factor in factors[1:]:
        product = Binary("*", product, factor, INT32)
    return product


def simplify(expr: Expr) -> Expr:
    """The same integer expression in normal form."""
    return expression(polynomial(expr))


def indices_of(a: Poly) -> set[str]:
    """Names of the iteration variables that occur."""
    names: set[str] = set()
    for monomial in a:
        for part in monomial:
            if isinstance(part, Index):
                names.add(part.name)
            elif not isinstance(part, Size):
                names |= index_names(part)
    return names
