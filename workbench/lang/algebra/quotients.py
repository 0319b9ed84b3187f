"""Floor divisions and remainders in one form, so that they cancel: `x / 9 * 9 + x % 9` is `x`."""

from __future__ import annotations

from workbench.lang.algebra.normal_form import divide, polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial, atom, number
from workbench.lang.expr import Binary, Const, Expr


def in_quotients(form: Polynomial) -> Polynomial:
    """The same integer without remainders by numbers (`a % c` is `a - c * (a / c)`), each quotient in one spelling.

    >>> from workbench.lang.dtypes import INT64
    >>> from workbench.lang.expr import Index
    >>> x, c = Index("x", INT64), Const(9, INT64)
    >>> row, column = polynomial(Binary("/", x, c, INT64)), polynomial(Binary("%", x, c, INT64))
    >>> in_quotients(row * 9 + column) == polynomial(x)
    True
    """
    total = ZERO
    for monomial, factor in form.terms:
        product = number(factor)
        for part in monomial:
            product = product * _opened(part)
        total = total + product
    return total


def divisions(form: Polynomial) -> list[Expr]:
    """The quotients and remainders by numbers that are atoms of a form."""
    return [part for part in form.atoms if _divisor(part) is not None]


def _divisor(part: Expr) -> int | None:
    match part:
        case Binary("/" | "%", _, Const(int(value), _), _) if value > 0:
            return value
    return None


def _opened(part: Expr) -> Polynomial:
    divisor = _divisor(part)
    if divisor is None or not isinstance(part, Binary):
        return atom(part)
    operand = in_quotients(polynomial(part.left))
    quotient = _quotient(operand, divisor)
    return quotient if part.op == "/" else operand - quotient * divisor


def _quotient(form: Polynomial, divisor: int) -> Polynomial:
    """`form / divisor` with coefficients from 0 to the divisor, the sign chosen by what reads first.

    Uses `(a + b / d) / c == (d * a + b) / (d * c)` and `(c - 1 - a) / c == -(a / c)`.
    """
    inner = [(m[0], x) for m, x in form.terms if len(m) == 1 and abs(x) == 1 and _divisor(m[0]) is not None]
    if len(inner) == 1 and len(divisions(form)) == 1:
        (part, sign), d = inner[0], _divisor(inner[0][0]) or 1
        assert isinstance(part, Binary)
        numerator = polynomial(part.left) if sign > 0 else number(d - 1) - polynomial(part.left)
        return _quotient((form - atom(part) * sign) * d + numerator, divisor * d)
    whole, rest = _parts(form, divisor)
    more, mirrored = _parts(number(divisor - 1) - rest, divisor)
    if _key(rest) <= _key(mirrored):
        return whole + divide(_sorted(rest), number(divisor))
    return whole - more - divide(_sorted(mirrored), number(divisor))


def _parts(form: Polynomial, divisor: int) -> tuple[Polynomial, Polynomial]:
    """(quotient, rest) term by term; the rest has coefficients from 0 to the divisor."""
    whole = Polynomial({m: x // divisor for m, x in form.terms if x // divisor})
    return whole, form - whole * divisor


def _sorted(form: Polynomial) -> Polynomial:
    """The same form with its terms in one order: an atom is told by its text."""
    return Polynomial(dict(sorted(form.terms, key=lambda term: repr(term[0]))))


def _key(form: Polynomial) -> tuple[int, int, list[tuple[str, int]]]:
    """What reads first: few terms, small factors."""
    terms = sorted((repr(monomial), factor) for monomial, factor in form.terms)
    return len(terms), sum(factor for _, factor in terms), terms
