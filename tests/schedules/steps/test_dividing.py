"""`partition` and `isolate`: the instances of statements in two nests."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL, SEIDEL
from tests.small_sizes import MACHINE
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.poly.programs.tree import statements
from workbench.schedules import Schedule, Transform

TRIANGULAR = {"trmm": ("m", "n", "k"), "syrk": ("i", "j", "k"), "covariance": ("i", "j", "n")}
LEAST = {
    "trmm": ("k_o",),
    "syrk": ("i_o", "j_o"),
    "covariance": ("i_o", "j_o"),
}


def tiled(name: str, **sizes: int) -> Schedule:
    """Register tiles of 4 x 16 below blocks of 8 steps of the reduction."""
    rows, columns, steps = TRIANGULAR[name]
    naive = wb.schedule(wb.ops.load(name), **sizes) | wb.decompose_reduction("C")
    blocks = naive | wb.tile({f"C/{rows}": 4, f"C/{columns}": 16, f"C/{steps}": 8})
    order = wb.reorder(f"C/{steps}_i", f"C/{rows}_i", f"C/{columns}_i")
    return blocks | order | wb.unroll(f"C/{rows}_i") | wb.vectorize(f"C/{columns}_i")


def body(schedule: Schedule, statement: str) -> str:
    """The C text from the first mention of a statement's loops to its instance."""
    source = wb.generate(schedule, MACHINE).source
    return source[: source.index(f"/* {statement}:")][-900:]


def test_partition_divides_a_loop_where_it_is_told(golden) -> None:
    schedule = wb.schedule(wb.operator(MATMUL)) | wb.partition("C", "n < 64")
    golden(f"{schedule}\n\n{wb.generate(schedule, MACHINE).source}")
    assert [s.name for s in schedule.program.statements] == ["C.init", "C.then", "C.else"]
    for sizes in (dict(M=3, K=4, N=70), dict(M=3, K=4, N=5), dict(M=1, K=0, N=64)):
        agree(schedule, sizes)


@pytest.mark.parametrize("condition", ["k == 3 || m > n", "m % 3 == 1", "n < N - 1", "!(k < K / 2)"])
def test_a_partition_may_be_any_affine_condition(condition: str) -> None:
    agree(wb.schedule(wb.operator(MATMUL)) | wb.partition("C", condition), dict(M=7, K=8, N=5))


def test_the_parts_come_in_the_order_that_keeps_the_result() -> None:
    prefix = "def f(float(N) A) -> (B) { B(i) = A(i) where i in 0:N\n for t in 1:N { B(t) = B(t) + B(t-1) } }"
    for condition, first in (("t < 4", "B.1.then"), ("t >= 4", "B.1.else")):
        schedule = wb.schedule(wb.operator(prefix)) | wb.partition("B.1", condition)
        order = [schedule.program.statement(s).name for s in statements(schedule.tree)]
        assert order[1] == first
        agree(schedule, dict(N=9))


def test_parts_that_depend_on_one_another_both_ways_are_refused_with_the_value_that_is_lost() -> None:
    with pytest.raises(IllegalSchedule, match=r"would get a value of|would not get"):
        wb.schedule(wb.operator(SEIDEL)) | wb.partition("A.1", "i % 2 == 0")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.partition("C", "n <"), "expected an expression"),
        (wb.partition("C", "n + 1"), "not a condition"),
        (wb.partition("C", "q < 3"), "unknown index or size 'q'; known: m, n, k, M, K, N"),
        (wb.partition("D", "n < 3"), "unknown statement 'D'"),
        (wb.partition("C", "n < 0"), r"all instances of C are on one side \(else\)"),
        (wb.partition("C", "m * n < 3"), "not affine"),
        (wb.partition("C", "N < 3"), "concerns none of the loops"),
        (wb.isolate(), "name the loops"),
        (wb.isolate("n"), "all instances of"),
        (wb.isolate("q"), "unknown loop 'q'"),
    ],
)
def test_what_does_not_fit_is_said(step: Transform, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(wb.operator(MATMUL)) | step


@pytest.mark.parametrize("name", TRIANGULAR)
@pytest.mark.parametrize("bound", [True, False])
def test_full_tiles_of_triangular_operators_have_register_tiles(name: str, bound: bool) -> None:
    rows, columns, _ = TRIANGULAR[name]
    sizes = {"trmm": dict(M=45, N=38), "syrk": dict(N=45, K=19), "covariance": dict(N=19, M=45)}[name]
    schedule = tiled(name, **(sizes if bound else {})) | wb.isolate(*LEAST[name])
    agree(schedule, sizes)
    text = body(schedule, "C.full")
    assert re.search(r"wb_v8f32 \w+\[4\]\[2\];", text), text
    assert f"{rows}_i < 4;" in text
    assert f"{columns}_i < 16;" in text


def test_isolated_tiles_stand_side_by_side_or_inside(golden) -> None:
    blocks = wb.schedule(wb.operator(MATMUL)) | wb.decompose_reduction("C")
    blocks = blocks | wb.tile({"C/m": 4, "C/n": 16}) | wb.reorder("k", "C/m_i", "C/n_i")
    blocks = blocks | wb.unroll("C/m_i") | wb.vectorize("C/n_i")
    for inside in (False, True):
        schedule = blocks | wb.isolate("m_o", "n_o", inside=inside)
        for sizes in (dict(M=21, K=5, N=37), dict(M=3, K=2, N=16), dict(M=8, K=0, N=32), dict(M=0, K=1, N=1)):
            agree(schedule, sizes)
        assert "C_r[4][2]" in body(schedule, "C.full")
    golden(str(blocks | wb.isolate("m_o", "n_o")))


def test_what_is_isolated_takes_further_steps() -> None:
    schedule = tiled("syrk", N=40, K=16) | wb.isolate("i_o", "j_o") | wb.parallelize("C.full/i_o")
    agree(schedule, {})
    assert not wb.schedule(wb.operator(MATMUL)).can(wb.isolate("m"))


def test_a_loop_that_only_data_bound_is_full_wherever_its_ends_agree() -> None:
    """A row of a triangle is no tile; below blocks of rows none is full, below the rows each is."""
    naive = wb.schedule(wb.ops.load("trmm"), M=8, N=4) | wb.decompose_reduction("C")
    with pytest.raises(ScheduleError, match="no tile is full"):
        naive | wb.split("C/m", 4) | wb.isolate("C/m_o")


@pytest.mark.parametrize(
    ("name", "statement", "condition", "sizes"),
    [
        ("softmax", "Y", "n > 3", dict(M=4, N=9)),
        ("cumsum", "Y", "n < 2", dict(M=3, N=7)),
        ("jacobi_2d", "A.1", "i + j < 6", dict(M=6, N=9, steps=3)),
    ],
)
def test_other_operators(name: str, statement: str, condition: str, sizes: dict[str, int]) -> None:
    op = wb.ops.load(name)
    schedule = wb.schedule(op, **{n: v for n, v in sizes.items() if n in (*op.size_names, *op.scalars)})
    names = [s.name for s in schedule.program.statements]
    assert statement in names, names
    step = wb.partition(statement, condition)
    if schedule.can(step):
        agree(schedule | step, sizes)
    assert step.to_json() == {"step": "partition", "statement": statement, "condition": condition, "at": ""}
