"""`fold_constants`: what the model alone tells is computed once, now."""

from __future__ import annotations

import math

import numpy as np

from workbench.graph.models import Model
from workbench.graph.passes.support.computing import computed
from workbench.graph.passes.support.effects import is_detached, users_of
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Function,
    If,
    Let,
    Primitive,
    Projection,
    Term,
    Tuple,
    Variable,
)
from workbench.graph.terms.types import TensorType, TupleType, Type
from workbench.graph.terms.walking import postorder, with_operands
from workbench.lang.dtypes import DType
from workbench.records import record


@record
class FoldConstants(ModelPass):
    """A call of an operator on constants becomes a constant, an `if` on one the branch that is taken.

    before → after:  transpose(const#0)   →   const#1

    Operators are computed by their oracles, as `evaluate` does it, so results are the same bit for bit.  A result of
    more than `most_bytes` is left to be computed, as is a call that fails (somebody may never ask for it).
    """

    most_bytes: int = 1 << 26

    def apply(self, model: Model) -> Model:
        types = model.typing.types
        return each_function(model, lambda function: _folded(function, types, self.most_bytes))


def fold_constants(*, most_bytes: int = 1 << 26) -> FoldConstants:
    """What depends on constants only becomes a constant, of up to so many bytes."""
    return FoldConstants(most_bytes)


def _folded(function: Function, types: dict[Term, Type], most_bytes: int) -> Function:
    known: dict[Variable, Term] = {}
    users: dict[Term, list[Term]] = {}
    types = dict(types)

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        new = with_operands(node, inside)
        if node in types:
            types[new] = types[node]
        match new:
            case Variable():
                return known.get(new, new)
            case Call(Primitive(), arguments) if all(isinstance(each, Constant) for each in arguments):
                return _computed(new, types[node], most_bytes) or new
            case Projection(Tuple(items), index) if all(isinstance(each, Constant) for each in items):
                return items[index]
            case If(Constant(condition), then, otherwise):
                assert isinstance(node, If)
                gone = node.otherwise if condition else node.then
                return (then if condition else otherwise) if is_detached(gone, users) else new
            case Let(variable, Constant(), body) if variable in known:
                return body
            case _:
                return new

    while True:
        known, users = {**known, **_named(function)}, users_of(function)
        found = rewritten(function, change)
        if found is function:
            return function
        function = found


def _named(function: Function) -> dict[Variable, Term]:
    """Variables that lets bind to constants."""
    lets = [node for node in postorder(function) if isinstance(node, Let) and isinstance(node.value, Constant)]
    return {node.variable: node.value for node in lets if node.variable.type is None or _is_scalar(node.variable.type)}


def _is_scalar(of: Type) -> bool:
    return isinstance(of, TensorType) and not of.dims


def _computed(call: Call, of: Type, most_bytes: int) -> Term | None:
    if _bytes(of) > most_bytes:
        return None
    value = computed(call)
    if value is None:
        return None
    if isinstance(value, tuple):
        return Tuple(tuple(Constant(np.asarray(each)) for each in value), call.span)
    return Constant(np.asarray(value), call.span)


def _bytes(of: Type) -> float:
    """The bytes of a value of a type; infinite if its sizes vary."""
    match of:
        case TensorType(DType() as element, dims) if all(dim.constant is not None for dim in dims):
            return math.prod(dim.constant or 0 for dim in dims) * np.dtype(element.numpy).itemsize
        case TupleType(items):
            return sum(map(_bytes, items))
        case _:
            return math.inf
