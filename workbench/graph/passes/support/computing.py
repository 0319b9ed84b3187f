"""Values of calls that the model alone tells."""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.graph.evaluation.operators import in_order, inputs_of, typed
from workbench.graph.terms.nodes import Call, Constant, Primitive
from workbench.lang.oracle.evaluation import evaluate


def computed(call: Call) -> Any:
    """The value of an operator's call on constants, by its oracle; None where it fails or a size is not known."""
    assert isinstance(call.function, Primitive)
    op, arguments = call.function.operator, [each.array for each in call.arguments if isinstance(each, Constant)]
    sizes: dict[str, Any] = {name: size.constant for name, size in call.sizes}
    if None in sizes.values():
        return None
    names = inputs_of(op)
    given = dict(zip(names, arguments, strict=False))
    out = in_order(op, tuple(arguments[len(names) :])) if len(arguments) > len(names) else None
    try:
        return evaluate(typed(op, tuple(arguments)), **given, **sizes, out=out)
    except WorkbenchError:
        return None
