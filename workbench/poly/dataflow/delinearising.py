"""Delinearisation: elements of memory as the cells of the arrays that lie there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.errors import LoweringError
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.program import Access, Array, Program
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.time.timemap import instance


def cells_in_memory(array: Array, name: str) -> isl.Map:
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


def memory_elements(array: Array) -> int:
    """How many elements of memory an array of a bound layout reaches over (at least one)."""
    return 1 + sum(max(0, e - 1) * s for e, s in zip(_numbers(array.extent), _numbers(array.strides), strict=True))


def delinearised(program: Program, layouts: Mapping[str, Array]) -> Program:
    """One-dimensional memory → cells: accesses to `A[e]` become those to the cells `A(x, y)` that a layout puts there.

    `layouts` gives the arrays that lie in memory, by its name in the program, which then has their bounds; a layout
    that puts two cells into one element is left alone, and so are subscripts.  LoweringError for an argument's memory
    that holds no cell; in temporaries that is never read, and forgotten.
    """
    found = {name: cells_in_memory(array, to_isl(name)) for name, array in layouts.items() if name in program.arrays}
    tuples = {s.id: instance(s) for s in program.statements}
    cells = {n: p.reverse().set_tuple_name(isl.dim.out, to_isl(n)) for n, p in found.items() if p.is_injective()}

    def changed(access: Access, own: str) -> Access:
        relation = isl.parse_map(access.relation)
        if access.array not in cells or not relation.dim(isl.dim.out):
            return access
        written = _as_written(access, own, relation, layouts[access.array], cells[access.array])
        result = relation.apply_range(cells[access.array]) if written is None else written
        kept = program.arrays[access.array].role == "temporary" or relation.domain().is_subset(result.domain())
        if not kept:
            raise LoweringError(f"memory of {access.array} is touched that holds no cell")
        return replace(access, relation=isl.text_of(result))

    own = tuple(tuple(changed(a, tuples[s.id]) for a in s.accesses) for s in program.statements)
    statements = tuple(replace(s, accesses=accesses) for s, accesses in zip(program.statements, own, strict=True))
    shapes = {n: replace(program.arrays[n], lower=a.lower, extent=a.extent, strides=a.strides)
              for n, a in layouts.items() if n in cells and program.arrays[n].rank}  # fmt: skip
    digest = hashlib.sha256(repr((statements, shapes)).encode()).hexdigest()
    return replace(program, statements=statements, arrays={**program.arrays, **shapes}, digest=digest[:24])


def _as_written(access: Access, own: str, relation: isl.Map, layout: Array, cells: isl.Map) -> isl.Map | None:
    """The cells by the indices that the subscript shows: `(i + 1)*25 + (j - 2)*5 + k` is (i + 1, j - 2, k).

    isl knows no more of them than their sum and bounds, and carries both through everything.  None where the subscript
    shows none, or others than those of the element's cell.
    """
    strides = _numbers(layout.strides)
    try:
        indices = map(affine_text, _shown(access, strides))
        parts = [f"{a} + {index}" for a, index in zip(_numbers(layout.lower), indices, strict=True)]
    except NotAffine:
        return None
    cell = f"{to_isl(access.array)}[{', '.join(parts)}]"
    found = isl.parse_map(f"{{ {own} -> {cell} }}").intersect_domain(relation.domain())
    return found if found.apply_range(cells.reverse()).is_equal(relation) else None


def _shown(access: Access, strides: list[int]) -> list[Expr]:
    """What is multiplied by each stride in a linear subscript; what is multiplied by none counts for the last 1.

    Only the first of several equal strides is looked for: the others belong to dimensions of one cell.
    """
    parts: list[Expr] = [Const(0, INT64) for _ in strides]
    rest = len(strides) - 1 - strides[::-1].index(1) if 1 in strides else None
    for sign, term in summands(access.subscripts[0]):
        match term:
            case Binary("*", index, Const(int(factor)), _) if factor in strides:
                place = strides.index(factor)
            case _ if rest is not None:
                index, place = term, rest
            case _:
                raise NotAffine(term)
        parts[place] = Binary(sign, parts[place], index, INT64)
    return parts


def summands(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """(sign, term) of a sum and a difference, as far as it is written as one."""
    match expr:
        case Binary("+", left, right, _):
            yield from (*summands(left), *summands(right))
        case Binary("-", left, right, _):
            yield from summands(left)
            yield from (("-" if sign == "+" else "+", term) for sign, term in summands(right))
        case _:
            yield "+", expr


def _numbers(exprs: tuple[Expr, ...]) -> list[int]:
    if not all(isinstance(e, Const) for e in exprs):
        raise LoweringError("a layout is only known when its sizes are bound")
    return [int(e.value) for e in exprs if isinstance(e, Const)]
