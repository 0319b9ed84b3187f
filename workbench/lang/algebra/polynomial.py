"""Integer arithmetic in one normal form: sums of integer multiples of products of atoms.

Bounds, extents, strides, subscripts and addresses are compared and simplified as `Polynomial`s by every
room.  An atom is a `Size`, an `Index`, or what is no polynomial: a floor division, a remainder, a minimum
or maximum, a read.  All atoms of index arithmetic are int64; `expression` gives them another type.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable

from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, Unary, index_names, walk
from workbench.records import record

Monomial = tuple[Expr, ...]


@record(slots=True, eq=False)
class Polynomial:
    """Monomials with their coefficients, none of them 0, in order of first occurrence.

    The order is for the eye: it does not count when polynomials are compared.

    >>> n, k = atom(Size("N")), atom(Index("k"))
    >>> (n + 1) * k - k == n * k, (2 * 3 * n - n * 6).constant
    (True, 0)
    """

    coefficients: dict[Monomial, int]

    @property
    def terms(self) -> ItemsView[Monomial, int]:
        """Every monomial with its coefficient."""
        return self.coefficients.items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    def __bool__(self) -> bool:
        return bool(self.coefficients)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -x for monomial, x in self.terms})

    def __add__(self, other: Polynomial | int) -> Polynomial:
        return self._plus(other, 1)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self._plus(other, -1)

    def _plus(self, other: Polynomial | int, sign: int) -> Polynomial:
        total = self.coefficients.copy()  # a copy does not ask for the hashes again
        for monomial, x in other.terms if isinstance(other, Polynomial) else (((), other),):
            total[monomial] = total.get(monomial, 0) + sign * x
            if not total[monomial]:
                del total[monomial]
        return Polynomial(total)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return Polynomial({monomial: x * other for monomial, x in self.terms}) if other else ZERO
        return collect((_times(m, n), x * y) for m, x in self.terms for n, y in other.terms)

    __rmul__ = __mul__

    @property
    def constant(self) -> int | None:
        """The number it is, None if it varies."""
        if not self.coefficients:
            return 0
        return self.coefficients.get(()) if len(self.coefficients) == 1 else None

    @property
    def atoms(self) -> list[Expr]:
        """What occurs in the terms, term by term, repetitions included."""
        return [part for monomial in self.coefficients for part in monomial]

    @property
    def indices(self) -> set[str]:
        """Names of the iteration variables that occur, inside atoms as well."""
        names: set[str] = set()
        for monomial in self.coefficients:
            for part in monomial:
                if isinstance(part, Index):
                    names.add(part.name)
                elif not isinstance(part, Size):
                    names |= index_names(part)
        return names

    def only_atom(self) -> Expr | None:
        """The atom it is, if it is one and nothing else."""
        if len(self.coefficients) != 1:
            return None
        ((monomial, x),) = self.coefficients.items()
        return monomial[0] if x == 1 and len(monomial) == 1 else None


ZERO = Polynomial({})


def number(value: int) -> Polynomial:
    """The polynomial of a number."""
    return Polynomial({(): value}) if value else ZERO


def atom(expr: Expr) -> Polynomial:
    """The polynomial of one unknown; sizes and indices are the same atom whatever their type."""
    if isinstance(expr, Size | Index) and expr.dtype != INT64 and expr.dtype.is_integral:
        expr = type(expr)(expr.name, INT64)
    return Polynomial({(expr,): 1})


def collect(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
    """The sum of terms: equal monomials are added up."""
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    return Polynomial({monomial: x for monomial, x in total.items() if x})


def _times(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted(left + right, key=_alphabetically)) if left and right else left + right


def _alphabetically(part: Expr) -> tuple[str, str]:
    return (part.name, type(part).__name__) if isinstance(part, Size | Index) else ("~", repr(part))


def without(monomial: Monomial, part: Expr) -> Monomial:
    """The product with one occurrence of a factor taken out."""
    at = monomial.index(part)
    return monomial[:at] + monomial[at + 1 :]


def split_linear(form: Polynomial, unknown: Index | Size) -> tuple[Polynomial, Polynomial] | None:
    """`(factor, rest)` with `form == factor * unknown + rest`, None if it is not linear in the unknown.

    >>> n, i = Size("N", INT64), Index("i", INT64)
    >>> factor, rest = split_linear(atom(n) * atom(i) * 2 + atom(i) + 3, i)
    >>> factor == 2 * atom(n) + 1, rest.constant
    (True, 3)
    """
    factor: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in form.terms:
        if unknown in monomial:
            monomial = without(monomial, unknown)
            factor[monomial] = coefficient
        else:
            rest[monomial] = coefficient
        if any(_occurs(unknown, part) for part in monomial):
            return None
    return Polynomial(factor), Polynomial(rest)


def _occurs(unknown: Index | Size, part: Expr) -> bool:
    if isinstance(part, Size | Index):
        return type(part) is type(unknown) and part.name == unknown.name
    return any(isinstance(node, type(unknown)) and node.name == unknown.name for node in walk(part))


def expression(form: Polynomial, dtype: DType = INT64) -> Expr:
    """The form as an expression of a type: terms that are added, terms that are subtracted, the constant.

    >>> expression(number(3) - atom(Index("i"))) == Binary("-", Const(3, INT64), Index("i", INT64), INT64)
    True
    """
    if (value := form.constant) is not None:
        return Const(value, dtype)
    if (alone := form.only_atom()) is not None:
        return _typed(alone, dtype)
    varying = [(monomial, x) for monomial, x in form.terms if monomial]
    fixed = sum(x for monomial, x in form.terms if not monomial)
    ordered = [term for term in varying if term[1] > 0] + [term for term in varying if term[1] < 0]
    leading = not ordered or (fixed > 0 and ordered[0][1] < 0)
    result: Expr | None = Const(fixed, dtype) if leading else None
    for monomial, x in ordered:
        result = _append(result, _term(monomial, abs(x), dtype), x, dtype)
    assert result is not None
    return result if leading or not fixed else _append(result, Const(abs(fixed), dtype), fixed, dtype)


def _append(total: Expr | None, term: Expr, sign: int, dtype: DType) -> Expr:
    if total is None:
        return term if sign > 0 else Unary("-", term, dtype)
    return Binary("+" if sign > 0 else "-", total, term, dtype)


def _term(monomial: Monomial, coefficient: int, dtype: DType) -> Expr:
    factors = [_typed(part, dtype) for part in monomial]
    product = factors.pop(0) if coefficient == 1 else Const(coefficient, dtype)
    for factor in factors:
        product = Binary("*", product, factor, dtype)
    return product


def _typed(part: Expr, dtype: DType) -> Expr:
    """Index arithmetic below an atom in another type; anything else keeps its own."""
    if dtype == INT64 or part.dtype != INT64:
        return part
    match part:
        case Size(name, _) | Index(name, _):
            return type(part)(name, dtype)
        case Const(value, _):
            return Const(value, dtype)
        case Unary(op, operand, _):
            return Unary(op, _typed(operand, dtype), dtype)
        case Binary("+" | "-" | "*" | "/" | "%" as op, left, right, _):
            return Binary(op, _typed(left, dtype), _typed(right, dtype), dtype)
        case Call("min" | "max" as which, arguments, _):
            return Call(which, tuple(_typed(argument, dtype) for argument in arguments), dtype)
        case _:
            return part
