"""Sites: one call of an operator with what inference knows of it, as patterns and predicates of engines see it."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import OperatorError
from workbench.graph.terms.dimensions import Dimension, shown
from workbench.graph.terms.nodes import Call, Constant, Primitive, Term
from workbench.graph.terms.types import ElementVariable, TensorType, TupleType, Type
from workbench.graph.typing.signatures import signature
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate
from workbench.records import record


@record(slots=True)
class ArrayType:
    """The type of an array: its elements, and its extents, numbers or (of a named dimension) words."""

    dtype: DType
    shape: tuple[int | str, ...]

    @property
    def is_concrete(self) -> bool:
        """Whether every extent is a number."""
        return all(isinstance(extent, int) for extent in self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes an array of it has; named extents count as 1."""
        count = self.dtype.bits // 8 or 1
        for extent in self.shape:
            count *= extent if isinstance(extent, int) else 1
        return count

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]" if self.shape else self.dtype.name


@record(eq=False)
class Site:
    """A call of an operator: the operator with its element types fixed, and the types of what goes in and out.

    `arguments` are the operator's inputs in order, then the old values of what it updates; `constant` says which of
    them are constants of the model.  `sizes` are those that the call gives by name.
    """

    operator: Operator
    arguments: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    constant: tuple[bool, ...]
    sizes: Mapping[str, int | str]
    label: str = ""

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Names of the element types of arguments and results, each once."""
        return tuple(dict.fromkeys(each.dtype.name for each in (*self.arguments, *self.results)))

    def __str__(self) -> str:
        label = f" ({self.label})" if self.label else ""
        return f"{self.name}({', '.join(map(str, self.arguments))}){label}"


def array_type(of: Type) -> ArrayType | None:
    """The type of an array; None for what is none, or whose elements vary."""
    if not isinstance(of, TensorType) or isinstance(of.element, ElementVariable):
        return None
    return ArrayType(of.element, tuple(map(extent_text, of.dims)))


def extent_text(of: Dimension) -> int | str:
    """A number, or a dimension in words."""
    return of.constant if of.constant is not None else shown(of)


def site_of(call: Term, types: Mapping[Term, Type]) -> Site | str:
    """What inference knows of a call of an operator, or why no engine can take the node."""
    if not isinstance(call, Call) or not isinstance(call.function, Primitive):
        return "is no call of an operator"
    given = [array_type(types[each]) for each in call.arguments]
    made = types[call]
    results = [array_type(each) for each in (made.items if isinstance(made, TupleType) else (made,))]
    arguments, outputs = [a for a in given if a is not None], [r for r in results if r is not None]
    if len(arguments) < len(given) or len(outputs) < len(results):
        return "its element type varies from call to call"
    try:
        op = fixed(call.function.operator, arguments)
    except OperatorError as error:
        return str(error).splitlines()[0]
    constant = tuple(isinstance(each, Constant) for each in call.arguments)
    sizes = {name: extent_text(of) for name, of in call.sizes}
    return Site(op, tuple(arguments), tuple(outputs), constant, sizes, call.label)


def fixed(op: Operator, arguments: list[ArrayType]) -> Operator:
    """The operator with its type variables fixed by its arguments."""
    if not op.generic:
        return op
    types: dict[str, DType] = {}
    for parameter, given in zip(signature(op).parameters, arguments, strict=True):
        if isinstance(parameter.type.element, ElementVariable):
            types[parameter.type.element.name] = given.dtype
    return instantiate(op, types)
