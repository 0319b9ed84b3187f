"""isl's lists, values and points as Python's, with guards where isl answers wrongly without complaint."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from workbench.errors import WorkbenchError
from workbench.poly.sets import isl

R = TypeVar("R")
_NUMBER = re.compile(r"(?<![\w.])-?\d+")


def maps(union: isl.UnionMap) -> list[isl.Map]:
    """The relations of a union, one for each pair of spaces."""
    found = union.get_map_list()
    return [found.get_at(i) for i in range(found.n_map())]


def sets(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one for each space."""
    found = union.get_set_list()
    return [found.get_at(i) for i in range(found.n_set())]


def pw_affs(union: isl.UnionPwAff) -> list[isl.PwAff]:
    """The functions of a union, one for each space."""
    found = union.get_pw_aff_list()
    return [found.get_at(i) for i in range(found.n_pw_aff())]


def single_aff(function: isl.PwAff) -> Any:
    """The only piece of a piecewise affine function; an error when it has several."""
    pieces = foreach_results(function.foreach_piece, lambda _, aff: aff)
    if len(pieces) != 1:
        raise WorkbenchError(f"expected one affine piece, got {function}")
    return pieces[0]


def affine_pieces(function: isl.PwAff) -> list[isl.PwAff]:
    """The pieces of a piecewise affine function, each continued everywhere."""
    found = foreach_results(function.foreach_piece, lambda _, aff: isl.PwAff.from_aff(aff))
    return list({str(piece): piece for piece in found}.values())


def parameter_names(aff: Any) -> list[str]:
    """Names of an object's parameters as isl spells them."""
    return [aff.get_dim_name(isl.dim.param, i) for i in range(aff.dim(isl.dim.param))]


def affine_coefficients(aff: Any, kind: Any, atoms: list[R]) -> list[tuple[R, int]]:
    """Atoms with their nonzero integer coefficients in an affine function."""
    found = [(atom, python_int(aff.get_coefficient_val(kind, i))) for i, atom in enumerate(atoms)]
    return [(atom, factor) for atom, factor in found if factor]


def node_children(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """Children of a schedule node (isl's own `child` answers nonsense outside the range)."""
    return [node.child(i) for i in range(node.n_children())]


def basic_sets(points: isl.Set) -> list[isl.Set]:
    """The convex pieces of a set, each as a set."""
    return [isl.Set.from_basic_set(piece) for piece in points.get_basic_sets()]


def block_children(node: isl.AstNode) -> list[isl.AstNode]:
    """The statements of an AST block."""
    found = node.block_get_children()
    return [found.get_at(i) for i in range(found.n_ast_node())]


def operands(expr: isl.AstExpr) -> list[isl.AstExpr]:
    """Operands of an AST operation; for a call the callee comes first."""
    return [expr.get_op_arg(i) for i in range(expr.get_op_n_arg())]


def foreach_results(each: Callable[..., Any], convert: Callable[..., R]) -> list[R]:
    """Run one of isl's `foreach_*` with exceptions kept: isl itself would print and lose them.

    `each` is the bound isl method, `convert` is applied to every element.
    """
    results: list[R] = []
    failures: list[BaseException] = []

    def visit(*element: Any) -> None:
        if not failures:
            try:
                results.append(convert(*element))
            except BaseException as error:
                failures.append(error)

    each(visit)
    if failures:
        raise failures[0]
    return results


def python_int(value: Any) -> int:
    """A Python int from an isl value (any size); an error for infinity, NaN and fractions."""
    if not value.is_int():
        raise WorkbenchError(f"the polyhedral library gave {value} where an integer was expected")
    return int(value.to_python())


def point(value: isl.Set) -> tuple[int, ...] | None:
    """Coordinates of one point of a set without parameters, None when it is empty."""
    sample = value.sample_point()
    if sample.is_void():
        return None
    n = value.dim(isl.dim.set)
    return tuple(python_int(sample.get_coordinate_val(isl.dim.set, i)) for i in range(n))


def points(value: isl.Set, limit: int = 1_000_000) -> list[tuple[int, ...]]:
    """Every point of a bounded set without parameters, in lexicographic order; an error beyond `limit`
    points.
    """
    if count(value) > limit:
        raise WorkbenchError(f"more than {limit} points; give smaller sizes")
    # One text a point: isl's interface for coordinates costs more for each than the numbers' parsing for all.
    return sorted(
        tuple(map(int, _NUMBER.findall(text.partition("{")[2])))
        for text in foreach_results(value.foreach_point, lambda p: p.to_str())
    )


def count(value: isl.Set) -> int:
    """Number of integer points; an error where isl would silently answer 0 (parameters, unbounded)."""
    if value.dim(isl.dim.param) and value.involves_dims(isl.dim.param, 0, value.dim(isl.dim.param)):
        raise WorkbenchError(f"cannot count a set that depends on sizes: {value}; give the sizes")
    if value.is_empty():
        return 0
    if not value.is_bounded():
        raise WorkbenchError(f"cannot count an infinite set: {value}")
    return python_int(value.project_out(isl.dim.param, 0, value.dim(isl.dim.param)).count_val())
