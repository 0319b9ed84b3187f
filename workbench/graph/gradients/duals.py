"""Dual types: what values are while a gradient is computed by cells.

A tensor of floats becomes the pair of itself and the cell of its adjoint, a function takes the cell of the
backpropagator as well, everything else keeps its structure (Pearlmutter and Siskind 2008; Relay's gradient, 2019).  A
data type whose own fields change gets a dual; `List<a>` serves for both.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.graph.gradients.structures import Elements
from workbench.graph.terms.datatypes import DataDefinition, Datatypes, Variant
from workbench.graph.terms.types import (
    UNIT,
    DataType,
    FunctionType,
    ReferenceType,
    TensorType,
    TupleType,
    Type,
    map_type,
    walk_type,
)
from workbench.lang.scopes.scope import free_name

BACK = ReferenceType(FunctionType((), UNIT))


class Duals:
    """The dual of every type and constructor of a model."""

    def __init__(self, known: Datatypes, elements: Elements, taken: Iterable[str] = ()) -> None:
        self.known, self.elements = known, elements
        self.changed = self._changed()
        names = {*taken, *known.types, *known.constructors}
        self.types = {name: claimed(f"{name}Dual", names) for name in self.changed}
        self.constructors = {
            variant.name: claimed(f"{variant.name}Dual", names)
            for name in self.changed
            for variant in known.types[name].variants
        }

    def of(self, of: Type) -> Type:
        """The dual of a type."""
        return map_type(of, self._part)

    def constructor(self, name: str) -> str:
        """The constructor that makes the dual."""
        return self.constructors.get(name, name)

    @property
    def definitions(self) -> tuple[DataDefinition, ...]:
        """The data types that the duals need beside those of the model."""
        return tuple(
            DataDefinition(
                self.types[name],
                self.known.types[name].parameters,
                tuple(
                    Variant(self.constructors[v.name], tuple(map(self.of, v.fields)))
                    for v in self.known.types[name].variants
                ),
            )
            for name in self.types
        )

    def _part(self, of: Type) -> Type:
        match of:
            case TensorType() if self.elements.has_gradient(of):
                return TupleType((of, ReferenceType(of)))
            case FunctionType(parameters, result):
                return FunctionType((*parameters, BACK), result)
            case DataType(name, arguments) if name in self.types:
                return DataType(self.types[name], arguments)
            case _:
                return of

    def _changed(self) -> list[str]:
        """The data types with floats or functions in their own fields, or with other such data types."""
        found: dict[str, None] = {}
        while True:
            new = [
                name
                for name, definition in self.known.types.items()
                if name not in found and any(self._changes(part, found) for part in _parts(definition))
            ]
            if not new:
                return list(found)
            found.update(dict.fromkeys(new))

    def _changes(self, of: Type, found: dict[str, None]) -> bool:
        if isinstance(of, DataType):
            return of.name in found
        return isinstance(of, FunctionType) or self.elements.has_gradient(of)


def _parts(definition: DataDefinition) -> list[Type]:
    return [part for variant in definition.variants for of in variant.fields for part in walk_type(of)]


def claimed(wished: str, names: set[str]) -> str:
    """A name like the wished one that is none of these; it is one of them from then on."""
    name = free_name(wished, names)
    names.add(name)
    return name
