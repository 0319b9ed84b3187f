"""The first call of an operator with arrays of one kind: bind, lower, schedule, generate, build."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench import poly
from workbench.errors import CallError
from workbench.lang import bind
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.building import build, build_target
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.schedules import Schedule, default_schedule, reasons
from workbench.target import Target
from workbench.target_costs import Costs

Array = np.ndarray[Any, Any]

DEFAULT = "the default recipe"

known_best: Callable[[Program, Target, Toolchain, int], tuple[Schedule, str] | None] | None = None
"""What the tuner knows of a program on a machine with so many threads: a schedule, and where it comes from.

The face puts it here: the tuner's room stands after this one.
"""


@record(eq=False, repr=False)
class Plan:
    """What a call will run: `op.plan(*arrays)`.

    `op` has its type variables fixed; `sizes` are those of the arrays, `strides` (in elements) those of
    arrays that are not dense.  `schedule` is the best that the tuner knows for them, else the default
    recipe's for `target` (`source` says which), and its trace says which steps were taken.
    """

    op: Operator
    sizes: dict[str, int]
    strides: dict[str, tuple[int, ...]]
    schedule: Schedule
    target: Target
    toolchain: Toolchain
    unchecked: bool
    source: str = DEFAULT

    def build(self) -> CompiledKernel:
        """The kernel of this plan."""
        return build(self.schedule, self.target, unchecked=self.unchecked)

    def __str__(self) -> str:
        sizes = ", ".join(f"{k}={v}" for k, v in self.sizes.items()) or "no sizes"
        layouts = [f"{name} with strides {steps}" for name, steps in self.strides.items()]
        target = self.target
        machine = f"{target.cores} cores, {target.vector_bits}-bit vectors"
        costs = "" if target.costs == Costs() else f"\ncosts:    {target.costs.origin}"
        return "\n".join([
            f"{self.op.name}({', '.join(self.op.parameters)}) for {sizes}",
            f"arrays:   {'; '.join(layouts) or 'dense, row after row'}",
            f"from:     {self.source}",
            "schedule:",
            *(f"  {step}: {why}" for step, why in reasons(self.schedule)),
            f"machine:  {machine}, parallel loops by {target.parallel}{costs}",
            f"compiler: {self.toolchain}",
            f"indices:  {'not checked' if self.unchecked else 'checked'}",
            *str(self.schedule).partition("\nloops\n")[2].splitlines(),
        ])  # fmt: skip

    def __repr__(self) -> str:
        return str(self)


def make_plan(op: Operator, arrays: tuple[Any, ...], scalars: Mapping[str, Any], out: Any, *, unchecked: bool) -> Plan:
    """The plan of a call with NumPy arrays in native byte order.

    Raises CallError if the arrays do not fit the operator or an access would leave its array.
    """
    bound = bind(op, arrays, scalars, out)
    given = {**bound.arrays, **bound.out}
    strides = {name: steps for name, array in given.items() if (steps := _strides(array)) is not None}
    program = poly.lower(bound.op, bound.sizes, strides)
    _refuse_outside(op, program, unchecked=unchecked)
    toolchain = preferred_toolchain()
    target = replace(build_target("c", toolchain), cores=thread_count())
    schedule, source = _chosen(program, target, toolchain)
    return Plan(bound.op, bound.sizes, strides, schedule, target, toolchain, unchecked, source)


def _chosen(program: Program, target: Target, toolchain: Toolchain) -> tuple[Schedule, str]:
    """The schedule of a call, and where it comes from: what the tuner knows, else the default recipe's."""
    known = None if known_best is None else known_best(program, target, toolchain, target.cores)
    return (default_schedule(program, target), DEFAULT) if known is None else known


def _strides(array: Array) -> tuple[int, ...] | None:
    """Strides in elements of an array that is not dense; None for one that is."""
    if array.flags.c_contiguous:
        return None
    steps = zip(array.shape, array.strides, _dense(array.shape), strict=True)
    # A stride over a single element is never used: any value serves, and the dense one needs no second
    # kernel.
    found = tuple(dense if n == 1 else step // array.itemsize for n, step, dense in steps)
    return None if found == tuple(_dense(array.shape)) else found


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps = [1]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps))


def _refuse_outside(op: Operator, program: Any, *, unchecked: bool) -> None:
    """CallError for an access that leaves its array; where data decide, only if indices are checked."""
    for found in poly.out_of_bounds(program):
        if found.certain:
            raise CallError(f"{op.name}: {found}")
        if not unchecked:
            advice = "bound it by a condition on the index, or say unchecked=True"
            raise CallError(f"{op.name}: depending on the data, {found}; {advice}")
