"""Where a contribution goes: `dR(u) += value` turned round, so that every cell of `dR` gathers what belongs to it.

A subscript `y + k` is solved for `y`: the cell `h` takes what `y = h - k` sends.  A stride is solved by a
divisibility, a floor division by one more index.  What cannot be solved (a gather of the operator) stays a scatter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, is_plain, polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial, atom, split_linear
from workbench.lang.derived.calculus.algebra import both
from workbench.lang.derived.systems import (
    System,
    holds_within,
    index_polynomial,
    inequalities,
    inequality,
    intervals,
    is_empty,
    nonnegative,
)
from workbench.lang.dtypes import BOOL, INT32, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Size, integer, substitute, transform
from workbench.lang.operator import Range
from workbench.lang.ranges.intervals import Interval

Box = list[tuple[Polynomial, Polynomial]]


@dataclass
class Placement:
    """A solved target: its subscripts, what became of the old indices, and what must hold.

    `cells` are the new indices with their ranges (a whole dimension each); `rest` the indices that are summed over;
    `solved` maps an old index to `(numerator, divisor)`; `system` are the inequalities that are left, `easier` those
    that are left if the ranges of the `hidden` indices hold: these are met by some of the sum's instances only.
    `around` are the ranges of all indices that are not summed over; `added` those of new indices that are.
    """

    subscripts: tuple[Expr, ...]
    cells: dict[str, Interval]
    rest: list[str]
    solved: dict[str, tuple[Polynomial, Polynomial]]
    system: System
    easier: System
    hidden: set[str]
    around: dict[str, Interval]
    added: dict[str, Interval]

    @property
    def is_whole(self) -> bool:
        """Whether every cell of the box is a target."""
        return len(self.cells) == len(self.subscripts)

    def rewritten(self, expr: Expr) -> Expr:
        """An expression in the new indices."""
        return renewed(expr, {name: solved_index(*pair) for name, pair in self.solved.items()})


def divisible(solved: dict[str, tuple[Polynomial, Polynomial]]) -> Expr:
    """What must hold for strides to be met."""
    result: Expr = Const(True, BOOL)
    for above, below in solved.values():
        if below.constant != 1:
            remainder = Binary("%", bound(above), bound(below), INT32)
            result = both(result, Binary("==", remainder, integer(0), BOOL))
    return result


def solved_index(above: Polynomial, below: Polynomial) -> Expr:
    """A solved index as an expression."""
    return bound(above) if below.constant == 1 else Binary("/", bound(above), bound(below), INT32)


def renewed(expr: Expr, replacements: dict[str, Expr]) -> Expr:
    """Indices replaced, and every subscript in normal form again."""
    if not replacements:
        return expr
    return transform(substitute(expr, replacements), _tidied)


def _tidied(node: Expr) -> Expr:
    if node.dtype == INT32 and not isinstance(node, Const | Size | Index) and is_plain(node):
        return bound(polynomial(node))
    return node


def placed_indices(
    subscripts: tuple[Expr, ...], ranges: tuple[Range, ...], box: Box, names: list[str], preferred: set[str],
    facts: Facts, elsewhere: set[str] | None = None,
) -> Placement | None:  # fmt: skip
    """The gather form of a target; None where some subscript cannot be solved.

    `preferred` are the indices that should be solved for, `elsewhere` those that occur in what is sent there.
    """
    axes = {r.index for r in ranges if r.kind == "sequential"}
    rest = [r.index for r in ranges if r.index not in axes]
    lengths = {r.index: polynomial(r.upper) - polynomial(r.lower) for r in ranges}
    solver = _Solver(rest, names, box, preferred, elsewhere or set(), lengths, facts)
    for dimension, subscript in enumerate(subscripts):
        if not is_plain(subscript) or not solver.solve(dimension, polynomial(subscript)):
            return None
    if not solver.close():
        return None
    around = {**intervals(r for r in ranges if r.index in axes), **solver.cells}
    own = set(solver.cells) | set(solver.rest)

    def left(ranges: Iterable[Range]) -> System | None:
        system = solver.substituted(inequalities(ranges))
        if system is None:
            return None
        return tuple(form for form in system if form.indices & own and not holds_within(form, around, facts))

    system = left(ranges)
    if system is None:
        return None
    solved = solver.solved.items()
    hidden = {name for name, (above, below) in solved if above.indices & set(rest) or below.constant != 1}
    easier = left(r for r in ranges if r.index not in hidden)
    return Placement(
        tuple(solver.targets), solver.cells, solver.rest, solver.solved, system, easier or (), hidden, around,
        solver.added,
    )  # fmt: skip


class _Solver:
    """Solves one dimension after the other."""

    def __init__(
        self, rest: list[str], names: list[str], box: Box, preferred: set[str], elsewhere: set[str],
        lengths: dict[str, Polynomial], facts: Facts,
    ) -> None:  # fmt: skip
        self.rest, self.names, self.box, self.preferred = list(rest), names, box, preferred
        self.elsewhere, self.lengths, self.facts = elsewhere, lengths, facts
        self.solved: dict[str, tuple[Polynomial, Polynomial]] = {}
        self.cells: dict[str, Interval] = {}
        self.added: dict[str, Interval] = {}
        self.targets: list[Expr] = []

    def solve(self, dimension: int, form: Polynomial) -> bool:
        replaced = substituted(form, self.solved, scales=False)
        if replaced is None:
            return False
        form = replaced
        own = [name for name in self.rest if name in form.indices]
        if not own:
            self.targets.append(bound(form))
            return True
        found = self._linear(dimension, form, own) or self._floor(dimension, form, own)
        if found is None:
            return False
        name, above, below = found
        self.rest.remove(name)
        self.solved[name] = (above, below)
        low, extent = self.box[dimension]
        self.cells[self.names[dimension]] = Interval(low, low + extent)
        self.targets.append(Index(self.names[dimension]))
        return True

    def _linear(self, dimension: int, form: Polynomial, own: list[str]) -> tuple[str, Polynomial, Polynomial] | None:
        """An index with a factor of known sign, one of the left-hand side if there is one, best with factor 1 or -1.

        What is left is summed over: with weights for its places, the places of a window rather than its positions.
        Where there are none, or windows do not overlap, a cell has few positions, and its place follows from each.
        """
        choices = []
        for name in own:
            parts = split_linear(form, Index(name, INT64))
            if parts is None or parts[0].indices or not parts[0]:
                continue
            unit = parts[0].constant in (1, -1)
            positive = Facts().sign(parts[0]) > 0
            if unit or positive:
                choices.append((not unit, name not in self.preferred, name, parts))
        if not choices:
            return None
        places = self._has_places([(name, factor) for _, _, name, (factor, _) in choices])
        _, _, name, (factor, rest) = min(choices, key=lambda each: (each[1], each[0]) if places else each[:2])
        above = index_polynomial(self.names[dimension]) - rest
        return (name, -above, -factor) if factor.constant == -1 else (name, above, factor)

    def _has_places(self, factors: list[tuple[str, Polynomial]]) -> bool:
        """Whether the indices with factor 1 matter by themselves, and windows of their length may overlap."""
        units = [name for name, factor in factors if factor.constant in (1, -1)]
        steps = [factor for _, factor in factors if factor.constant not in (1, -1)]
        short = any(all(self.facts.at_least(step - self.lengths[name], 0) for step in steps) for name in units)
        return bool(self.elsewhere & set(units)) and not short

    def _floor(self, dimension: int, form: Polynomial, own: list[str]) -> tuple[str, Polynomial, Polynomial] | None:
        """`⌊(y + c) / k⌋`: y = k·h + r - c for every r below k."""
        for monomial, factor in form.terms:
            match monomial:
                case (Binary("/", above, below, _) as part,) if factor == 1:
                    numerator, k = polynomial(above), polynomial(below)
                    rest = form - atom(part)
                    for name in own:
                        parts = split_linear(numerator, Index(name, INT64))
                        if parts is None or parts[0].constant != 1 or name in rest.indices or k.indices:
                            continue
                        extra = f"{name}@"
                        self.rest.append(extra)
                        self.added[extra], self.lengths[extra] = Interval(ZERO, k), k
                        cell = index_polynomial(self.names[dimension]) - rest
                        return name, k * cell + index_polynomial(extra) - parts[1], polynomial(integer(1))
        return None

    def close(self) -> bool:
        """Put indices that were solved later into those that were solved before."""
        names = list(self.solved)
        for at in reversed(range(len(names))):
            later = {name: self.solved[name] for name in names[at + 1 :]}
            above, below = self.solved[names[at]]
            replaced = substituted(above, later, scales=False)
            if replaced is None:
                return False
            self.solved[names[at]] = replaced, below
        return True

    def substituted(self, system: System) -> System | None:
        """The inequalities in the new indices."""
        limits = [
            form
            for name, interval in self.added.items()
            for form in (index_polynomial(name) - interval.lower, interval.upper - 1 - index_polynomial(name))
        ]
        found = [substituted(form, self.solved) for form in (*system, *limits)]
        if None in found:
            return None
        inside = [
            form
            for target, (low, extent) in zip(self.targets, self.box, strict=True)
            for form in (polynomial(target) - low, low + extent - 1 - polynomial(target))
        ]
        return tuple(dict.fromkeys(form for form in (*found, *inside) if form is not None))


def substituted(
    form: Polynomial, solved: dict[str, tuple[Polynomial, Polynomial]], *, scales: bool = True
) -> Polynomial | None:
    """The form with solved indices put in; an inequality may be scaled by a divisor, a subscript may not."""
    for name, (above, below) in solved.items():
        if name not in form.indices:
            continue
        parts = split_linear(form, Index(name, INT64))
        if below.constant == 1:
            form = polynomial(substitute(bound(form), {name: bound(above)}))
            continue
        if parts is None or not scales:
            return None
        factor, rest = parts
        form = factor * above + rest * below
    return form


def overlap(
    writes: tuple[Expr, ...], reads: tuple[Expr, ...], ranges: tuple[Range, ...], facts: Facts, axes: set[str]
) -> bool:
    """Whether some instance may read a cell that another, or the same, writes (within one turn of the axes)."""
    own = [r.index for r in ranges if r.index not in axes]
    other = {name: Index(f"{name}@") for name in own}
    system = list(inequalities(ranges))
    system += inequalities(
        Range(other[r.index].name, substitute(r.lower, dict(other)), substitute(r.upper, dict(other)), r.kind)
        for r in ranges
        if r.index not in axes
    )
    for a, b in zip(writes, reads, strict=True):
        if is_plain(a) and is_plain(b):
            gap = polynomial(a) - polynomial(substitute(b, dict(other)))
            system += [gap, -gap]
    names = [*own, *(each.name for each in other.values()), *axes]
    return not is_empty(tuple(system), names, facts)


def conditions(system: System, facts: Facts) -> Expr:
    """All inequalities at once."""
    result: Expr = Const(True, BOOL)
    for form in system:
        if not nonnegative(form, facts):
            result = both(result, inequality(form))
    return result
