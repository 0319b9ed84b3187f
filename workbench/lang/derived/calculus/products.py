"""A product taken apart: numerators and denominators, so that factors can be kept, moved or pulled out of a sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from workbench.lang.derived.calculus.algebra import ONE, float_literal, is_one, negative, over, times
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Select, Unary, index_names, walk
from workbench.records import record


@record
class Product:
    """`(product of above) / (product of below)`; constants stand in `above`."""

    above: tuple[Expr, ...]
    below: tuple[Expr, ...]

    def expr(self) -> Expr:
        """The product written out: constants first."""
        constants = [each for each in self.above if isinstance(each, Const)]
        others = [each for each in self.above if not isinstance(each, Const)]
        scale = reduce(times, constants, ONE)
        minus = isinstance(scale, Const) and scale.value == -1
        top = reduce(times, others, ONE if minus else scale)
        whole = over(top, reduce(times, self.below, ONE)) if self.below else top
        return negative(whole) if minus else whole

    def parts(self, belongs: Callable[[Expr], bool]) -> tuple[Product, Product]:
        """The factors for which `belongs` holds, and the others."""
        chosen = Product(tuple(filter(belongs, self.above)), tuple(filter(belongs, self.below)))
        rest = Product(
            tuple(each for each in self.above if not belongs(each)),
            tuple(each for each in self.below if not belongs(each)),
        )
        return chosen, rest

    @property
    def is_trivial(self) -> bool:
        """Whether it is 1 or has no factor."""
        return not self.below and all(map(is_one, self.above))


def product(expr: Expr) -> Product:
    """The factors of an expression of floats.

    >>> from workbench.lang.dtypes import FLOAT64
    >>> from workbench.lang.printing.printer import show
    >>> x, y = Read("x", (), FLOAT64), Read("y", (), FLOAT64)
    >>> show(product(negative(over(times(x, float_literal(2)), y))).expr())
    '-2.0 * x / y'
    """
    above: list[Expr] = []
    below: list[Expr] = []
    _collect(expr, above, below)
    return Product(tuple(each for each in above if not is_one(each)), tuple(below))


def _collect(expr: Expr, above: list[Expr], below: list[Expr]) -> None:
    match expr:
        case Binary("*", left, right, dtype) if dtype.is_float:
            _collect(left, above, below)
            _collect(right, above, below)
        case Binary("/", left, right, dtype) if dtype.is_float:
            _collect(left, above, below)
            _collect(right, below, above)
        case Unary("-", operand, dtype) if dtype.is_float:
            above.append(float_literal(-1))
            _collect(operand, above, below)
        case _:
            above.append(expr)


def is_costly(expr: Expr) -> bool:
    """Whether it calls a function or divides floats."""
    cheap = ("min", "max", "abs", "fabs", "relu", "sign")
    return any(
        (isinstance(node, Call) and node.function not in cheap)
        or (isinstance(node, Binary) and node.op == "/" and node.dtype.is_float)
        for node in walk(expr)
    )


def grouped_divisors(expr: Expr, indices: set[str], stored: Callable[[Expr], Expr]) -> Expr:
    """In every product of a sum, divisors that vary with some of the indices only become one stored factor.

    What varies with the same indices, or fewer, and is costly goes with them.
    """
    match expr:
        case Binary("+" | "-" as op, left, right, dtype) if dtype.is_float:
            return Binary(op, grouped_divisors(left, indices, stored), grouped_divisors(right, indices, stored), dtype)
        case Unary("-", operand, dtype) if dtype.is_float:
            return Unary("-", grouped_divisors(operand, indices, stored), dtype)
        case Binary("*" | "/", _, _, dtype) if dtype.is_float:
            return _with_groups(product(expr), indices, stored) or expr
    return expr


def _with_groups(factors: Product, indices: set[str], stored: Callable[[Expr], Expr]) -> Expr | None:
    sets = [index_names(each) & indices for each in factors.below if _is_part(each, indices)]
    if not sets:
        return None
    widest = max(sets, key=len)

    def belongs(each: Expr) -> bool:
        return _is_part(each, indices) and index_names(each) & indices <= widest

    def divides(each: Expr) -> bool:
        return belongs(each) and (each in factors.below or is_costly(each))

    group, others = factors.parts(divides)
    return Product((*others.above, stored(group.expr())), others.below).expr()


def _is_part(expr: Expr, indices: set[str]) -> bool:
    own = index_names(expr) & indices
    data = any(isinstance(node, Read) for node in walk(expr))
    return own < indices and data and not any(isinstance(node, Select) for node in walk(expr))


def invariants(expr: Expr, indices: set[str]) -> list[Expr]:
    """The largest costly parts that read data and depend on some of the indices only, outside of every choice."""
    found: list[Expr] = []
    _search(expr, indices, found)
    return list(dict.fromkeys(found))


def _search(expr: Expr, indices: set[str], found: list[Expr]) -> None:
    if not expr.dtype.is_float or isinstance(expr, Const | Read | Select):
        return
    if is_costly(expr) and _is_part(expr, indices):
        found.append(expr)
        return
    match expr:
        case Unary(_, a, _) | Cast(a, _):
            _search(a, indices, found)
        case Binary(_, a, b, _):
            _search(a, indices, found)
            _search(b, indices, found)
        case Call(_, arguments, _):
            for each in arguments:
                _search(each, indices, found)
