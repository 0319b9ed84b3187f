"""Integer expressions as polynomials: how an address depends on a loop variable.

Atoms are variable and size names, or whole subexpressions that are not polynomial (a floor, a minimum, a gather).
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Size, Unary, walk

Atom = str | Expr
Monomial = tuple[Atom, ...]
Polynomial = tuple[tuple[Monomial, int], ...]


@lru_cache(maxsize=1 << 16)
def polynomial(expr: Expr) -> Polynomial:
    """The expression as a sum of integer multiples of products of atoms."""
    match expr:
        case Const(value, _):
            return _pack({(): int(value)})
        case Index(name, _):
            return (((name,), 1),)
        case Size(name, _):
            return (((Size(name, INT64),), 1),)
        case Unary("-", a, _):
            return _pack({m: -c for m, c in polynomial(a)})
        case Binary("+", a, b, _):
            return _sum(polynomial(a), polynomial(b), 1)
        case Binary("-", a, b, _):
            return _sum(polynomial(a), polynomial(b), -1)
        case Binary("*", a, b, _):
            return _product(polynomial(a), polynomial(b))
        case Cast(a, dtype) if dtype.is_integral and dtype.bits >= 32 and _narrow(a):
            return polynomial(a)
    return (((expr,), 1),)


def _narrow(expr: Expr) -> bool:
    return isinstance(expr, Const | Index | Size | Binary | Unary) and expr.dtype.is_integral


def _pack(terms: dict[Monomial, int]) -> Polynomial:
    return tuple(sorted(((m, c) for m, c in terms.items() if c), key=repr))


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    terms: dict[Monomial, int] = defaultdict(int, dict(a))
    for monomial, coefficient in b:
        terms[monomial] += sign * coefficient
    return _pack(terms)


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    terms: dict[Monomial, int] = defaultdict(int)
    for m, c in a:
        for n, d in b:
            terms[tuple(sorted((*m, *n), key=repr))] += c * d
    return _pack(terms)


def mentions(expr: Expr, variable: str) -> bool:
    """Whether the variable occurs anywhere, also inside reads."""
    return any(isinstance(node, Index) and node.name == variable for node in walk(expr))


def depends(expr: Expr, variable: str) -> bool:
    """Whether the value may change with the variable (`i - i` does not)."""
    return any(_atom_mentions(atom, variable) for monomial, _ in polynomial(expr) for atom in monomial)


def _atom_mentions(atom: Atom, variable: str) -> bool:
    return atom == variable if isinstance(atom, str) else mentions(atom, variable)


def coefficient(expr: Expr, variable: str) -> Polynomial | None:
    """What one step of the variable adds to the expression; None if that is not the same at every step."""
    terms: dict[Monomial, int] = {}
    for monomial, factor in polynomial(expr):
        if not any(_atom_mentions(atom, variable) for atom in monomial):
            continue
        rest = tuple(atom for atom in monomial if atom != variable)
        if len(rest) != len(monomial) - 1 or any(_atom_mentions(a, variable) for a in rest):
            return None
        terms[rest] = factor
    return _pack(terms)


def constant(value: Polynomial | None) -> int | None:
    """The integer a polynomial is, if it is one."""
    if value is None:
        return None
    if not value:
        return 0
    return value[0][1] if len(value) == 1 and value[0][0] == () else None


def is_constant(expr: Expr) -> int | None:
    """The integer value of the expression, if it is a constant."""
    return constant(polynomial(expr))


def expression(value: Polynomial) -> Expr:
    """A polynomial as an expression again: terms with variables first, the constant last."""
    positive = sorted((t for t in value if t[0] and t[1] > 0), key=lambda t: -t[1])
    negative = [t for t in value if t[0] and t[1] < 0]
    fixed = sum(c for m, c in value if not m)
    result: Expr | None = None
    for monomial, factor in positive:
        result = _plus(result, _term(monomial, factor))
    if result is None and fixed > 0 and negative:
        result, fixed = Const(fixed, INT64), 0
    for monomial, factor in negative:
        term = _term(monomial, -factor)
        result = Unary("-", term, INT64) if result is None else Binary("-", result, term, INT64)
    if result is None:
        return Const(fixed, INT64)
    if fixed:
        op = "+" if fixed > 0 else "-"
        return Binary(op, result, Const(abs(fixed), INT64), INT64)
    return result


def _plus(a: Expr | None, b: Expr) -> Expr:
    return b if a is None else Binary("+", a, b, INT64)


def _term(monomial: Monomial, factor: int) -> Expr:
    result: Expr | None = Const(factor, INT64) if factor != 1 else None
    for atom in monomial:
        node: Expr = Index(atom, INT64) if isinstance(atom, str) else atom
        result = node if result is None else Binary("*", result, node, INT64)
    return result if result is not None else Const(1, INT64)


def simplify(expr: Expr) -> Expr:
    """An integer expression with like terms collected, inside floors and minima as well."""
    match expr:
        case Const() | Index() | Size() | Read():
            return expr
        case Call("min" | "max" as function, arguments, _):
            return _extreme(function, tuple(dict.fromkeys(map(simplify, arguments))))
        case Binary("/" | "%" as op, a, b, _):
            return _division(op, simplify(a), simplify(b))
        case Binary("+" | "-" | "*" as op, a, b, dtype):
            return expression(polynomial(Binary(op, simplify(a), simplify(b), dtype)))
        case Unary("-", a, dtype):
            return expression(polynomial(Unary("-", simplify(a), dtype)))
        case Binary(op, a, b, dtype):
            return Binary(op, simplify(a), simplify(b), dtype)
    return expr


def _division(op: str, a: Expr, b: Expr) -> Expr:
    x, y = is_constant(a), is_constant(b)
    if x is not None and y:
        return Const(x // y if op == "/" else x % y, INT64)
    if y == 1:
        return a if op == "/" else Const(0, INT64)
    return Binary(op, a, b, INT64)


def _extreme(function: str, arguments: tuple[Expr, ...]) -> Expr:
    fixed = [v for v in map(is_constant, arguments) if v is not None]
    others = [a for a in arguments if is_constant(a) is None]
    if fixed:
        others.append(Const(min(fixed) if function == "min" else max(fixed), INT64))
    return others[0] if len(others) == 1 else Call(function, tuple(others), INT64)
