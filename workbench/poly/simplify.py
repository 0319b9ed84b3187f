"""Integer expressions in a normal form: a sum of integer multiples of atoms, plus a constant.

Everything is int64.  Used for extents, strides, loop bounds and subscripts, never for data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add as plus

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Size, Unary, rebuild
from workbench.lang.expr import children as operands


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + sum(coefficient * atom)`; atoms in order of first occurrence, no zero coefficients."""

    terms: tuple[tuple[Expr, int], ...]
    constant: int

    def __add__(self, other: Linear) -> Linear:
        merged = dict(self.terms)
        for atom, coefficient in other.terms:
            merged[atom] = merged.get(atom, 0) + coefficient
        return Linear(tuple((a, c) for a, c in merged.items() if c), self.constant + other.constant)

    def scaled(self, factor: int) -> Linear:
        """Every coefficient multiplied."""
        if factor == 0:
            return Linear((), 0)
        return Linear(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def expr(self) -> Expr:
        """Back to an expression: positive terms first, then the others, then the constant (first if all are
        negative).
        """
        shifted = self._shifted()
        if shifted is not None:
            return shifted
        ordered = sorted(self.terms, key=lambda term: term[1] < 0)
        leading = not ordered or (self.constant > 0 and ordered[0][1] < 0)
        result: Expr | None = Const(self.constant, INT64) if leading else None
        for atom, coefficient in ordered:
            result = _append(result, atom, coefficient)
        assert result is not None
        if self.constant == 0 or leading:
            return result
        return Binary("+" if self.constant > 0 else "-", result, Const(abs(self.constant), INT64), INT64)

    def _shifted(self) -> Expr | None:
        """`min(a, b) + 1` is written `min(a + 1, b + 1)`."""
        match self.terms:
            case ((Call("min" | "max" as name, arguments, _), 1),) if self.constant:
                moved = tuple((linear(a) + Linear((), self.constant)).expr() for a in arguments)
                return Call(name, moved, INT64)
        return None


def _append(result: Expr | None, atom: Expr, coefficient: int) -> Expr:
    size = abs(coefficient)
    term = atom if size == 1 else Binary("*", Const(size, INT64), atom, INT64)
    if result is None:
        return term if coefficient > 0 else Unary("-", term, INT64)
    return Binary("+" if coefficient > 0 else "-", result, term, INT64)


def simplify(expr: Expr) -> Expr:
    """The same integer in normal form.

    >>> from workbench.lang.expr import Size, integer
    >>> n = Size("N")
    >>> simplify(Binary("+", Binary("-", n, integer(1), INT64), integer(1), INT64))
    Size(name='N', dtype=DType(name='int64', kind='int', bits=64, c_name='int64_t'))
    """
    return linear(expr).expr()


def constant(expr: Expr) -> int | None:
    """The integer the expression always is, None when it varies."""
    form = linear(expr)
    return form.constant if form.is_constant else None


@lru_cache(maxsize=20_000)
def linear(expr: Expr) -> Linear:
    """Normal form of an integer expression."""
    match expr:
        case Const(value, _) if not isinstance(value, float):
            return Linear((), int(value))
        case Size(name, _):
            return _atom(Size(name, INT64))
        case Index(name, _):
            return _atom(Index(name, INT64))
        case Cast(operand, dtype) if dtype.is_integral and dtype.bits >= 32 and _is_integer(operand):
            return linear(operand)
        case Unary("-", operand, _):
            return linear(operand).scaled(-1)
        case Binary("+", left, right, _):
            return linear(left) + linear(right)
        case Binary("-", left, right, _):
            return linear(left) + linear(right).scaled(-1)
        case Binary("*", left, right, _):
            return _product(linear(left), linear(right))
        case Binary("/" | "%" as op, left, right, _):
            return _division(op, linear(left), linear(right))
        case Call("min" | "max" as name, arguments, _):
            return _extremum(name, [linear(a) for a in arguments])
    return _atom(rebuild(expr, tuple(simplify(c) if _is_integer(c) else c for c in operands(expr))))


def _is_integer(expr: Expr) -> bool:
    return expr.dtype.is_integral


def _atom(expr: Expr) -> Linear:
    return Linear(((expr, 1),), 0)


def _product(left: Linear, right: Linear) -> Linear:
    if left.is_constant:
        return right.scaled(left.constant)
    if right.is_constant:
        return left.scaled(right.constant)
    return _atom(Binary("*", left.expr(), right.expr(), INT64))


def _division(op: str, left: Linear, right: Linear) -> Linear:
    """Floor division and its remainder; by 0 both are 0."""
    if not right.is_constant:
        return _atom(Binary(op, left.expr(), right.expr(), INT64))
    divisor = right.constant
    if divisor == 0:
        return Linear((), 0)
    whole = Linear(
        tuple((a, c // divisor) for a, c in left.terms if c % divisor == 0), left.constant // divisor
    )
    rest = Linear(tuple((a, c) for a, c in left.terms if c % divisor), left.constant % divisor)
    if rest.is_constant:
        return whole if op == "/" else rest
    if op == "%":
        return _atom(Binary("%", rest.expr(), Const(divisor, INT64), INT64))
    return reduce(plus, [_atom(Binary("/", rest.expr(), Const(divisor, INT64), INT64)), whole])


def _extremum(name: str, arguments: list[Linear]) -> Linear:
    pick = min if name == "min" else max
    constants = [a.constant for a in arguments if a.is_constant]
    others = list(dict.fromkeys(a for a in arguments if not a.is_constant))
    kept = [a.expr() for a in others] + ([Const(pick(constants), INT64)] if constants else [])
    if len(kept) == 1:
        return linear(kept[0])
    return _atom(Call(name, tuple(kept), INT64))
