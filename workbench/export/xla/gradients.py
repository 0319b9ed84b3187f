"""The gradient of a traced call: `wb.grad`'s operator for the arguments that want one, made when it is first wanted.

Who makes it is `functions._gradient`; here it is hung on `jax.custom_vjp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from workbench.errors import WorkbenchError
from workbench.export.xla.calling import Arrays, Traced
from workbench.export.xla.kernels import Kernels

# Names of arguments → the function of the arguments and of the gradients of the results, or WorkbenchError.
Gradient = Callable[[tuple[str, ...]], Traced]


def differentiable(call: Traced, kernels: Kernels, gradient: Gradient) -> Traced:
    """The call with a reverse-mode derivative, which is differentiable in turn."""
    op, operands = kernels.family.op, kernels.operands
    smooth = [n for n, o in enumerate(op.outputs) if op.tensors[o].dtype.is_float]

    def plain(*arrays: jax.Array) -> Arrays:
        return call(*arrays)

    function: Any = jax.custom_vjp(plain)

    def forward(*primals: Any) -> tuple[Arrays, Any]:
        values = tuple(p.value for p in primals)
        # Which arguments want a gradient is kept in the structure of a tree that has no leaves.
        wanted = tuple(None if _varies(p) else () for p in primals)
        return function(*values), (values, wanted)

    def backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
        values, wanted = kept
        names = tuple(name for name, marked in zip(operands, wanted, strict=True) if marked is None)
        if not names or not smooth:
            return (None,) * len(operands)
        try:
            derivative = gradient(names)
        except WorkbenchError as reason:
            raise NotImplementedError(f"{kernels.name} has no gradient: {reason}") from reason
        found = dict(zip(names, derivative(*values, *(_dense(cotangents[n]) for n in smooth)), strict=True))
        return tuple(found.get(name) for name in operands)

    function.defvjp(forward, backward, symbolic_zeros=True)
    return function


def _varies(primal: Any) -> bool:
    return primal.perturbed and jnp.issubdtype(primal.value.dtype, jnp.floating)


def _dense(cotangent: Any) -> jax.Array:
    """A gradient as an array, also where JAX knows that it is 0."""
    if not isinstance(cotangent, SymbolicZero):
        return cotangent
    known: Any = cotangent.aval
    return jnp.zeros(known.shape, known.dtype)
