"""`call` and `plan`: an operator meets arrays.

The first call with arrays of one kind (shapes, strides, types) prepares a kernel; later ones find it by
that key and go straight to the border.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.face import uncollected
from workbench.lang import bind
from workbench.lang.operator import Operator
from workbench.runtime.arrays.foreign import as_array, as_output, is_readable_by_c, like_given, plain_copy, several
from workbench.runtime.calls.call_table import Key, Runner, call_table
from workbench.runtime.calls.preparing import Plan, make_plan
from workbench.runtime.kernels.aliasing import refuse_shared_arguments, stands_in_memory
from workbench.runtime.kernels.copying import refuse_overlap_with_itself
from workbench.settings import current


def call(op: Operator, /, *arrays: Any, out: Any = None, unchecked: bool | None = None, **scalars: Any) -> Any:
    """`op(*arrays)`: infer the sizes, compile on first use, run.

    Arrays (anything with `__array__`, a buffer or DLPack) and scalars stand in the order of
    `op.parameters`; scalars and sizes that no shape tells may be keywords.  The result is an array, or a
    tuple in the order of `op.outputs` (tensors of PyTorch where one was given); `out=` receives it instead.
    `unchecked=True` omits the checks of indices found in data, and of promises.  Raises CallError for arguments
    that do not fit, KernelError for an index out of range, BuildError without a compiler.
    """
    table = op.__dict__.get("calls") or call_table(op)
    if scalars:
        arrays, scalars = _positional(op, arrays, scalars)
    runners = table.runners(current(), unchecked)
    key = table.key(arrays, out, scalars)
    runner = None if key is None else runners.get(key)
    if runner is not None:
        return runner(arrays, out)
    try:
        return _first_call(op, runners, arrays, out, scalars, unchecked)
    except MemoryError as error:
        raise CallError(f"{op.name}: not enough memory: {error}") from error


def plan(op: Operator, /, *arrays: Any, out: Any = None, unchecked: bool | None = None, **scalars: Any) -> Plan:
    """Which schedule `op(*arrays)` will run, and why; nothing is compiled or run."""
    ready, sizes = as_numpy_arguments(op, arrays, scalars)
    return make_plan(op, ready, sizes, _outputs(op, out), unchecked=_omitted(unchecked))


def _first_call(
    op: Operator,
    runners: dict[Key, Runner],
    arrays: tuple[Any, ...],
    out: Any,
    sizes: dict[str, Any],
    unchecked: bool | None,
) -> Any:
    """A call for which no kernel is known, or whose arguments first have to become NumPy arrays."""
    refuse_shared_arguments(op, arrays, out)
    ready, outputs = _as_numpy(op, arrays), _outputs(op, out)
    table = call_table(op)
    key = table.key(ready, outputs, sizes)
    if key is None:
        bind(op, ready, sizes, outputs)
        raise CallError(f"{op.name}: the arguments do not fit")
    with table.lock(key):
        runner = runners.get(key)
        if runner is None:
            with uncollected():
                made = make_plan(op, ready, sizes, outputs, unchecked=_omitted(unchecked))
            runner = table.remember(runners, key, made)
    result = runner(ready, outputs)
    _copy_back(outputs, out)
    return like_given(result, arrays) if any(o is None for o in several(out)) else out


def as_numpy_arguments(
    op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as far as possible by position, tensors as plain NumPy arrays."""
    filled, rest = _positional(op, arrays, scalars)
    return _as_numpy(op, filled), rest


def _omitted(unchecked: bool | None) -> bool:
    return current().unchecked if unchecked is None else unchecked


def _positional(
    op: Operator, arrays: tuple[Any, ...], scalars: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Keywords that are parameters, in their positions; the rest are sizes."""
    rest = dict(scalars)
    filled = list(arrays)
    for name in op.parameters[len(arrays) :]:
        if name not in rest:
            break
        filled.append(rest.pop(name))
    return tuple(filled), rest


def _as_numpy(op: Operator, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors as NumPy arrays that a kernel can read (copied where byte order or alignment is foreign)."""
    ready = list(arrays)
    for n, (name, value) in enumerate(zip(op.parameters, arrays, strict=False)):
        if stands_in_memory(op, name, value):
            array = as_array(value, op.tensors[name].dtype, name)
            ready[n] = array if is_readable_by_c(array) else plain_copy(array)
    return tuple(ready)


def _outputs(op: Operator, out: Any) -> Any:
    """`out` as NumPy arrays; where a kernel cannot write, a copy that `_copy_back` takes home."""
    if out is None:
        return None
    names = op.outputs if isinstance(out, tuple | list) else op.outputs[:1]
    if len(several(out)) != len(op.outputs):
        expected = f"{len(op.outputs)} ({', '.join(op.outputs)})"
        raise CallError(f"{op.name}: out= expected {expected} but found {len(several(out))} arrays")
    arrays = [None if o is None else as_output(o, name) for o, name in zip(several(out), names, strict=False)]
    for name, array in zip(names, arrays, strict=False):
        refuse_overlap_with_itself(f"{op.name}: out {name}", array)
    ready = tuple(a if a is None or is_readable_by_c(a) else plain_copy(a) for a in arrays)
    return ready if isinstance(out, tuple | list) else ready[0]


def _copy_back(ready: Any, out: Any) -> None:
    """Bring results home to outputs that were copied."""
    for result, given in zip(several(ready), several(out), strict=False):
        if given is not None and result is not given:
            array = as_output(given, "")
            if not np.may_share_memory(array, result):
                array[...] = result
