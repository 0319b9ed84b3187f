"""Terms of models: fifteen small frozen classes, and four of patterns.

A node is itself: two nodes are equal only where they are the same object, so a term is a graph as soon as a node is
used twice, and each node is computed once in the smallest scope that covers its uses (`workbench.graph.forms.scopes`).
A `Variable` is its own binder: the parameter of a function and the uses of it are one object, its name is for the eye
only, and nothing is ever captured.  Equality of models up to renaming is asked of `Model.key`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from workbench.graph.terms.dimensions import Dimension
from workbench.graph.terms.types import Quantified, Type
from workbench.lang.operator import Operator
from workbench.lang.syntax.terms import NOWHERE, Span
from workbench.records import record

Array = np.ndarray[Any, Any]


class Node:
    """What all terms have: a short `repr`, of a graph that may be large."""

    __slots__ = ()

    def __repr__(self) -> str:
        named = getattr(self, "name", "") or getattr(getattr(self, "operator", None), "name", "")
        return f"<{type(self).__name__}{' ' * bool(named)}{named}>"


@record(slots=True, eq=False, repr=False)
class Variable(Node):
    """What a parameter, a `let` or a pattern binds; `type` is its annotation, if it has one."""

    name: str
    type: Type | None = None
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Constant(Node):
    """An array that is part of the model.  It must not be written to."""

    array: Array
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Global(Node):
    """A function of the model, by name."""

    name: str
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Primitive(Node):
    """An operator as what is called: one of the library, or any other, which then is part of the model."""

    operator: Operator
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Constructor(Node):
    """A constructor of a data type as what is called, by name."""

    name: str
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Call(Node):
    """`function(arguments, size=...)`: an operator, a constructor or a function applied.

    `sizes` are those size symbols and integer scalars of an operator that no shape tells (a stride), as arithmetic
    over the dimensions in scope.  `label` is a name for the eye (the layer it came from).
    """

    function: Term
    arguments: tuple[Term, ...]
    sizes: tuple[tuple[str, Dimension], ...] = ()
    label: str = ""
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Function(Node):
    """`fn<a>(x: float32[n]) -> float32[n] { body }`, global or local; `quantified` are the variables it declares.

    Names of dimensions in its annotations that are not in scope already are its own as well.
    """

    parameters: tuple[Variable, ...]
    body: Term
    result: Type | None = None
    quantified: tuple[Quantified, ...] = ()
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Let(Node):
    """`let variable = value; body`: the value is computed here, before the body.

    A `Function` that is bound so may call itself.
    """

    variable: Variable
    value: Term
    body: Term
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Tuple(Node):
    """`(a, b)`."""

    items: tuple[Term, ...]
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Projection(Node):
    """`tuple.index`."""

    tuple: Term
    index: int
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class If(Node):
    """`if condition { then } else { otherwise }`; the condition is a `bool` scalar."""

    condition: Term
    then: Term
    otherwise: Term
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Clause:
    """`pattern => body`, one case of a `match`."""

    pattern: Pattern
    body: Term
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class Match(Node):
    """`match value { pattern => body ... }`: the first pattern that fits; together they must cover every value."""

    value: Term
    clauses: tuple[Clause, ...]
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class NewReference(Node):
    """`ref(value)`: a new cell that holds the value."""

    value: Term
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class ReadReference(Node):
    """`!reference`: what the cell holds now."""

    reference: Term
    span: Span = NOWHERE


@record(slots=True, eq=False, repr=False)
class WriteReference(Node):
    """`reference := value`; its own value is `()`."""

    reference: Term
    value: Term
    span: Span = NOWHERE


Callee = Primitive | Constructor
Atom = Variable | Constant | Global | Callee
Term = (
    Variable | Constant | Global | Primitive | Constructor | Call | Function | Let | Tuple | Projection | If | Match
    | NewReference | ReadReference | WriteReference
)  # fmt: skip
ATOMS = (Variable, Constant, Global, Primitive, Constructor)


@record(slots=True)
class Wildcard:
    """`_`: fits anything."""

    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True, eq=False)
class Binder:
    """`x`: fits anything, which it names."""

    variable: Variable
    span: Span = NOWHERE


@record(slots=True)
class Construction:
    """`Cons(p, q)`: fits a value of that constructor whose fields fit."""

    constructor: str
    fields: tuple[Pattern, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Items:
    """`(p, q)`: fits a tuple whose items fit."""

    items: tuple[Pattern, ...]
    span: Span = field(default=NOWHERE, compare=False)


Pattern = Wildcard | Binder | Construction | Items


def inner_patterns(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside a pattern."""
    match pattern:
        case Construction(_, fields, _):
            return fields
        case Items(items, _):
            return items
        case _:
            return ()


def bound_by(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables a pattern binds, from left to right."""
    if isinstance(pattern, Binder):
        return (pattern.variable,)
    return tuple(variable for inner in inner_patterns(pattern) for variable in bound_by(inner))
