"""The arguments of a traced call: which kernels take them, as arrays and as numbers that are known while tracing."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from workbench.export.dispatch import Family
from workbench.export.dispatch.family import described
from workbench.export.dispatch.front import untold
from workbench.export.xla.kernels import Kernels
from workbench.lang.printer import type_name

Static = tuple[tuple[str, int], ...]
# What a number without a type of its own may become, by NumPy's letter for its kind.
_BECOMES = {"b": ("bool",), "i": ("int", "uint", "float"), "f": ("float",)}
NUMBERS = (bool, int, float, np.bool_, np.number)


def signature_of(family: Family) -> inspect.Signature:
    """The parameters, then what is updated; by keyword the sizes that no shape tells."""
    plain, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter(spelt(n), plain) for n in (*family.op.parameters, *family.updated)]
    return inspect.Signature([*found, *(inspect.Parameter(spelt(n), named) for n in untold(family))])


def spelt(name: str) -> str:
    """A name as Python can write it."""
    return f"{name}_" if keyword.iskeyword(name) else name


def taken(all_kernels: Sequence[Kernels], given: Mapping[str, Any]) -> tuple[Kernels, list[jax.Array], Static]:
    """The kernels for a call, its arrays in their order, and the sizes that are no arrays' to tell.

    TypeError for anything that is no array, or no number where one has to be known; ValueError for a number without a
    kernel.
    """
    found = {n: given[spelt(n)] for n in all_kernels[0].operands}
    for name, value in found.items():
        _refuse_no_array(all_kernels[0], name, value)
    kernels = next((k for k in all_kernels if all(_fits(k, n, v) for n, v in found.items())), all_kernels[0])
    _refuse_wide(kernels)
    op = kernels.family.op
    arrays = [_array(kernels, n, v) for n, v in found.items()]
    static = {n: _known(op.name, n, given[spelt(n)]) for n in (*op.scalars, *untold(kernels.family))}
    _refuse_unknown_scalars(kernels.family, static)
    return kernels, arrays, tuple(static.items())


def _refuse_unknown_scalars(family: Family, static: Mapping[str, int]) -> None:
    """ValueError for a scalar that shapes the program and has none of the values of the schedules."""
    if any(all(static.get(n, v) == v for n, v in program.sizes.items()) for program in family.fallbacks):
        return
    given = ", ".join(f"{n}={static[n]}" for n in family.op.scalars)
    known = "; ".join(described({n: v for n, v in p.sizes.items() if n in static}) for p in family.fallbacks)
    raise ValueError(f"{family.op.name}: no kernel for these scalars: {given}; exported with {known}")


def _known(op: str, name: str, value: Any) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return index(value)
    except jax.errors.TracerIntegerConversionError:
        advice = "give a Python number (in a jitted function: name it in static_argnames)"
        raise TypeError(f"{op}: {name!r} shapes the program and has to be known when it is traced; {advice}") from None
    except TypeError:
        shown = type(value).__name__
        raise TypeError(f"{op}: {name!r} shapes the program: expected an integer but found {shown}") from None


def _refuse_no_array(kernels: Kernels, name: str, value: Any) -> None:
    number = kernels.family.op.tensors[name].rank == 0
    if not isinstance(value, (jax.Array, np.ndarray, *(NUMBERS if number else ()))):
        expected = "a number or an array without dimensions" if number else "an array"
        shown = type(value).__name__
        raise TypeError(f"{kernels.family.op.name}: {name} expected {expected} of JAX or NumPy but found {shown}")


def _refuse_wide(kernels: Kernels) -> None:
    """TypeError where JAX would silently make 32 bits of what the kernels take or give."""
    op = kernels.family.op
    for name in (*kernels.operands, *op.outputs):
        own = op.tensors[name].dtype.numpy
        if jax.dtypes.canonicalize_dtype(own) != own:
            wide = f"{op.name}: {name} is {type_name(op.tensors[name].dtype)}, and JAX has 64 bits switched off"
            raise TypeError(f"{wide}; jax.config.update('jax_enable_x64', True) at the start, or declare 32 bits")


def _fits(kernels: Kernels, name: str, value: Any) -> bool:
    return _is_weak(value) or jnp.result_type(value) == kernels.family.op.tensors[name].dtype.numpy


def _is_weak(value: Any) -> bool:
    """Whether a number has no type of its own: one of Python's, or computed from such."""
    return isinstance(value, int | float) or bool(getattr(value, "weak_type", False))


def _array(kernels: Kernels, name: str, value: Any) -> jax.Array:
    op = kernels.family.op
    dtype = op.tensors[name].dtype
    if not _is_weak(value):
        return jnp.asarray(value)  # of a wrong type: refused where the shapes are
    found = jnp.result_type(value)
    if dtype.kind not in _BECOMES[found.kind]:
        raise TypeError(f"{op.name}: {name} expected type {type_name(dtype)} but found {found.name}")
    return jnp.asarray(value, dtype.numpy)
