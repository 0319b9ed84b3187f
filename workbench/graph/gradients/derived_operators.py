"""The operators that a gradient calls: zeros of a shape, sums of two, and the gradients of the operators of the model.

Each is derived from a definition, and has one name in the model: `matmul_grad` gives all gradients of `matmul`,
`matmul_grad_A` that by `A` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from workbench.errors import ModelError, OperatorError
from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.terms.dimensions import Dimension
from workbench.graph.terms.nodes import Call, Primitive, Projection, Term
from workbench.graph.terms.types import ElementVariable, TensorType, Type
from workbench.graph.typing.signatures import signature
from workbench.lang import grad, operator
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate
from workbench.records import record

Sizes = tuple[tuple[str, Dimension], ...]


def call_arguments(op: Operator) -> list[str]:
    """The arguments of a call in a model, by the operator's names: outputs that it accumulates into come last."""
    return [*inputs_of(op), *(name for name in op.outputs if op.tensors[name].role == "inout")]


@record(slots=True, eq=False)
class Plain:
    """A call of an operator: its arguments as plain tensors, their types, and the sizes it was given."""

    arguments: Sequence[Term]
    types: Sequence[Type]
    sizes: Sizes


def _of_one_variable(op: Operator, types: Sequence[Type]) -> Operator:
    """The operator; one with several type variables with those that the call gives them."""
    if len(op.generic) < 2:
        return op
    found: dict[str, DType] = {}
    for parameter, of in zip(signature(op).parameters, types, strict=True):
        variable = parameter.type.element
        if isinstance(variable, ElementVariable) and isinstance(of, TensorType) and isinstance(of.element, DType):
            found[variable.name] = of.element
    if len(found) < len(op.generic):
        missing = ", ".join(name for name in op.generic if name not in found)
        raise ModelError(f"the gradient of {op.name} needs to know what {missing} stands for; write element types")
    return instantiate(op, found)


@dataclass
class Derived:
    """Makes them, each once; `taken` are the operators that the model has already."""

    taken: Iterable[Operator] = ()
    made: dict[tuple[object, ...], Operator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.named = {op.name: op for op in self.taken}

    def zeros_like(self, of: Term, rank: int) -> Call:
        """Zeros with the shape and the element type of a tensor."""
        return Call(Primitive(self._zeros(rank)), (of,))

    def added(self, a: Term, b: Term, rank: int) -> Call:
        """The sum of two tensors of one shape."""
        return Call(Primitive(self._sum(rank)), (a, b))

    def gradients(self, op: Operator, wrt: Sequence[int], call: Plain, seeds: Sequence[Term]) -> list[Term]:
        """The gradients of a call by the arguments that `wrt` counts; `seeds` are those by its outputs of floats."""
        names = call_arguments(op)
        chosen = tuple(names[at] for at in wrt)
        derived = self._gradient(_of_one_variable(op, call.types), chosen)
        known = signature(derived).sizes
        given = tuple((name, size) for name, size in call.sizes if name in known)
        made = Call(Primitive(derived), (*call.arguments, *seeds), given)
        return [made] if len(chosen) == 1 else [Projection(made, at) for at in range(len(chosen))]

    def _gradient(self, op: Operator, chosen: tuple[str, ...]) -> Operator:
        key = (op, chosen)
        if key not in self.made:
            try:
                derived = grad(op, chosen)
            except OperatorError as reason:
                raise ModelError(f"the model has no gradient, because {op.name} has none: {reason}") from reason
            floats = [name for name in call_arguments(op) if op.tensors[name].dtype.is_float]
            suffix = "" if list(chosen) == floats else "_" + "_".join(chosen)
            self.made[key] = self._named(derived, f"{op.name}_grad{suffix}")
        return self.made[key]

    def _zeros(self, rank: int) -> Operator:
        at = ", ".join(f"i{n}" for n in range(rank))
        ranges = ", ".join(f"i{n} in 0:N{n}" for n in range(rank))
        body = f"z({at}) = T(0) where {ranges}" if rank else "z = T(0)"
        return self._elementwise("zeros_like", rank, f"({_tensor(rank)} x)", body)

    def _sum(self, rank: int) -> Operator:
        at = f"({', '.join(f'i{n}' for n in range(rank))})" if rank else ""
        body = f"z{at} = x{at} + y{at}"
        return self._elementwise("sum_of_gradients", rank, f"({_tensor(rank)} x, {_tensor(rank)} y)", body)

    def _elementwise(self, name: str, rank: int, head: str, body: str) -> Operator:
        if (name, rank) not in self.made:
            text = f"def {name}_{rank}<T: floats>{head} -> (z) {{ {body} }}"
            self.made[name, rank] = self._named(operator(text), f"{name}_{rank}")
        return self.made[name, rank]

    def _named(self, op: Operator, wished: str) -> Operator:
        """The operator under a name that no other one of the model has; what is defined already serves again."""
        for number in count(1):
            name = wished if number == 1 else f"{wished}_{number}"
            found = op if op.name == name else operator(re.sub(rf"\bdef {op.name}\b", f"def {name}", str(op), count=1))
            if name not in self.named or str(self.named[name]) == str(found):
                return self.named.setdefault(name, found)
        raise AssertionError("there are names enough")


def _tensor(rank: int) -> str:
    return f"T({', '.join(f'N{n}' for n in range(rank))})" if rank else "T"
