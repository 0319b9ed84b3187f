"""Subscripts that count through memory together become one: `A(x / 9, x % 9)` lies `x` elements from the first one.

Divisions and remainders are brought into one form for that (`in_quotients`), in which equal ones are one.

So what `fuse` made of rows and columns is one run of neighbours for lanes, register tiles and addresses.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Cell, Nest, Write, children, rebuild
from workbench.codegen.nest.ranges import Ranges, inside, interval
from workbench.lang.algebra.normal_form import divide, exact_quotient, is_address, polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial, atom, expression, number
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Read, reads, walk
from workbench.lang.expr import transform as transform_expr
from workbench.poly.programs.program import Array, Program

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def collapsed(nest: Nest, program: Program, ranges: Ranges | None = None) -> Nest:
    """The nest with every cell in the subscripts that need the fewest divisions; addresses stay the same.

    `ranges` are the values of the variables around: a quotient of which they leave one value is that number.
    """
    known = {} if ranges is None else ranges
    if isinstance(nest, Write):
        return _written(nest, program, known)
    inner = inside(nest, known)
    return rebuild(nest, tuple(collapsed(child, program, inner) for child in children(nest)))


def _written(write: Write, program: Program, ranges: Ranges) -> Write:
    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in program.arrays:
            return replace(node, subscripts=joined_subscripts(program.arrays[node.tensor], node.subscripts, ranges))
        return node

    def cell(own: Cell) -> Cell:
        subscripts = tuple(transform_expr(s, change) for s in own.subscripts)
        return replace(own, subscripts=joined_subscripts(program.arrays[own.array], subscripts, ranges))

    values = tuple(_compared(transform_expr(v, change), ranges) for v in write.values)
    return replace(write, cells=tuple(map(cell, write.cells)), values=values)


def joined_subscripts(array: Array, subscripts: tuple[Expr, ...], ranges: Ranges) -> tuple[Expr, ...]:
    """The subscripts, those that divide the same variables joined into the innermost of them where divisions cancel.

    The others of such a group stand at their lowest value, and the joined one may leave its dimension.
    """
    found = list(subscripts)
    for group in _groups(subscripts):
        place = _place(array, subscripts, group, ranges)
        for d in group:
            found[d] = _shorter(subscripts[d], ranges) if place is None else array.lower[d]
        if place is not None:
            position, value = place
            found[position] = expression(polynomial(array.lower[position]) + value, INT64)
    return tuple(found)


def _shorter(subscript: Expr, ranges: Ranges) -> Expr:
    """The subscript in quotients alone where that is plainer: `(1024*o + i) / 2304`, however it was made."""
    other = expression(_decided(in_quotients(polynomial(subscript)), ranges), INT64)
    return other if _effort(other, ranges) < _effort(subscript, ranges) else subscript


def _effort(expr: Expr, ranges: Ranges) -> tuple[int, int]:
    """How many divisions round numbers that may be negative, which takes more than C's own; how long it is."""
    divided = [e.left for e in walk(expr) if isinstance(e, Binary) and e.op in ("/", "%")]
    least = [interval(e, ranges)[0] for e in divided]
    return sum(low is None or low < 0 for low in least), sum(1 for _ in walk(expr))


def _compared(value: Expr, ranges: Ranges) -> Expr:
    """A value whose conditions on places are spelled as its subscripts are."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Binary) and node.op in COMPARISONS:
            left, right = (_shorter(e, ranges) if is_address(e) else e for e in (node.left, node.right))
            return replace(node, left=left, right=right)
        return node

    return transform_expr(value, change)


def _groups(subscripts: tuple[Expr, ...]) -> list[list[int]]:
    """Positions whose quotients and remainders are of common variables."""
    groups: list[tuple[set[str], list[int]]] = []
    for position, subscript in enumerate(subscripts):
        names = set() if any(reads(subscript)) else _divided(polynomial(subscript))
        if not names:
            continue
        met = [g for g in groups if g[0] & names]
        groups = [g for g in groups if g not in met]
        names = names.union(*(g[0] for g in met))
        groups.append((names, [*(d for g in met for d in g[1]), position]))
    return [positions for _, positions in groups]


def _divided(form: Polynomial) -> set[str]:
    """The variables inside quotients and remainders."""
    return {name for part in divisions(form) for name in polynomial(part).indices}


def _place(
    array: Array, subscripts: tuple[Expr, ...], group: list[int], ranges: Ranges
) -> tuple[int, Polynomial] | None:
    """(the position that takes all, its distance from the lowest value), None where a division stays."""
    total = ZERO
    for d in group:
        total += (polynomial(subscripts[d]) - polynomial(array.lower[d])) * polynomial(array.strides[d])
    flat = _decided(in_quotients(total), ranges)
    if divisions(flat):
        return None
    for position in reversed(group):
        stride = polynomial(array.strides[position])
        if len(stride.terms) == 1:
            value, rest = exact_quotient(flat, stride)
            if not rest:
                return position, value
    return None


def _decided(form: Polynomial, ranges: Ranges) -> Polynomial:
    """The form with numbers for the quotients and remainders that have one value only."""
    total = ZERO
    for monomial, factor in form.terms:
        product = number(factor)
        for part in monomial:
            low, high = interval(part, ranges)
            known = low is not None and low == high and divisions(atom(part))
            product = product * (number(low or 0) if known else atom(part))
        total = total + product
    return total


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
