"""Sums whose order C fixes get register tiles, too: every cell receives its contributions in the order of the text."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.fromc.polybench import arguments, copied, program, results
from workbench.poly.programs.accumulating import added
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)
SIZES = {
    "gemm": {"ni": 67, "nj": 70, "nk": 69},
    "syrk": {"n": 70, "m": 65},
    "syr2k": {"n": 41, "m": 37},
    "trmm": {"m": 70, "n": 66},
    "gesummv": {"n": 61},
    "atax": {"m": 61, "n": 53},
}


@pytest.mark.parametrize("name", SIZES)
def test_nothing_is_reassociated(name):
    of = program(name)
    assert not any(s.kind == "update" for s in of.statements)
    schedule = default_schedule(wb.lower(of, SIZES[name]), AVX2)
    steps = {step.name for step in schedule.trace}
    assert "tile" in steps
    assert steps & {"unroll", "vectorize"}
    kernel = wb.build(schedule, debug=True)
    assert "_r[" in kernel.source
    given = arguments(of, SIZES[name])
    for a, b in zip(results(kernel(*copied(given))), results(wb.evaluate_c(of, *given)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("text", "sign"),
    [("C[i] = C[i] + A[i]", "+"), ("C[i] = A[i] + C[i]", "+"), ("C[i] -= A[i]", "+"), ("C[i] *= A[i]", "*"),
     ("C[i] = C[i] + A[i] + 1", None), ("C[i] = A[i] - C[i]", None), ("C[i] += C[i] * A[i]", None),
     ("C[i] = C[i] / A[i]", None), ("C[i] += C[n - 1 - i]", "+")],
)  # fmt: skip
def test_what_is_added_is_read_without_changing_it(text, sign):
    of = wb.from_c(f"void f(int n, double C[n], double A[n]) {{ for (int i = 0; i < n; i++) {text}; }}")
    found = added(of, of.statements[0])
    assert (found and found[0]) == sign
    A, C = np.random.default_rng(0).random(9), np.random.default_rng(1).random(9)
    np.testing.assert_array_equal(wb.build(wb.schedule(of), debug=True)(C.copy(), A), wb.evaluate_c(of, C.copy(), A))
