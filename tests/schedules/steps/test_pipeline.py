"""`double_buffer` and `pipeline`: buffers of several iterations, loads that run ahead."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps import DoubleBuffer, Pipeline

PRODUCTS = (dict(M=9, K=27, N=17), dict(M=4, K=8, N=3), dict(M=4, K=0, N=3), dict(M=1, K=1, N=1))


def staged(**sizes: int) -> Schedule:
    tiled = wb.schedule(wb.operator(MATMUL), **sizes) | wb.decompose_reduction("C")
    tiled = tiled | wb.tile({"C/m": 4, "C/n": 16, "C/k": 8})
    return tiled | wb.stage("A", "C/k_o") | wb.stage("B", "C/k_o")


def text(schedule: Schedule) -> str:
    source = wb.generate(schedule).source
    return source[source.index(f"int {schedule.program.name}(") :]


def test_loads_run_one_iteration_ahead(golden) -> None:
    ahead = staged() | wb.pipeline("C/k_o")
    golden(f"{ahead}\n\n{text(ahead)}")
    assert "float A_local[64]" in text(ahead)
    for sizes in PRODUCTS:
        agree(ahead, sizes)


@pytest.mark.parametrize("stages", [2, 3, 5])
def test_loads_may_run_further_ahead(stages: int) -> None:
    ahead = staged(M=9, K=60, N=17) | wb.pipeline("C/k_o", stages=stages)
    assert f"float A_local[{32 * stages}]" in text(ahead)
    agree(ahead)


def test_a_double_buffer_lets_the_next_load_come_early() -> None:
    double = staged() | wb.double_buffer("A_local") | wb.double_buffer("B_local")
    early = double | wb.shift("A_local.load/k_o", -1) | wb.shift("B_local.load/k_o", -1)
    for sizes in PRODUCTS:
        agree(double, sizes)
        agree(early, sizes)
    with pytest.raises(IllegalSchedule, match="A_local"):
        double | wb.shift("A_local.load/k_o", -2)
    assert not double.can(wb.parallelize("C/k_o"))


def test_pipelines_of_other_operators_take_further_steps() -> None:
    text = "def c(float(N,C,W) I, float(F,C,K) W1) -> (O) { O(n,f,x) +=! I(n,c,x+k) * W1(f,c,k) }"
    naive = wb.schedule(wb.operator(text)) | wb.decompose_reduction("O") | wb.reorder("c", "O/f", "O/x")
    ahead = naive | wb.stage("I", "c") | wb.pipeline("c") | wb.parallelize("O/n")
    agree(ahead, dict(N=3, C=4, W=9, F=2, K=3))
    stencil = wb.schedule(wb.ops.load("separable_conv2d")) | wb.decompose_reduction("O") | wb.stage("V", "O/f")
    agree(stencil | wb.pipeline("O/f"), dict(N=2, C=3, H=8, W=9, KH=3, KW=2, F=4))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.pipeline("C/m_o"), "nothing in m_o loads a buffer"),
        (wb.pipeline("C/k_o", stages=1), "expected 2 to 64"),
        (wb.pipeline("C/k_o", async_="yes"), "expected True or False"),
        (wb.pipeline("q"), "unknown loop"),
        (wb.double_buffer("C"), "C is an output"),
        (wb.double_buffer("Q"), "unknown array 'Q'"),
    ],
)
def test_what_does_not_fit_is_said(step: Transform, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        staged() | step


def test_a_buffer_whose_loops_have_changed_is_refused() -> None:
    with pytest.raises(ScheduleError, match="have changed"):
        staged() | wb.split("C/k_o", 2) | wb.double_buffer("A_local")


@pytest.mark.parametrize("kind", [DoubleBuffer, Pipeline])
def test_what_is_offered_is_legal_and_can_be_written_down(kind: type[Transform]) -> None:
    schedule = staged()
    offered = list(kind.choices(schedule))
    assert offered
    for step in offered:
        after = schedule | step
        assert Schedule.from_json(schedule.original.definition, after.to_json()) == after  # type: ignore[arg-type]
