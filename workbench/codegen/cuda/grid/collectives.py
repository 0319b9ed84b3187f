"""Sums over the threads of a block: a vector loop that adds up what each thread found, by shuffles between its lanes.

    for n_i_parts < 256 (vector): top(m) max= top_rf(n_i_parts)     iteration i is thread i, all of them in a tree

The 32 lanes of a warp exchange registers (`__shfl_xor_sync`); of several warps the first lane of each leaves its result
in shared memory, and the first warp combines these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.codegen.c.expressions.values import Values, cell_text
from workbench.codegen.cuda.grid.block_code import Code, Piece
from workbench.codegen.cuda.grid.launch_extents import Extents
from workbench.codegen.nest.nest import For, Nest, Write, children, only, rebuild, writes
from workbench.codegen.passes.register_tiles.accumulators import independent
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import DType
from workbench.lang.expr import reads
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, statements
from workbench.poly.threads.cross_thread_dependences import Crossing
from workbench.poly.threads.grid import is_thread

WARP = 32
TYPES = frozenset({"float32", "float64", "int32", "int64", "uint32", "uint64"})
WORDS = {"+": "sum", "*": "product", "min": "min", "max": "max"}


def collective(nest: Nest, extents: Extents, kind: str) -> tuple[For, Write] | None:
    """The loop of this kind and its write, if all threads of a block are to add up one value each into one cell."""
    if not isinstance(nest, For) or nest.kind != kind or nest.step != 1 or constant(nest.lower) != 0:
        return None
    count, write = constant(nest.upper), only(nest.body)
    if count is None or not isinstance(write, Write) or write.atomic or not isinstance(write.reduction, str):
        return None
    fits = extents.block == (count, 1, 1) and (count % WARP == 0 or (1 < count < WARP and count & (count - 1) == 0))
    cell = write.cells[0]
    one = independent(cell, nest.variable) and cell.array not in extents.own
    return (nest, write) if fits and one and cell.dtype.name in TYPES else None


def vector_loops_on_threads(nest: Nest, extents: Extents, inside: bool = False) -> Nest:
    """The nest with such vector loops as loops over threads."""
    if not inside and (found := collective(nest, extents, "vector")) is not None:
        return replace(found[0], kind="thread.x")
    inside = inside or (isinstance(nest, For) and is_thread(nest.kind))
    return rebuild(nest, tuple(vector_loops_on_threads(child, extents, inside) for child in children(nest)))


def collectives(nest: Nest, extents: Extents) -> Iterator[tuple[For, Write]]:
    """The sums over threads of a nest."""
    found = collective(nest, extents, "thread.x")
    if found is not None:
        yield found
    else:
        for child in children(nest):
            yield from collectives(child, extents)


def tree_on_threads(tree: Tree, found: frozenset[tuple[str, str]]) -> Tree:
    """The tree with these loops (statement, name) bound to threads."""
    match tree:
        case Band(loops, child):
            own = statements(child)
            bound = tuple(
                replace(x, kind="thread.x") if len(own) == 1 and (own[0], x.name) in found else x for x in loops
            )
            return Band(bound, tree_on_threads(child, found))
        case Mark(note, child):
            return Mark(note, tree_on_threads(child, found))
        case Sequence(parts):
            return Sequence(tuple(tree_on_threads(p, found) for p in parts))
    return tree


def sum_of_warps(code: Code, extents: Extents, lanes: int) -> tuple[For, Write] | None:
    """The sum that a piece is, if its threads leave results in shared memory; `lanes` of them do without."""
    found = collective(code.nest, extents, "thread.x") if isinstance(code, Piece) else None
    return found if found is not None and extents.block[0] > lanes else None


def scratch_of(nest: Nest, extents: Extents, lanes: int) -> dict[str, tuple[DType, int]]:
    """The arrays whose sums need shared memory, where each of several warps leaves its result: its type, how many."""
    return {
        write.cells[0].array: (write.cells[0].dtype, extents.block[0] // lanes)
        for _, write in collectives(nest, extents)
        if extents.block[0] > lanes
    }


def scratch_name(values: Values, array: str) -> str:
    """The shared array in which warps leave their results."""
    return values.names("register", f"{array}.warps")


def combined_across_lanes(values: Values, loop: For, write: Write, named: bool) -> list[str]:
    """The lines that all threads execute; `named`: the value uses the number of the thread."""
    assert isinstance(write.reduction, str)
    cell, reduction, count = write.cells[0], write.reduction, constant(loop.upper) or 0
    dtype, value = cell.dtype, values.names("register", f"{cell.array}.all")
    index = values.names("index", loop.variable)
    helper = warp_helper(values, reduction, dtype, min(WARP, count))
    own = values.text(write.values[0])
    lines = [f"const int64_t {index} = threadIdx.x;"] if named else []
    lines.append(f"{dtype.c_name} {value} = {helper}({own});")
    if count > WARP:
        scratch = scratch_name(values, cell.array)
        other = values.identity(reduction, 0, dtype)
        lines += [
            f"if (threadIdx.x % {WARP} == 0) {scratch}[threadIdx.x / {WARP}] = {value};",
            "__syncthreads();",
            f"if (threadIdx.x < {WARP}) "
            f"{value} = {helper}(threadIdx.x < {count // WARP} ? {scratch}[threadIdx.x] : {other});",
        ]
    last = values.combine(reduction, cell_text(values, cell), value, dtype)
    return [*lines, f"if (threadIdx.x == 0) {last}"]


def warp_helper(values: Values, reduction: str, dtype: DType, lanes: int) -> str:
    """The function that gives all lanes of a warp their sum, pairs first."""
    name = f"wb_warp_{WORDS[reduction]}_{dtype.name}" + ("" if lanes == WARP else f"_{lanes}")
    mask = f"0x{(1 << lanes) - 1:x}u"
    other = f"__shfl_xor_sync({mask}, value, apart)"
    text = (
        f"WB_INLINE {dtype.c_name} {name}({dtype.c_name} value) {{\n"
        f"    WB_UNROLL for (int apart = {lanes // 2}; apart > 0; apart /= 2) "
        f"value = {values.joined(reduction, 'value', other, dtype)};\n"
        "    return value;\n"
        "}\n"
    )
    return values.helpers.text(name, text)


def of_others(found: frozenset[Crossing], nest: Nest, extents: Extents, alone: frozenset[str]) -> frozenset[Crossing]:
    """The crossings without those between a sum and what only the first thread does (`alone`, statements).

    What such a sum writes, the first thread writes; the other threads take part with values of their own.
    """
    sums = {write.statement for _, write in collectives(nest, extents)}
    given = {w.statement: {r.tensor for r in reads(*w.values)} for w in writes(nest)}
    made = {w.statement: {c.array for c in w.cells} for w in writes(nest)}

    def one_thread(x: Crossing) -> bool:
        ends = {x.source, x.target}
        if not ends & sums or not ends <= sums | alone:
            return False
        pairs = ((x.source, x.target), (x.target, x.source))
        return not any(a in sums and given[a] & made[b] for a, b in pairs)

    return frozenset(x for x in found if not one_thread(x)) if sums else found
