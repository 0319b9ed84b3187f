"""Lanes run along rows where few cells of a row are read across memory, and across squares where many are."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.schedules.recipes import default_schedule, reasons
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)


def across(condition: str, otherwise: str = "0.0", **sizes: int) -> wb.Schedule:
    """A product with a transposed matrix where a condition holds."""
    text = f"def f(float(N,M) A, float(M,N) B) -> (O) {{ O(i,j) = {condition} ? A(i,j) * B(j,i) : {otherwise} }}"
    return default_schedule(wb.lower(wb.operator(text), sizes), AVX2)


def steps(schedule: wb.Schedule) -> list[str]:
    return [str(step) for step in schedule.trace]


@pytest.mark.parametrize(
    ("condition", "otherwise"),
    [
        ("j >= i - 8 && j <= i + 8", "0.0"),
        ("j > 3 - i && j <= 7 - i", "A(i,j)"),
        ("j < 20", "0.0"),
        ("j >= 600 && i >= 5", "1.0"),
    ],
)
def test_a_band_is_walked_along_its_rows(condition: str, otherwise: str) -> None:
    schedule = across(condition, otherwise, N=640, M=640)
    assert steps(schedule) == ["vectorize('O/j')", "parallelize('O/i')"]
    assert "wb_select_v8f32" not in wb.generate(schedule, AVX2).source, "rows are divided, and no lane chooses"
    assert dict(reasons(schedule))["vectorize('O/j')"] == "neighbours of A and O along j lie side by side"


@pytest.mark.parametrize(
    ("condition", "otherwise"),
    [
        ("j <= i", "0.0"),
        ("j >= i - 40 && j <= i + 40", "0.0"),
        ("j == i", "B(j,i)"),
        ("j >= i && j <= i + 4 && A(i,j) > 0", "0.0"),
        ("j % 100 == 0", "0.0"),
    ],
)
def test_squares_are_for_what_is_read_across_often_or_who_knows_where(condition: str, otherwise: str) -> None:
    schedule = across(condition, otherwise, N=640, M=640)
    assert any(step.startswith("tile") for step in steps(schedule))


@pytest.mark.parametrize("sizes", [{"N": 65, "M": 64}, {"N": 1, "M": 97}, {"N": 80, "M": 80}])
@pytest.mark.parametrize("condition", ["j >= i - 1 && j <= i + 1", "j >= 63", "j > i && j < i + 3 && i > 4"])
def test_results_are_the_oracles(condition: str, sizes: dict[str, int]) -> None:
    agree(across(condition, "A(i,j)", **sizes))
