"""The default recipe as a sketch: its decisions are named, the default is the recipe itself, every point is right."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.support import examples
from workbench.errors import ScheduleError
from workbench.ops.samples import sample_arrays
from workbench.schedules.recipes.decisions import decide, deciding, sizes_near
from workbench.target import Target

MACHINE = Target(cores=2, vector_bits=256, vector_registers=16, cache_bytes=(32 << 10, 1 << 20, 8 << 20))
PROBLEMS = {
    "product": ("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", dict(M=90, N=100, K=70)),
    "convolution": (
        "def f(float(C,H,W) X, float(F,C,KH,KW) K) -> (Y) { Y(f,h,w) +=! X(c,h+kh,w+kw) * K(f,c,kh,kw) }",
        dict(C=16, H=20, W=22, F=32, KH=3, KW=3),
    ),
    "softmax": (
        "def f(float(M,N) X) -> (top, total, Y) { top(m) max=! X(m,n) total(m) +=! exp(X(m,n) - top(m)) "
        "Y(m,n) = exp(X(m,n) - top(m)) / total(m) }", dict(M=40, N=70),
    ),
    "chain": (
        "def f(float(N,M) A) -> (V) { T(i,j) = exp(A(i,j)) U(i,j) = T(i,j) * A(i,j) V(j,i) = U(i,j) - T(i,j) }",
        dict(N=30, M=50),
    ),
    "odd reduction": ("def f(float(N,M) A, float(M) w) -> (R) { R(n) max=! fabs(A(n,m)) * w(m) }", dict(N=50, M=64)),
    "sum of columns": ("def f(float(N,M) A) -> (R) { R(m) +=! A(n,m) }", dict(N=200, M=300)),
    "scan": (
        "def f(float(N,M) A) -> (Y) { Y(i,j) = A(i,j) "
        "for t in 1:M { Y(i,t) = Y(i,t-1) * 0.5 + A(i,t) where i in 0:N } }",
        dict(N=32, M=40),
    ),
    "stencil": (
        "def f(float(N,M) A) -> (B) { B(i,j) = 0.25 * (A(i,j) + A(i+1,j) + A(i,j+1) + A(i+1,j+1)) }", dict(N=70, M=90)
    ),
    "gather": ("def f(float(V,D) T, int32(N) I) -> (Y) { Y(d) +=! T(I(n), d) where n in 0:N, d in 0:D }",
               dict(V=20, D=40, N=60)),
    "gather through a gather": (
        "def f(float(V) x, int32(V) p, int32(N) q) -> (O) where in_range(p, 0, V), in_range(q, 0, V) "
        "{ O(i) = x(p(q(i))) }", dict(V=60, N=17000),
    ),
    "every second cell": (
        "def f(float(N,K2) A, int32 K) -> (float(N,K) R) { R(n,k) = A(n,2*k) - A(n,2*k+1) }", dict(N=40, K2=74, K=37)
    ),
    "channels over time": (
        "def f(float(S,C) x, float(C) a) -> (y) { y(t,c) = x(t,c) "
        "for t in 1:S { y(t,c) = x(t,c) + a(c) * y(t-1,c) } }", dict(S=50, C=70),
    ),
    "differences": (
        "def f(float(N,D) X, float(M,D) Y) -> (O) { O(i,j) +=! fabs(X(i,d) - Y(j,d)) }", dict(N=100, M=90, D=64)
    ),
    "taps": ("def f(float(Z,X) A, float(R) w) -> (O) { O(z,x) +=! A(z+r,x) * w(r) }", dict(Z=40, X=300, R=5)),
    "states over time": (
        "def f(float(S,J) e, float(J,J) T) -> (v) { v(t,j) = e(t,j) "
        "for t in 1:S { b(j) max=! v(t-1,i) + T(i,j) v(t,j) = b(j) + e(t,j) } }", dict(S=20, J=64),
    ),
    "transposed in a band": (
        "def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) = j >= i - 8 && j <= i + 8 ? A(i,j) * B(j,i) : 0.0 }",
        dict(N=100),
    ),
}  # fmt: skip


def problem(name: str):
    text, sizes = PROBLEMS[name]
    return wb.operator(text), sizes


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_default_point_is_the_recipe(name):
    op, sizes = problem(name)
    found = wb.sketch(op, sizes, MACHINE)
    assert found.space.size > 1
    assert found.at() == wb.autoschedule(op, MACHINE, sizes=sizes)
    assert all(d.name.isidentifier() for d in found.space.decisions)


@pytest.mark.parametrize("name", PROBLEMS)
def test_random_points_are_legal_and_differ(name):
    op, sizes = problem(name)
    found = wb.sketch(op, sizes, MACHINE)
    points = found.space.sample(examples(quick=8, ci=16, full=100), 3)
    schedules = [found.at(p) for p in points]
    assert all(s.verdict for s in schedules)
    assert len({s.key for s in schedules}) > 1
    for schedule in schedules[:4]:
        assert wb.Schedule.from_json(op, schedule.to_json()) == schedule


@pytest.mark.parametrize("name", PROBLEMS)
def test_random_points_give_the_results_of_the_operator(name):
    op, sizes = problem(name)
    found = wb.sketch(op, sizes)
    arrays = sample_arrays(op, 1, **sizes)
    for point in found.space.sample(examples(quick=2, ci=4, full=40), 5):
        assert wb.verify(wb.build(found.at(point)), *arrays), point


def test_decisions_are_taken_by_name():
    op, sizes = problem("product")
    found = wb.sketch(op, sizes, MACHINE)
    usual, chosen = found.at().steps(), found.at(C_tile_rows=2).steps()
    assert "'C/m_i': 6" in usual
    assert "'C/m_i': 2" in chosen
    with pytest.raises(ScheduleError, match="unknown decision 'C_tile_row'; did you mean 'C_tile_rows'"):
        found.at(C_tile_row=2)
    with pytest.raises(ScheduleError, match="C_tile_rows=7 is no option"):
        found.at(C_tile_rows=7)


def test_a_recipes_sketch_takes_more_steps_and_constraints():
    op, sizes = problem("product")
    found = wb.where(wb.sketch(op, sizes, MACHINE), "C_tile_rows * C_tile_vectors <= 8")
    assert all(p["C_tile_rows"] * p["C_tile_vectors"] <= 8 for p in found.space.sample(20, 0))
    with pytest.raises(ScheduleError, match="the sketch excludes C_tile_rows=16"):
        found.at(C_tile_rows=16)
    with pytest.raises(ScheduleError, match="sketch takes an operator, or its program, not 3"):
        wb.sketch(3)


def test_outside_nobody_decides_and_inside_the_nearest_number_is_taken():
    assert decide("C.rows", 6, (1, 2, 4)) == 6
    with deciding({"C_rows": 5, "other": "no"}) as asked:
        assert decide("C.rows", 6, (1, 2, 4)) == 6  # 4 and 6 are as near
        assert decide("C.rows", 8, lambda: (1, 2, 4)) == 4
        assert decide("other", "a", ("a", "b")) == "a"
    assert asked.asked["C_rows"] == (6, 1, 2, 4)
    assert sizes_near(24, 96, unit=8, zero=True) == (0, 8, 16, 24, 32, 48, 64, 96)


def test_a_loop_in_blocks_has_the_lanes_of_the_whole_loop():
    op, sizes = problem("channels over time")
    found = wb.sketch(op, sizes, MACHINE)
    steps = found.at(y_1_block_c=32).steps()
    assert "tile({'y.1/c': 32})" in steps
    assert "vectorize('y.1/c_i')" in steps
    assert "vectorize('y.1/c_i')" not in found.at(y_1_block_c=32, y_1_lanes="").steps()


def test_blocks_may_stand_around_the_loops_that_have_none():
    op, sizes = problem("channels over time")
    found = wb.sketch(op, sizes, MACHINE)
    inside, outside = (found.at(y_1_block_c=32, y_1_blocks_outside=x) for x in (False, True))
    assert "reorder('y.1/c_o', 'y.1/t', 'y.1/c_i')" in outside.steps()
    assert "reorder" not in inside.steps()
    assert outside.verdict


@pytest.mark.parametrize(("name", "lanes"), [("gather through a gather", "O_lanes"), ("every second cell", "R_lanes")])
def test_lanes_that_the_recipe_does_not_take_may_be_chosen(name, lanes):
    op, sizes = problem(name)
    found = wb.sketch(op, sizes, MACHINE)
    (options,) = [d.options for d in found.space.decisions if d.name == lanes]
    assert options[0] == ""
    assert "vectorize" not in found.at().steps()
    assert all("vectorize" in found.at({lanes: option}).steps() for option in options[1:2])


def test_a_long_loop_may_be_cut_for_threads_and_lanes():
    op, sizes = problem("gather through a gather")
    steps = wb.sketch(op, sizes, MACHINE).at(O_block_i=1024, O_lanes="i").steps()
    assert "vectorize('O/i_i')" in steps
    assert "parallelize('O/i_o')" in steps


def steps_of(name: str, **decisions) -> str:
    op, sizes = problem(name)
    return wb.sketch(op, sizes, MACHINE).at(**decisions).steps()


def test_a_recurrence_may_be_computed_where_its_first_values_are_written():
    """Rows that wait for the rows before take them by themselves; a recurrence along a row only when asked."""
    assert "merge('y', 'y.1', depth=2)" in steps_of("channels over time")
    assert "merge('y', 'y.1', depth=2)" in steps_of("channels over time", y_y_1_fused=2)
    assert "merge" not in steps_of("scan")
    across = steps_of("scan", Y_Y_1_fused=2)
    assert "reorder('Y.1/i', 'Y.1/t') | merge('Y', 'Y.1', depth=2)" in across


def test_sums_inside_a_recurrence_may_take_several_columns_at_a_time():
    usual, strips = (steps_of("states over time", b_init_strip_vectors=n) for n in (0, 4))
    assert "vectorize('b/i')" in usual
    assert "split('b.init/j', 32)" in strips
    assert "vectorize('b/j_i')" in strips


def test_operands_of_any_function_may_be_packed():
    assert "stage('Y'" not in steps_of("differences")
    assert "stage('Y'" in steps_of("differences", O_way="panels")


def test_rows_whose_windows_overlap_may_share_a_tile():
    assert "unroll('O/z_i')" not in steps_of("taps")
    tiled = steps_of("taps", O_rows="z", O_tile_z=8, O_tile_x=16, O_rows_outside=True)
    assert "tile({'O/z': 8, 'O/x': 16})" in tiled
    assert "reorder('O/r', 'O/z_i', 'O/x_i')" in tiled
    assert "unroll('O/z_i')" in tiled


def test_squares_for_what_crosses_memory_are_a_decision():
    assert "tile({'O/i': 8, 'O/j': 8})" in steps_of("transposed in a band", O_squares=True)
    assert "tile" not in steps_of("transposed in a band", O_squares=False)


def test_one_decision_leaves_all_nests_to_one_thread():
    text = "def f(float(N,M) A, float(N,M) B) -> (R, C) { R(n) +=! A(n,m) C(m) +=! B(n,m) }"
    found = wb.sketch(wb.operator(text), dict(N=900, M=800), MACHINE)
    assert found.at().steps().count("parallelize") == 2
    assert "parallelize" not in found.at(threads=False).steps()
