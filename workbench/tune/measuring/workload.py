"""The workload of a study: the arguments of the calls that are timed, and the results they have to give."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ScheduleError
from workbench.records import record
from workbench.runtime.arrays.foreign import several
from workbench.runtime.arrays.layout import Slot
from workbench.runtime.checking.expectation import Expected

if TYPE_CHECKING:
    from workbench.lang.operator import Operator
    from workbench.poly.programs.program import Program

Array = np.ndarray[Any, Any]

SPOILT = 0xA5
"""The byte that results are not made of."""


@record(slots=True, eq=False)
class Workload:
    """Arguments by name (arrays, or numbers for scalars passed by value), outputs as they are before a call (None: not
    read), and what is expected of a call.
    """

    inputs: dict[str, Any]
    before: dict[str, Array | None]
    expected: Expected

    def save(self, path: Path) -> None:
        """Write it where helper processes of this study read it."""
        path.write_bytes(pickle.dumps(self, protocol=5))

    @staticmethod
    def load(path: Path) -> Workload:
        """What `save` wrote, in a directory that only this user can enter."""
        return pickle.loads(path.read_bytes())


def begun(before: Array | None, slot: Slot) -> Array | None:
    """An output as it is before a call: what the call reads, else bytes that are no results, as memory that is used
    again may hold those of another candidate; None for one that the call itself clears.
    """
    if before is None and slot.parameter.zero_fill:
        return None
    array = slot.fresh()
    if before is not None:
        array[...] = before
    else:
        spoil(array)
    return array


def spoil(array: Array) -> None:
    """Fill an array with bytes that are no results."""
    array.reshape(-1).view(np.uint8).fill(SPOILT) if array.flags.c_contiguous else array.fill(0)


def workload(program: Program, seed: int = 0) -> Workload:
    """Sample arguments for the program of an operator, all of whose sizes are bound."""
    from workbench.ops.samples import sample_arrays, sample_out  # who loads what was saved does without
    from workbench.runtime.checking.verification import expected, expected_of_text

    op = _definition(program)
    arrays = _laid_out(program, op, sample_arrays(op, seed, **program.sizes))
    out = sample_out(op, seed + 1, **program.sizes)
    left = {n: v for n, v in program.sizes.items() if n not in op.parameters}
    known = expected_of_text(program, arrays, out, {}) if op.language == "c" else expected(op, arrays, out, left)
    given = several(out) if out is not None else (None,) * len(op.outputs)
    named = {name: value for name, value in zip(op.parameters, arrays, strict=True) if name not in op.scalars}
    return Workload(named, dict(zip(op.outputs, given, strict=True)), known)


def _definition(program: Program) -> Operator:
    found = program.original.definition
    if found is None:
        raise ScheduleError(f"{program.name} is not the program of an operator: nothing says what its results are")
    return found


def _laid_out(program: Program, op: Operator, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays with the strides for which the program was lowered."""
    return tuple(
        value if not isinstance(value, np.ndarray) or not value.ndim else _strided(program, name, value)
        for name, value in zip(op.parameters, arrays, strict=True)
    )


def _strided(program: Program, name: str, array: Array) -> Array:
    strides = [getattr(s, "value", None) for s in program.original.arrays[name].strides]
    if any(s is None for s in strides):
        return array
    wanted = tuple(int(s or 0) * array.itemsize for s in strides)
    if wanted == array.strides or any(s < 0 for s in wanted):
        return array
    reach = sum((n - 1) * s for n, s in zip(array.shape, wanted, strict=True) if n)
    memory = np.zeros(reach + array.itemsize, np.uint8)
    laid: Array = np.ndarray(array.shape, array.dtype, memory, 0, wanted)
    laid[...] = array
    return laid
