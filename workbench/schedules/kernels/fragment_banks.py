"""Turns of the 32 banks for what a warp's instruction loads, from the places of its registers."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path
from workbench.poly.regions.storage import contracted, storage_of
from workbench.poly.threads.grid import on_grid
from workbench.poly.threads.warp_costs import BANKS
from workbench.poly.threads.warps import WarpAccess
from workbench.schedules.kernels.matrix_loads import SIDE, matrix_load
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_fits import WarpFit, affine_value, warp_fit
from workbench.schedules.kernels.warp_instructions import LANES, Fragment, WarpInstruction

WORD = 4
"""Bytes of one bank."""


def busiest(words: list[int]) -> int:
    """Turns of one access: the most different words that one bank has."""
    return max(len({w for w in words if w % BANKS == bank}) for bank in {w % BANKS for w in words})


def fragment_turns(fragment: Fragment, strides: tuple[int, int], element_bytes: int) -> list[int]:
    """Turns of each load of an operand whose rows and columns lie so many elements apart."""
    width, loads = fragment_loads(fragment, strides, element_bytes)
    return [busiest([a // WORD + w for a in addresses for w in range(-(-width // WORD))]) for addresses in loads]


def fragment_loads(
    fragment: Fragment, strides: tuple[int, int], element_bytes: int
) -> tuple[int, list[tuple[int, ...]]]:
    """How many bytes a lane reads at once, and for each load where the lanes read.

    `ldmatrix` reads eight rows in one turn; else two elements of 16 bits are one load where they lie side by side.
    """
    found = matrix_load(fragment, strides, element_bytes)
    if found is not None:
        places = [strides[0] * row + strides[1] * column for row, column in found.places]
        rows = [[at + n * strides[found.rows] for n in range(SIDE)] for at in places]
        return SIDE * element_bytes, [tuple(cell * element_bytes for cell in own) for own in rows]
    together = WORD // element_bytes if strides[_pair(fragment)] == 1 else 1
    cells = [[fragment.place(lane, r) for lane in range(LANES)] for r in range(0, fragment.registers, together)]
    at = [tuple((x * strides[0] + y * strides[1]) * element_bytes for x, y in own) for own in cells]
    return element_bytes * together, at


def _pair(fragment: Fragment) -> int:
    """The axis along which the elements of a register lie."""
    return fragment.register[0].index(1) if 1 in fragment.register[0] else 0


def with_fragments(program: Program, tree: Tree, found: tuple[WarpAccess, ...]) -> tuple[WarpAccess, ...]:
    """Accesses of shared memory where warps' instructions load their fragments in place of the loops.

    Looked at is one fragment: the others lie as far from one another for every lane.
    """
    for kernel, statement, inner in _parts(tree):
        own = program.statement(statement)
        fit = warp_fit(kernel, own, inner, path(tree, statement)[: -len(inner)], program.arrays)
        if isinstance(fit, WarpFit):
            loads = {a.array: a for a in _loads(program, tree, own, fit, kernel)}
            found = tuple(loads.get(a.array, a) if a.statement == own.name else a for a in found)
    return found


def _parts(tree: Tree) -> Iterator[tuple[WarpInstruction, str, tuple[Loop, ...]]]:
    """The instruction, statement and loops of each part that a warp executes."""
    match tree:
        case Mark(ExecutedBy(name), Band(loops, Leaf(statement))):
            kernel = registered(name)
            if isinstance(kernel, WarpInstruction):
                yield kernel, statement, loops
        case Mark(_, child) | Band(_, child):
            yield from _parts(child)
        case Sequence(children):
            for child in children:
                yield from _parts(child)


def _loads(
    program: Program, tree: Tree, own: ProgramStatement, fit: WarpFit, kernel: WarpInstruction
) -> Iterator[WarpAccess]:
    stored = {s.array.name: s for s in storage_of(program, on_grid(tree))}
    rows, columns, depth = fit.dims
    for name, fragment, dims in ((fit.left, kernel.left, (rows, depth)), (fit.right, kernel.right, (depth, columns))):
        access = next(a for a in own.reads if a.array == name)
        steps = [constant(x) or 0 for x in contracted(stored[name]).strides] if name in stored else []

        def address(moved: str, access=access, name=name, steps=steps) -> int:
            at = dict.fromkeys(own.dims, 0) | ({moved: 1} if moved else {})
            cells = [affine_value(access.subscripts[d], at) or 0 for d, *_ in stored[name].kept]
            return sum(c * s for c, s in zip(cells, steps, strict=True))

        if not steps:
            continue
        strides = address(dims[0]) - address(""), address(dims[1]) - address("")
        width, loads = fragment_loads(fragment, strides, program.arrays[name].dtype.bytes)
        turns = fragment_turns(fragment, strides, program.arrays[name].dtype.bytes)
        lanes = loads[turns.index(max(turns))]
        text = f"{name} by {kernel.name}"
        yield WarpAccess(
            own.name, name, "read", "shared", text, width, len(turns), sum(turns), len(turns), max(turns), False,
            (*lanes, *[None] * (LANES - len(lanes))),
        )  # fmt: skip
