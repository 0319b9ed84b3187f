"""Every operator of the library, compiled, against the oracle: for its sizes, and once for all sizes."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import workbench as wb
from tests.ops.awkward import awkward_sizes
from tests.ops.test_values import arguments, wide
from workbench import ops
from workbench.errors import LoweringError

pytestmark = pytest.mark.slow

COARSE = {"matmul_fp16": 1e-3}


def tupled(value):
    return value if isinstance(value, tuple) else (value,)


def agree(name, found, wanted) -> None:
    tolerance = COARSE.get(name, 5e-5)
    for a, b in zip(tupled(found), tupled(wanted), strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(wide(a), wide(b), rtol=tolerance, atol=tolerance, equal_nan=True)


def given(out):
    """A fresh copy of the in/out contents as keyword arguments."""
    return {} if out is None else {"out": copy.deepcopy(out)}


def needs_out(op) -> bool:
    return any(op.tensors[name].role == "inout" for name in op.outputs)


@pytest.mark.parametrize("name", ops.list())
def test_compiled_for_its_sizes(name: str) -> None:
    op, sizes = ops.load(name), awkward_sizes(name)[0]
    arrays, out = arguments(name, sizes)
    out = out if needs_out(op) else None
    agree(name, op(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


@pytest.mark.parametrize("name", ops.list())
def test_compiled_once_for_all_sizes(name: str) -> None:
    op, cases = ops.load(name), awkward_sizes(name)
    scalars = {k: v for k, v in cases[0].items() if k in op.scalars}
    if name in NOT_AFFINE:
        with pytest.raises(LoweringError):
            wb.autoschedule(op, sizes=scalars)
        return
    kernel = wb.build(wb.autoschedule(op, sizes=scalars))
    for sizes in cases:
        if all(sizes[k] == v for k, v in scalars.items()):
            arrays, out = arguments(name, sizes)
            out = out if needs_out(op) else None
            agree(name, kernel(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


NOT_AFFINE = {"pixel_shuffle"}
"""Operators whose subscripts are not affine while a size is left out."""
