"""The gradient of straight code: calls of operators and tuples, each adjoint a sum over the uses (Linnainmaa 1976).

The nodes of the forward part are used where they stand, so nothing is computed twice.  What depends on no parameter in
`wrt` gets no adjoint.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from workbench.graph.forms.graph_form import as_graph
from workbench.graph.forms.scopes import scopes
from workbench.graph.gradients.derived_operators import Derived, Plain
from workbench.graph.gradients.structures import Elements, at_path, leaves
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Function,
    Primitive,
    Projection,
    Term,
    Tuple,
    Variable,
)
from workbench.graph.terms.types import TensorType, Type
from workbench.graph.terms.walking import operands, postorder

if TYPE_CHECKING:
    from workbench.graph.models import Model

Path = tuple[int, ...]


def straight(function: Function) -> Function | None:
    """The function as a graph of calls of operators and tuples; None if there is more in it."""
    graph = as_graph(function)
    for node in postorder(graph.body):
        plain = isinstance(node, Variable | Constant | Primitive | Tuple | Projection)
        if not plain and not (isinstance(node, Call) and isinstance(node.function, Primitive)):
            return None
    values = {each for node in postorder(graph.body) for each in operands(node)[isinstance(node, Call) :]}
    return None if any(isinstance(each, Primitive) for each in {graph.body, *values}) else graph


class Adjoints:
    """The backward part of one function; `gradient(parameter, path)` is the sum that came to a part of a parameter."""

    def __init__(self, model: Model, function: Function, wrt: list[int], elements: Elements, derived: Derived) -> None:
        self.model, self.elements, self.derived = model, elements, derived
        self.found: dict[tuple[Term, Path], list[Term]] = defaultdict(list)
        places = scopes(function)
        self.order = places.blocks[places.inner[function, 0]]
        self.varying: set[Term] = {function.parameters[at] for at in wrt}
        for node in self.order:
            if any(each in self.varying for each in operands(node)):
                self.varying.add(node)

    def type_of(self, node: Term) -> Type:
        """The type of a node of the forward part."""
        return self.model.type_of(node)

    def seed(self, result: Term, seed: Term) -> None:
        """Begin with the derivatives of some number by the result."""
        for path, of in leaves(self.type_of(result)):
            if self.elements.has_gradient(of):
                self.add(result, path, at_path(seed, path))

    def sweep(self) -> None:
        """From the last node to the first, each after all its uses."""
        for node in reversed(self.order):
            if node in self.varying:
                self._pull(node)

    def add(self, node: Term, path: Path, value: Term) -> None:
        """Another share of the adjoint of a node."""
        if node in self.varying:
            self.found[node, path].append(value)

    def gradient(self, node: Term, path: Path) -> Term | None:
        """The adjoint of a part of a node; None if nothing depends on it."""
        shares = self.found.get((node, path))
        if not shares:
            return None
        of = dict(leaves(self.type_of(node)))[path]
        assert isinstance(of, TensorType)
        total = shares[0]
        for share in shares[1:]:
            total = self.derived.added(total, share, len(of.dims))
        self.found[node, path] = [total]
        return total

    def _pull(self, node: Term) -> None:
        match node:
            case Tuple(items):
                for at, item in enumerate(items):
                    self._handed_on(node, (at,), item, ())
            case Projection(of, index):
                self._handed_on(node, (), of, (index,))
            case Call():
                self._pull_call(node)
            case _:
                raise AssertionError(f"{node!r} is not straight code")

    def _handed_on(self, node: Term, within: Path, to: Term, under: Path) -> None:
        """The adjoints of a part of a node, which is a part of another node."""
        for path, _ in leaves(self.type_of(node)):
            if path[: len(within)] == within:
                value = self.gradient(node, path)
                if value is not None:
                    self.add(to, (*under, *path[len(within) :]), value)

    def _pull_call(self, node: Call) -> None:
        assert isinstance(node.function, Primitive)
        outputs = [(path, of) for path, of in leaves(self.type_of(node)) if self.elements.has_gradient(of)]
        seeds = [self.gradient(node, path) for path, _ in outputs]
        wrt = [
            at
            for at, argument in enumerate(node.arguments)
            if argument in self.varying and self.elements.has_gradient(self.type_of(argument))
        ]
        if not wrt or all(seed is None for seed in seeds):
            return
        given = [
            seed or self.derived.zeros_like(at_path(node, path), len(of.dims))  # type: ignore[union-attr]
            for seed, (path, of) in zip(seeds, outputs, strict=True)
        ]
        plain = Plain(node.arguments, [self.type_of(each) for each in node.arguments], node.sizes)
        found = self.derived.gradients(node.function.operator, wrt, plain, given)
        for at, value in zip(wrt, found, strict=True):
            self.add(node.arguments[at], (), value)
