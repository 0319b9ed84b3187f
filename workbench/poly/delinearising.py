"""Delinearisation: elements of memory as the cells of the arrays that lie there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import LoweringError
from workbench.lang.expr import Const, Expr
from workbench.poly import isl
from workbench.poly.names import to_isl
from workbench.poly.program import Access, Array, Program


def places(array: Array, name: str) -> isl.Map:
    """From the cells of an array to the elements of the memory called `name` (as isl knows it); its layout is bound."""
    dims = [f"x{d}" for d in range(array.rank)]
    low, wide, strides = map(_numbers, (array.lower, array.extent, array.strides))
    total = " + ".join(f"{s}*({x} - ({a}))" for s, x, a in zip(strides, dims, low, strict=True)) or "0"
    inside = [f"{a} <= {x} < {a + w}" for x, a, w in zip(dims, low, wide, strict=True)]
    where = " and ".join([f"e = {total}", *inside])
    return isl.parse_map(f"{{ {to_isl(array.name)}[{', '.join(dims)}] -> {name}[e] : {where} }}")


def same_cells(array: Array, name: str) -> isl.Map:
    """From the cells of an array, wherever they are, to those of another one with the same indices."""
    dims = ", ".join(f"x{d}" for d in range(array.rank))
    return isl.parse_map(f"{{ {to_isl(array.name)}[{dims}] -> {to_isl(name)}[{dims}] }}")


def elements(array: Array) -> int:
    """How many elements of memory an array of a bound layout reaches over (at least one)."""
    return 1 + sum(max(0, e - 1) * s for e, s in zip(_numbers(array.extent), _numbers(array.strides), strict=True))


def delinearised(program: Program, layouts: Mapping[str, Array]) -> Program:
    """One-dimensional memory → cells: accesses to `A[e]` become those to the cells `A(x, y)` that a layout puts there.

    `layouts` gives the arrays that lie in memory, by its name in the program, which then has their bounds; a layout
    that puts two cells into one element is left alone, and so are subscripts.  LoweringError for an argument's memory
    that holds no cell; in temporaries that is never read, and forgotten.
    """
    found = {name: places(array, to_isl(name)) for name, array in layouts.items() if name in program.arrays}
    cells = {n: p.reverse().set_tuple_name(isl.dim.out, to_isl(n)) for n, p in found.items() if p.is_injective()}

    def changed(access: Access) -> Access:
        relation = isl.parse_map(access.relation)
        if access.array not in cells or not relation.dim(isl.dim.out):
            return access
        result = relation.apply_range(cells[access.array])
        kept = program.arrays[access.array].role == "temporary" or relation.domain().is_subset(result.domain())
        if not kept:
            raise LoweringError(f"memory of {access.array} is touched that holds no cell")
        return replace(access, relation=isl.text_of(result))

    statements = tuple(replace(s, accesses=tuple(map(changed, s.accesses))) for s in program.statements)
    shapes = {n: replace(program.arrays[n], lower=a.lower, extent=a.extent, strides=a.strides)
              for n, a in layouts.items() if n in cells and program.arrays[n].rank}  # fmt: skip
    digest = hashlib.sha256(repr((statements, shapes)).encode()).hexdigest()
    return replace(program, statements=statements, arrays={**program.arrays, **shapes}, digest=digest[:24])


def _numbers(exprs: tuple[Expr, ...]) -> list[int]:
    if not all(isinstance(e, Const) for e in exprs):
        raise LoweringError("a layout is only known when its sizes are bound")
    return [int(e.value) for e in exprs if isinstance(e, Const)]
