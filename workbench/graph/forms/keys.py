"""Equality up to renaming: one digest for models that differ in names only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from workbench.graph.terms.datatypes import DataDefinition
from workbench.graph.terms.nodes import Function, Primitive
from workbench.graph.terms.walking import postorder
from workbench.graph.text.naming import Canonical
from workbench.graph.text.printing import print_function
from workbench.graph.text.printing_types import print_definition


def functions_digest(functions: Mapping[str, Function], definitions: Iterable[DataDefinition] = ()) -> str:
    """The digest of functions: of their canonical text, the texts of their operators and the contents of constants."""
    operators = {
        node.operator.name: node.operator.text for node in postorder(*functions.values()) if isinstance(node, Primitive)
    }
    parts = [print_function(name, function, Canonical()) for name, function in sorted(functions.items())]
    parts += sorted(map(print_definition, definitions))
    parts += [text for _, text in sorted(operators.items())]
    return sha256("\n".join(parts).encode()).hexdigest()
