"""What never changes in a C text: `const` variables with a value, and what an `enum` names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.values import Values
from workbench.fromc.text.literals import CONSTANTS
from workbench.fromc.text.locals import identifiers_in
from workbench.fromc.text.scope import Known
from workbench.fromc.text.syntax import Unit
from workbench.lang.dtypes import INT32


def constants_of(unit: Unit) -> dict[str, Any]:
    """Declarations of the file (or around a region) whose value the text tells, by name."""
    around = unit.body if unit.source.frame else unit.declarations
    known = {*unit.constants, *unit.source.defines, *CONSTANTS}
    found: dict[str, Any] = {}
    for node in around:
        if isinstance(node, c_ast.Decl) and node.init is not None and is_const(node) and _is_plain(node.init, known):
            found[node.name] = node
            known.add(node.name)
    return found


def is_const(declaration: Any) -> bool:
    """Whether a variable, or the elements of an array, are declared `const`."""
    kind = declaration.type
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return "const" in (getattr(kind, "quals", None) or ())


def _is_plain(node: Any, known: set[str]) -> bool:
    """Whether a value is made of numbers and constants."""
    if isinstance(node, c_ast.ArrayRef | c_ast.FuncCall | c_ast.Assignment):
        return False
    return all(name in known for name in identifiers_in(node)) and all(_is_plain(n, known) for _, n in node.children())


def without(nodes: Iterable[Any], constants: dict[str, Any]) -> tuple[Any, ...]:
    """The nodes but the constants that are numbers: these are replaced by their values."""
    return tuple(node for node in nodes if not (node in constants.values() and is_scalar(node)))


def is_scalar(declaration: Any) -> bool:
    """Whether a declaration is one of a number."""
    return isinstance(declaration.type, c_ast.TypeDecl)


def declare_constants(values: Values) -> None:
    """What an `enum` names is an int."""
    for name, node in values.unit.constants.items():
        values.scope.declare(name, Known(values.index(node, f"the value of {name}"), INT32))
