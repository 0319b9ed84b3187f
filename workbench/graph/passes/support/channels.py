"""What an operator's definition says of one axis of its result: which axes of its arguments it follows, and how.

Nothing is known of operators by name: the questions are answered from their statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product

from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Select, Size, Unary, children, walk
from workbench.lang.operator import Operator, Statement
from workbench.records import record

Axes = tuple[tuple[str, int], ...]


@record(slots=True)
class Channels:
    """Axis `axis` of the result is axis `d` of each argument of `follows`, given as (name, d)."""

    axis: int
    follows: Axes


@lru_cache(maxsize=512)
def scaled_by(op: Operator, weights: tuple[str, ...]) -> tuple[Channels, ...]:
    """The axes of the result along which it is scaled by a vector if all the arguments that follow it are.

    That is, the result is linear and homogeneous in these arguments together, and a cell of it reads them at its own
    place of the axis only: a product scales with its weights, a product with a bias with both.
    """
    return tuple(each for each in _candidates(op, weights) if _flows(op, each, linear=True))


@lru_cache(maxsize=512)
def separate(op: Operator, weights: tuple[str, ...]) -> tuple[Channels, ...]:
    """The axes of the result that fall apart: each slice reads that slice of the arguments that follow, and of nothing
    else on the axis.  So calls with different arguments there are one call with them side by side.
    """
    return tuple(each for each in _candidates(op, weights) if _flows(op, each, linear=False))


def shift_of(op: Operator, channels: Channels) -> str | None:
    """The argument of one axis that is added to the result as it is, if there is one: a bias."""
    for name, _ in channels.follows:
        found = [each for s in op.statements() for v in s.values for each in walk(v) if _is_read(each, name)]
        last = [s for s in op.statements() if s.targets[0].tensor == op.outputs[0]][-1]
        if op.tensors[name].rank == 1 and len(found) == 1 and last.reduction is None and _adds(last, name):
            return name
    return None


def _adds(statement: Statement, name: str) -> bool:
    match statement.values[0]:
        case Binary("+", left, right):
            return _is_read(left, name) or _is_read(right, name)
        case _:
            return False


def _is_read(node: Expr, name: str) -> bool:
    return isinstance(node, Read) and node.tensor == name


# --- following an axis through the statements


def _candidates(op: Operator, weights: tuple[str, ...]) -> Iterator[Channels]:
    """Every way in which an axis of the result might follow axes of some of the arguments, more of them first."""
    if len(op.outputs) != 1 or op.tensors[op.outputs[0]].role != "output" or not _is_plain(op):
        return
    choices = [(*range(op.tensors[name].rank), None) for name in weights]
    ways = sorted(product(*choices), key=lambda way: sum(axis is None for axis in way))
    for way in ways[:-1]:
        follows = tuple((name, axis) for name, axis in zip(weights, way, strict=True) if axis is not None)
        for axis in range(op.tensors[op.outputs[0]].rank):
            yield Channels(axis, follows)


def _is_plain(op: Operator) -> bool:
    """Whether the body is statements that each set cells of one tensor, by plain indices that differ."""
    for step in op.body:
        if not isinstance(step, Statement) or len(step.targets) != 1 or step.condition is not None:
            return False
        names = [each.name for each in step.targets[0].subscripts if isinstance(each, Index)]
        if len(set(names)) < len(step.targets[0].subscripts):
            return False
    return True


def _flows(op: Operator, channels: Channels, *, linear: bool) -> bool:
    known: dict[str, int] = dict(channels.follows)
    extents = {op.tensors[name].extent[axis] for name, axis in channels.follows}
    if not linear and not _is_one_size(op, extents, known):
        return False
    for statement in op.statements():
        target = statement.targets[0]
        index = _index(statement, known)
        if index is None:
            if target.tensor in known:
                return False
            continue
        places = [at for at, each in enumerate(target.subscripts) if each == index]
        if len(places) != 1 or known.setdefault(target.tensor, places[0]) != places[0]:
            return False
        if not (_is_linear(statement, known) if linear else _is_separate(statement, known, index)):
            return False
    return known.get(op.outputs[0]) == channels.axis


def _index(statement: Statement, known: Mapping[str, int]) -> Index | None:
    """The index that runs along the axis in a statement that reads what follows it; None if it reads nothing of it."""
    for value in statement.values:
        for each in walk(value):
            if isinstance(each, Read) and each.tensor in known:
                found = each.subscripts[known[each.tensor]]
                return found if isinstance(found, Index) else Index("")
    return None


def _is_one_size(op: Operator, extents: Iterable[Expr], known: Mapping[str, int]) -> bool:
    """Whether the axis has a size of its own, of which no statement and no other argument is made."""
    sizes = set(extents)
    if len(sizes) != 1:
        return False
    (size,) = sizes
    if not isinstance(size, Size):
        return False
    values = [each for s in op.statements() for value in s.values for each in walk(value)]
    others = [
        part
        for name in op.parameters
        if name in op.tensors
        for axis, extent in enumerate(op.tensors[name].extent)
        if known.get(name) != axis
        for part in walk(extent)
    ]
    return size not in values and size not in others


def _is_separate(statement: Statement, known: Mapping[str, int], index: Index) -> bool:
    """Whether the index of the axis stands only where arguments that follow it, or what is made of them, are read."""
    bounds = [part for r in statement.ranges for bound in (r.lower, r.upper) for part in walk(bound)]
    return index not in bounds and all(_separate(value, known, index) for value in statement.values)


def _separate(node: Expr, known: Mapping[str, int], index: Index) -> bool:
    if node == index:
        return False
    inside = list(children(node))
    if isinstance(node, Read) and node.tensor in known:
        if node.subscripts[known[node.tensor]] != index:
            return False
        del inside[known[node.tensor]]
    return all(_separate(each, known, index) for each in inside)


def _is_linear(statement: Statement, known: Mapping[str, int]) -> bool:
    index = _index(statement, known)
    return statement.reduction in (None, "+") and all(_degree(v, known, index) in (1, "any") for v in statement.values)


def _degree(node: Expr, known: Mapping[str, int], index: Index | None) -> int | str | None:
    """How often a value is scaled: 0, 1, "any" for zero; None if that cannot be said."""
    match node:
        case Const(value):
            return "any" if value == 0 else 0
        case Read(tensor, subscripts) if tensor in known:
            return 1 if subscripts[known[tensor]] == index else None
        case Unary("-", operand):
            return _degree(operand, known, index)
        case Cast(operand, dtype) if dtype == operand.dtype:
            return _degree(operand, known, index)
        case Binary("+" | "-", left, right):
            return _alike(_degree(left, known, index), _degree(right, known, index))
        case Binary("*", left, right):
            return _sum(_degree(left, known, index), _degree(right, known, index))
        case Binary("/", left, right) if node.dtype.is_float and _degree(right, known, index) == 0:
            return _degree(left, known, index)
        case Select(condition, then, otherwise) if _degree(condition, known, index) in (0, "any"):
            return _alike(_degree(then, known, index), _degree(otherwise, known, index))
        case _:
            free = all(not (isinstance(each, Read) and each.tensor in known) for each in walk(node))
            return 0 if free else None


def _alike(a: int | str | None, b: int | str | None) -> int | str | None:
    return b if a == "any" else a if b in ("any", a) else None


def _sum(a: int | str | None, b: int | str | None) -> int | str | None:
    if a is None or b is None:
        return None
    if "any" in (a, b):
        return "any"
    total = int(a) + int(b)
    return total if total < 2 else None
