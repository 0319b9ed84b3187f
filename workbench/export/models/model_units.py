"""The kernels of a model for every instruction set level, and those that pack its constants for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from workbench.codegen.packed_inputs import packed_inputs
from workbench.errors import BuildError
from workbench.export.dispatch import Level, Unit
from workbench.export.dispatch.family import described
from workbench.export.dispatch.units import ALWAYS
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.overwriting import read_at_own_cell
from workbench.graph.running.recording.recordings import OperatorCall
from workbench.graph.running.step_kernels import step_schedule
from workbench.lang.algebra.folding import fold
from workbench.records import record
from workbench.runtime import this_machine
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.settings import current


@record(eq=False)
class Packer:
    """What makes a packed constant of the input `source`: a kernel, and the bytes of its result."""

    source: str
    unit: Unit

    @property
    def bytes(self) -> int:
        """Of the packed array."""
        (array,) = self.unit.kernel.signature.outputs
        return prod(fold(extent, {}) for extent in array.shape) * array.dtype.bytes


@record(eq=False)
class LevelKernel:
    """A kernel for one level; of its parameters those in `packers` are constants that are packed once."""

    unit: Unit
    packers: Mapping[str, Packer]

    @property
    def parameters(self) -> tuple[str, ...]:
        """What it takes, inputs before outputs."""
        signature = self.unit.kernel.signature
        return tuple(each.name for each in (*signature.inputs, *signature.outputs))

    @property
    def units(self) -> tuple[Unit, ...]:
        """Everything that is compiled."""
        return (self.unit, *(packer.unit for packer in self.packers.values()))


@record(eq=False)
class ModelKernel:
    """A kernel, one a level; equal calls of a model have one."""

    call: OperatorCall
    levels: tuple[LevelKernel, ...]

    def text(self, unit: Unit) -> str:
        """The C file of a unit; where the result may lie over an input, nothing is promised about aliases."""
        head = "#define restrict\n" if read_at_own_cell(self.call.op) else ""
        return f"{head}{unit.text}"


@record(eq=False)
class ModelKernels:
    """The kernels of a program, their numbers by the keys of its steps, the levels, and why others are left out."""

    kernels: tuple[ModelKernel, ...]
    numbers: dict[str, int]
    levels: tuple[Level, ...]
    notes: tuple[str, ...]

    def units(self, at: int) -> Iterator[tuple[ModelKernel, Unit]]:
        """Everything that is compiled for the level of a number."""
        for kernel in self.kernels:
            for unit in kernel.levels[at].units:
                yield kernel, unit


def kernels_of(program: Program, levels: Sequence[Level], stem: str = "") -> ModelKernels:
    """The kernels for those levels that all of them can be made for, under names that begin with `stem`.

    BuildError if none is left.
    """
    distinct = {kernel.key: call for call, kernel in program.stepped}
    numbers = {key: number for number, key in enumerate(distinct)}
    known = [program.constants_of(call) for call in distinct.values()]
    schedules = [_schedule(call, constants) for call, constants in zip(distinct.values(), known, strict=True)]
    found, notes, columns = list[Level](), list[str](), list[list[LevelKernel]]()
    for level in levels:
        column = [_for_level(*each, level, f"{stem}k{n}") for n, each in enumerate(zip(schedules, known, strict=True))]
        needed = (need for each in column for unit in each.units for need in unit.kernel.needs)
        lacking = dict.fromkeys(need for need in needed if need not in level.target.isa)
        if lacking:
            notes.append(f"{level.name}: left out, its micro-kernels need {', '.join(lacking)}")
            continue
        found.append(level)
        columns.append(column)
    if not found:
        raise BuildError(f"no kernel is left: {'; '.join(notes)}")
    made = [ModelKernel(call, tuple(column[n] for column in columns)) for n, call in enumerate(distinct.values())]
    return ModelKernels(tuple(map(_checked, made)), numbers, tuple(found), tuple(notes))


def _schedule(call: OperatorCall, constants: Collection[str]) -> Schedule:
    with known_operands(constants):
        return step_schedule(call)


def _for_level(schedule: Schedule, constants: Collection[str], level: Level, stem: str) -> LevelKernel:
    """The schedule as it is where registers are as wide as here, elsewhere the recipe's for the same sizes."""
    name, title = f"{stem}_{level.name}", f"{level.name}: {described(schedule.program.sizes)}"
    with known_operands(constants):
        if level.target.vector_bits != this_machine().vector_bits:
            schedule = default_schedule(schedule.program.original, level.target)
        kernel, packings = packed_inputs(schedule, level.target, constants, unchecked=current().unchecked)
    packers = {
        each.array: Packer(each.source, Unit(f"{name}_pack{n}", title, each.kernel, ALWAYS, fallback=False))
        for n, each in enumerate(packings)
    }
    return LevelKernel(Unit(name, title, kernel, ALWAYS, fallback=False), packers)


def _checked(kernel: ModelKernel) -> ModelKernel:
    """The kernel, which takes what there is at a call; BuildError for one that takes anything else."""
    there = {*kernel.call.inputs, *kernel.call.op.outputs}
    for level in kernel.levels:
        unknown = [name for name in level.parameters if name not in there and name not in level.packers]
        if unknown or level.unit.kernel.signature.symbols:
            raise BuildError(f"{level.unit.title}: takes {', '.join(level.parameters)}; of {', '.join(sorted(there))}")
    return kernel
