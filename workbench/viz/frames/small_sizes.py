"""Sizes small enough to draw: chosen so that the dims one looks at have a handful of values, the others two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from workbench import poly
from workbench.errors import LoweringError, WorkbenchError, unknown_name
from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Expr, Size, walk
from workbench.lang.operator import Operator, Range, Statement
from workbench.poly.programs.program import Program
from workbench.records import record

LARGEST = 24
MOST_POINTS = 4000
TARGET = 6
VALUES = range(1, 13)
KEPT, SHORT = 4, 3  # scalars, and sizes (of a filter's window), that are small enough as they are
ELSEWHERE = 2
WINDOW = 12
ROUNDS = 3

Wanted = dict[str, dict[str, int]]


@record
class Small:
    """A program small enough to enumerate, values for its symbols, and what to tell the reader.

    `window` limits the drawing to the first values of each dim when the sizes cannot be changed.
    """

    program: Program
    sizes: dict[str, int]
    note: str = ""
    window: int | None = None


def small(
    program: Program,
    axes: Wanted,
    given: Mapping[str, int] | None = None,
) -> Small:
    """The program at sizes fit for a picture.

    `axes` says for each statement of the operator how many values are wanted in the dims that will be axes; `given` are
    sizes the reader asks for.  Bound sizes are kept when they are small, and when all of them are asked for.
    """
    wanted = tuple((name, tuple(dims.items())) for name, dims in axes.items())
    return _small(program, wanted, tuple((given or {}).items()))


@lru_cache(maxsize=64)
def _small(
    program: Program, wanted: tuple[tuple[str, tuple[tuple[str, int], ...]], ...], asked: tuple[tuple[str, int], ...]
) -> Small:
    """`small`, remembered: a panel draws the same program again after each step."""
    definition, given = program.definition, dict(asked)
    axes = {name: dict(dims) for name, dims in wanted}
    for name in given:
        if name not in (known := dict.fromkeys([*program.sizes, *program.symbols])):
            raise WorkbenchError(unknown_name("size", name, known))
    if program.sizes and not program.symbols and given == program.sizes:
        return Small(program, {})
    if definition is None or program.parent is not None:
        return Small(program, {n: given.get(n, TARGET) for n in program.symbols}, _first_values(program), WINDOW)
    statements = [s for s in definition.statements() if s.name in axes]
    fixed = {**program.sizes, **given}
    if not program.symbols and not given and _fits(statements, fixed, axes):
        return Small(program, {})
    keep = set(given) | {n for n, v in program.sizes.items() if v <= (KEPT if _is_detail(definition, n) else SHORT)}
    start = {n: v for n, v in fixed.items() if n in keep}
    chosen = _search(definition, statements, axes, start, program.sizes)
    changed = {n: v for n, v in chosen.items() if program.sizes.get(n) != v and n not in given}
    return _lowered(program, definition, chosen, changed)


def _first_values(program: Program) -> str:
    """What is said of a program whose sizes cannot be changed, where it has more than a window shows."""
    large = {n: v for n, v in program.sizes.items() if v > WINDOW}
    if not large:
        return ""
    sizes = ", ".join(f"{n}={v}" for n, v in large.items())
    return f"drawn for the first {WINDOW} values of each dim instead of {sizes}"


def _is_detail(definition: Operator, name: str) -> bool:
    """Whether a size says how cells are addressed (a stride), so that changing it would change the picture's kind."""
    return name in definition.scalars


def _lowered(program: Program, definition: Operator, chosen: dict[str, int], changed: dict[str, int]) -> Small:
    symbols = {n: chosen[n] for n in program.symbols if n in chosen}
    note = drawn_for(program, changed)
    if all(program.sizes.get(n, v) == v for n, v in chosen.items()):
        return Small(program, symbols, note)
    try:
        return Small(poly.lower(definition, chosen), {}, note)
    except LoweringError:
        missing = {n: TARGET for n in program.symbols}
        return Small(program, missing | symbols, f"the first {WINDOW} values of each dim", WINDOW)


def drawn_for(program: Program, changed: Mapping[str, int]) -> str:
    """What is said of sizes that are drawn in place of a program's own; nothing where none is changed."""
    if not changed:
        return ""
    bound = ", ".join(f"{n}={program.sizes[n]}" for n in changed if n in program.sizes)
    return "drawn for " + ", ".join(f"{n}={v}" for n, v in changed.items()) + (f" instead of {bound}" if bound else "")


def _fits(statements: list[Statement], sizes: dict[str, int], axes: Wanted) -> bool:
    total = 0
    for statement in statements:
        extents = _extents_of(statement, sizes)
        if any(extents[dim] > LARGEST for dim in axes[statement.name]):
            return False
        count = 1
        for n in extents.values():
            count *= max(n, 0)
        total += count
    return total <= MOST_POINTS


def _extents_of(statement: Statement, sizes: Mapping[str, int]) -> dict[str, int]:
    """How many values each index of a statement takes at these sizes (bounding box)."""
    return _extents(_bounded(statement), sizes, {})


@record
class _Bounded:
    """A range, the indices that its bounds name, and the sizes."""

    range: Range
    bounding: frozenset[str]
    sizes: tuple[str, ...]


Ends = dict[tuple[object, ...], tuple[int, int]]


def _extents(bounded: tuple[_Bounded, ...], sizes: Mapping[str, int], known: Ends) -> dict[str, int]:
    """How many values each index takes; `known` are the ends of ranges at sizes that were asked about before."""
    box: dict[str, tuple[int, int]] = {}
    for b in bounded:
        key = (b.range.index, *(box[n] for n in box if n in b.bounding), *(sizes.get(n) for n in b.sizes))
        if key not in known:
            corners = list(_corners(b.bounding, box))
            low = min(fold(b.range.lower, {**sizes, **c}) for c in corners)
            known[key] = low, max(fold(b.range.upper, {**sizes, **c}) for c in corners)
        box[b.range.index] = known[key]
    return {index: high - low for index, (low, high) in box.items()}


@lru_cache(maxsize=256)
def _bounded(statement: Statement) -> tuple[_Bounded, ...]:
    """The ranges of a statement, each with the indices and the sizes that its bounds name."""
    return tuple(_Bounded(r, frozenset(r.bounding), _sizes_in(r)) for r in statement.ranges)


def _sizes_in(r: Range) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n.name for b in (r.lower, r.upper) for n in walk(b) if isinstance(n, Size)))


def _corners(bounding: frozenset[str], box: dict[str, tuple[int, int]]) -> Iterator[dict[str, int]]:
    """Extreme values of the earlier indices that a range depends on."""
    names = [n for n in box if n in bounding]
    for values in product(*((box[n][0], max(box[n][0], box[n][1] - 1)) for n in names)):
        yield dict(zip(names, values, strict=True))


def _search(
    definition: Operator, statements: list[Statement], axes: Wanted, start: dict[str, int], most: Mapping[str, int]
) -> dict[str, int]:
    """Coordinate descent over the free sizes: some rounds, each size in turn; none becomes larger than in `most`."""
    names = [n for n in (*definition.size_names, *definition.scalars) if n not in start]
    sizes = {**start, **{n: _first_guess(definition, statements, axes, n) for n in names}}
    cost = _Cost(statements, axes)
    sizes |= {n: min(sizes[n], most[n]) for n in names if n in most}
    searched = [n for n in names if not _only_shapes(definition, n)]
    for _ in range(ROUNDS):
        before = dict(sizes)
        for name in searched:
            values = [v for v in VALUES if v <= max(1, most.get(name, v))]
            sizes[name] = min(values, key=lambda v, n=name: (cost({**sizes, n: v}), v))
        if sizes == before:
            break
    return sizes


def _first_guess(definition: Operator, statements: list[Statement], axes: Wanted, name: str) -> int:
    if _only_shapes(definition, name):
        return TARGET
    bounds = [b for s in statements for r in s.ranges if r.index in axes[s.name] for b in (r.lower, r.upper)]
    return TARGET if any(_mentions(b, name) for b in bounds) else ELSEWHERE


def _only_shapes(definition: Operator, name: str) -> bool:
    """Whether a size is that of a result and bounds no index: that of what is scattered into."""
    results = [definition.tensors[output] for output in definition.outputs]
    shapes = any(_mentions(extent, name) for tensor in results for extent in tensor.extent)
    ranges = (r for statement in definition.statements() for r in statement.ranges)
    return shapes and not any(_mentions(bound, name) for r in ranges for bound in (r.lower, r.upper))


def _mentions(expr: Expr, name: str) -> bool:
    return any(isinstance(node, Size) and node.name == name for node in walk(expr))


class _Cost:
    """Distance from what is wanted; dims that are no axes should be short, and nothing may be empty.

    Each statement is measured once for the values of the sizes that its ranges name.
    """

    def __init__(self, statements: list[Statement], axes: Wanted) -> None:
        self._known: dict[tuple[int | None, ...], float] = {}
        self._parts = [(axes[s.name], _bounded(s), _sizes_of(s), dict[Any, Any]()) for s in statements]

    def __call__(self, sizes: Mapping[str, int]) -> float:
        return sum(self._of(i, sizes) for i in range(len(self._parts)))

    def _of(self, number: int, sizes: Mapping[str, int]) -> float:
        wanted, bounded, names, ends = self._parts[number]
        key = (number, *(sizes.get(n) for n in names))
        if key not in self._known:
            found = _extents(bounded, sizes, ends)
            self._known[key] = sum(_off(wanted.get(index), n) for index, n in found.items())
        return self._known[key]


def _off(wanted: int | None, found: int) -> float:
    """What an index costs that takes so many values; None is wanted of those that are no axes."""
    cost = 0.5 * abs(found - ELSEWHERE) if wanted is None else 4.0 * abs(found - wanted)
    return cost + (100.0 if found <= 0 else 5.0 if found == 1 < (wanted or 0) else 0.0)


def _sizes_of(statement: Statement) -> tuple[str, ...]:
    """The names in a statement's ranges that are not its indices."""
    return tuple(dict.fromkeys(name for r in statement.ranges for name in _sizes_in(r)))
