"""Does a statement compute what a micro-kernel computes?  Matched on values and access maps.

A definition's index stands for one of the names that move (dims, or the loop variables of a nest); the definition's
value and the statement's must be the same expression, and every array must be walked along each of them with a fixed
stride, because a stride is all that the function is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from workbench.lang.algebra.normal_form import growth, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, children, rebuild
from workbench.lang.operator import Monoid
from workbench.poly.programs.program import Array
from workbench.records import record
from workbench.schedules.kernels.micro_kernels import MicroKernel
from workbench.wording import number_of

COMMUTATIVE = {"+", "*"}

Place = tuple[str, tuple[Expr, ...]]  # an array and subscripts
Found = dict[str, tuple[Place, tuple[Expr, ...]]]  # array of the definition → (ours, its subscripts there)


@record
class Work:
    """What is to be matched: one target, its value, and the names that move, outermost first."""

    target: Place
    value: Expr
    reduction: str | Monoid | None
    movers: tuple[str, ...]


@record
class Fit:
    """The mover for each size of the definition; for each of its arrays ours, the cell, and the strides."""

    sizes: tuple[tuple[str, str], ...]
    arrays: tuple[tuple[Place, tuple[Expr, ...]], ...]


def fit(kernel: MicroKernel, work: Work, arrays: Mapping[str, Array]) -> Fit | str:
    """How the work fits the micro-kernel, or what stands against it."""
    own = kernel.statement
    if work.reduction != own.reduction:
        return f"{work.target[0]} combines its values differently"
    indices = own.indices()
    if len(indices) != len(work.movers):
        own = number_of(len(indices), "index", "indices")
        return f"{kernel.name} runs over {own}, the part over {len(work.movers)}"
    reason = f"{work.target[0]} does not hold {kernel.definition.strip()}"
    for order in permutations(work.movers):
        movers = dict(zip(indices, order, strict=True))
        for found in unified(own.values[0], work.value, {}):
            found = {**found, own.targets[0].tensor: (work.target, own.targets[0].subscripts)}
            result = _placed(kernel, movers, found, arrays)
            if isinstance(result, Fit):
                return result
            reason = result
    return reason


def unified(pattern: Expr, value: Expr, found: Found) -> Iterator[Found]:
    """Our arrays for the definition's that make the pattern the value."""
    match pattern, value:
        case Read(tensor, subscripts, dtype), Read(other, theirs, same) if dtype == same:
            entry = ((other, theirs), subscripts)
            if found.get(tensor, entry) == entry:
                yield {**found, tensor: entry}
        case Binary(op, a, b, dtype), Binary(same, x, y, other) if (op, dtype) == (same, other):
            for first, second in [(x, y), (y, x)] if op in COMMUTATIVE else [(x, y)]:
                for half in unified(a, first, found):
                    yield from unified(b, second, half)
        case _ if type(pattern) is type(value) and not isinstance(pattern, Read | Binary):
            yield from _operands(pattern, value, found)


def _operands(pattern: Expr, value: Expr, found: Found) -> Iterator[Found]:
    ours, theirs = children(pattern), children(value)
    if len(ours) != len(theirs) or (rebuild(pattern, theirs) if theirs else pattern) != value:
        return
    states = [found]
    for a, b in zip(ours, theirs, strict=True):
        states = [after for state in states for after in unified(a, b, state)]
    yield from states


def _placed(kernel: MicroKernel, movers: dict[str, str], found: Found, arrays: Mapping[str, Array]) -> Fit | str:
    placed = []
    for name in kernel.arrays:
        place, pattern = found[name]
        strides = _strides(arrays[place[0]], pattern, place[1], movers)
        if isinstance(strides, str):
            return f"{place[0]} is touched {strides}"
        placed.append((place, strides))
    sizes = {_size(kernel, index): mover for index, mover in movers.items()}
    return Fit(tuple((n, sizes[n]) for n in kernel.operator.size_names), tuple(placed))


def _size(kernel: MicroKernel, index: str) -> str:
    """The size of the definition that an index runs up to."""
    (own,) = (r for r in kernel.statement.ranges if r.index == index)
    return str(getattr(own.upper, "name", index))


def _strides(
    array: Array, pattern: tuple[Expr, ...], subscripts: tuple[Expr, ...], movers: dict[str, str]
) -> tuple[Expr, ...] | str:
    """The array's strides along the definition's dimensions."""
    own = list(zip(subscripts, array.strides, strict=True))[array.times :]
    names = [e.name for e in pattern if isinstance(e, Index)]
    if len(names) < len(pattern):
        return "at a computed place"
    steps = {m: [growth(s, m) for s, _ in own] for m in movers.values()}
    for mover, found in steps.items():
        if None in found:
            return f"without a fixed stride along {mover}"
        if any(found) and mover not in {movers[n] for n in names}:
            return f"at other cells along {mover}"
    return tuple(_total(steps[movers[n]], [stride for _, stride in own]) for n in names)


def _total(steps: list[int | None], strides: list[Expr]) -> Expr:
    total: Expr = Const(0, INT64)
    for step, stride in zip(steps, strides, strict=True):
        total = Binary("+", total, Binary("*", Const(step or 0, INT64), stride, INT64), INT64)
    return simplify(total)
