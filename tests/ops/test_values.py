"""Every operator of the library against an independent NumPy formula, at awkward sizes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.ops.awkward import PRIMES, awkward_sizes
from tests.ops.formulas import REFERENCES
from workbench import ops
from workbench.lang import evaluate


def wide(values):
    """Floats as float64, the rest as it is."""
    return np.asarray(values, np.float64) if np.asarray(values).dtype.kind not in "iub" else values


def arguments(name, sizes):
    """Sample arguments, and the contents of `out=`."""
    op = ops.load(name)
    arrays, out = ops.sample_arrays(op, seed=7, **sizes), ops.sample_out(op, seed=8, **sizes)
    if name == "cholesky":
        arrays = ((arrays[0] @ arrays[0].T + len(arrays[0]) * np.eye(len(arrays[0]))).astype(np.float32),)
    if name == "lu":
        arrays = ((arrays[0] + 2 * len(arrays[0]) * np.eye(len(arrays[0]))).astype(np.float32),)
    return arrays, out


def expected(name, arrays, out):
    old = {} if out is None else {"out": tuple(map(wide, out)) if isinstance(out, tuple) else wide(out)}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return REFERENCES[name](*map(wide, arrays), **old)


CASES = [(name, sizes) for name in ops.list() for sizes in awkward_sizes(name)]


def case_name(case):
    return f"{case[0]}-{'-'.join(f'{k}{v}' for k, v in case[1].items())}"


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_an_operator_gives_what_its_formula_says(case):
    name, sizes = case
    arrays, out = arguments(name, sizes)
    results = evaluate(ops.load(name), *arrays, out=out)
    formula = expected(name, arrays, out)
    results = results if isinstance(results, tuple) else (results,)
    formula = formula if isinstance(formula, tuple) else (formula,)
    assert len(results) == len(formula)
    coarse = name in ("matmul_fp16",)
    for result, wanted in zip(results, formula, strict=True):
        assert result.shape == np.shape(wanted)
        tolerance = {"rtol": 1e-3, "atol": 1e-3} if coarse else {"rtol": 2e-5, "atol": 2e-5}
        np.testing.assert_allclose(wide(result), wanted, equal_nan=True, **tolerance)


def test_every_operator_has_a_formula_and_sizes():
    assert set(ops.list()) == set(REFERENCES) == set(PRIMES)
