"""The kernels of a model for every instruction set level."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import BuildError
from workbench.export.dispatch import LEVELS, Level, Unit, units_of
from workbench.export.dispatch.family import Family, Variant
from workbench.export.dispatch.units import ALWAYS
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.overwriting import read_at_own_cell
from workbench.graph.running.recording.recordings import OperatorCall
from workbench.graph.running.step_kernels import StepKernel, step_schedule
from workbench.records import record


@record(eq=False)
class ModelKernel:
    """A kernel with its units, one a level; equal calls of a model have one."""

    call: OperatorCall
    step: StepKernel
    units: tuple[Unit, ...]

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


def kernels_of(program: Program, architecture: str) -> ModelKernels:
    """The kernels for those levels of an architecture that all of them can be made for; BuildError if there is none."""
    distinct = {kernel.key: (call, kernel) for call, kernel in program.stepped}
    numbers = {key: number for number, key in enumerate(distinct)}
    families = [Family(call.op, (Variant(step_schedule(call), ALWAYS),), ()) for call, _ in distinct.values()]
    levels, notes, columns = [], [], []
    for level in LEVELS[architecture]:
        units = [units_of(family, level, f"k{n}_")[0] for n, family in enumerate(families)]
        lacking = [need for unit in units for need in unit.kernel.needs if need not in level.target.isa]
        if lacking:
            notes.append(f"{level.name}: left out, its micro-kernels need {', '.join(dict.fromkeys(lacking))}")
            continue
        levels.append(level)
        columns.append(units)
    if not levels:
        raise BuildError(f"no kernel is left for {architecture}: {'; '.join(notes)}")
    made = [
        ModelKernel(call, step, tuple(_checked(step, column[n]) for column in columns))
        for n, (call, step) in enumerate(distinct.values())
    ]
    return ModelKernels(tuple(made), numbers, tuple(levels), tuple(notes))


def _checked(step: StepKernel, unit: Unit) -> Unit:
    """The unit, which takes what the program's own kernel takes, in that order."""
    signature = unit.kernel.signature
    taken = tuple(each.name for each in (*signature.inputs, *signature.outputs))
    if taken != step.parameters or signature.symbols:
        raise BuildError(f"{unit.title}: takes {taken}, not {step.parameters}")
    return replace(unit)
