"""Calls of operators by kernels for all sizes: slower, but made once, for what is met with ever new sizes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench import poly
from workbench.errors import CodegenError, LoweringError, ScheduleError
from workbench.graph.running.hosted_calls import compiled_call
from workbench.lang.binding.arrays import bind
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate
from workbench.runtime.building import build, build_target
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.schedules import default_schedule

REMEMBERED = 1024


def symbolic_call(op: Operator, /, out: Any = None, **given: Any) -> Any:
    """A call of an operator as its oracle is called, by a kernel whose sizes are arguments.

    Operators that update their output or promise something about data have a kernel for each size, and what no such
    kernel can be made for is computed by the oracle.
    """
    if out is not None or op.promises:
        return compiled_call(op, out, **given)
    bound = bind(op, (), given)
    scalars = tuple((name, bound.sizes[name]) for name in op.scalars)
    kernel = _kernel(bound.op, scalars)
    if kernel is None:
        return evaluate(op, **given)
    arrays = {parameter.name: given[parameter.name] for parameter in kernel.signature.inputs}
    symbols = {name: bound.sizes[name] for name in kernel.signature.symbols}
    return kernel(**arrays, **symbols)


@lru_cache(REMEMBERED)
def _kernel(op: Operator, scalars: tuple[tuple[str, int], ...]) -> CompiledKernel | None:
    """The kernel of an operator for all sizes; None if it has none."""
    target = build_target("c", preferred_toolchain())
    try:
        program = poly.lower(op, dict(scalars))
        if any(found.certain for found in poly.out_of_bounds(program)):
            return None
        return build(default_schedule(program, target), target)
    except (LoweringError, ScheduleError, CodegenError):
        return None
