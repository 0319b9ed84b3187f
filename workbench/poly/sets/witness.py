"""The smallest example in a relation: minimal sizes first, then the lexicographically first pair of
instances.
"""

from __future__ import annotations

from typing import TypeVar

from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import to_isl
from workbench.records import record

V = TypeVar("V", isl.Set, isl.Map)


@record
class Witness:
    """Sizes and two instances, by name."""

    sizes: dict[str, int]
    source: dict[str, int]
    target: dict[str, int]


def witness(
    relation: isl.Map, symbols: tuple[str, ...], source: tuple[str, ...], target: tuple[str, ...]
) -> Witness:
    """The smallest pair of a relation that is not empty; names are those of sizes and of the two tuples."""
    sizes = smallest_sizes(relation.params(), symbols)
    pairs = fix_sizes(relation, sizes)
    first = _first(pairs.domain())
    image = pairs.intersect_domain(_singleton(pairs.domain(), first)).range()
    return Witness(
        sizes,
        dict(zip(source, first, strict=True)),
        dict(zip(target, _first(image), strict=True)),
    )


def first_instance(instances: isl.Set, symbols: tuple[str, ...], dims: tuple[str, ...]) -> Witness:
    """The smallest sizes and instance of a set that is not empty (`target` is empty)."""
    sizes = smallest_sizes(instances.params(), symbols)
    return Witness(sizes, dict(zip(dims, _first(fix_sizes(instances, sizes)), strict=True)), {})


def smallest_sizes(params: isl.Set, symbols: tuple[str, ...]) -> dict[str, int]:
    """Values of the symbols in a parameter set: the smallest sum, then lexicographically first."""
    if not symbols:
        return {}
    names = ", ".join(map(to_isl, symbols))
    total = " + ".join(map(to_isl, symbols))
    point = isl.parse_set(f"[{names}] -> {{ [{total}, {names}] }}").intersect_params(params)
    flat = point.project_out(isl.dim.param, 0, point.dim(isl.dim.param))
    return dict(zip(symbols, _first(flat)[1:], strict=True))


def fix_sizes(value: V, sizes: dict[str, int]) -> V:
    """The set or relation at given sizes, without parameters."""
    for name, size in sizes.items():
        position = value.find_dim_by_name(isl.dim.param, to_isl(name))
        if position >= 0:
            value = value.fix_val(isl.dim.param, position, isl.value(size))
    return value.project_out(isl.dim.param, 0, value.dim(isl.dim.param))


def _first(points: isl.Set) -> tuple[int, ...]:
    """The lexicographically first point, or any point where there is no first one."""
    minimal = isl.lexmin_or_none(points)
    found = unpack.point(minimal) if minimal is not None else None
    if found is None:  # isl's minimum is empty for some sets that are not
        found = unpack.point(_narrowed(points))
    assert found is not None
    return found


def _narrowed(points: isl.Set) -> isl.Set:
    """Every coordinate at its minimum in turn, where it has one: slower than isl's lexmin, never fails.

    isl's minimum may be too small where remainders decide.
    """
    for position in range(points.dim(isl.dim.set)):
        low = points.dim_min_val(position)
        fixed = points.fix_val(isl.dim.set, position, low) if low.is_int() else points
        points = points if fixed.is_empty() else fixed
    return points


def _singleton(space_of: isl.Set, coordinates: tuple[int, ...]) -> isl.Set:
    result = isl.Set.universe(space_of.get_space())
    for position, coordinate in enumerate(coordinates):
        result = result.fix_val(isl.dim.set, position, isl.value(coordinate))
    return result
