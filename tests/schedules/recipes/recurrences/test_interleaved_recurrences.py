"""The default recipe runs recurrences several at a time, bit for bit as their text computes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.fromc.polybench import arguments, copied, results
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)

# What the recipe should do with the row in which it finds the recurrence, and how far rows stay behind one another.
RECURRENCES = {
    "rows alone": (
        "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = 0.5 * A[i][j - 1] + A[i][j];",
        "unroll_jam",
        0,
    ),
    "from the right": (
        "for (int i = 0; i < n; i++) for (int j = n - 2; j >= 0; j--) A[i][j] = A[i][j + 1] / (3.0 + A[i][j]);",
        "unroll_jam",
        0,
    ),
    "between others": (
        "for (int i = 0; i < n; i++) { A[i][0] = 1.0; for (int j = 1; j < n; j++) A[i][j] = A[i][j - 1] * A[i][j];"
        " A[i][n - 1] = 2.0; }",
        "distribute",
        0,
    ),
    "between others, with a division": (
        "for (int i = 0; i < n; i++) { A[i][0] = 1.0; for (int j = 1; j < n; j++)"
        " A[i][j] = B[i][j] / (3.0 + A[i][j - 1]); for (int j = 1; j < n; j++) B[i][j] = B[i][j - 1] + A[i][j]; }",
        "vectorize",
        0,
    ),
    "two together": (
        "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) {"
        " A[i][j] = A[i][j - 1] + B[i][j]; B[i][j] = B[i][j - 1] * A[i][j]; }",
        "unroll_jam",
        0,
    ),
    "table of a comparison": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
        " A[i][j] = A[i - 1][j - 1] + 0.5 * A[i - 1][j] + 0.25 * A[i][j - 1];",
        "skew",
        1,
    ),
    "neighbours above to the right": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n - 1; j++)"
        " A[i][j] = 0.5 * A[i - 1][j + 1] + 0.5 * A[i][j - 1];",
        "skew",
        2,
    ),
    "far above to the right": (
        "for (int i = 1; i < n; i++) for (int j = 1; j < n - 2; j++)"
        " A[i][j] = 0.5 * A[i - 1][j + 2] + 0.5 * A[i][j - 1];",
        "skew",
        3,
    ),
}


def kernel_text(body: str) -> str:
    return f"void f(int n, double A[n][n], double B[n][n]) {{ {body} }}"


@pytest.mark.parametrize("size", [None, 13])
@pytest.mark.parametrize("name", RECURRENCES)
def test_recurrences_run_several_at_a_time(name, size):
    body, kind, behind = RECURRENCES[name]
    of = wb.from_c(kernel_text(body))
    schedule = default_schedule(wb.lower(of, {"n": size} if size else {}), AVX2)
    steps = {step.name: step for step in schedule.trace}
    assert kind in steps
    assert getattr(steps.get("skew"), "factor", 0) == behind
    given = arguments(of, {"n": size or 21})
    found = wb.build(schedule, debug=True)(*copied(given))
    for a, b in zip(results(found), results(wb.evaluate_c(of, *given)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_row_that_waits_for_all_of_the_row_before_stays_as_it_is():
    of = wb.from_c(
        kernel_text("for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = A[i - 1][n - j] + A[i][j - 1];")
    )
    assert "unroll" not in default_schedule(wb.lower(of), AVX2).python()


def test_short_columns_are_left_alone():
    of = wb.from_c(
        "void f(double A[7][99]) { for (int i = 0; i < 7; i++) for (int j = 1; j < 99; j++) A[i][j] += A[i][j - 1]; }"
    )
    assert "unroll" not in default_schedule(wb.lower(of), AVX2).python()
