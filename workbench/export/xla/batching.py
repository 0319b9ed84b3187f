"""`jax.vmap` over a traced call: `wb.vmap` makes an operator with one more axis; where there is none, calls in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from workbench.errors import WorkbenchError
from workbench.export.xla.calling import Arrays, Traced
from workbench.export.xla.kernels import Kernels

# For each parameter that is data, whether it has the new axis → the function of the arrays, or WorkbenchError.
Batched = Callable[[tuple[bool, ...]], Traced]


def batchable(call: Traced, kernels: Kernels, batched: Batched) -> Traced:
    """The call with a rule for `jax.vmap`."""
    inputs = len(kernels.family.inputs)
    function = jax.custom_batching.custom_vmap(call)

    @function.def_vmap
    def rule(size: int, mapped: Any, *arrays: jax.Array) -> tuple[Arrays, tuple[bool, ...]]:
        given = list(arrays)
        for n in range(inputs, len(given)):  # what is updated is another for each entry
            given[n] = given[n] if mapped[n] else jnp.broadcast_to(given[n], (size, *given[n].shape))
        axes = (*mapped[:inputs], *(True for _ in given[inputs:]))
        try:
            results = batched(tuple(mapped[:inputs]))(*given)
        except WorkbenchError:
            results = _in_turn(function, axes, given)
        return results, (True,) * len(results)

    return function


def _in_turn(function: Traced, axes: tuple[bool, ...], given: list[jax.Array]) -> Arrays:
    def one(entries: list[jax.Array]) -> Arrays:
        left = iter(entries)
        return function(*(next(left) if axis else array for axis, array in zip(axes, given, strict=True)))

    return jax.lax.map(one, [array for axis, array in zip(axes, given, strict=True) if axis])
