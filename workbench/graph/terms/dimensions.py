"""Dimensions of tensors in models: whole-number arithmetic over named sizes, in one normal form.

A dimension is a `Polynomial` of `workbench.lang`: `n`, `2*k + 1`, `(n + 1)/2`.  A name that begins with `?` is
unknown: inference looks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import Polynomial, atom, expression, number
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr, Size, substitute, walk
from workbench.lang.printing.printer import show

Dimension = Polynomial


def dimension(of: Dimension | int | str | Expr) -> Dimension:
    """A dimension from a number, a name or an integer expression.

    >>> shown(dimension("n") * 2 + 1)
    '2 * n + 1'
    """
    match of:
        case Polynomial():
            return of
        case int():
            return number(of)
        case str():
            return atom(Size(of, INT64))
        case _:
            return polynomial(of)


def is_unknown(name: str) -> bool:
    """Whether a name of a dimension, an element type or a type stands for what inference still looks for."""
    return name.startswith("?")


def names_of_sizes(of: Dimension) -> list[str]:
    """Names of the sizes that occur in order of occurrence, those inside divisions, minima and maxima included."""
    found: dict[str, None] = {}
    for part in of.atoms:
        if isinstance(part, Size):
            found[part.name] = None
        else:
            found |= dict.fromkeys(node.name for node in walk(part) if isinstance(node, Size))
    return list(found)


def symbols(of: Dimension) -> set[str]:
    """Names of the sizes that occur, as a set."""
    return set(names_of_sizes(of))


def replaced(of: Dimension, values: Mapping[str, Dimension]) -> Dimension:
    """The dimension with some of its names replaced."""
    name = of.only_atom()
    if isinstance(name, Size):
        return values.get(name.name, of)
    if of.constant is not None or symbols(of).isdisjoint(values):
        return of
    return polynomial(substitute(expression(of), {name: expression(value) for name, value in values.items()}))


def value_of(of: Dimension, sizes: Mapping[str, int]) -> int:
    """The number a dimension is for these sizes; KeyError for a name that is not among them."""
    constant = of.constant
    return constant if constant is not None else fold(expression(of), dict(sizes))


def shown(of: Dimension) -> str:
    """The dimension as it is written in a text of a model."""
    return show(expression(of))


def shown_list(dims: Iterable[Dimension]) -> str:
    """Dimensions between brackets: `[n, 3]`."""
    return f"[{', '.join(map(shown, dims))}]"
