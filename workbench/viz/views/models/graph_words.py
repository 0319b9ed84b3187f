"""Words in a model's graph: types in a few characters, patterns, the modules that a label names."""

from __future__ import annotations

import re

from workbench.graph.terms.nodes import Binder, Construction, Items, Pattern
from workbench.graph.terms.types import DataType, TensorType, TupleType, Type
from workbench.graph.text.printing_types import print_dimension, print_type
from workbench.viz.views.models.model_graph import Path


def shape_of(of: Type | None) -> str:
    """A type in a few characters: `64×32×32`, its elements said where they are not float32.

    >>> from workbench.lang.dtypes import FLOAT32, INT64
    >>> from workbench.graph.terms.dimensions import dimension
    >>> shape_of(TensorType(FLOAT32, (dimension("n"), dimension(8)))), shape_of(TensorType(INT64))
    ('n×8', 'int64')
    """
    match of:
        case None:
            return ""
        case TensorType(element, dims):
            extents = "×".join(f"({d})" if re.search(r"\W", d) else d for d in map(print_dimension, dims))
            plain = str(getattr(element, "name", element))
            return extents if extents and plain == "float32" else f"{plain} {extents}".strip()
        case TupleType(items):
            return f"({', '.join(map(shape_of, items))})"
        case DataType(name, arguments):
            return f"{name}⟨{', '.join(map(shape_of, arguments))}⟩" if arguments else name
        case _:
            return print_type(of)


def module_path(label: str) -> Path:
    """The modules in the label of a call: all of it but the last part.

    >>> module_path("layers.0.conv2d"), module_path("/layer1/conv1/Conv")
    (('layers', '0'), ('layer1', 'conv1'))
    """
    parts = [part for part in re.split(r"[./]", label) if part]
    return tuple(parts[:-1])


def pattern_text(pattern: Pattern) -> str:
    """A pattern as it is written."""
    match pattern:
        case Binder(variable):
            return variable.name
        case Construction(constructor, fields):
            return f"{constructor}({', '.join(map(pattern_text, fields))})" if fields else constructor
        case Items(items):
            return f"({', '.join(map(pattern_text, items))})"
        case _:
            return "_"
