"""Temporaries that every iteration begins anew get a place in each, and nothing is copied back."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import same_bits
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.memory.privatization import privatized
from workbench.schedules.scheduled_program import naive_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)

OWN = {
    "a row": (
        "double s[n]; for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { s[j] = 0.0;"
        " for (int k = 0; k < n; k++) s[j] += A[i][k] * B[k][j]; } for (int j = 0; j < n; j++) A[i][j] = s[j]; }",
        ["i"],
    ),
    "a number in each of two nests": (
        "double w; for (int i = 0; i < n; i++) { w = A[i][0]; for (int j = 1; j < n; j++) w += A[i][j]; B[i][i] = w; }"
        " for (int i = 0; i < n; i++) { w = 1.0; for (int j = 0; j < n; j++) w += B[i][j] * 0.1; A[i][i] = w; }",
        ["i", "i"],
    ),
    "one that moves along the row": (
        "double w; for (int i = 0; i < n; i++) { w = 0.0; for (int j = 0; j < n; j++) { B[i][j] = A[i][j] - 0.5 * w;"
        " w = A[i][j]; } }",
        ["i"],
    ),
}
SHARED = {
    "a value from the iteration before": (
        "double w; w = 1.0; for (int i = 0; i < n; i++) { A[i][0] = w; w = B[i][0]; for (int j = 1; j < n; j++)"
        " w = w + B[i][j] * 0.1; }"
    ),
    "a value for what comes after the loop": (
        "double w; w = 0.0; for (int i = 0; i < n; i++) { w = B[i][0]; A[i][0] = w; } A[0][1] = w;"
    ),
}


def raised(body: str):
    return wb.from_c(f"void f(int n, double A[n][n], double B[n][n]) {{ {body} }}")


@pytest.mark.parametrize("name", OWN)
def test_each_iteration_has_its_own(name):
    body, homes = OWN[name]
    of = raised(body)
    schedule = privatized(naive_schedule(wb.lower(of, {"n": 37})))
    assert [step.at.rpartition("/")[2] for step in schedule.trace] == homes
    assert len(schedule.program.statements) == len(wb.lower(of).statements)
    same_bits(of, schedule, {"n": 37})


@pytest.mark.parametrize("name", OWN)
def test_their_iterations_go_to_different_threads(name):
    of = raised(OWN[name][0])
    schedule = default_schedule(wb.lower(of, {"n": 150}), AVX2)
    assert any(x.kind == "parallel" for x in loops(schedule.tree))
    same_bits(of, schedule, {"n": 150})


@pytest.mark.parametrize("name", SHARED)
def test_values_that_go_further_stay_where_they_are(name):
    of = raised(SHARED[name])
    schedule = naive_schedule(wb.lower(of, {"n": 37}))
    assert privatized(schedule).trace == ()


def test_a_temporary_that_is_read_later_goes_back():
    of = raised(SHARED["a value for what comes after the loop"])
    schedule = wb.schedule(of, n=37) | wb.stage("w", "i")
    assert any(s.name.endswith(".store") for s in schedule.program.statements)
    same_bits(of, schedule, {"n": 37})
