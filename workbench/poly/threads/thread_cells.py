"""Buffers of a block of which each thread only touches its own cells: they need no shared memory.

A cell belongs to one thread if some of its coordinates are the numbers of the thread in every access.
"""

from __future__ import annotations

from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import LoopKind, Tree, path
from workbench.poly.regions.storage import Storage, contracted
from workbench.poly.sets import isl
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.timemap import instance, prefix, row_text

MOST_BYTES = 512
"""What a thread may keep: half of its registers."""


@isl.guarded
def in_registers(program: Program, tree: Tree, storage: Storage) -> bool:
    """Whether every thread has cells of its own of a buffer, and few of them; `tree` is one that `on_grid` gave."""
    touches = [(s, a) for s in program.statements for a in s.accesses if a.array == storage.array.name]
    each = [_numbers(program, tree, s, a, storage) for s, a in touches]
    if not each or any(numbers is None for numbers in each):
        return False
    common = set.intersection(*(set(n.items()) for n in each if n is not None))
    axes = {axis for _, axis in common}
    used = [{x.kind for x in path(tree, s.id) if is_thread(x.kind)} for s, _ in touches]
    if not axes or any(kinds != axes for kinds in used):
        return False
    positions = {position for position, _ in common}
    count = 1
    for i, extent in enumerate(contracted(storage).extent):
        number = constant(extent)
        if number is None:
            return False
        count *= 1 if i in positions else max(1, number)
    return count * storage.array.dtype.bytes <= MOST_BYTES


def _numbers(
    program: Program, tree: Tree, own: ProgramStatement, access: Access, storage: Storage
) -> dict[int, LoopKind] | None:
    """Position among the kept dimensions → axis of which the coordinate is the thread's number; None if data decide."""
    found: dict[int, LoopKind] = {}
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    for loop in [x for x in path(tree, own.id) if is_thread(x.kind)]:
        time = _map(program, own, row_text(loop, own, program)).intersect_domain(domain)
        for position, (dimension, low, _) in enumerate(storage.kept):
            try:
                text = affine_text(access.subscripts[dimension])
            except NotAffine:
                return None
            if constant(low) == 0 and _map(program, own, text).intersect_domain(domain).is_equal(time):
                found[position] = loop.kind
    return found


def _map(program: Program, own: ProgramStatement, text: str) -> isl.Map:
    return isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> [{text}] }}")
