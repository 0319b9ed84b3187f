"""`widen`: buffers in the type in which their numbers are computed with."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.small_sizes import MACHINE
from workbench.errors import ScheduleError
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps import Widen

HALVES = "def f(bfloat16(M,K) A, float16(K,N) B, float(N) b) -> (C) { C(m,n) +=! A(m,k) * B(k,n) + b(n) }"
BYTES = "def f(uint8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(k,n)) - int32(A(m,0)) }"
PLAIN = "def f(uint8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(k,n)) }"
SIZES = {"M": 5, "N": 7, "K": 11}


def staged(text: str, *arrays: str) -> Schedule:
    schedule = wb.schedule(wb.operator(text), SIZES) | wb.decompose_reduction("C") | wb.tile({"C/m": 2, "C/k": 4})
    for array in arrays:
        schedule = schedule | wb.stage(array, "C/m_o")
    return schedule


@pytest.mark.parametrize(("text", "dtype"), [(HALVES, "float32"), (BYTES, "int16"), (BYTES, "int32")])
def test_each_number_is_converted_where_it_is_copied(text: str, dtype: str) -> None:
    schedule = staged(text, "A", "B")
    wide = schedule | wb.widen("A_local", dtype) | wb.widen("B_local", dtype)
    assert wide.verdict
    assert "_of_" not in wb.generate(wide, MACHINE).body.split("C[", 2)[-1]
    agree(wide)
    assert wb.certify(wide)
    assert Schedule.from_json(wb.operator(text), wide.to_json()) == wide


def test_a_layout_and_neutral_elements_stay() -> None:
    schedule = wb.schedule(wb.operator(BYTES), SIZES) | wb.decompose_reduction("C") | wb.tile({"C/k": 4})
    schedule = schedule | wb.stage("A(m,k)", "C/m") | wb.stage("B", "C/m")
    schedule = schedule | wb.transform_layout("B_local", "(k, n) -> (k / 2, n, k % 2)")
    agree(schedule | wb.widen("B_local", "int16") | wb.widen("A_local", "int32"))
    plain = wb.schedule(wb.operator(PLAIN), SIZES) | wb.decompose_reduction("C") | wb.tile({"C/k": 4})
    padded = plain | wb.stage("A", "C/m") | wb.stage("B", "C/m") | wb.pad("C/k_o")
    agree(padded | wb.widen("B_local", "int16") | wb.widen("A_local", "int32"))


def test_choices_are_the_types_that_readers_convert_to() -> None:
    found = [str(s) for s in Widen.choices(staged(HALVES, "A", "B"))]
    assert found == ["widen('A_local', 'float32')", "widen('B_local', 'float32')"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (wb.widen("A", "int32"), "A is an input: the caller says how it is stored"),
        (wb.widen("A_local", "int8"), "int8 does not hold every uint8, or is no other type"),
        (wb.widen("A_local", "uint8"), "uint8 does not hold every uint8, or is no other type"),
        (wb.widen("B_local", "uint32"), "uint32 does not hold every int8, or is no other type"),
        (wb.widen("A_local", "int64"), "C converts A_local to int32, which is no wider type"),
        (wb.widen("A_local", "half"), "unknown element type 'half'"),
        (wb.widen("C_local", "int64"), "C adds to C_local: sums would be other ones"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_said(step: Transform, reason: str) -> None:
    with pytest.raises(ScheduleError, match=reason):
        staged(BYTES, "A", "B", "C") | step
