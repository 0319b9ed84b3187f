"""Nontemporal stores: what a kernel writes once, and too much of for it to be found in the cache afterwards.

    for m: for n: Y(m, n) = exp(X(m, n))

reads each line of Y from memory only to write over it, and throws out lines of X for it.  Where inputs and outputs fill
most of the last cache anyway, Y goes to memory directly.
"""

from __future__ import annotations

from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import marked, path
from workbench.poly.regions.storage import array_bytes
from workbench.schedules import steps
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.decisions import asked, decide
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

PART = 16
"""Bytes that one store past the caches writes at least; rows should begin at multiples of these."""

FULL = 0.75
"""The part of the last cache from which on nothing is expected to stay there, as C libraries copy."""


def with_nontemporal_stores(schedule: Schedule, target: Target) -> Schedule:
    """Nontemporal stores for large outputs of kernels that go beyond the last cache."""
    program = schedule.program
    usual = beyond_caches(program, target)
    if not usual and not asked():
        return schedule
    done = marked(schedule.tree, NontemporalStores)
    for own in program.statements:
        large = (array_bytes(program.arrays[own.targets[0][0]]) or 0) > target.cache_bytes[1]
        fits = own.id not in done and large and touched_once(program, own) and _in_whole_vectors(schedule, own, target)
        if fits and decide(f"{own.name}_past_caches", usual, (False, True)):
            schedule = steps.nontemporal(own.name).on(schedule)
    return schedule


def touched_once(program: Program, own: ProgramStatement) -> bool:
    """Whether a statement writes an output that nothing else touches, nor it itself again."""
    array = own.targets[0][0]
    writers = [s for s in program.statements if any(t == array for t, _ in s.targets)]
    read = any(r.array == array for s in program.statements for r in s.reads)
    return own.kind != "update" and program.arrays[array].role == "output" and writers == [own] and not read


def beyond_caches(program: Program, target: Target, part: float = FULL) -> bool:
    """Whether inputs and outputs together take more than a part of the last cache."""
    sizes = [array_bytes(a) for a in program.arrays.values() if a.role in ("input", "output")]
    return None not in sizes and sum(s or 0 for s in sizes) > part * target.cache_bytes[2]


def _in_whole_vectors(schedule: Schedule, own: ProgramStatement, target: Target) -> bool:
    """Whether a vector loop writes neighbours, and all rows begin where a store past the caches may."""
    if len(own.targets) != 1 or all(x.kind != "vector" for x in path(schedule.tree, own.id)):
        return False
    array = schedule.program.arrays[own.targets[0][0]]
    if array.dtype.bytes * target.lanes(array.dtype.bits) < PART:
        return False
    write = structure(schedule.program, own.id).writes[0]
    jumps = [write.along(d) for d in own.dims]
    return 1 in jumps and all(j is not None and j * array.dtype.bytes % PART == 0 for j in jumps if j != 1)
