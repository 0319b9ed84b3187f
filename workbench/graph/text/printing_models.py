"""A whole model as text: constants, operators that are not of the library, data types, functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.errors import ModelError
from workbench.graph.forms.rebinding import hoisted
from workbench.graph.terms.datatypes import DataDefinition
from workbench.graph.terms.nodes import Array, Call, Function, Primitive, Term
from workbench.graph.terms.scalars import sign_of
from workbench.graph.terms.types import Type
from workbench.graph.terms.walking import postorder
from workbench.graph.text.naming import Naming
from workbench.graph.text.printing import print_function
from workbench.graph.text.printing_types import print_definition
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Unit
from workbench.ops.catalogue import ENTRIES, load


def print_model(
    functions: Mapping[str, Function], definitions: Iterable[DataDefinition], types: Mapping[Term, Type] | None = None
) -> tuple[str, list[Array]]:
    """The text of a model, and the arrays that its `const#k` stand for; `types` stand as comments behind the lines."""
    functions = {name: hoisted(function) for name, function in functions.items()}
    operators = operators_of(functions.values())
    names = [op.name for op in operators]
    made = [variant.name for definition in definitions for variant in definition.variants]
    constants: dict[int, tuple[int, Array]] = {}
    bodies = [
        print_function(name, function, Naming((*functions, *names, *made), constants), types)
        for name, function in functions.items()
    ]
    arrays = [array for _, array in constants.values()]
    head = [f"const#{number}: {_array_type(array)}" for number, array in enumerate(arrays)]
    data = [print_definition(definition) for definition in definitions]
    parts = ["\n".join(head), _definitions(operators), "\n".join(data), *bodies]
    return "\n\n".join(part for part in parts if part), arrays


def _array_type(array: Array) -> str:
    return f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"


def operators_of(functions: Iterable[Function]) -> list[Operator]:
    """The operators that occur, in order of occurrence, each once; ModelError if two have the same name."""
    found: dict[str, Operator] = {}
    for node in postorder(*functions):
        if isinstance(node, Primitive):
            known = found.setdefault(node.operator.name, node.operator)
            if known != node.operator:
                raise ModelError(
                    f"two operators of the model are named {known.name!r}, and its text needs one name for each; "
                    f"rename one of them:\n{known}\n\n{node.operator}"
                )
    return list(found.values())


def _definitions(operators: list[Operator]) -> str:
    """The definitions of the operators that neither the library nor the language has, with what they use."""
    items: dict[str, tuple[str, object]] = {}
    for op in operators:
        if (op.name in ENTRIES and load(op.name) == op) or sign_of(op) is not None:
            continue
        for item in parse(op.text).items:
            text = print_unit(Unit((item,)))
            known, _ = items.setdefault(item.name.name, (text, item))
            if known != text:
                raise ModelError(
                    f"two definitions that the operators of the model use are named {item.name.name!r}; "
                    f"rename one of them:\n{known}\n\n{text}"
                )
    return "\n\n".join(text for text, _ in items.values())


def _called(function: Term) -> list[Operator]:
    """The operators that are called in a term, one for each call, in order of evaluation."""
    calls = (node for node in postorder(function) if isinstance(node, Call))
    return [call.function.operator for call in calls if isinstance(call.function, Primitive)]
