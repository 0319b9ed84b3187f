"""The oracle of a program from C: its own text in its own order, compiled with few optimisations and no contraction."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from workbench import poly
from workbench.errors import CallError, shown
from workbench.fromc import Parameter, Raised, raised_from
from workbench.fromc.sequential import NAME
from workbench.lang import bind
from workbench.lang.expr import reads
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.calls.program_calls import call_program
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.toolchain import LANGUAGE, ZIG
from workbench.runtime.kernels.aliasing import refuse_shared_arguments
from workbench.runtime.kernels.c_order import in_c_order
from workbench.target import Target

Array = np.ndarray[Any, Any]

# As written: no sum is re-associated, no product contracted with a sum.
FLAGS = ("-O1", "-ffp-contract=off", *LANGUAGE)
# Without a derived bound, this many times what small changes of the inputs change.
ESTIMATE_FACTOR = 16.0
SEEDS = (0, 1)


@record(slots=True)
class SequentialJob(Job):
    """A text compiled as it stands."""

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the oracle, whatever the machine."""
        return (*FLAGS, *(ZIG if self.toolchain.family == "zig" else ()))


def evaluate_c(program: Program, /, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
    """What a program from C computes in the order of its text; the arrays given are not changed.

    The text is compiled at -O1 without contraction.  Takes what the program takes; the result is the array it updates,
    or a tuple of them.  Raises CallError for arguments that do not fit, and where the text would leave an array.
    """
    raised = raised_from(program) if isinstance(program, Program) else None
    if raised is None:
        raise CallError(f"evaluate_c takes a program that from_c made, not {shown(program)}")
    inputs, outputs, sizes = sequential_arguments(program, arrays, out, scalars)
    _refuse_outside(program, inputs, outputs, sizes)
    results = run_sequential(raised, inputs, outputs, sizes)
    return results[0] if len(results) == 1 else results


def sequential_arguments(
    program: Program, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Array, ...], dict[str, int]]:
    """(inputs and numbers by name, contents of the updated arrays, sizes) of a call, checked."""
    op = program.original.definition
    assert op is not None
    taken = in_c_order(program, arrays, out, scalars)
    if taken is not None:
        values = {**program.sizes, **taken.sizes, **taken.inputs}
        arrays, out = tuple(values[p] for p in op.parameters if p in values), taken.out
        scalars = {n: v for n, v in {**program.sizes, **taken.sizes}.items() if n in op.size_names}
    refuse_shared_arguments(op, arrays, out)
    known = bind(op, tuple(_plain(a) for a in arrays), scalars, None if out is None else _plain(out))
    outputs = tuple(np.array(known.out[name]) for name in op.outputs)
    return {**known.arrays, **known.scalars}, outputs, known.sizes


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return np.asarray(value) if hasattr(value, "__array__") else value


def _refuse_outside(
    program: Program, inputs: dict[str, Any], outputs: tuple[Array, ...], sizes: dict[str, int]
) -> None:
    """CallError (or KernelError, where data decide) if the text would leave an array: C would not say so."""
    op = program.original.definition
    assert op is not None
    bound = poly.lower(op, sizes)
    found = next(iter(poly.out_of_bounds(bound)), None)
    if found is not None and found.certain:
        raise CallError(f"{op.name}: {found}")
    if found is not None or any(reads(e) for s in bound.statements for a in s.accesses for e in a.subscripts):
        copies: list[Array] = [np.array(a) for a in outputs]
        named = {name: inputs[name] for name in op.parameters if name in inputs}
        arguments: dict[str, Any] = {**named, **sizes, "out": copies if len(copies) > 1 else copies[0]}
        call_program(poly.lower(op), **arguments)


def run_sequential(
    raised: Raised, inputs: dict[str, Any], outputs: tuple[Array, ...], sizes: dict[str, int]
) -> tuple[Array, ...]:
    """The updated arrays, new ones, after the text has run."""
    results = tuple(np.array(a, order="C") for a in outputs)
    values = {**inputs, **sizes, **dict(zip(raised.operator.outputs, results, strict=True))}
    function = getattr(load(_job(raised)).handle, NAME)
    function.restype = None
    kept = [_argument(p, values.get(p.tensor or p.name, 0)) for p in raised.parameters]
    function(*(argument for argument, _ in kept))
    return results


def _job(raised: Raised) -> SequentialJob:
    return SequentialJob(raised.operator.name, raised.sequential, preferred_toolchain(), Target(), False)


def _argument(parameter: Parameter, value: Any) -> tuple[Any, Any]:
    """The argument as ctypes takes it, and what must stay alive meanwhile."""
    if parameter.is_array:
        array = np.ascontiguousarray(value, dtype=parameter.dtype.numpy)
        return ctypes.c_void_p(array.ctypes.data), array
    if parameter.c_type.endswith("*"):
        return ctypes.c_void_p(None), None
    if parameter.dtype.is_float:
        return (ctypes.c_float if parameter.dtype.bits == 32 else ctypes.c_double)(value), None
    prefix = "u" if parameter.dtype.kind in ("uint", "bool") else ""
    return getattr(ctypes, f"c_{prefix}int{8 * parameter.dtype.bytes}")(int(value)), None


def expectation(
    program: Program, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]
) -> tuple[tuple[Array, ...], list[Array]]:
    """What the text computes, and for each cell by how much a kernel may differ.

    The bound is an estimate: a multiple of the largest change over an output when every float that goes in moves by one
    unit in the last place, up or down at random; none for integers that these leave alone.
    """
    raised = raised_from(program)
    assert raised is not None
    inputs, outputs, sizes = sequential_arguments(program, arrays, out, scalars)
    expected = run_sequential(raised, inputs, outputs, sizes)
    largest = [0.0] * len(expected)
    for seed in SEEDS:
        moved = {name: _nudged(value, seed) for name, value in inputs.items()}
        others = run_sequential(raised, moved, tuple(_nudged(a, seed + 1) for a in outputs), sizes)
        largest = [a + _difference(*pair) for a, pair in zip(largest, zip(expected, others, strict=True), strict=True)]
    return expected, [_bound(exact, change) for exact, change in zip(expected, largest, strict=True)]


def _nudged(value: Any, seed: int) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    signs = np.random.default_rng(seed).integers(0, 2, value.shape)
    towards = np.where(signs, np.inf, -np.inf).astype(value.dtype)
    return np.where(np.isfinite(value), np.nextafter(value, towards), value)


def _difference(exact: Array, other: Array) -> float:
    with np.errstate(all="ignore"):
        change = abs(other.astype(np.float64) - exact.astype(np.float64))
    return float(np.max(change, initial=0.0, where=np.isfinite(change)))


def _bound(exact: Array, change: float) -> Array:
    unit = float(np.finfo(exact.dtype).eps) / 2 if exact.dtype.kind == "f" else 0.0
    with np.errstate(all="ignore"):
        return ESTIMATE_FACTOR * (change + unit * abs(exact.astype(np.float64)))

