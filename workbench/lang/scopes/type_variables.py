"""What a type variable may stand for: `<T>` any element type, `<T: floats>` those of a class."""

from __future__ import annotations

from workbench.errors import unknown_name
from workbench.lang.dtypes import BOOL, DTYPES, FLOAT32, INT32, DType
from workbench.lang.printing.printer import type_name
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import GenericNode
from workbench.lang.syntax.terms import Span

CLASSES: dict[str, tuple[DType, ...]] = {
    "numbers": tuple(d for d in DTYPES.values() if d != BOOL),
    "integers": tuple(d for d in DTYPES.values() if d.is_integral),
    "floats": tuple(d for d in DTYPES.values() if d.is_float),
}


def check_class(generic: GenericNode) -> None:
    """Problem for a class that there is not."""
    if generic.kind is not None and generic.kind.name not in CLASSES:
        raise Problem(unknown_name("class of types", generic.kind.name, CLASSES), generic.kind.span)


def default_type(generic: GenericNode) -> DType:
    """The type where nothing fixes it: float32, or int32 among integers."""
    return INT32 if generic.kind is not None and generic.kind.name == "integers" else FLOAT32


def check_type(generic: GenericNode, found: DType, of: str, span: Span) -> None:
    """Problem, at `span`, for a type that the variable of the definition `of` may not stand for."""
    if generic.kind is None or found in (known := CLASSES.get(generic.kind.name, (found,))):
        return
    names = ", ".join(map(type_name, known))
    message = f"{of} takes {generic.kind.name} only ({names}), and {generic.name} is {type_name(found)} here"
    raise Problem(message, span, f"convert what is given to {type_name(default_type(generic))}")
