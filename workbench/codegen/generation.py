"""`generate`: a schedule becomes the text of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.codegen.c.unit import write_unit
from workbench.codegen.kernel import Kernel
from workbench.codegen.nest.nest import Invoke, Nest, walk
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import lower_nest
from workbench.errors import CodegenError, IllegalSchedule, shown
from workbench.schedules.kernels.micro_kernels import MicroKernel, ProcessorKernel, registered
from workbench.target import Target, unknown_target
from workbench.target_cpus import CPUS
from workbench.target_gpus import GPUS

if TYPE_CHECKING:
    from workbench.schedules import Schedule

DIALECTS = {
    "c": Target(),
    "cuda": Target("cuda", dialect="cuda", vector_bits=32),
    "hip": Target("hip", dialect="hip", vector_bits=32),
}


def generate(
    schedule: Schedule, /, target: str | Target = "c", *, unchecked: bool = False, unsafe: bool = False
) -> Kernel:
    """The kernel of a schedule as text; no compiler is needed.

    `unchecked=True` leaves out the checks of data-dependent subscripts.  IllegalSchedule if the schedule would
    compute something else than its operator, or is not known not to (a preview), unless `unsafe=True`.
    """
    machine = as_target(target)
    if not hasattr(schedule, "verdict"):
        advice = "wb.generate(wb.autoschedule(op, M=64))"
        raise CodegenError(f"generate takes a Schedule, not {shown(schedule)}; for an operator: {advice}")
    if not unsafe and not schedule.verdict:
        why = schedule.verdict.explain()
        raise IllegalSchedule(f"no code for an illegal schedule (unsafe=True insists): {why}", schedule.verdict)
    if machine.dialect != "c":
        return _for_gpu(schedule, machine, checked=not unchecked)
    program = schedule.program
    nest = lower_nest(program, schedule.tree, machine)
    unit = write_unit(stored(program, schedule.tree), nest, machine, title(schedule), checked=not unchecked)
    calls = dict.fromkeys(flag for kernel in called(nest) for flag in kernel.flags)
    needs = dict.fromkeys(x for kernel in called(nest) if isinstance(kernel, ProcessorKernel) for x in kernel.isa)
    return Kernel(
        program.name, unit.text, unit.signature, machine, program.sizes, schedule, unit.notes, tuple(calls),
        tuple(needs),
    )  # fmt: skip


def _for_gpu(schedule: Schedule, machine: Target, *, checked: bool) -> Kernel:
    from workbench.codegen.cuda.unit import write_gpu_unit  # who writes C does not wait for it

    program = schedule.program
    unit = write_gpu_unit(program, schedule.tree, machine, title(schedule), checked=checked)
    return Kernel(
        program.name, unit.text, unit.signature, machine, program.sizes, schedule, unit.notes,
        launches=unit.launches, buffers=unit.buffers,
    )  # fmt: skip


def as_target(target: str | Target) -> Target:
    """A Target, the plain one of a dialect, or a processor or GPU by name."""
    if isinstance(target, Target):
        if target.dialect not in DIALECTS:
            raise CodegenError(f"no code is written in {target.dialect} yet; known dialects: {', '.join(DIALECTS)}")
        return target
    if isinstance(target, str) and target in (*CPUS, *GPUS):
        return Target(target)
    if not isinstance(target, str) or target not in DIALECTS:
        raise CodegenError(unknown_target(target, DIALECTS))
    return DIALECTS[target]


def title(schedule: Schedule) -> list[str]:
    """Comment lines: what it is, for which sizes, how it was scheduled."""
    sizes = ", ".join(f"{k} = {v}" for k, v in schedule.program.sizes.items()) or "symbolic sizes"
    return [f"{schedule.program.name}: {sizes}", f"schedule: {schedule.steps()}"]


def called(nest: Nest) -> list[MicroKernel]:
    """The micro-kernels a nest calls."""
    return [registered(node.kernel) for node in walk(nest) if isinstance(node, Invoke)]
