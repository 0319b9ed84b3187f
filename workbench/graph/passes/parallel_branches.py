"""`parallel_branches`: calls of one operator on one input, with different weights, are one call."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

import numpy as np

from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.forms.scopes import Scope, scopes
from workbench.graph.models import Model
from workbench.graph.passes.support.channels import Channels, separate
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.dimensions import dimension
from workbench.graph.terms.nodes import Array, Call, Constant, Function, Primitive, Term
from workbench.graph.terms.walking import postorder, with_operands
from workbench.lang.definitions import operator
from workbench.lang.operator import Operator
from workbench.records import record


@record
class ParallelBranches(ModelPass):
    """Calls that share their input and differ in known weights become one with the weights side by side.

    before → after:  (conv(x, V), conv(x, W))   →   %c = conv(x, V|W); (slice(%c, 0, |V|), slice(%c, |V|, |W|))

    That an axis of the result falls apart is proved from the definition: a slice of it reads that slice of the weights
    and of nothing else there.  `at_least` so many calls of one scope make it worth while: the slices copy, unless they
    are fused with what reads them.
    """

    at_least: int = 3

    def apply(self, model: Model) -> Model:
        return each_function(model, lambda function: _combined(function, self.at_least))


def parallel_branches(*, at_least: int = 3) -> ParallelBranches:
    """At least so many calls of one operator on one input, with different known weights, become one call."""
    return ParallelBranches(at_least)


def _combined(function: Function, at_least: int) -> Function:
    part_of: dict[Term, tuple[_Together, int]] = {}
    for group in _groups(function).values():
        found = _together(group) if len(group) >= at_least else None
        if found is not None:
            part_of |= {call: (found, at) for at, call in enumerate(group)}
    whole: dict[_Together, Call] = {}

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        new = with_operands(node, inside)
        if node not in part_of:
            return new
        assert isinstance(new, Call)
        together, at = part_of[node]
        if together not in whole:
            whole[together] = together.call(new)
        return together.slice(whole[together], at, new.label)

    return rewritten(function, change) if part_of else function


def _groups(function: Function) -> dict[Hashable, list[Call]]:
    """Calls of one scope that have their operator, sizes and unknown arguments in common."""
    home = scopes(function).home
    found: dict[Hashable, list[Call]] = {}
    for node in postorder(function):
        if isinstance(node, Call) and isinstance(node.function, Primitive) and _is_weighted(node):
            found.setdefault(_key(node, node.function.operator, home[node]), []).append(node)
    return found


def _is_weighted(call: Call) -> bool:
    known = [isinstance(each, Constant) and each.array.ndim > 0 for each in call.arguments]
    return any(known) and not all(isinstance(each, Constant) for each in call.arguments)


def _key(call: Call, op: Operator, home: Scope) -> Hashable:
    inputs = (None if isinstance(each, Constant) else each for each in call.arguments)
    types = (each.array.dtype if isinstance(each, Constant) else None for each in call.arguments)
    return op, home, call.sizes, tuple(inputs), tuple(types)


@record(eq=False)
class _Together:
    """Calls that become one: the axis of the result, the weights side by side, where each slice begins, its cells."""

    operator: Operator
    channels: Channels
    weights: dict[str, Array]
    starts: tuple[int, ...]
    counts: tuple[int, ...]

    def call(self, first: Call) -> Call:
        """The one call, made of the first of them."""
        arguments = (
            Constant(self.weights[name]) if name in self.weights else each
            for name, each in zip(inputs_of(self.operator), first.arguments, strict=True)
        )
        return Call(first.function, tuple(arguments), first.sizes, first.label, first.span)

    def slice(self, whole: Call, at: int, label: str) -> Call:
        """What one of the calls gave."""
        rank = self.operator.tensors[self.operator.outputs[0]].rank
        sizes = (("start", dimension(self.starts[at])), ("count", dimension(self.counts[at])))
        return Call(Primitive(sliced(rank, self.channels.axis)), (whole,), sizes, label)


def _together(group: list[Call]) -> _Together | None:
    assert isinstance(group[0].function, Primitive)
    op, names = group[0].function.operator, inputs_of(group[0].function.operator)
    if any(len(call.arguments) != len(names) for call in group):
        return None
    known = [
        {name: each.array for name, each in zip(names, call.arguments, strict=True) if isinstance(each, Constant)}
        for call in group
    ]
    for channels in separate(op, tuple(name for name, array in known[0].items() if array.ndim)):
        if _fit(known, dict(channels.follows)):
            first, axis = channels.follows[0]
            counts = [each[first].shape[axis] for each in known]
            starts = np.cumsum([0, *counts[:-1]])
            weights = {name: np.concatenate([each[name] for each in known], d) for name, d in channels.follows}
            return _Together(op, channels, weights, tuple(map(int, starts)), tuple(counts))
    return None


def _fit(known: list[dict[str, Array]], follows: dict[str, int]) -> bool:
    """Whether weights have one shape but for the axis, and what does not follow it is the same for all calls."""
    for name, first in known[0].items():
        for other in (each[name] for each in known[1:]):
            if name in follows:
                shapes = [np.delete(each.shape, follows[name]).tolist() for each in (first, other)]
                if shapes[0] != shapes[1]:
                    return False
            elif first.shape != other.shape or first.tobytes() != other.tobytes():
                return False
    return True


@cache
def sliced(rank: int, axis: int) -> Operator:
    """`y[..., i, ...] = x[..., start + i, ...]` for `count` cells of one axis of so many."""
    sizes = ", ".join(f"N{at}" for at in range(rank))
    every = [f"i{at}" for at in range(rank)]
    read = ", ".join(f"start + {each}" if at == axis else each for at, each in enumerate(every))
    head = f"def slice_{rank}d_axis_{axis}<T>(T({sizes}) x, int32 start, int32 count) -> (y)"
    return operator(f"{head} {{ y({', '.join(every)}) = x({read}) where i{axis} in 0:count }}")
