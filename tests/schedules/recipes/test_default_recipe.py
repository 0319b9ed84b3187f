"""The default recipe is chosen by structure: what it decides on operators it has no name for."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.texts import EVERY
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)


@pytest.mark.parametrize("name", EVERY)
def test_recipe(name: str, golden) -> None:
    text, sizes = EVERY[name]
    bound = default_schedule(wb.lower(wb.operator(text), sizes), AVX2)
    symbolic = default_schedule(wb.lower(wb.operator(text)), AVX2)
    assert bound.verdict
    assert symbolic.verdict
    golden(f"{bound}\n\n{symbolic}")


def kinds(text: str, **sizes: int) -> dict[str, str]:
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), AVX2)
    return {loop.name: loop.kind for loop in loops(schedule.tree)}


def test_a_recurrence_stays_serial_and_what_is_independent_of_it_does_not() -> None:
    found = kinds(
        "def scan(float(N,M) X) -> (float(N,M) Y) { for i in 0:N { Y(i,j) = X(i,j) + (i > 0 ? Y(i-1,j) : 0.0) } }",
        N=64,
        M=512,
    )
    assert found == {"i": "serial", "j": "vector"}


def test_the_name_of_an_operator_decides_nothing() -> None:
    text, sizes = EVERY["matmul"]
    plain = default_schedule(wb.lower(wb.operator(text), sizes), AVX2)
    renamed = default_schedule(wb.lower(wb.operator(text.replace("matmul", "salad")), sizes), AVX2)
    assert plain.tree == renamed.tree


def test_strides_decide_where_lanes_go() -> None:
    op = wb.operator("def copy(float(M,N) A) -> (B) { B(m,n) = A(m,n) + 1.0 }")
    dense = default_schedule(wb.poly.lower(op, {"M": 64, "N": 64}), AVX2)
    turned = default_schedule(wb.poly.lower(op, {"M": 64, "N": 64}, {"A": (1, 64)}), AVX2)
    assert "vectorize('B/n')" in dense.python()
    assert "tile({'B/m': 8, 'B/n': 8})" in turned.python()
