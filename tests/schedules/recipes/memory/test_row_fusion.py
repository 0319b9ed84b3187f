"""The default recipe goes over the rows of a large array once for all that is made of them, sums over columns too."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.poly.programs.tree import loops, statements
from workbench.schedules import Schedule
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.try_steps import top
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(16 << 10, 64 << 10, 1 << 20))

NORM = """def norm(float(M,N) X, float(N) g, float(M,N) D) -> (Y, a, b) {
    total(m) +=! X(m,n)
    weight(m) +=! g(n) * D(m,n)
    both(m) +=! D(m,n) * g(n) * (X(m,n) - total(m))
    Y(m,n) = D(m,n) * g(n) + both(m) * X(m,n) - weight(m)
    a(n) +=! D(m,n) * (X(m,n) - total(m))
    b(n) +=! D(m,n)
}"""
BIAS = """def bias(float(M,N) X, float(N) b, float(M,N) D) -> (Y, s) {
    Y(m,n) = X(m,n) + b(n) > 0 ? D(m,n) : 0
    s(n) +=! Y(m,n)
}"""
EXTREMA = """def extrema(float(M,N) X, float(N) w) -> (low, high, total) {
    low(m) min=! X(m,n) + w(n)
    high(m) max=! X(m,n)
    total(n) +=! X(m,n) > high(m) - 1 ? X(m,n) * w(n) : low(m)
}"""
SHIFTED = """def shifted(float(M,N) X, float(N) w) -> (r, c) {
    r(m) +=! X(m,n) * w(n) where m in 1:M
    c(n) +=! X(m,n) * w(n)
}"""
BEFORE = """def before(float(M,N) X, float(N) w) -> (c, Y) {
    c(n) +=! X(m,n) * w(n)
    Y(m,n) = X(m,n) - c(n)
}"""
TOTALS = """def totals(float(M,N) X, float(N) w) -> (s, c) {
    r(m) +=! X(m,n) * w(n)
    s +=! r(m)
    c(n) +=! X(m,n) * (r(m) - s)
}"""
TEXTS = {"norm": NORM, "bias": BIAS, "extrema": EXTREMA, "shifted": SHIFTED, "before": BEFORE, "totals": TOTALS}


def scheduled(text: str, target: Target = SMALL, **sizes: int) -> Schedule:
    return default_schedule(wb.lower(wb.operator(text), sizes), target)


def passes(schedule: Schedule, array: str) -> int:
    """How many nests go over an array by rows."""
    program = schedule.program
    touched = [
        [t.array for s in statements(nest) for t in (*structure(program, s).reads, *structure(program, s).writes)]
        for nest in top(schedule.tree)
    ]
    return sum(array in own for own in touched)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("rows", "columns"), [(517, 67), (512, 128), (1024, 1)])
def test_the_same_is_computed(name, rows, columns):
    schedule = scheduled(TEXTS[name], M=rows, N=columns)
    assert schedule.verdict
    agree(schedule)


@pytest.mark.parametrize(("name", "array"), [("norm", "X"), ("norm", "D"), ("bias", "Y"), ("extrema", "X")])
def test_rows_come_from_memory_once(name, array):
    schedule = scheduled(TEXTS[name], M=512, N=256)
    assert passes(schedule, array) == 1
    assert "split_reduction" in {step.name for step in schedule.trace}
    (nest,) = (nest for nest in top(schedule.tree) if any(x.kind == "parallel" for x in loops(nest)))
    assert next(iter(loops(nest))).kind == "parallel"


@pytest.mark.parametrize(
    ("name", "why"),
    [("shifted", "other rows"), ("before", "rows need the sums"), ("totals", "the sums need all rows")],
)
def test_sums_over_columns_stay_alone_where_they_must(name, why):
    schedule = scheduled(TEXTS[name], M=512, N=256)
    assert "split_reduction" not in {step.name for step in schedule.trace}, why


def test_what_stays_in_the_cache_is_left_alone():
    schedule = scheduled(NORM, M=40, N=64)
    assert "split_reduction" not in {step.name for step in schedule.trace}
    assert passes(schedule, "D") > 1


def test_few_rows_and_wide_ones_are_left_alone():
    few, wide = scheduled(BIAS, M=64, N=2048), scheduled(BIAS, M=1024, N=1 << 13)
    assert "split_reduction" not in {step.name for schedule in (few, wide) for step in schedule.trace}


def test_a_product_with_a_vector_alone_keeps_its_blocks():
    text = "def product(float(M,K) A, float(K) x, float(K) z) -> (y) { y(m) +=! A(m,k) * x(k)  w(k) = 2 * z(k) }"
    assert "tile" in {step.name for step in scheduled(text.replace("-> (y)", "-> (y, w)"), M=512, K=512).trace}


@pytest.mark.parametrize("name", ["layer_norm", "bias_gelu", "rms_norm"])
def test_backward_operators_of_the_library_walk_their_rows_once(name):
    gradient = wb.grad(wb.ops.load(name).astype("float"))
    schedule = default_schedule(wb.lower(gradient, M=600, N=300), SMALL)
    assert [passes(schedule, array) for array in ("X", "d_Y", "d_X")] == [1, 1, 1]
    again = wb.Schedule.from_json(gradient, schedule.to_json())
    assert again == schedule


ROWS = """def rows(float(M,N) X, float(M,N) D) -> (Y) {
    e(m,n) = X(m,n) * X(m,n) + 1
    s(m) +=! e(m,n)
    d(m,n) = D(m,n) * s(m)
    t(m) max=! d(m,n) - e(m,n)
    Y(m,n) = d(m,n) + e(m,n) * t(m)
}"""


def test_a_large_temporary_of_one_nest_is_kept_a_row_at_a_time():
    schedule = scheduled(ROWS, M=517, N=131)
    assert [str(step) for step in schedule.trace if step.name == "stage"] == [
        "stage('e', 'e/m', filling='none')", "stage('d', 'd/m', filling='none')"
    ]  # fmt: skip
    agree(schedule)


@pytest.mark.parametrize(("rows", "columns"), [(40, 64), (64, 1 << 13)])
def test_temporaries_that_stay_in_the_cache_or_have_long_rows_are_left_alone(rows, columns):
    assert "stage" not in {step.name for step in scheduled(ROWS, M=rows, N=columns).trace}


def test_a_temporary_that_another_nest_reads_stays_whole():
    text = ROWS.replace("-> (Y)", "-> (Y, z)").replace("}", "    z(n,m) = e(m,n)\n}")
    schedule = scheduled(text, M=517, N=131)
    assert [str(step) for step in schedule.trace if step.name == "stage"] == ["stage('d', 'd/m', filling='none')"]
    agree(schedule)
