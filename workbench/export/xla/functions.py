"""The functions of JAX that were exported in this process; under a name that is known what it does is replaced."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family, family_like
from workbench.export.dispatch.family import Whole, WholeGradient
from workbench.export.dispatch.front import untold
from workbench.export.xla.arguments import Static, signature_of, taken
from workbench.export.xla.batching import batchable
from workbench.export.xla.calling import Arrays, Traced, calling
from workbench.export.xla.gradients import differentiable
from workbench.export.xla.kernels import Kernels, implemented
from workbench.export.xla.manual import made_varying, varying
from workbench.export.xla.sharding import partitioned
from workbench.lang import grad, vmap
from workbench.lang.binding.arrays import type_variables_of
from workbench.lang.operator import Operator
from workbench.runtime.host.locks import Lock


@dataclass
class Exported:
    """One function: `kernels` are what it does now, `made` what they became for other types and in transformations."""

    name: str
    signature: str
    kernels: Kernels
    made: dict[Any, Any] = field(default_factory=dict)
    function: Any = None

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for a key; a WorkbenchError is kept as well."""
        made = self.made
        if key not in made:
            try:
                made[key] = make()
            except WorkbenchError as reason:
                made[key] = reason
        if isinstance(made[key], WorkbenchError):
            raise made[key]
        return made[key]


_known: dict[str, Exported] = {}
_lock = Lock()


def exported_as(name: str) -> Exported | None:
    """What was exported under a name."""
    return _known.get(name)


def exported_function(name: str, family: Family) -> Exported:
    """A new function, or the known one of that name with what it does replaced; WorkbenchError if they differ."""
    signature = described(family)
    with _lock:
        op = _known.get(name)
        if op is not None and op.signature != signature:
            raise _taken(op, signature)
        kernels = implemented(name, family)
        if op is None:
            op = _known[name] = _new(signature, kernels)
        op.kernels, op.made = kernels, {}
        op.function.__doc__ = str(family.op)
    return op


def _new(signature: str, kernels: Kernels) -> Exported:
    op = Exported(kernels.name, signature, kernels)
    op.function = _function(op, kernels.family)
    return op


def _taken(op: Exported, signature: str) -> WorkbenchError:
    stem = re.sub(r"_\d+$", "", op.name)
    free = next(f"{stem}_{n}" for n in range(2, 1 << 20) if f"{stem}_{n}" not in _known)
    return WorkbenchError(
        f"{op.name} was exported to JAX with another signature: {op.signature}; this one has {signature}. "
        f"Give it another name: wb.export.jax(..., name={free!r})"
    )


def described(family: Family) -> str:
    """`(float32[2] A, float32[2] B) -> (float32[2])`: the element types, ranks and names of a call."""
    op = family.op
    free = type_variables_of(op) if op.generic else {}

    def array(name: str) -> str:
        known = "" if op.generic and name in op.outputs else op.tensors[name].dtype
        return f"{free.get(name, known)}[{op.tensors[name].rank}]"

    plain = [n if n in op.scalars else f"{array(n)} {n}" for n in (*op.parameters, *family.updated)]
    return f"({', '.join([*plain, *untold(family)])}) -> ({', '.join(map(array, op.outputs))})"


def _function(op: Exported, family: Family) -> Callable[..., Any]:
    signature = signature_of(family)

    def function(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named)
        except TypeError as reason:
            raise TypeError(f"{op.name}{signature}: {reason}") from None
        kernels, arrays, static = taken(op.kernels, bound.arguments, lambda own: _of_types(op, own))
        results = _traced(op, kernels, static)(*made_varying(arrays, varying(arrays)))
        return results[0] if len(results) == 1 else results

    function.__name__ = function.__qualname__ = op.name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


# -- what JAX may do to a call


def _of_types(op: Exported, own: Operator) -> Kernels:
    """The kernels for the element types of a call, of an operator that leaves them open."""
    first = op.kernels
    names = (*first.operands, *own.outputs)
    types = [own.tensors[n].dtype for n in names]
    if types == [first.family.op.tensors[n].dtype for n in names]:
        return first
    key = ("types", first, *(t.name for t in types))
    return op.once(key, lambda: implemented(op.name, family_like(first.family, own)))


def _traced(op: Exported, kernels: Kernels, static: Static) -> Traced:
    """The function of arrays for the sizes that are known while tracing, with everything JAX asks of one."""

    def make() -> Traced:
        call = partitioned(calling(kernels, static), kernels)
        call = batchable(call, kernels, lambda mapped: _batched(op, kernels, static, mapped))
        call = differentiable(call, kernels, lambda wrt: _gradient(op, kernels, static, wrt))

        def named(*arrays: jax.Array) -> Arrays:
            return call(*arrays)

        named.__name__ = named.__qualname__ = op.name
        return jax.jit(named)

    return op.once((kernels, static), make)


def _gradient(op: Exported, kernels: Kernels, static: Static, wrt: tuple[str, ...]) -> Traced:
    """The gradient by some arguments: a function of all arguments, then of the gradients of the results."""
    if kernels.family.whole is not None:
        return _gradient_of_whole(op, kernels, kernels.family.whole, wrt)
    smooth = [n for n in kernels.operands if kernels.family.op.tensors[n].dtype.is_float]
    name = f"{op.name}_grad" if len(wrt) == len(smooth) else f"{op.name}_grad_{'_'.join(wrt)}"

    def make() -> Exported:
        family = family_like(kernels.family, grad(kernels.family.op, wrt))
        return _new(described(family), implemented(name, family))

    return _positional(op.once(("grad", kernels, wrt), make), kernels, static)


def _gradient_of_whole(op: Exported, kernels: Kernels, whole: Whole, wrt: tuple[str, ...]) -> Traced:
    """The same of a built model, whose gradient is a model that gives those by all of its arguments."""

    def make() -> tuple[WholeGradient, Exported]:
        found = whole.gradient()
        return found, _new(described(found.family), implemented(f"{op.name}_grad", found.family))

    found, made = op.once(("grad", kernels), make)
    smooth = [n for n, o in enumerate(kernels.family.op.outputs) if kernels.family.op.tensors[o].dtype.is_float]
    count, places = len(kernels.operands), [found.inputs.index(kernels.operands.index(name)) for name in wrt]

    def call(*arrays: jax.Array) -> Arrays:
        given = [arrays[n] if kind == "i" else arrays[count + smooth.index(n)] for kind, n in found.rows]
        results = made.function(*given)
        every = results if isinstance(results, tuple) else (results,)
        return tuple(every[place] for place in places)

    return call


def _batched(op: Exported, kernels: Kernels, static: Static, mapped: tuple[bool, ...]) -> Traced:
    if kernels.family.whole is not None:
        raise WorkbenchError(f"{op.name} is a built model, which is for its own sizes")
    axes = dict(zip(kernels.family.inputs, mapped, strict=True))
    places = tuple(0 if axes.get(n) else None for n in kernels.family.op.parameters)
    name = f"{op.name}_vmap_{''.join('x' if place is None else '0' for place in places)}"

    def make() -> Exported:
        family = family_like(kernels.family, vmap(kernels.family.op, places))
        return _new(described(family), implemented(name, family))

    return _positional(op.once(("vmap", kernels, places), make), kernels, static)


def _positional(made: Exported, kernels: Kernels, static: Static) -> Traced:
    """A derived function, called with arrays alone: the sizes that are no arrays' to tell are those of the original."""
    sizes = dict(static)
    parameters = signature_of(made.kernels.family).parameters.values()
    named = {p.name: sizes[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}

    @functools.wraps(made.function)
    def call(*arrays: jax.Array) -> Arrays:
        found = made.function(*_with_scalars(kernels, arrays, sizes), **named)
        return found if isinstance(found, tuple) else (found,)

    return call


def _with_scalars(kernels: Kernels, arrays: Sequence[jax.Array], sizes: dict[str, int]) -> Iterator[Any]:
    left = iter(arrays)
    op = kernels.family.op
    for name in op.parameters:
        yield sizes[name] if name in op.scalars else next(left)
    yield from left
