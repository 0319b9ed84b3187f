"""Kernels whose packed inputs are packed by kernels of their own, once for all calls with the same input.

A schedule may begin with a copy of a whole input into another order (`stage`, `transform_layout`).  Where the input
holds the same in every call, the copy is a kernel that runs once, and its result the input of what is left.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from workbench.codegen.generation import kernel_of_nest, refuse_illegal, title_comment
from workbench.codegen.kernel import Kernel
from workbench.codegen.nest.nest import Block, Nest, Place, Write, walk
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import lower_nest
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.records import record
from workbench.schedules import Schedule
from workbench.target import Target


@record(eq=False)
class Packing:
    """What makes the input `array` of a kernel out of the operator's input `source`."""

    array: str
    source: str
    kernel: Kernel


def packed_inputs(
    schedule: Schedule, target: Target, known: Collection[str], *, unchecked: bool = False
) -> tuple[Kernel, tuple[Packing, ...]]:
    """The C of a schedule without the copies of inputs in `known` with which it begins, and a kernel for each of these.

    The first takes the packed array where it took the input.  Without such copies it is the schedule's own kernel.
    IllegalSchedule as of `generate`.
    """
    refuse_illegal(schedule)
    program, nest = stored(schedule.program, schedule.tree), lower_nest(schedule.program, schedule.tree, target)
    packings = []
    for copy in program.statements:
        source = _copied(program, copy, known)
        rest, own = _apart(nest, copy.id) if source else (nest, None)
        if own is None or source is None:
            continue
        ((array, _),) = copy.targets
        nest = _without_place(rest, array)
        part = _only_copy(program, copy, source, array)
        head = [f"{source} as {program.name} reads it"]  # and no sizes of others: equal copies have equal texts
        kernel = kernel_of_nest(schedule, part, own, target, head, checked=not unchecked)
        packings.append(Packing(array, source, kernel))
        program = _given(program, copy, source, array)
    kernel = kernel_of_nest(schedule, program, nest, target, title_comment(schedule), checked=not unchecked)
    return kernel, tuple(packings)


def _copied(program: Program, copy: ProgramStatement, known: Collection[str]) -> str | None:
    """The known input that a statement copies, if it is the only one that writes its array."""
    if copy.kind != "assign" or len(copy.targets) != 1 or len(copy.reads) != 1 or copy.reads[0].array not in known:
        return None
    ((array, _),) = copy.targets
    writers = [s for s in program.statements if any(a.array == array for a in s.writes)]
    alone = writers == [copy] and program.arrays[array].role == "temporary"
    return copy.reads[0].array if alone else None


def _apart(nest: Nest, statement: str) -> tuple[Nest, Nest | None]:
    """The nest without what executes a statement alone and once, and that."""
    match nest:
        case Place(array, body):
            rest, own = _apart(body, statement)
            return Place(array, rest), own
        case Block(parts):
            inside = [{n.statement for n in walk(part) if isinstance(n, Write)} for part in parts]
            places = [at for at, found in enumerate(inside) if statement in found]
            if all(inside[at] == {statement} for at in places):
                own = tuple(parts[at] for at in places)
                return Block(tuple(x for at, x in enumerate(parts) if at not in places)), Block(own)
            if len(places) == 1:
                rest, own = _apart(parts[places[0]], statement)
                return Block((*parts[: places[0]], rest, *parts[places[0] + 1 :])), own
    return nest, None


def _without_place(nest: Nest, array: str) -> Nest:
    """The nest without the place of an array that comes from outside."""
    match nest:
        case Place(name, body):
            inside = _without_place(body, array)
            return inside if name == array else Place(name, inside)
        case Block(parts):
            return Block(tuple(_without_place(part, array) for part in parts))
    return nest


def _only_copy(program: Program, copy: ProgramStatement, source: str, array: str) -> Program:
    arrays = {source: program.arrays[source], array: replace(program.arrays[array], role="output", scope="global")}
    return replace(
        program, name=f"{program.name}_{array}", arrays=arrays, parameters=(source,), outputs=(array,),
        statements=(copy,),
    )  # fmt: skip


def _given(program: Program, copy: ProgramStatement, source: str, array: str) -> Program:
    """The program without a copy, whose result is an input."""
    others = tuple(s for s in program.statements if s is not copy)
    is_read = any(a.array == source for s in others for a in s.accesses)
    arrays = {name: a for name, a in program.arrays.items() if is_read or name != source}
    arrays[array] = replace(arrays[array], role="input", scope="global", partial=False)
    place = program.parameters.index(source)
    order = [*program.parameters[: place + is_read], array, *program.parameters[place + 1 :]]
    return replace(program, arrays=arrays, parameters=tuple(order), statements=others)
