"""Random programs by the public road: `op(...)` and `wb.build(...)` with whatever arrays a caller may have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import workbench as wb
from tests.properties import memory
from tests.properties.batches import compare
from tests.properties.inputs import Problem, problem
from tests.properties.writer import Writer
from tests.support import examples
from workbench.errors import CallError, LoweringError, OperatorError

Array = np.ndarray[Any, Any]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A random operator with data and the oracle's results; hypothesis shrinks it."""
    random = draw(st.randoms(use_true_random=False))
    try:
        return problem(Writer(random).case("program"), random)
    except (OperatorError, CallError):
        reject()


def laid_out(values: Array, repeated: tuple[int, ...], random: Random) -> Array:
    """The values as a caller's array: dense, strided, transposed, reversed, or repeated."""
    if values.ndim == 0 or random.random() < 0.3:
        return values
    return memory.placed(values, memory.layout(random, values.shape, repeated)).array


def arguments(made: Problem, random: Random) -> list[Any]:
    return [
        made.sizes[n] if n in made.op.scalars
        else made.values[n].item() if made.values[n].ndim == 0 and made.values[n].dtype.kind in "iu"
        else laid_out(made.values[n], made.repeated[n], random)
        for n in made.op.parameters
    ]  # fmt: skip


def outputs(made: Problem, random: Random) -> tuple[Array, ...] | None:
    """Arrays for `out=`; None where the call may make them itself and chance says so."""
    roles = [made.op.tensors[n].role for n in made.op.outputs]
    given = [n in made.values for n in made.op.outputs]
    if not any(given) and "inout" not in roles and random.random() < 0.5:
        return None
    return tuple(
        laid_out(np.array(made.values.get(n, np.zeros_like(made.expected[n]))), (), random)
        for n in made.op.outputs
    )


def check(made: Problem, results: Any) -> None:
    found = results if isinstance(results, tuple) else (results,)
    for name, array in zip(made.op.outputs, found, strict=True):
        difference = compare(array, made.expected[name], made.case.bounds.get(name, 0.0))
        assert not difference, f"{name}: {difference}\n{made.case}"
        assert (array.dtype, array.shape) == (made.expected[name].dtype, made.expected[name].shape)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Kernels nobody will call again do not belong into the user's cache."""
    folder = tmp_path_factory.mktemp("kernels")
    with wb.settings(cache=folder):
        yield folder


def call(made: Problem, random: Random) -> None:
    """Twice, so that the second call goes the short way."""
    with wb.settings(threads=random.choice((1, 2, 5))):
        for _ in range(2):
            out = outputs(made, random)
            given = out if out is None or len(out) > 1 else out[0]
            check(made, made.op(*arguments(made, random), out=given, **made.case.sizes))


@settings(max_examples=examples(quick=2, ci=6, full=250))
@given(made=problems(), random=st.randoms(use_true_random=False))
def test_a_call_gives_what_the_oracle_says(compilers, made, random):
    call(made, random)


@settings(max_examples=examples(quick=2, ci=6, full=250))
@given(made=problems(), random=st.randoms(use_true_random=False))
def test_a_built_schedule_gives_what_the_oracle_says(compilers, made, random):
    """Sizes bound or open; built for dense arrays, called with others."""
    bound = made.sizes if random.random() < 0.5 else made.scalars
    try:
        schedule = wb.autoschedule(made.op, sizes=bound)
    except LoweringError:
        reject()
    kernel = wb.build(schedule, threads=random.choice((None, 1, 3)), debug=random.random() < 0.7)
    out = outputs(made, random)
    given = [a for n, a in zip(made.op.parameters, arguments(made, random), strict=True) if n not in made.op.scalars]
    sizes = {n: v for n, v in made.sizes.items() if n not in kernel.kernel.sizes}
    check(made, kernel(*given, out=out if out is None or len(out) > 1 else out[0], **sizes))
