"""`call_program`: a program meets arrays, as its operator does."""

from __future__ import annotations

from typing import Any

from workbench.errors import CallError
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.runtime.calls.calling import call
from workbench.runtime.kernels.c_order import in_c_order


def call_program(
    program: Program, /, *arrays: Any, out: Any = None, unchecked: bool | None = None, **scalars: Any
) -> Any:
    """`program(*arrays)`: the call of its operator with the sizes that are bound.

    A program from C takes what its C function takes, with or without the sizes that shapes tell, and updates arrays in
    place; or its inputs alone, with the arrays it updates as `out=`.  The result is the updated array, or a tuple.
    """
    op = _definition(program)
    taken = in_c_order(program, arrays, out, scalars)
    if taken is None:
        left = {n: v for n, v in program.sizes.items() if n in op.size_names or n in op.parameters[len(arrays) :]}
        return call(op, *arrays, out=out, unchecked=unchecked, **{**left, **scalars})
    values = {**program.sizes, **taken.sizes, **taken.inputs}
    positional = [values[p] for p in op.parameters if p in values]
    sizes = {n: v for n, v in taken.sizes.items() if n not in op.parameters}
    return call(op, *positional, out=taken.out, unchecked=unchecked, **{**_bound(program, op), **sizes})


def _bound(program: Program, op: Operator) -> dict[str, int]:
    return {n: v for n, v in program.sizes.items() if n in op.size_names}


def _definition(program: Program) -> Operator:
    if program.definition is None:
        raise CallError(f"{program.name} is not the program of an operator: build a kernel of a schedule of it")
    return program.definition
