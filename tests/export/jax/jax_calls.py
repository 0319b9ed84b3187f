"""Operators of the library and random ones as functions of JAX, with arguments in the order of a call."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import workbench as wb
from tests.export.sampled import with_scalars
from tests.properties.batches import compare
from tests.properties.inputs import Problem, problem
from tests.properties.writer import Writer
from workbench.errors import CallError, OperatorError
from workbench.export.dispatch import family_of
from workbench.export.dispatch.front import untold
from workbench.ops.samples import sample_arrays, sample_out


def exported(op: wb.Operator, sizes: dict[str, int], name: str | None = None) -> Any:
    return wb.export.jax(with_scalars(op, sizes), name=name)


def arguments(op: wb.Operator, sizes: dict[str, int]) -> dict[str, Any]:
    """Name → argument: the parameters, then what is updated; arrays of the operator's element types."""
    out = sample_out(op, **sizes)
    updated = [] if out is None else list(out) if isinstance(out, tuple) else [out]
    names = [*op.parameters, *op.outputs][: len(op.parameters) + len(updated)]
    given = zip(names, [*sample_arrays(op, **sizes), *updated], strict=True)
    return {n: int(v) if n in op.scalars else np.asarray(v, op.tensors[n].dtype.numpy) for n, v in given}


def several(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


# -- random operators


def random_problem(seed: int) -> Problem | None:
    """A random operator with data and the oracle's results; None where the seed's operator is refused."""
    random = Random(seed)
    try:
        made = problem(Writer(random).case(f"program{seed}"), random)
    except (OperatorError, CallError):
        return None
    for name in made.op.outputs:  # cells that no statement writes hold 0
        if made.op.tensors[name].role != "inout" and name in made.values:
            made.values[name] = np.zeros_like(made.values[name])
    given = tuple(made.values.get(n) for n in made.op.outputs)
    out = given if any(g is not None for g in given) else None
    found = several(made.op.evaluate(*problem_arguments(made)[: len(made.op.parameters)], out=out, **made.case.sizes))
    made.expected = dict(zip(made.op.outputs, found, strict=True))
    return made


def problem_arguments(made: Problem) -> list[Any]:
    """The parameters, then what is updated."""
    op = made.op
    updated = [o for o in op.outputs if op.tensors[o].role == "inout"]
    return [made.sizes[n] if n in op.scalars else made.values[n] for n in (*op.parameters, *updated)]


def problem_sizes(made: Problem) -> dict[str, int]:
    """The sizes that a call is told by name."""
    return {n: made.sizes[n] for n in untold(family_of(with_scalars(made.op, made.sizes)))}


def differences(made: Problem, results: Any) -> list[str]:
    """What is not as the oracle says."""
    found = []
    for name, array in zip(made.op.outputs, several(results), strict=True):
        known = made.expected[name]
        wrong = compare(array, known, made.case.bounds.get(name, 0.0))
        if wrong or (array.dtype, array.shape) != (known.dtype, known.shape):
            found.append(f"{name}: {wrong or (array.dtype, array.shape)}\n{made.case}")
    return found
