"""Segments: what of a model's blocks is straight, so that it can be one call of compiled code.

A segment is a run of calls of operators in one block, with the tuples, projections and names between them.  A function
of the model whose body is nothing else is straight as well, and calls of it belong to segments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby
from typing import Any

from workbench.graph.forms.scopes import Scopes, scopes, value_node
from workbench.graph.terms.dimensions import symbols
from workbench.graph.terms.nodes import (
    ATOMS,
    Call,
    Constant,
    Function,
    Global,
    Let,
    Primitive,
    Projection,
    Term,
    Tuple,
    Variable,
)
from workbench.graph.terms.types import FunctionType, TensorType, TupleType, Type
from workbench.graph.terms.walking import operands
from workbench.graph.typing.programs import Typing
from workbench.records import record


@record(slots=True, eq=False, repr=False)
class Segment:
    """Nodes of one block, computed together; `inputs` are terms of outside, `sizes` names of dimensions it needs."""

    nodes: list[Term]
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]
    sizes: tuple[str, ...]


def straight_functions(functions: Mapping[str, Function], typing: Typing, foreign: Collection[str]) -> frozenset[str]:
    """Names of functions that only call operators, and other such functions; `foreign` ones are known to be."""
    found = frozenset(name for name in foreign if _is_plain_function(typing, name))
    codes = {name: scopes(function) for name, function in functions.items() if name not in foreign}
    waiting = [name for name in codes if _is_plain_function(typing, name)]
    while True:
        more = [name for name in waiting if _is_straight(codes[name], functions[name], typing, found)]
        if not more:
            return found
        found |= frozenset(more)
        waiting = [name for name in waiting if name not in found]


def _is_plain_function(typing: Typing, name: str) -> bool:
    of = typing.schemes[name].type
    return isinstance(of, FunctionType) and all(map(_is_plain, (*of.parameters, of.result)))


def _is_straight(code: Scopes, function: Function, typing: Typing, straight: frozenset[str]) -> bool:
    nodes = [node for block in code.blocks.values() for node in block if node is not function]
    return all(belongs(node, typing, straight) for node in nodes)


def _is_plain(of: Type | None) -> bool:
    """Whether values of a type are tensors, or tuples of them."""
    match of:
        case TensorType():
            return True
        case TupleType(items):
            return all(map(_is_plain, items))
        case _:
            return False


def belongs(node: Term, typing: Typing, straight: Collection[str]) -> bool:
    """Whether a node can be in a segment."""
    match node:
        case Call(Primitive()):
            return True
        case Call(Global(name), arguments):
            return name in straight and all(_is_plain(typing.types.get(value_node(each))) for each in arguments)
        case Tuple():
            return _is_plain(typing.types.get(node))
        case Projection(of, _):
            return _is_plain(typing.types.get(value_node(of)))
        case Let(_, value, _):
            return _is_plain(typing.types.get(value_node(value)))
        case _:
            return False


def segmented(found: Scopes, typing: Typing, straight: frozenset[str]) -> Scopes:
    """The scopes with segments in their blocks, where runs of nodes contain a call."""
    blocks: dict[Any, list[Any]] = {}
    for scope, block in found.blocks.items():
        blocks[scope] = []
        for inside, run in groupby(block, lambda node: belongs(node, typing, straight)):
            nodes = list(run)
            made = inside and any(isinstance(node, Call) for node in nodes)
            blocks[scope] += [_segment(found, nodes)] if made else nodes
    return Scopes(found.root, found.home, found.inner, blocks, found.users)


def _segment(found: Scopes, nodes: list[Term]) -> Segment:
    own: dict[Term, None] = dict.fromkeys([*nodes, *(node.variable for node in nodes if isinstance(node, Let))])
    inputs: dict[Term, None] = {}
    for node in nodes:
        for operand in _needed(node):
            if operand not in own and (isinstance(operand, Variable) or not isinstance(operand, ATOMS)):
                inputs[operand] = None
    sizes = {name for node in nodes if isinstance(node, Call) for _, dim in node.sizes for name in symbols(dim)}
    outputs = [node for node in own if any(user not in own for user, _ in found.users.get(node, ()))]
    return Segment(nodes, tuple(inputs), tuple(outputs), tuple(sorted(sizes)))


def _needed(node: Term) -> list[Term]:
    """What a node needs the values of; of a `let` not its body."""
    inside = operands(node)[:1] if isinstance(node, Let) else operands(node)
    return [each for each in map(value_node, inside) if not isinstance(each, Primitive | Constant | Global)]


def whole_segment(code: Scopes, function: Function) -> Segment | None:
    """The segment that is a function's whole body; None if there is more, or nothing, in it."""
    block: list[Any] = code.blocks[code.inner[function, 0]]
    if len(block) != 1 or not isinstance(block[0], Segment):
        return None
    inside = value_node(function.body) in block[0].outputs and set(block[0].inputs) <= set(function.parameters)
    return block[0] if inside else None
