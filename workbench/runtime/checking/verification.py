"""`verify`: a kernel's result against the oracle, within a bound that follows from the operator."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench import poly
from workbench.errors import CallError, shown
from workbench.lang import bind
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.arrays.foreign import several
from workbench.runtime.calls.calling import as_numpy_arguments
from workbench.runtime.checking.magnitude import NotPolynomial, magnitude
from workbench.runtime.checking.part_by_part import evaluated
from workbench.runtime.checking.roundings import depths, gamma
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.launch import CompiledKernel

Array = np.ndarray[Any, Any]

# Without a derived bound, this many times the errors that the oracle itself makes in the declared types.
ESTIMATE_FACTOR = 16.0

PIECE, SEVERAL = 1 << 15, 64
"""Cells that are compared at a time, so that all that is computed of them stays in a cache, and pieces that threads
share.
"""


@record(slots=True, repr=False)
class Verification:
    """The largest difference between a kernel and the oracle, beside the bound at that cell.

    `error` and `bound` belong to the cell `place` of `output`, where the error is the largest part of its
    bound. `derived` says that the bound was derived from the operator's text; else it is an estimate.
    """

    error: float
    bound: float
    ok: bool
    output: str
    place: tuple[int, ...]
    derived: bool

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        kind = "bound" if self.derived else "estimated bound"
        verdict = "agrees with the oracle" if self.ok else "DIFFERS from the oracle"
        where = f"{self.output}{list(self.place)}" if self.output else "no cell"
        return f"{verdict}: error {self.error:.3g}, {kind} {self.bound:.3g} (largest share at {where})"

    def __repr__(self) -> str:
        return str(self)


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


@record(slots=True, eq=False)
class Expected:
    """What a call has to give: the oracle's results for each output, and how far off each of their cells may be."""

    names: tuple[str, ...]
    results: tuple[Array, ...]
    bounds: tuple[Array, ...]
    derived: bool

    def judged(self, computed: Iterable[Array]) -> Verification:
        """The largest difference of results that a kernel computed."""
        triples = zip(computed, self.results, self.bounds, strict=True)
        shares = [_compare(*triple) for triple in triples]
        worst = max(range(len(shares)), key=lambda n: shares[n][0])
        share, error, bound, place = shares[worst]
        return Verification(error, bound, share <= 1, self.names[worst], place, self.derived)


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


def _compare(computed: Array, exact: Array, bound: Array) -> tuple[float, float, float, tuple[int, ...]]:
    """(share of the bound, error, bound, place) at the cell where the error is the largest share of its bound."""
    if exact.size == 0:
        return 0.0, 0.0, 0.0, ()
    flat = [np.ascontiguousarray(x).reshape(-1) for x in (computed, exact, np.broadcast_to(bound, exact.shape))]
    parts = [slice(start, start + PIECE) for start in range(0, exact.size, PIECE)]

    def worst(part: slice) -> tuple[float, float, int]:
        share, error, place = _worst(*(x[part] for x in flat))
        return share, error, part.start + place

    if len(parts) < SEVERAL:
        found = list(map(worst, parts))
    else:
        with ThreadPoolExecutor(thread_count()) as pool:
            found = list(pool.map(worst, parts))
    share, error, place = max(found, key=lambda one: one[0])
    return share, error, float(flat[2][place]), tuple(map(int, np.unravel_index(place, exact.shape)))


def _worst(computed: Array, exact: Array, bound: Array) -> tuple[float, float, int]:
    """(share of the bound, error, place) in a piece."""
    wide = np.int64 if exact.dtype.kind in "biu" else np.float64
    with np.errstate(all="ignore"):
        a, b = computed.astype(wide), exact.astype(wide)
        error = abs((a - b).astype(np.float64))
        same = (a == b) | ((a != a) & (b != b))
        error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
        share = np.where(same, 0.0, np.where(bound > 0, error / bound, np.inf))
        share = np.where(np.isnan(share), 0.0, share)
    place = int(np.argmax(share))
    return float(share[place]), float(error[place]), place
