"""Annotations of terms: the data types and variables they name are there, with the right number of arguments."""

from __future__ import annotations

from workbench.graph.terms.nodes import Term
from workbench.graph.terms.types import DataType, ElementVariable, TensorType, Type, TypeVariable, walk_type
from workbench.graph.text.cursor import unknown_word
from workbench.graph.typing.state import State


def check_annotation(state: State, node: Term, of: Type) -> bool:
    """Whether a written type names only what is there; if not, a problem is noted."""
    for part in walk_type(of):
        message = _wrong(state, part)
        if message:
            state.complain(node, message)
            return False
    return True


def _wrong(state: State, of: Type) -> str:
    match of:
        case DataType(name, _) if name not in state.datatypes.types:
            return unknown_word("type", name, state.datatypes.types)
        case DataType(name, arguments) if len(arguments) != len(state.datatypes.types[name].parameters):
            wanted = len(state.datatypes.types[name].parameters)
            return f"the type {name} takes {wanted} arguments: expected {wanted} but found {len(arguments)}"
        case TypeVariable(name) if state.variables.get(name) != "type":
            return unknown_word("type variable", name, state.variables)
        case TensorType(ElementVariable(name), _) if state.variables.get(name) != "element":
            return unknown_word("element type", name, state.variables)
        case _:
            return ""
