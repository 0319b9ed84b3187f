"""What is left of a vector loop is one vector that ends early: right at every rest, nothing behind it touched."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.codegen.passes.test_partial_lanes import TYPES, guarded
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

PROGRAMS = {
    "assigned": "def f({0}(M,N) A, {0}(N) B) -> (C) {{ C(m,n) = A(m,n) * 3 + B(n) }}",
    "added": "def f({0}(M,N) A, {0}(N) B) -> (C) {{ C(m,n) = B(n) where m in 0:M\n C(m,n) += A(m,n) }}",
    "multiplied": "def f({0}(M,N) A, {0}(N) B) -> (C) {{ C(m,n) = B(n) where m in 0:M\n C(m,n) *= A(m,n) }}",
    "largest": "def f({0}(M,N) A, {0}(N) B) -> (C) {{ C(m,n) = B(n) where m in 0:M\n C(m,n) max= A(m,n) }}",
    "triangular": "def f({0}(M,N) A, {0}(N) B) -> (C) {{ C(m,n) = A(m,n)\n C(m,n) = C(m,n) + B(n) where n in m:N }}",
}


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rest_is_right(name, kind, bits):
    op = wb.operator(PROGRAMS[name].format(kind))
    target = Target(vector_bits=bits, cores=1)
    kernel = wb.build(default_schedule(wb.lower(op, {}), target), target)
    assert "put_first(&C" in kernel.source
    rng = np.random.default_rng(bits)
    for m in (1, 3):
        for n in (*range(1, 19), 31, 33):
            arrays = [guarded(rng.integers(-4, 5, shape).astype(TYPES[kind])) for shape in ((m, n), (n,))]
            out = guarded(np.zeros((m, n), TYPES[kind]))
            kernel(*arrays, out=out)
            np.testing.assert_array_equal(out, op.evaluate(*arrays))
