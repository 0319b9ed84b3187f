"""Whether the components of a time tell instances apart, seen by linear algebra alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import Monomial, Polynomial, number
from workbench.lang.expr import Binary, Const, Expr, Index, index_names

Form = dict[Monomial, Fraction]


@lru_cache(maxsize=4096)
def determines(rows: tuple[Expr, ...], dims: tuple[str, ...]) -> bool:
    """Whether equal rows mean equal dims.  False also where only a closer look could tell.

    A floor division is an unknown of its own and a remainder is what it leaves, so `m / 16` and `m % 16` together
    determine m: every dim must be a linear combination of the rows.
    """
    plain = {row.name for row in rows if isinstance(row, Index)}
    if plain >= set(dims):
        return True
    basis = _reduced(_form(row) for row in rows)
    return not any(_rest(_form(Index(dim)), basis) for dim in dims)


@lru_cache(maxsize=1 << 14)
def _form(row: Expr) -> Form:
    """The row over monomials; what holds no dim is known and left out.  Not to be changed: it is remembered."""
    return {m: Fraction(c) for m, c in _divided(polynomial(row)).terms if any(map(index_names, m))}


def _divided(form: Polynomial) -> Polynomial:
    """Remainders written with floor divisions, and blocks of what is in a block with blocks of the whole: where b
    divides a, `m % a / b` is `m / b - a / b * (m / a)`.
    """
    total = number(0)
    for monomial, coefficient in form.terms:
        match monomial:
            case (Binary("%", value, size, dtype),):
                quotient = polynomial(Binary("/", value, size, dtype))
                total = total + (_divided(polynomial(value)) - quotient * polynomial(size)) * coefficient
            case (Binary("/", Binary("%", value, Const(whole), own), Const(part), _),) if _is_part(part, whole):
                inner, outer = (polynomial(Binary("/", value, Const(n, own), own)) for n in (part, whole))
                total = total + (_divided(inner) - _divided(outer) * (int(whole) // int(part))) * coefficient
            case _:
                total = total + Polynomial({monomial: coefficient})
    return total


def _is_part(part: object, whole: object) -> bool:
    """Whether a block is cut into whole blocks."""
    return isinstance(part, int) and isinstance(whole, int) and 0 < part <= whole and whole % part == 0


def _reduced(forms: Iterable[Form]) -> list[tuple[Monomial, Form]]:
    """Echelon form: each with its leading monomial, whose coefficient is 1."""
    basis: list[tuple[Monomial, Form]] = []
    for form in forms:
        rest = _rest(form, basis)
        if rest:
            leading, factor = next(iter(rest.items()))
            basis.append((leading, {m: c / factor for m, c in rest.items()}))
    return basis


def _rest(form: Form, basis: list[tuple[Monomial, Form]]) -> Form:
    rest = dict(form)
    for leading, own in basis:
        factor = rest.get(leading)
        if factor:
            for m, c in own.items():
                rest[m] = rest.get(m, Fraction(0)) - factor * c
            rest = {m: c for m, c in rest.items() if c}
    return rest
