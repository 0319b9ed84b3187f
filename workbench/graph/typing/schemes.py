"""Schemes: types with quantified variables, instantiated at each use and generalised where a function is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.graph.terms.dimensions import Dimension, dimension, is_unknown, replaced
from workbench.graph.terms.nodes import Function
from workbench.graph.terms.types import (
    Element,
    ElementVariable,
    FunctionType,
    Quantified,
    Scheme,
    TensorType,
    Type,
    TypeVariable,
    map_type,
    variables_of,
)
from workbench.graph.typing.unification import Unifier
from workbench.lang.dtypes import DType
from workbench.lang.scopes.type_variables import CLASSES


@dataclass
class Meaning:
    """What the variables of a type stand for, by name and kind."""

    types: dict[str, Type] = field(default_factory=dict)
    elements: dict[str, Element] = field(default_factory=dict)
    dims: dict[str, Dimension] = field(default_factory=dict)

    def of(self, within: Type) -> Type:
        """The type with its variables replaced."""
        return map_type(within, self._part)

    def _part(self, of: Type) -> Type:
        match of:
            case TypeVariable(name):
                return self.types.get(name, of)
            case TensorType(element, dims):
                if isinstance(element, ElementVariable):
                    element = self.elements.get(element.name, element)
                return TensorType(element, tuple(replaced(dim, self.dims) for dim in dims))
            case _:
                return of


def allowed_elements(quantified: Quantified) -> frozenset[DType] | None:
    """The element types that a declared variable may stand for; None for any."""
    return frozenset(CLASSES[quantified.elements]) if quantified.elements else None


def instance(unifier: Unifier, scheme: Scheme) -> Type:
    """The type of one use: every quantified variable is a new unknown."""
    return meaning(unifier, scheme.variables).of(scheme.type) if scheme.variables else scheme.type


def meaning(unifier: Unifier, variables: Iterable[Quantified]) -> Meaning:
    """New unknowns for variables."""
    found = Meaning()
    for each in variables:
        match each.kind:
            case "type":
                found.types[each.name] = unifier.type()
            case "element":
                found.elements[each.name] = unifier.element(allowed_elements(each))
            case _:
                found.dims[each.name] = unifier.dimension()
    return found


def is_annotated(function: Function) -> bool:
    """Whether a function says its whole type."""
    return function.result is not None and all(each.type is not None for each in function.parameters)


def written_parts(function: Function) -> list[Type]:
    """The types that a function writes in its head."""
    return [of for of in (*(each.type for each in function.parameters), function.result) if of is not None]


def own_dimensions(function: Function, outer: Iterable[str]) -> list[str]:
    """The dimensions that a function declares by naming them, those around it left out."""
    around = set(outer)
    named = (variables_of(of).items() for of in written_parts(function))
    found = [name for each in named for name, kind in each if kind == "dimension" and name not in around]
    return list(dict.fromkeys(found))


def declared(function: Function, outer: Iterable[str]) -> tuple[Quantified, ...]:
    """All variables that a function quantifies by writing them."""
    dims = (Quantified(name, "dimension") for name in own_dimensions(function, outer))
    return (*function.quantified, *dims)


def written_type(function: Function) -> FunctionType:
    """The type of a function that says its whole type."""
    assert function.result is not None
    return FunctionType(tuple(each.type for each in function.parameters if each.type is not None), function.result)


def generalised(
    unifier: Unifier, of: Type, fixed: set[str], written: tuple[Quantified, ...], taken: set[str]
) -> Scheme:
    """The scheme of a function: unknowns that nothing outside fixes are quantified, and get names from then on."""
    found = list(written)
    for name, kind in variables_of(unifier.resolved(of)).items():
        if not is_unknown(name) or name in fixed:
            continue
        chosen = _free(kind, taken | {each.name for each in found})
        found.append(Quantified(chosen, kind, _class(unifier, name)))
        _give(unifier, name, kind, chosen)
    return Scheme(tuple(found), unifier.resolved(of))


def _give(unifier: Unifier, name: str, kind: str, chosen: str) -> None:
    among = unifier.classes.get(name)
    if among is not None:
        unifier.classes[chosen] = among
    made = {"type": TypeVariable(chosen), "element": ElementVariable(chosen), "dimension": dimension(chosen)}
    unifier.known[name] = made[kind]


def _class(unifier: Unifier, name: str) -> str:
    among = unifier.classes.get(name)
    return next((each for each, types in CLASSES.items() if frozenset(types) == among), "")


def _free(kind: str, taken: set[str]) -> str:
    letters = {"type": "abcefg", "element": "tuvw", "dimension": "dijkpq"}[kind]
    names = (letter + (str(count) if count else "") for count in range(1000) for letter in letters)
    return next(name for name in names if name not in taken)
