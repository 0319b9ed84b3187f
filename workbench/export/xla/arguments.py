"""The arguments of a traced call: which kernels take them, as arrays and as numbers that are known while tracing."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping
from operator import index
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from workbench.export.dispatch import Family
from workbench.export.dispatch.family import described
from workbench.export.dispatch.front import untold
from workbench.export.xla.kernels import Kernels
from workbench.export.xla.shapes import known_types
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import type_name

Static = tuple[tuple[str, int], ...]
OfTypes = Callable[[Operator], Kernels]
# What a number without a type of its own may become, by NumPy's letter for its kind.
_BECOMES = {"b": ("bool",), "i": ("int", "uint", "float"), "f": ("float",)}
NUMBERS = (bool, int, float, np.bool_, np.number)


def signature_of(family: Family) -> inspect.Signature:
    """The parameters, then what is updated; by keyword the sizes that no shape tells."""
    plain, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter(python_name(n), plain) for n in (*family.op.parameters, *family.updated)]
    return inspect.Signature([*found, *(inspect.Parameter(python_name(n), named) for n in untold(family))])


def python_name(name: str) -> str:
    """A name as Python can write it."""
    return f"{name}_" if keyword.iskeyword(name) else name


def taken(first: Kernels, given: Mapping[str, Any], of_types: OfTypes) -> tuple[Kernels, list[jax.Array], Static]:
    """The kernels for a call, its arrays in their order, and the sizes that are no arrays' to tell.

    `of_types` gives the kernels for an operator whose element types the call has told.  TypeError for anything that is
    no array, or no number where one has to be known; ValueError for a number without a kernel.
    """
    op = first.family.op
    found = {n: _given(first, n, given[python_name(n)]) for n in first.operands}
    static = {n: _known(op.name, n, given[python_name(n)]) for n in (*op.scalars, *untold(first.family))}
    _refuse_unknown_scalars(first.family, static)
    kernels = of_types(known_types(first, found)) if op.generic else first
    _refuse_wide(kernels)
    return kernels, [_array(kernels, n, v) for n, v in found.items()], tuple(static.items())


def _given(kernels: Kernels, name: str, value: Any) -> Any:
    """An array of JAX, or a number that has no type of its own yet."""
    number = kernels.family.op.tensors[name].rank == 0
    if not isinstance(value, (jax.Array, np.ndarray, *(NUMBERS if number else ()))):
        expected = "a number or an array without dimensions" if number else "an array"
        shown = type(value).__name__
        raise TypeError(f"{kernels.family.op.name}: {name} expected {expected} of JAX or NumPy but found {shown}")
    return value if _is_weak(value) else jnp.asarray(value)


def _refuse_unknown_scalars(family: Family, static: Mapping[str, int]) -> None:
    """ValueError for a scalar that shapes the program and has none of the values of the schedules."""
    if not family.op.scalars:
        return
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


def _refuse_wide(kernels: Kernels) -> None:
    """TypeError where JAX would silently make 32 bits of what the kernels take or give."""
    op = kernels.family.op
    for name in (*kernels.operands, *op.outputs):
        own = op.tensors[name].dtype.numpy
        if jax.dtypes.canonicalize_dtype(own) != own:
            wide = f"{op.name}: {name} is {type_name(op.tensors[name].dtype)}, and JAX has 64 bits switched off"
            raise TypeError(f"{wide}; jax.config.update('jax_enable_x64', True) at the start, or declare 32 bits")


def _is_weak(value: Any) -> bool:
    """Whether a number has no type of its own: one of Python's, or computed from such."""
    return isinstance(value, int | float) or bool(getattr(value, "weak_type", False))


def _array(kernels: Kernels, name: str, value: Any) -> jax.Array:
    if not _is_weak(value):
        return value
    op, found = kernels.family.op, jnp.result_type(value)
    dtype = op.tensors[name].dtype
    if dtype.kind not in _BECOMES[found.kind]:
        raise TypeError(f"{op.name}: {name} expected type {type_name(dtype)} but found {found.name}")
    return jnp.asarray(value, dtype.numpy)
