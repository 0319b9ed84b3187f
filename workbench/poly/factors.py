"""A set as a product of sets over fewer dimensions, which can be counted apart."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.poly import isl


def independent_parts(piece: isl.Set) -> list[isl.Set]:
    """Sets over groups of dimensions that say nothing about each other; a convex piece that is not empty is their
    product, up to the order of dimensions.
    """
    groups = _groups(piece)
    return [_over(piece, group) for group in groups] if len(groups) > 1 else [piece]


def _groups(piece: isl.Set) -> list[list[int]]:
    """Dimensions that share a constraint, directly or through others."""
    count = piece.dim(isl.dim.set)
    groups: list[set[int]] = [{d} for d in range(count)]
    for tied in _ties(piece):
        joined = set(tied).union(*(g for g in groups if g & tied))
        groups = [*(g for g in groups if not g & tied), joined]
    return sorted(found for g in groups if (found := sorted(d for d in g if d < count)))


def _ties(piece: isl.Set) -> Iterable[set[int]]:
    """For each constraint, what it speaks about: dimensions, and after them the existentially quantified ones.

    A variable that is defined as a quotient is bound by constraints too, because isl needs them to find points.
    """
    count = piece.dim(isl.dim.set)
    for basic in piece.get_basic_sets():
        for constraint in basic.get_constraints():
            hidden = range(constraint.dim(isl.dim.div))
            own = {d for d in range(count) if constraint.involves_dims(isl.dim.set, d, 1)}
            yield own | {count + d for d in hidden if constraint.involves_dims(isl.dim.div, d, 1)}


def _over(piece: isl.Set, group: list[int]) -> isl.Set:
    """The piece on some of its dimensions."""
    for dimension in reversed(range(piece.dim(isl.dim.set))):
        if dimension not in group:
            piece = piece.project_out(isl.dim.set, dimension, 1)
    return piece
