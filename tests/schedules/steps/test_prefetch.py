"""`prefetch`: the cache is asked for what comes later."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from tests.small_sizes import MACHINE
from workbench.errors import ScheduleError
from workbench.schedules import Schedule, Transform


def text(schedule: Schedule) -> str:
    source = wb.generate(schedule, MACHINE).source
    return source[source.index(f"int {schedule.program.name}(") :]


def tiled() -> Schedule:
    blocks = wb.schedule(wb.operator(MATMUL)) | wb.decompose_reduction("C") | wb.tile({"C/m": 4, "C/n": 16})
    return blocks | wb.reorder("k", "C/m_i", "C/n_i") | wb.unroll("m_i") | wb.vectorize("n_i")


def test_rows_that_come_later_are_asked_for_around_a_register_tile() -> None:
    asking = tiled() | wb.prefetch("B", "k", 4) | wb.prefetch("A", "C/n_o") | wb.prefetch("C", "C/n_o", 2)
    code = text(asking)
    assert "__builtin_prefetch(&B[(k + 4)*N + 16 * n_o]);" in code
    assert "__builtin_prefetch(&C[4 * m_o*N + 16 * n_o + 32]);" in code
    assert "prefetch(&A" not in code  # A does not move along n_o
    assert "wb_v8f32 C_r[4][2];" in code
    assert code.replace("__builtin_prefetch", "").count("C_r[m_i]") == text(tiled()).count("C_r[m_i]")
    agree(asking, dict(M=9, K=27, N=33))


def test_prefetches_of_other_operators() -> None:
    jacobi = wb.schedule(wb.ops.load("jacobi_2d")) | wb.prefetch("A", "B/i", 2)
    assert text(jacobi).count("__builtin_prefetch(&A[(i + ") == 5
    agree(jacobi | wb.vectorize("B/j"), dict(M=6, N=9, steps=3))
    gathered = wb.schedule(wb.ops.load("lookup")) | wb.prefetch("I", "b")
    assert "__builtin_prefetch(&I" in text(gathered)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.prefetch("Q", "m"), "unknown array 'Q'"),
        (wb.prefetch("A", "q"), "unknown loop 'q'"),
        (wb.prefetch("A", "m", 0), "expected 1 to"),
        (wb.prefetch("A", "C.init/m"), "nothing in m touches A"),
    ],
)
def test_what_does_not_fit_is_said(step: Transform, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(wb.operator(MATMUL)) | wb.decompose_reduction("C") | step
