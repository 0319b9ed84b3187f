"""`generate`: a schedule becomes the text of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.codegen.c.unit import write_unit
from workbench.codegen.kernel import Kernel
from workbench.codegen.nest.nest import Invoke, Nest, walk, writes
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import lower_nest
from workbench.dialects import DIALECTS
from workbench.errors import CodegenError, IllegalSchedule, shown
from workbench.schedules.kernels.micro_kernels import MicroKernel, ProcessorKernel, registered
from workbench.target import Target, unknown_target
from workbench.target_cpus import CPUS
from workbench.target_gpus import GPUS

if TYPE_CHECKING:
    from workbench.poly.programs.program import Program
    from workbench.schedules import Schedule

PLAIN = {name: Target(name) for name in DIALECTS}
"""Dialect → the target of which nothing else is known."""


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
    if not unsafe:
        refuse_illegal(schedule)
    return machine.language.load("writer")(schedule, machine, checked=not unchecked)


def refuse_illegal(schedule: Schedule) -> None:
    """IllegalSchedule if a schedule would compute something else than its operator, or is not known not to."""
    if not schedule.verdict:
        why = schedule.verdict.explain()
        raise IllegalSchedule(f"no code for an illegal schedule (unsafe=True insists): {why}", schedule.verdict)


def c_kernel(schedule: Schedule, machine: Target, *, checked: bool) -> Kernel:
    """The kernel in C."""
    nest = lower_nest(schedule.program, schedule.tree, machine)
    program = stored(schedule.program, schedule.tree)
    return kernel_of_nest(schedule, program, nest, machine, title_comment(schedule), checked=checked)


def kernel_of_nest(
    schedule: Schedule, program: Program, nest: Nest, machine: Target, head: list[str], *, checked: bool
) -> Kernel:  # fmt: skip
    """The kernel in C that executes a nest over the arrays of a program, below these comment lines."""
    unit = write_unit(program, nest, machine, head, checked=checked)
    calls = dict.fromkeys(flag for kernel in called(nest) for flag in kernel.flags)
    needs = dict.fromkeys(x for kernel in called(nest) if isinstance(kernel, ProcessorKernel) for x in kernel.isa)
    return Kernel(
        program.name, unit.text, unit.signature, machine, program.sizes, schedule, unit.notes, tuple(calls),
        tuple(needs), start=unit.start, origins=unit.origins,
    )  # fmt: skip


def gpu_kernel(schedule: Schedule, machine: Target, *, checked: bool) -> Kernel:
    """The kernels in a dialect for GPUs."""
    from workbench.codegen.cuda.unit import write_gpu_unit  # who writes C does not wait for it

    program = schedule.program
    unit = write_gpu_unit(program, schedule.tree, machine, title_comment(schedule), checked=checked)
    return Kernel(
        program.name, unit.text, unit.signature, machine, program.sizes, schedule, unit.notes,
        launches=unit.launches, buffers=unit.buffers, start=unit.start, origins=unit.origins,
    )  # fmt: skip


def as_target(target: str | Target) -> Target:
    """A Target, the plain one of a dialect, or a processor or GPU by name."""
    if isinstance(target, Target):
        return target
    if isinstance(target, str) and target in (*CPUS, *GPUS):
        return Target(target)
    if not isinstance(target, str) or target not in DIALECTS:
        raise CodegenError(unknown_target(target, DIALECTS))
    return PLAIN[target]


def title_comment(schedule: Schedule) -> list[str]:
    """Comment lines: what it is, for which sizes, how it was scheduled."""
    sizes = ", ".join(f"{k} = {v}" for k, v in schedule.program.sizes.items()) or "symbolic sizes"
    return [f"{schedule.program.name}: {sizes}", f"schedule: {schedule.steps()}"]


def called(nest: Nest) -> list[MicroKernel]:
    """The micro-kernels a nest calls, and the instructions it has."""
    calls = [node.kernel for node in walk(nest) if isinstance(node, Invoke)]
    groups = dict.fromkeys(w.group.instruction for w in writes(nest) if w.group is not None)
    return [registered(name) for name in (*calls, *groups)]
