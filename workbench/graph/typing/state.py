"""What inference knows while it goes through a model: types so far, problems, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.dimensions import Dimension, is_unknown, shown
from workbench.graph.terms.nodes import Call, Constructor, Function, Global, Primitive, Term, Variable
from workbench.graph.terms.types import Scheme, Type
from workbench.graph.text.printing_types import print_type
from workbench.graph.typing.unification import Equation, Mismatch, Unifier
from workbench.lang.operator import Operator
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import NOWHERE, Span
from workbench.records import record

Rename = Callable[[str], str]


@record
class Place:
    """Where two types had to be one: the innermost function, the node, and why."""

    function: Function | None
    node: Term
    reason: str
    within: str


@record
class Check:
    """`left == right` must hold when `function` is entered: of the global function `within`, for a reason."""

    left: Dimension
    right: Dimension
    reason: str
    within: str
    function: Function | None
    span: Span = NOWHERE

    def __str__(self) -> str:
        return f"{shown(self.left)} == {shown(self.right)}: {self.reason}"


@record
class Complaint:
    """A problem with the node that it is about and the global function around."""

    problem: Problem
    node: Term
    within: str


@dataclass
class State:
    """The types of nodes, and what else inference has found.

    `dims` and `variables` are in scope, `around` are the functions around, `monomorphic` the variables whose types are
    not generalised, `crossing` the nodes that several scopes share; `sizes` are dimensions of which sizes of calls are
    made; `calls` wait until more is known.
    """

    functions: Mapping[str, Function]
    datatypes: Datatypes
    unifier: Unifier = field(default_factory=Unifier)
    types: dict[Term, Type] = field(default_factory=dict)
    schemes: dict[str, Scheme] = field(default_factory=dict)
    environment: dict[Variable, Scheme] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)
    dims: dict[str, None] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    within: str = ""
    around: list[Function] = field(default_factory=list)
    monomorphic: list[Variable] = field(default_factory=list)
    bound: dict[Variable, object] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    crossing: set[Term] = field(default_factory=set)
    calls: list[OperatorCall] = field(default_factory=list)

    def complain(self, node: Term, message: str, fix: str = "", notes: tuple[str, ...] = ()) -> None:
        """Note a problem at a node."""
        self.complaints.append(Complaint(Problem(message, node.span, fix, notes), node, self.within))

    def place(self, node: Term, reason: str) -> Place:
        """Where types are made one now."""
        return Place(self.around[-1] if self.around else None, node, reason, self.within)

    def unify(self, node: Term, expected: Type, found: Type, reason: str, message: str = "") -> bool:
        """Make two types one; if they cannot be, a problem says what was expected and found."""
        self.unifier.place = self.place(node, reason)
        try:
            self.unifier.unify(expected, found)
        except Mismatch as mismatch:
            self.complain(node, (message or reason) + self.difference(expected, found, mismatch))
            return False
        return True

    def difference(self, expected: Type, found: Type, mismatch: Mismatch, rename: Rename | None = None) -> str:
        """`expected ... but found ...`, and why if there is more to say."""
        why = f" ({mismatch.why})" if mismatch.why else ""
        return f": expected {self.shown(expected, rename)} but found {self.shown(found)}{why}"

    def shown(self, of: Type, rename: Rename | None = None) -> str:
        """A type as far as it is known; what is not known is `_`."""
        names = rename or (lambda name: "_" if is_unknown(name) else name)
        return print_type(self.unifier.resolved(of), names)

    def settle(self) -> None:
        """Try what waits until more is known; what then fails is reported where it was asked for."""
        while True:
            try:
                self.unifier.settle()
                return
            except Mismatch as mismatch:
                self._report(mismatch.equation)

    def _report(self, equation: Equation | None) -> None:
        if equation is None or not isinstance(equation.place, Place):
            return
        left, right = map(self.unifier.resolved_dimension, (equation.left, equation.right))
        words = f"{equation.place.reason}: the dimension {shown(left)} is never {shown(right)}"
        self.complain(equation.place.node, words)


@record(eq=False)
class OperatorCall:
    """A call of an operator whose conditions and element types are looked at once more is known.

    `results` are those results, as (number, unknown element type, the one it has among floats); `depth` counts the
    functions around.
    """

    node: Term
    operator: Operator
    sizes: dict[str, Dimension]
    elements: dict[str, object]
    results: tuple[tuple[int, object, object], ...]
    within: str
    depth: int


def described(term: Term) -> str:
    """A few words for a node where there is no text to point at."""
    match term:
        case Call(function):
            return f"the call of {described(function)}"
        case Primitive(operator):
            return operator.name
        case Global(name) | Constructor(name) | Variable(name):
            return name
        case _:
            return f"the {type(term).__name__.lower()}"
