"""Polynomials over sizes and strides, all of which are at least 0: bounds of subscripts and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Monomial = tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """`sum(factor * product(names))`; the empty monomial is the constant."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    def __add__(self, other: Form | int) -> Form:
        return _combined(self, lift(other), lambda a, b: a + b)

    def __sub__(self, other: Form | int) -> Form:
        return self + lift(other) * -1

    def __mul__(self, factor: int | str) -> Form:
        if isinstance(factor, int):
            return _form({m: c * factor for m, c in self.terms})
        return _form({tuple(sorted((*m, factor))): c for m, c in self.terms})

    def at(self, values: Mapping[str, int]) -> int:
        """The value where the names have these values."""
        total = 0
        for names, factor in self.terms:
            for name in names:
                factor *= values[name]
            total += factor
        return total

    def positive(self) -> Form:
        """The terms that are not negative."""
        return _form({m: c for m, c in self.terms if c > 0})

    def missing(self) -> Form:
        """What has to be added so that no term is negative."""
        return _form({m: -c for m, c in self.terms if c < 0})

    @property
    def names(self) -> set[str]:
        return {name for monomial, _ in self.terms for name in monomial}

    def __str__(self) -> str:
        text = ""
        for names, factor in sorted(self.terms, key=lambda t: (t[1] < 0, -len(t[0]), t[0])):
            body = "*".join([*([] if abs(factor) == 1 and names else [str(abs(factor))]), *names])
            text += (" - " if text else "-") + body if factor < 0 else (" + " if text else "") + body
        return text or "0"


def lift(value: Form | int | str) -> Form:
    """A number or a name as a form."""
    if isinstance(value, Form):
        return value
    return _form({(): value} if isinstance(value, int) else {(value,): 1})


def cover(a: Form, b: Form) -> Form:
    """At least as large as both, whatever the sizes."""
    return _combined(a, b, max)


def under(a: Form, b: Form) -> Form:
    """At most as large as both, whatever the sizes."""
    return _combined(a, b, min)


def _combined(a: Form, b: Form, join) -> Form:
    left, right = dict(a.terms), dict(b.terms)
    return _form({m: join(left.get(m, 0), right.get(m, 0)) for m in {**left, **right}})


def _form(terms: dict[Monomial, int]) -> Form:
    return Form(tuple(sorted((m, c) for m, c in terms.items() if c)))
