"""Local variables: names for values that never change, numbers and arrays that each iteration has for itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.values import Values
from workbench.fromc.text.scope import Cells, Ended, Known, Scope
from workbench.fromc.text.types import converted
from workbench.lang.dtypes import INT32, DType
from workbench.lang.expr import Const, Expr, Index, Read, reads, walk
from workbench.lang.operator import Tensor

# Bounds of the dimensions that stand for iterations: storage is found when the order is known.
ITERATIONS = (Const(-(1 << 31), INT32), Const(1 << 32, INT32))
UNKNOWN_LENGTH = Const(1 << 40, INT32)


def declare_local(values: Values, node: Any) -> Cells | None:
    """Give a local variable its meaning; None for an integer that is never changed: it is a name for its value."""
    scope = values.scope
    if not isinstance(node, c_ast.Decl) or isinstance(node.type, c_ast.FuncDecl | c_ast.Struct | c_ast.Enum):
        raise values.problem("this declaration is not read here", node, "expected numbers and arrays of them")
    if node.name in values.unit.source.defines:
        raise values.problem(f"{node.name} is a macro; it cannot be declared", node, "choose another name")
    dtype = scope.element(node.type.type) if isinstance(node.type, c_ast.TypeDecl) else None
    if dtype is None or not dtype.is_integral or node.name in scope.assigned:
        return local_tensor(values, node)
    if node.init is None:
        scope.declare(node.name, Ended(dtype))
        return None
    value = values.number(node.init)
    if not value.dtype.is_integral or any(reads(value)):
        return local_tensor(values, node)
    scope.declare(node.name, Known(converted(value, dtype), dtype))
    return None


def local_tensor(values: Values, node: Any) -> Cells:
    """The storage of a local variable or array."""
    extents: list[Expr] = []
    kind = node.type
    while isinstance(kind, c_ast.ArrayDecl):
        if kind.dim is None:
            raise values.problem(f"{node.name} needs a number of elements", node, f"write {node.name}[64]")
        extents.append(values.index(kind.dim, f"an extent of {node.name}"))
        kind = kind.type
    if isinstance(kind, c_ast.PtrDecl) and _is_piece(node) and not extents:
        extents.append(UNKNOWN_LENGTH)
        kind = kind.type
    dtype = values.scope.element(kind.type) if isinstance(kind, c_ast.TypeDecl) else None
    if dtype is None:
        what = "pointers are not read" if isinstance(kind, c_ast.PtrDecl) else "this type is not read"
        raise values.problem(f"{node.name}: {what}", node, "declare numbers or arrays of them: double x[n]")
    if any(isinstance(part, Index | Read) for e in extents for part in walk(e)):
        raise values.problem(f"the extent of {node.name} is not made of sizes", node)
    cells = new_cells(values.scope, node.name, dtype, tuple(extents))
    values.scope.declare(node.name, cells)
    return cells


def _is_piece(node: Any) -> bool:
    """`T *restrict p = (T *)((char *)workspace + n)`: a piece of memory that nothing else names."""
    return "restrict" in node.type.quals and isinstance(node.init, c_ast.Cast)


def new_cells(scope: Scope, name: str, dtype: DType, extents: tuple[Expr, ...]) -> Cells:
    """A new tensor for data that the loops around have for each iteration."""
    place = tuple(Index(r.index) for r in scope.ranges)
    tensor = scope.fresh(name)
    lower = (*(ITERATIONS[0] for _ in place), *(Const(0, INT32) for _ in extents))
    extent = (*(ITERATIONS[1] for _ in place), *extents)
    scope.tensors[tensor] = Tensor(tensor, dtype, lower, extent, "temporary", times=len(place))
    return Cells(tensor, dtype, place, len(extents))


def first_values(node: Any) -> list[tuple[tuple[int, ...], Any]]:
    """The elements that an initialiser names, each with its place; none where all begin as 0: `{0}`."""
    found = list(_listed(node.init, ()))
    zeros = all(isinstance(e, c_ast.Constant) and e.value.strip("0.fFlLuU") == "" for _, e in found)
    return [] if zeros else found


def _listed(node: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    if not isinstance(node, c_ast.InitList):
        yield place, node
        return
    for number, element in enumerate(node.exprs):
        yield from _listed(element, (*place, number))


def require_listed(values: Values, node: Any, rank: int) -> None:
    """Problem unless an initialiser is a list, of lists for more than one dimension, in the order of the elements."""
    listed = isinstance(node.init, c_ast.InitList) and not any(
        isinstance(e, c_ast.NamedInitializer) for _, e in _listed(node.init, ()))  # fmt: skip
    found = first_values(node) if listed else []
    if not listed or any(len(place) != rank for place, _ in found):
        fix = "write {0}, or one list for each row: {{1, 2}, {3, 4}}"
        raise values.problem("an array can begin with zeros or with a list of its elements", node, fix)


def zeroed_array(values: Values, node: Any, arguments: list[Any]) -> Cells:
    """The array of `memset(A, 0, bytes)`."""
    cells = None
    if len(arguments) == 3 and isinstance(arguments[0], c_ast.ID) and getattr(arguments[1], "value", "") == "0":
        cells = values.scope.find(arguments[0].name)
    if not isinstance(cells, Cells) or cells.rank != 1:
        fix = "write a loop of assignments"
        raise values.problem("memset is only read for zeros in a one-dimensional array", node, fix)
    return cells
