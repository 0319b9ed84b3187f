"""Values that are computed again in each group that reads them, where that moves fewer bytes than memory would.

A cheap call, cell by cell, whose users cannot share a loop with one another is written once and read by each group.  A
copy of it in each group reads its arguments instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.graph.fusion.call_graph import is_operator_call, operator_of
from workbench.graph.fusion.footprints import Machine, bytes_at
from workbench.graph.fusion.patterns import OpPattern, is_product, op_pattern
from workbench.graph.fusion.results import FusionResult
from workbench.graph.models import Model
from workbench.graph.terms.nodes import Call, Function, Projection, Term
from workbench.graph.terms.types import TensorType
from workbench.graph.terms.walking import operands, postorder, with_operands
from workbench.lang.expr import Call as Builtin
from workbench.lang.expr import index_names, reads, walk
from workbench.lang.operator import Operator

CHEAP = {"min", "max", "fmin", "fmax", "fabs"}
"""Functions that cost as little as an addition; any other takes longer than to read what it gave."""
MOST_ATTEMPTS = 2

Copies = Mapping[tuple[Call, Call], int]
"""Of a producer for a consumer, both calls: the number of the group that has the copy."""
Fuse = Callable[[Model], FusionResult]


def with_recomputation(flat: Model, first: FusionResult, fuse: Fuse, machine: Machine) -> FusionResult:
    """The fusion of the model with copies of cheap calls, or the first one if no copies make it move fewer bytes.

    Copies that do not end up inside the group of their reader are given up, and the rest is tried again.
    """
    wanted = _candidates(first)
    for _ in range(MOST_ATTEMPTS):
        if not wanted:
            break
        copied, origin = _copied(flat, wanted)
        found = fuse(copied)
        grouped = {call for group in found.groups for call in group.calls}
        lost = {pair for pair, copy in origin.items() if copy not in grouped}
        if not lost:
            better = traffic(found.model, machine) < traffic(first.model, machine)
            return found.recomputing(tuple(dict.fromkeys(a for a, _ in wanted))) if better else first
        producers = {producer for producer, _ in lost}
        wanted = {pair: group for pair, group in wanted.items() if pair[0] not in producers}
    return first


def traffic(model: Model, machine: Machine) -> int:
    """The bytes that the calls of a model read and write, at the sizes that decisions are made for."""
    types, total = model.typing.types, 0
    for node in postorder(*model.functions.values()):
        if isinstance(node, Call) and is_operator_call(node):
            read = [of for each in dict.fromkeys(node.arguments) if isinstance(of := types.get(each), TensorType)]
            total += sum(bytes_at(of, machine) for of in (*read, *_results(node, types)))
    return total


def _results(call: Call, types: Mapping[Term, object]) -> list[TensorType]:
    of = types.get(call)
    parts = getattr(of, "items", (of,))
    return [each for each in parts if isinstance(each, TensorType)]


# --- what might be copied


def _candidates(found: FusionResult) -> dict[tuple[Call, Call], int]:
    """Cheap calls with users in other groups, each of which could take it in."""
    home = {call: number for number, group in enumerate(found.groups) for call in group.calls}
    for number, call in enumerate(found.before, len(found.groups)):
        home.setdefault(call, number)
    readers: dict[Call, list[Call]] = {}
    for cut in found.cuts:
        readers.setdefault(cut.producer, []).append(cut.consumer)
    wanted: dict[tuple[Call, Call], int] = {}
    for producer, others in readers.items():
        if _is_cheap(operator_of(producer)) and all(_could_take_in(operator_of(each)) for each in others):
            wanted |= {(producer, each): home[each] for each in dict.fromkeys(others)}
    return wanted


def _is_cheap(op: Operator) -> bool:
    """Whether it combines cells of one place by arithmetic alone."""
    if op_pattern(op) > OpPattern.BROADCAST or len(op.outputs) != 1:
        return False
    values = [part for statement in op.statements() for value in statement.values for part in walk(value)]
    return not any(isinstance(part, Builtin) and part.function not in CHEAP for part in values)


def _could_take_in(op: Operator) -> bool:
    """A product or a window reads each cell again and again: what it reads stands in memory.

    What moves cells is fast as long as it does nothing else: 32 million floats are transposed in 100 ms by copies past
    the caches, in 170 with a vector added on the way.
    """
    return op_pattern(op) != OpPattern.INJECTIVE and not any(map(is_product, op.statements())) and not _has_windows(op)


def _has_windows(op: Operator) -> bool:
    """Whether an operator adds up windows: it reads at sums of indices, and reduces."""
    sums = [statement for statement in op.statements() if statement.reduction is not None]
    return any(len(index_names(e)) > 1 for s in sums for r in reads(*s.values) for e in r.subscripts)


# --- the model with copies


def _copied(flat: Model, wanted: Copies) -> tuple[Model, dict[tuple[Call, Call], Call]]:
    """The model in which consumers read copies, one for each group, and the copy of each pair."""
    made: dict[tuple[Call, int], Call] = {}
    origin: dict[tuple[Call, Call], Call] = {}
    functions = {name: _with_copies(function, wanted, made, origin) for name, function in flat.functions.items()}
    return flat.with_functions(functions), origin


def _with_copies(
    function: Function, wanted: Copies, made: dict[tuple[Call, int], Call], origin: dict[tuple[Call, Call], Call]
) -> Function:
    found: dict[Term, Term] = {}
    consumers = {consumer for _, consumer in wanted}
    for node in postorder(function):
        inside: Sequence[Term] = [found[each] for each in operands(node)]
        if isinstance(node, Call) and node in consumers:
            pairs = zip(operands(node), inside, strict=True)
            inside = [_read(node, old, new, wanted, made, origin) for old, new in pairs]
        found[node] = with_operands(node, tuple(inside))
    made_function = found[function]
    assert isinstance(made_function, Function)
    return made_function


def _read(
    consumer: Call, old: Term, new: Term, wanted: Copies, made: dict[tuple[Call, int], Call],
    origin: dict[tuple[Call, Call], Call],
) -> Term:  # fmt: skip
    """What a consumer reads in the place of an operand."""
    if not isinstance(old, Call) or (old, consumer) not in wanted or isinstance(new, Projection):
        return new
    assert isinstance(new, Call)
    key = (old, wanted[old, consumer])
    if key not in made:
        made[key] = Call(new.function, new.arguments, new.sizes, new.label, new.span)
    origin[old, consumer] = made[key]
    return made[key]
