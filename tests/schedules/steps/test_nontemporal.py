"""`nontemporal`: what is written in whole vectors goes to memory past the caches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from tests.small_sizes import MACHINE
from workbench.errors import ScheduleError
from workbench.runtime.host.machine import this_machine
from workbench.schedules import Schedule, Transform
from workbench.schedules.recipes import default_schedule
from workbench.target import Parallel, Target

SCALE = "def scale(float(M,N) X) -> (Y) { Y(m,n) = 2 * X(m,n) }"
TURNED = "def turned(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }"
TWICE = """def twice(float(M,N) X) -> (Y, top) {
    top(m) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(m))
}"""


def text(schedule: Schedule, target: Target = MACHINE) -> str:
    source = wb.generate(schedule, target).source
    return source[source.index(f"int {schedule.program.name}(") :]


def scaled(dtype: str = "float") -> Schedule:
    rows = wb.schedule(wb.operator(SCALE.replace("float", dtype)), M=6, N=96)
    return rows | wb.vectorize("n") | wb.parallelize("m") | wb.nontemporal("Y")


def test_whole_vectors_go_past_the_caches_and_have_arrived_before_the_threads_part() -> None:
    code = text(scaled(), replace(MACHINE, parallel="openmp"))
    assert "wb_v8f32_put_past(&Y[m*96 + n]" in code
    pragma, loop, arrived = (code.index(t) for t in ("omp for schedule(static) nowait", "put_past", "wb_arrived();"))
    assert pragma < loop < arrived


def test_a_kernel_without_threads_waits_at_its_end() -> None:
    code = text(wb.schedule(wb.operator(SCALE), M=6, N=96) | wb.vectorize("n") | wb.nontemporal("Y"))
    assert code.index("put_past") < code.index("wb_arrived();") < code.index("return 0;")
    assert "#pragma" not in code


@pytest.mark.parametrize("parallel", ["openmp", "pool", "serial"])
def test_every_kind_of_threads(parallel: Parallel) -> None:
    agree(scaled(), target=replace(this_machine(), parallel=parallel), threads=2)


@pytest.mark.parametrize("dtype", ["double", "uint8", "int16", "half", "int64"])
def test_every_type(dtype: str) -> None:
    agree(scaled(dtype), threads=2)


@pytest.mark.parametrize("width", [96, 97, 100, 104])
@pytest.mark.parametrize("shift", [0, 4, 16, 36, 64])
def test_arrays_may_begin_anywhere(width: int, shift: int) -> None:
    s = wb.schedule(wb.operator(SCALE), M=5, N=width) | wb.vectorize("n") | wb.nontemporal("Y")
    kernel = wb.build(s)
    X = np.arange(5 * width, dtype=np.float32).reshape(5, width)
    room = np.full(5 * width * 4 + 256, 7, np.uint8)
    begin = -room.ctypes.data % 64 + shift
    Y = room[begin : begin + X.nbytes].view(np.float32).reshape(X.shape)
    kernel(X, out=Y)
    np.testing.assert_array_equal(Y, 2 * X)
    assert {*room[:begin], *room[begin + X.nbytes :]} == {7}


def test_a_transposition_writes_its_squares_so() -> None:
    s = wb.schedule(wb.operator(TURNED), M=48, N=64) | wb.tile({"m": 8, "n": 8}) | wb.vectorize("m_i")
    s = s | wb.nontemporal("Y")
    assert "wb_v8f32_turn_past(" in text(s)
    agree(s)


def test_steps_after_it_keep_it() -> None:
    s = wb.schedule(wb.operator(SCALE), M=64, N=96) | wb.nontemporal("Y") | wb.tile({"m": 8, "n": 32})
    s = s | wb.vectorize("n_i") | wb.parallelize("m_o")
    assert "put_past" in text(s)
    agree(s, threads=2)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.nontemporal("Q"), "unknown statement 'Q'"),
        (wb.nontemporal("C"), "C reads what it wrote before"),
        (wb.nontemporal("B_local.load"), "B_local is no output; statements that write outputs once: C.init"),
    ],
)
def test_what_does_not_fit_is_said(step: Transform, message: str) -> None:
    staged = wb.schedule(wb.operator(MATMUL), M=8, N=16, K=8) | wb.decompose_reduction("C") | wb.stage("B", "C/m")
    with pytest.raises(ScheduleError, match=message):
        staged | step


def test_twice_is_once_too_often() -> None:
    with pytest.raises(ScheduleError, match="past the caches already"):
        scaled() | wb.nontemporal("Y")


SMALL = Target(vector_bits=256, cores=2, cache_bytes=(8 << 10, 64 << 10, 1 << 20))


def chosen(text: str, **sizes: int) -> list[str]:
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), SMALL)
    return [str(step) for step in schedule.trace if step.name in ("nontemporal", "prefetch")]


def test_the_default_recipe_chooses_it_where_arrays_go_beyond_the_last_cache() -> None:
    assert chosen(SCALE, M=300, N=512) == ["nontemporal('Y')"]
    assert chosen(TURNED, M=300, N=512) == ["nontemporal('Y')", "prefetch('X', 'Y/n_i', 64)"]
    asked = [f"prefetch('X', 'Y/n', {2 * 512 // 8})"]  # and does not ask for lines that are not to be read
    assert chosen(TWICE, M=300, N=512) == ["nontemporal('Y')", *asked]


@pytest.mark.parametrize(
    ("operator", "sizes"),
    [
        (SCALE, {"M": 150, "N": 512}),  # both stay in the last cache
        (SCALE, {"M": 300, "N": 511}),  # rows begin anywhere
        (SCALE, {}),
        (SCALE.replace("Y(m,n) =", "Y(m,n) +=!"), {"M": 300, "N": 512}),
        (SCALE.replace("2 * X(m,n)", "X(m,n)").replace("Y(m,n) =", "Y(m) max=!"), {"M": 300, "N": 512}),
    ],
)
def test_and_not_where_the_cache_helps(operator: str, sizes: dict[str, int]) -> None:
    assert chosen(operator, **sizes) == []


def test_what_is_read_again_stays_what_is_not_goes_past() -> None:
    both = SCALE.replace("-> (Y)", "-> (Y, Z)").replace("}", "Z(m,n) = Y(m,n) + 1 }")
    steps = chosen(both, M=300, N=512)
    assert "nontemporal('Z')" in steps
    assert "nontemporal('Y')" not in steps


def test_what_nobody_reads_is_no_output() -> None:
    text = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { float s = 2 * X[i][j]; }"
    program = wb.from_c(f"void unread(int m, int n, float X[m][n], float Y[m][n]) {{ {text} Y[0][0] = 1; }}")
    schedule = default_schedule(wb.lower(program, {"m": 600, "n": 512}), SMALL)
    assert "nontemporal" not in {step.name for step in schedule.trace}
