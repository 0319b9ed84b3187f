"""Definitions of data types: names given once, no dimensions that vary, and a value of each can be made."""

from __future__ import annotations

from workbench.graph.terms.datatypes import PRELUDE, DataDefinition
from workbench.graph.terms.types import DataType, FunctionType, ReferenceType, TupleType, Type, variables_of
from workbench.lang.syntax.diagnostics import Diagnostics, Problem


def check_definitions(made: list[DataDefinition], diagnostics: Diagnostics) -> None:
    """Report constructors that are given twice, free dimensions, and types without any value."""
    seen = {variant.name: definition.name for definition in PRELUDE for variant in definition.variants}
    for definition in made:
        for variant in definition.variants:
            if variant.name in seen:
                message = f"the constructor {variant.name!r} is already one of {seen[variant.name]}"
                diagnostics.add(Problem(message, variant.span, "choose another name"))
            elif not variant.name[0].isupper():
                fix = f"write {variant.name.capitalize()}"
                diagnostics.add(Problem(f"a constructor begins with a capital: {variant.name!r}", variant.span, fix))
            seen[variant.name] = definition.name
            for name in _free(definition, variant.fields):
                fix = f"use a number, or make the whole type of that field a parameter of {definition.name}"
                diagnostics.add(Problem(f"a data type has no dimension of its own: {name}", variant.span, fix))
    inhabited = _inhabited((*PRELUDE, *made))
    for definition in made:
        if definition.name not in inhabited:
            message = f"no value of {definition.name} can ever be made: each of its constructors needs one already"
            diagnostics.add(Problem(message, definition.span, "give it a constructor that does not"))


def _free(definition: DataDefinition, fields: tuple[Type, ...]) -> list[str]:
    return [
        name for field in fields for name in variables_of(field) if name not in definition.parameters
    ]  # fmt: skip


def _inhabited(every: tuple[DataDefinition, ...]) -> set[str]:
    """Names of the types of which a finite value exists, whatever their parameters are."""
    found: set[str] = set()
    while True:
        new = {
            definition.name
            for definition in every
            if definition.name not in found
            and any(all(_made(field, found) for field in variant.fields) for variant in definition.variants)
        }
        if not new:
            return found
        found |= new


def _made(of: Type, inhabited: set[str]) -> bool:
    match of:
        case DataType(name, _):
            return name in inhabited
        case TupleType(items):
            return all(_made(item, inhabited) for item in items)
        case ReferenceType(inner):
            return _made(inner, inhabited)
        case FunctionType():
            return True
        case _:
            return True
