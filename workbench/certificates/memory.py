"""Memory: nothing outside an array is touched, and no two iterations of a parallel loop meet in a cell."""

from __future__ import annotations

import re

from workbench.certificates.sources import union
from workbench.errors import CertificationError
from workbench.lang.expr import Const
from workbench.poly import isl, unpack
from workbench.poly.names import to_isl
from workbench.poly.program import Access, Array, Program, ProgramStatement


def address(array: Array, name: str) -> isl.Map:
    """From the cells of an array to elements of the memory called `name` (as isl knows it)."""
    dims = [f"x{d}" for d in range(array.rank)]
    low, wide, strides = ([int(e.value) for e in part if isinstance(e, Const)]
                          for part in (array.lower, array.extent, array.strides))  # fmt: skip
    total = " + ".join(f"{s}*({x} - ({a}))" for s, x, a in zip(strides, dims, low, strict=True)) or "0"
    inside = [f"{a} <= {x} < {a + w}" for x, a, w in zip(dims, low, wide, strict=True)]
    where = " and ".join([f"e = {total}", *inside])
    return isl.parse_map(f"{{ {to_isl(array.name)}[{', '.join(dims)}] -> {name}[e] : {where} }}")


def require_inside(raised: Program, text: str) -> None:
    """Every access stays in its array; pieces of the workspace end where the next one begins."""
    starts = {name: int(at) for name, at in re.findall(r" \*restrict (\w+) = .*\)workspace \+ (\d+)\);", text)}
    total = re.search(r"_workspace\(.*\)\n{\n.*\n    return (\d+);", text)
    ends = sorted({*starts.values(), int(total[1]) if total else 0})
    for s in raised.statements:
        for access in s.accesses:
            array = raised.arrays[access.array]
            extents = [int(e.value) if isinstance(e, Const) else 0 for e in array.extent][array.times :]
            if array.name in starts:
                start = starts[array.name]
                extents = [min((e for e in ends if e > start), default=start) - start]
                extents[0] //= array.dtype.bytes
            dims = [f"x{d}" for d in range(array.rank)]
            inside = [f"0 <= {x} < {e}" for x, e in zip(dims[array.times :], extents, strict=True)]
            box = f"{{ {to_isl(array.name)}[{', '.join(dims)}]{' : ' * bool(inside)}{' and '.join(inside)} }}"
            if not isl.parse_map(access.relation).range().is_subset(isl.parse_set(box)):
                raise CertificationError(f"{s.name}: the text touches memory beyond the {extents[0]} of {array.name}")


def require_no_race(
    raised: Program, paths: dict[str, tuple[str, ...]], loop: ProgramStatement, atomic: set[str]
) -> None:
    """No iteration of the loop around a statement writes what another one of its iterations reads or writes; atomic
    updates of one cell may meet.
    """
    around, depth = paths[loop.id][:-1], len(loop.dims)
    inside = [s for s in raised.statements if paths[s.id][: len(around)] == around]
    outer = [f"o{d}" for d in range(depth - 1)]
    others = isl.parse_union_map(f"{{ [{', '.join([*outer, 'i'])}] -> [{', '.join([*outer, 'j'])}] : i != j }}")
    for array in sorted({a.array for s in inside for a in s.writes if not a.array.startswith("claim_")}):
        uses = [(s, a) for s in inside for a in s.accesses if a.array == array]
        alone = [s.id not in atomic or a.subscripts != s.targets[0][1] for s, a in uses]
        touched = [
            (not x, a.kind == "write", _by_iteration(s, a, depth)) for x, (s, a) in zip(alone, uses, strict=True)
        ]
        pairs = _meeting(touched, {True, False}, {False}).union(_meeting(touched, {False}, {True, False}))
        pairs = pairs.intersect(others)
        if not pairs.is_empty():
            first = list(unpack.point(unpack.maps(pairs)[0].lexmin().wrap().flatten()) or [0] * (2 * depth))
            both = f"{first[depth - 1]} and {first[-1]}"
            raise CertificationError(
                f"the loop {loop.dims[-1]} is parallel, but its iterations {both} may meet in a cell of {array}"
            )


def _meeting(touched: list[tuple[bool, bool, isl.Map]], writers: set[bool], others: set[bool]) -> isl.UnionMap:
    """Iterations of which one writes a cell and the other one touches it, for (not) atomic writers and others."""
    written = union([cells for atomic, writes, cells in touched if writes and atomic in writers])
    return written.apply_range(union([cells for atomic, _, cells in touched if atomic in others]).reverse())


def _by_iteration(s: ProgramStatement, access: Access, depth: int) -> isl.Map:
    """From iterations of the outermost loops to cells."""
    dims = list(map(to_isl, s.dims))
    project = isl.parse_map(f"{{ {s.id}[{', '.join(dims)}] -> [{', '.join(dims[:depth])}] }}")
    return isl.parse_map(access.relation).apply_domain(project)
