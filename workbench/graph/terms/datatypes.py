"""Algebraic data types: their constructors, and those that every model knows."""

from __future__ import annotations

from dataclasses import field

from workbench.graph.terms.types import DataType, Type, TypeVariable, map_type
from workbench.lang.syntax.terms import NOWHERE, Span
from workbench.records import record


@record(slots=True)
class Variant:
    """One constructor of a data type, with the types of its fields."""

    name: str
    fields: tuple[Type, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class DataDefinition:
    """`type List<a> = Nil | Cons(a, List<a>)`."""

    name: str
    parameters: tuple[str, ...]
    variants: tuple[Variant, ...]
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def applied(self) -> DataType:
        """The type with its own parameters as arguments."""
        return DataType(self.name, tuple(map(TypeVariable, self.parameters)))

    def field_types(self, variant: Variant, arguments: tuple[Type, ...]) -> tuple[Type, ...]:
        """The types of a variant's fields, with these types in place of the parameters."""
        meaning = dict(zip(self.parameters, arguments, strict=True))

        def applied(part: Type) -> Type:
            return meaning.get(part.name, part) if isinstance(part, TypeVariable) else part

        return tuple(map_type(each, applied) for each in variant.fields)


_A = TypeVariable("a")

PRELUDE: tuple[DataDefinition, ...] = (
    DataDefinition("List", ("a",), (Variant("Nil"), Variant("Cons", (_A, DataType("List", (_A,)))))),
    DataDefinition("Option", ("a",), (Variant("None"), Variant("Some", (_A,)))),
    DataDefinition(
        "Tree", ("a",), (Variant("Leaf"), Variant("Node", (_A, DataType("Tree", (_A,)), DataType("Tree", (_A,)))))
    ),
)


@record(slots=True)
class Datatypes:
    """The data types of one model, those that come along included, by name and by constructor."""

    types: dict[str, DataDefinition]
    constructors: dict[str, tuple[DataDefinition, Variant]]


def datatypes(own: tuple[DataDefinition, ...] = ()) -> Datatypes:
    """The data types that are known beside a model's own."""
    every = (*PRELUDE, *own)
    made = {variant.name: (definition, variant) for definition in every for variant in definition.variants}
    return Datatypes({definition.name: definition for definition in every}, made)
