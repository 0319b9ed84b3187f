"""The careful way into a kernel: look at every argument in Python, repair where that is right, else explain.

Calls come here when the border met something that it did not expect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import CallError
from workbench.lang.dtypes import DTYPES
from workbench.runtime.arrays.foreign import as_array, as_output, like_given
from workbench.runtime.arrays.layout import Array, Layout, Slot
from workbench.runtime.arrays.symbols import solve_symbols
from workbench.runtime.kernels.aliasing import refuse_aliases
from workbench.runtime.kernels.arguments import named_arguments, scalar_bits
from workbench.runtime.kernels.copying import refuse_shared_outputs, run_copied
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.runtime.kernels.launch import CompiledKernel


def careful_call(kernel: CompiledKernel, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> Any:
    """Call a kernel with whatever was given; CallError says precisely what does not fit."""
    named, sizes = named_arguments(kernel.kernel, arrays, scalars)
    parameters = kernel.signature.inputs
    inputs = [None if p.by_value else as_array(named[p.name], p.dtype, p.name) for p in parameters]
    given = _given_outputs(kernel, out)
    layout = _layout(kernel, inputs, given, sizes, None if scalars else arrays)
    for slot, array in zip((*layout.inputs, *layout.outputs), (*inputs, *given), strict=True):
        if slot is not None and array is not None:
            check(slot, array, kernel.name)
    refuse_shared_outputs(kernel.name, layout.outputs, given)
    read = dict(zip((p.name for p in parameters), inputs, strict=True))
    updated = dict(zip((p.name for p in kernel.signature.outputs), given, strict=True))
    refuse_aliases(kernel.operator, read, updated)
    other = _rebuilt(kernel, layout, [*inputs, *given])
    if other is not None:
        return other(*(named[p.name] for p in parameters), out=out)
    bits = [scalar_bits(named[p.name], p) if p.by_value else 0 for p in parameters]
    results = run_copied(kernel, layout, inputs, given, bits)
    return like_given(results, named.values()) if out is None or _has_gaps(out) else out


def check(slot: Slot, array: Array, kernel: str) -> None:
    """CallError if type, rank or shape are not those of the slot (the byte order may differ)."""
    parameter = slot.parameter
    if array.dtype.newbyteorder("=") != slot.dtype:
        numeric = array.dtype.name in DTYPES and array.dtype.kind != "b"
        other = f", or take the operator in that type: op.astype({array.dtype.name!r})" if numeric else ""
        raise CallError(
            f"{kernel}: {parameter.name} has element type {array.dtype.name}, "
            f"expected {parameter.dtype.name}. Convert it{other}"
        )
    if array.ndim != parameter.rank:
        raise CallError(
            f"{kernel}: {parameter.name} has {number_of(array.ndim, 'dimension')} (shape {array.shape}), "
            f"expected {parameter.rank} (shape {slot.shape})"
        )
    if array.shape != slot.shape:
        wrong = [d for d in range(array.ndim) if array.shape[d] != slot.shape[d]]
        raise CallError(
            f"{kernel}: {parameter.name} has shape {array.shape}, expected {slot.shape}: dimension {wrong[0]} differs"
        )


def _given_outputs(kernel: CompiledKernel, out: Any) -> list[Array | None]:
    """One array per output; None for those the kernel has to make."""
    outputs = kernel.signature.outputs
    several = out if isinstance(out, tuple | list) else (out,)
    if out is None:
        several = (None,) * len(outputs)
    if len(several) != len(outputs):
        names = ", ".join(p.name for p in outputs)
        has = f"{number_of(len(outputs), 'output')} ({names})"
        raise CallError(f"{kernel.name} has {has}; out= gives {len(several)}")
    missing = [p.name for p, o in zip(outputs, several, strict=True) if o is None and p.role == "inout"]
    if missing:
        raise CallError(f"{kernel.name} reads and updates {', '.join(missing)}: give the array as out=")
    return [None if o is None else as_output(o, p.name) for p, o in zip(outputs, several, strict=True)]


def _has_gaps(out: Any) -> bool:
    return isinstance(out, tuple | list) and any(o is None for o in out)


def _layout(
    kernel: CompiledKernel,
    inputs: list[Array | None],
    given: list[Array | None],
    sizes: dict[str, int],
    arrays: tuple[Any, ...] | None,
) -> Layout:
    """The layout for the sizes that shapes and scalars tell; remembered if the inputs' shapes alone do."""
    signature = kernel.signature
    shapes = [None if a is None else a.shape for a in (*inputs, *given)]
    found = solve_symbols(signature, shapes, sizes)
    if arrays is None or len(arrays) != len(inputs):
        return kernel.layout(found)
    try:
        solve_symbols(signature, [*shapes[: len(inputs)], *(None for _ in given)], kernel.kernel.sizes)
    except CallError:
        return kernel.layout(found)
    return kernel.layout(found, tuple(getattr(a, "shape", ()) for a in arrays))


def _rebuilt(kernel: CompiledKernel, layout: Layout, arrays: list[Array | None]) -> CompiledKernel | None:
    """A kernel for the strides these arrays have, if one can be had and is needed."""
    if kernel.rebuild is None:
        return None
    slots = [*layout.inputs, *layout.outputs]
    pairs = [(s, a) for s, a in zip(slots, arrays, strict=True) if s is not None and a is not None]
    if all(slot.lies_well(array) for slot, array in pairs):
        return None
    if any(stride % a.itemsize for s, a in pairs for stride in a.strides):
        return None
    return kernel.rebuild({s.parameter.name: tuple(stride // a.itemsize for stride in a.strides) for s, a in pairs})
