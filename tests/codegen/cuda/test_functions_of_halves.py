"""Every function of the language on 16-bit floats in CUDA's text, executed on the processor: as exact as float32's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import workbench as wb
from tests.codegen.cmath.reference import DOMAIN, EXACT, mixed, powers, ulps, uniform
from workbench.codegen.cmath import ulp_bound
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import BFLOAT16, FLOAT16, FLOAT32, DType

Array = np.ndarray[Any, Any]
HALVES = (FLOAT16, BFLOAT16)
COUNT = 48
ANYWHERE = mixed(uniform(-3, 3), uniform(-40, 40), powers(-4, 4, signed=True))
# The C library of this machine stands for CUDA's, with errors of its own (ulp, as glibc's manual has them).
OF_THE_HOST = {"erfc": 3.0, "tgamma": 8.0}
WITHOUT_BOUND = {"j0", "j1", "y0", "y1", "lgamma", "logaddexp"}  # near zeros all digits are lost


def samples(function: str, dtype: DType) -> list[Array]:
    """So many arguments inside the function's domain that the type can hold."""
    rng = np.random.default_rng(3)
    positive = function in ("y0", "y1")
    samplers = DOMAIN.get(function, [ANYWHERE] * BUILTINS[function].arity)
    with np.errstate(over="ignore"):
        arrays = [sampler(rng, 40 * COUNT).astype(dtype.numpy) for sampler in samplers]
    arrays = [a[: min(map(len, arrays))] for a in arrays]
    kept = np.logical_and.reduce([np.isfinite(a.astype(float)) & (a.astype(float) != 0) for a in arrays])
    if positive:
        kept &= arrays[0].astype(float) > 0
    chosen = np.random.default_rng(4).permutation(np.flatnonzero(kept))
    return [np.resize(a[chosen], COUNT) for a in arrays]


def every_function(dtype: DType) -> wb.Operator:
    """An operator with a result for each function of the language, of arguments of its own."""
    given = ", ".join(f"{dtype}(N) {name}_{k}" for name in BUILTINS for k in range(BUILTINS[name].arity))
    lines = [
        f"    Y_{name}(i) = {name}({', '.join(f'{name}_{k}(i)' for k in range(builtin.arity))})"
        for name, builtin in BUILTINS.items()
    ]
    made = ", ".join(f"Y_{name}" for name in BUILTINS)
    return wb.operator(f"def functions({given}) -> ({made}) {{\n" + "\n".join(lines) + "\n}")


@pytest.fixture(scope="module", params=HALVES, ids=str)
def computed(request) -> tuple[DType, dict[str, tuple[list[Array], Array, Array]]]:
    """Function → arguments, what the text of CUDA computes of them, and what the oracle does."""
    op = every_function(request.param)
    schedule = wb.schedule(op, N=COUNT)
    for name in BUILTINS:
        schedule = schedule | wb.bind(f"Y_{name}/i", "thread.x")
    given = {name: samples(name, request.param) for name in BUILTINS}
    arrays = [array for name in BUILTINS for array in given[name]]
    got = wb.build(schedule, target="cuda-on-cpu")(*arrays)
    with np.errstate(all="ignore"):
        expected = op.evaluate(*arrays)
    return request.param, {name: (given[name], *pair) for name, *pair in zip(BUILTINS, got, expected, strict=True)}


@pytest.mark.parametrize("function", EXACT)
def test_the_error_on_halves_stays_below_the_bound_of_float32(computed, function):
    dtype, found = computed
    arguments, got, _ = found[function]
    assert got.dtype == np.float32
    bound = OF_THE_HOST.get(function, ulp_bound(function, dtype))
    assert bound is not None
    for value, *point in zip(got, *arguments, strict=True):
        try:
            exact = EXACT[function](*[mpf(float(x)) for x in point])
        except (ZeroDivisionError, ValueError):
            continue
        if isinstance(exact, mpf) and mp.isfinite(exact):
            assert ulps(value, exact, FLOAT32) <= bound, f"{function}{tuple(map(float, point))}"


@pytest.mark.parametrize("function", [name for name in BUILTINS if name not in EXACT])
def test_what_is_exact_on_halves_is_what_the_oracle_says(computed, function):
    dtype, found = computed
    _, got, expected = found[function]
    if function in WITHOUT_BOUND:
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=2e-6)
    else:
        assert ulp_bound(function, dtype) == 0
        np.testing.assert_array_equal(got, expected)


def test_every_function_of_the_language_is_asked():
    assert {*EXACT} <= {*BUILTINS}
    assert {name for name in BUILTINS if ulp_bound(name, FLOAT16) is None} == WITHOUT_BOUND


@pytest.mark.parametrize(("element", "first", "last"), [("float", -104, -86), ("double", -744, -707)])
def test_a_sigmoid_loses_nothing_where_its_results_are_denormal(element, first, last):
    op = wb.operator(f"def f({element}(N) x) -> (y) {{ y(i) = sigmoid(x(i)) }}")
    x = np.linspace(first, last, 73).astype(op.tensors["x"].dtype.numpy)
    got = wb.build(wb.schedule(op, N=73) | wb.bind("i", "thread.x"), target="cuda-on-cpu")(x)
    exact = [EXACT["sigmoid"](mpf(float(value))) for value in x]
    bound = ulp_bound("sigmoid", op.tensors["x"].dtype)
    assert bound is not None
    assert max(ulps(a, b, op.tensors["x"].dtype) for a, b in zip(got, exact, strict=True)) <= bound
    assert 0 < got[1] < np.finfo(got.dtype).tiny
