"""`verify`: a kernel's result against the oracle, within a bound that follows from the operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench import poly
from workbench.errors import CallError, shown
from workbench.lang import bind
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.runtime.arrays.foreign import several
from workbench.runtime.calls.calling import as_numpy_arguments
from workbench.runtime.checking.expectation import Expected, Verification
from workbench.runtime.checking.magnitude import NotPolynomial, magnitude
from workbench.runtime.checking.part_by_part import evaluated
from workbench.runtime.checking.roundings import depths, gamma
from workbench.runtime.kernels.launch import CompiledKernel

Array = np.ndarray[Any, Any]

# Without a derived bound, this many times the errors that the oracle itself makes in the declared types.
ESTIMATE_FACTOR = 16.0


def verify(what: CompiledKernel | Operator | Program, /, *arrays: Any, out: Any = None, **scalars: Any) -> Verification:
    """Run a kernel, or an operator, and the oracle in double precision; compare them cell by cell.

    The bound is gamma(n) times the sum of |a b| for a sum of n products, and the same for any polynomial of
    the inputs. For other operators it is an estimate: a multiple of what the oracle's own result changes
    when it computes in the declared types and when its inputs change in the last place.  Integers must
    agree exactly unless those change them.  `out` is not changed.  The oracle of a program from C is its own text
    in its own order, compiled at -O1 without contraction; its arrays are not changed either.
    """
    op = _operator(what)
    if op.language == "c":
        return _against_text(poly.lower(what) if isinstance(what, Operator) else what, arrays, out, scalars)
    if isinstance(what, Program):
        what, scalars = op, {**what.sizes, **scalars}
    if isinstance(what, CompiledKernel):
        scalars = {**_built_in(what, op, len(arrays)), **scalars}
    arrays, scalars = as_numpy_arguments(op, arrays, scalars)
    given = tuple(None if o is None else np.array(o) for o in several(out))
    outputs = None if out is None else given if len(op.outputs) > 1 else given[0]
    known = expected(op, arrays, outputs, scalars)
    return known.judged(several(_run(what, arrays, scalars, outputs)))


def expected(op: Operator, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> Expected:
    """The oracle's results of a call with NumPy arrays, with bounds; `out` holds what outputs are before, if read."""
    results = evaluated(op, arrays, out, **scalars)
    bounds, derived = _bounds(op, arrays, scalars, out, results)
    return Expected(op.outputs, tuple(results), tuple(bounds), derived)


def expected_of_text(program: Program, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> Expected:
    """The same for a program from C: what its own text gives in its own order."""
    from workbench.runtime.checking.sequential import expectation  # the parser of C is not loaded for other programs

    results, bounds = expectation(program, arrays, out, scalars)
    return Expected(program.outputs, tuple(results), tuple(bounds), derived=False)


def _against_text(
    what: CompiledKernel | Program, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]
) -> Verification:
    """A program from C against its own text in its own order."""
    program = what if isinstance(what, Program) else what.schedule.program.original
    copies = tuple(np.array(a) if isinstance(a, np.ndarray) else a for a in arrays)
    named = {name: np.array(a) if isinstance(a, np.ndarray) else a for name, a in scalars.items()}
    given = None if out is None else tuple(np.array(o) for o in several(out))
    computed = several(_run(what, copies, named, given[0] if given and not isinstance(out, tuple | list) else given))
    return expected_of_text(program, arrays, out, scalars).judged(computed)


def _operator(what: CompiledKernel | Operator | Program) -> Operator:
    if isinstance(what, Operator):
        return what
    program = what if isinstance(what, Program) else getattr(getattr(what, "schedule", None), "program", None)
    if program is None or program.definition is None:
        raise CallError(f"verify needs a kernel that was built from a schedule, or an operator, not {shown(what)}")
    return program.definition


def _built_in(kernel: CompiledKernel, op: Operator, given: int) -> dict[str, Any]:
    """Integer scalars that the call leaves out because the kernel was built for their value."""
    left = op.parameters[given:]
    sizes = kernel.kernel.sizes
    return {name: sizes[name] for name in left if name in op.scalars and name in sizes}


def _run(what: Any, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any) -> Any:
    return what(*arrays, **scalars, **({} if out is None else {"out": out}))


def _bounds(
    op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any, expected: tuple[Array, ...]
) -> tuple[list[Array], bool]:
    """A bound for each cell of each output, and whether it was derived."""
    try:
        return _derived(op, arrays, scalars, out, expected), True
    except NotPolynomial:
        return _estimated(op, arrays, scalars, out, expected), False


def _derived(
    op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any, expected: tuple[Array, ...]
) -> list[Array]:
    known = bind(op, arrays, scalars, out)
    found = depths(known.op, known.sizes)
    positive = [_positive(a) for a in arrays]
    named = {name: _positive(value) for name, value in scalars.items()}
    start = None if out is None else tuple(None if o is None else _positive(o) for o in several(out))
    largest = evaluated(magnitude(known.op), tuple(positive), start, **named)
    return [
        _float_bound(gamma(known.op, found[name]), size, exact)
        for name, size, exact in zip(op.outputs, largest, expected, strict=True)
    ]


def _float_bound(relative: float, size: Array, exact: Array) -> Array:
    """gamma times the magnitude for the kernel; the oracle rounds once, or as often in double precision."""
    if size.dtype.kind in "biu":
        return np.zeros(size.shape)
    double = exact.dtype.itemsize == 8
    oracle = relative if double else _unit(exact.dtype)
    tiny = float(np.finfo(np.float64 if double else np.float32).smallest_subnormal)
    with np.errstate(all="ignore"):
        return (relative + oracle) * size.astype(np.float64) + 4 * tiny


def _positive(value: Any) -> Any:
    """Absolute values of floats; integers, which may be indices, stay."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biu" else abs(value)
    return abs(value) if isinstance(value, float) else value


def _estimated(
    op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any, expected: tuple[Array, ...]
) -> list[Array]:
    """A multiple of the largest change over an output, plus some units in the last place."""
    declared = evaluated(op, arrays, out, accumulate=None, **scalars)
    nudged = evaluated(op, tuple(_nudged(a) for a in arrays), out, **scalars)
    known = zip(expected, declared, nudged, _orders(op, arrays, scalars, out), strict=True)
    return [_estimate(*each) for each in known]


def _orders(op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any) -> list[float]:
    """How many times as far off another order of the sums of each output may be: the oracle adds in pairs, where errors
    hardly grow; one after the other they grow as the square root of their number.
    """
    known = bind(op, arrays, scalars, out)
    try:
        found = depths(known.op, known.sizes)
    except NotPolynomial:
        return [1.0] * len(op.outputs)
    return [max(1.0, found[name].arithmetic ** 0.5 / 4) for name in op.outputs]


def _estimate(exact: Array, declared: Array, nudged: Array, order: float) -> Array:
    with np.errstate(all="ignore"):
        reference = exact.astype(np.float64)
        changes = [abs(other.astype(np.float64) - reference) for other in (declared, nudged)]
        largest = sum(float(np.max(c, initial=0.0, where=np.isfinite(c))) for c in changes)
        unit = 0.0 if exact.dtype.kind in "biu" else _unit(exact.dtype)
        return ESTIMATE_FACTOR * order * (largest + unit * abs(reference))


def _unit(dtype: np.dtype[Any]) -> float:
    """Half the distance from 1 to the next number."""
    return 2.0**-9 if dtype.kind == "V" else float(np.finfo(dtype).eps) / 2


def _nudged(array: Any) -> Any:
    """Every float moved by one unit in the last place, up or down in turn."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        return array
    towards = np.full(array.size, -np.inf, array.dtype)
    towards[1::2] = np.inf
    return np.where(np.isfinite(array), np.nextafter(array, towards.reshape(array.shape)), array)
