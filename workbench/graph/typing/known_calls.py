"""Calls of operators of which everything is known: those that are alike have one type, which is inferred once.

A network calls the same operators with the same shapes again and again, and every pass has its model typed anew.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.dimensions import Dimension, dimension, is_unknown
from workbench.graph.terms.nodes import Call, Primitive, Tuple
from workbench.graph.terms.types import TensorType, Type
from workbench.graph.typing.operator_calls import inferred_call, settle_calls
from workbench.graph.typing.state import State
from workbench.lang.dtypes import DType
from workbench.lang.expr import Size
from workbench.lang.operator import Operator


def operator_call(state: State, node: Call, op: Operator, arguments: tuple[Type, ...]) -> Type:
    """The type of a call of an operator; a problem is noted for arguments that do not fit."""
    known = _known_type(state, node, op, arguments)
    return inferred_call(state, node, op, arguments) if known is None else known


def _known_type(state: State, node: Call, op: Operator, arguments: tuple[Type, ...]) -> Type | None:
    """The type of a call whose arguments and sizes are known; None if they are not, or if there is more to say."""
    sizes = tuple((name, size.constant) for name, size in node.sizes if size.constant is not None)
    told = tuple(known for of in arguments if (known := _told(state, of)) is not None)
    if len(sizes) < len(node.sizes) or len(told) < len(arguments):
        return None
    return type_at(op, told, sizes)


def _told(state: State, of: Type) -> TensorType | None:
    """The type as far as it is known, if that is as far as it goes."""
    known = of if isinstance(of, TensorType) and _is_told(of) else state.unifier.resolved(of)
    return known if isinstance(known, TensorType) and (known is of or _is_told(known)) else None


def _is_told(of: TensorType) -> bool:
    """Whether all its dimensions are numbers or bare names: equal sums may be written in several orders."""
    return isinstance(of.element, DType) and all(dim.constant is not None or _is_name(dim) for dim in of.dims)


def _is_name(dim: Dimension) -> bool:
    name = dim.only_atom()
    return isinstance(name, Size) and not is_unknown(name.name)


@lru_cache(maxsize=4096)
def type_at(op: Operator, arguments: tuple[TensorType, ...], sizes: tuple[tuple[str, int], ...]) -> Type | None:
    """The type of any call with these, inferred by itself; None where that leaves a problem, a check or a question."""
    node = Call(Primitive(op), (Tuple(()),) * len(arguments), tuple((name, dimension(size)) for name, size in sizes))
    alone = State({}, Datatypes({}, {}))
    found = inferred_call(alone, node, op, arguments)
    settle_calls(alone, final_from=0)
    unsaid = alone.complaints or alone.calls or alone.unifier.open or alone.unifier.checks
    return None if unsaid else alone.unifier.resolved(found)
