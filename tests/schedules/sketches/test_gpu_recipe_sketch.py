"""The recipe for GPUs as a sketch: its decisions are named, the default is the recipe itself, every point is legal."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from tests.gpu_recipes import grown_sizes
from tests.support import examples
from workbench.schedules.recipes.gpu.product_choices import threads_for, warps_for
from workbench.target import Target

PROBLEMS = {
    "product": ("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", dict(M=200, N=150, K=170)),
    "product in bfloat16": (
        "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (float(M,N) C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }",
        dict(M=200, N=160, K=176),
    ),
    "convolution": (
        "def f(float(C,H,W) X, float(F,C,KH,KW) K) -> (Y) { Y(f,h,w) +=! X(c,h+kh,w+kw) * K(f,c,kh,kw) }",
        dict(C=16, H=40, W=42, F=32, KH=3, KW=3),
    ),
    "softmax": (
        "def f(float(M,N) X) -> (top, total, Y) { top(m) max=! X(m,n) total(m) +=! exp(X(m,n) - top(m)) "
        "Y(m,n) = exp(X(m,n) - top(m)) / total(m) }", dict(M=40, N=700),
    ),
    "transposition": ("def f(float(N,M) A) -> (B) { B(j,i) = A(i,j) }", dict(N=300, M=200)),
    "sum of columns": ("def f(float(N,M) A) -> (R) { R(m) +=! A(n,m) }", dict(N=2000, M=300)),
    "dot product": ("def f(float(N) a, float(N) b) -> (s) { s +=! a(n) * b(n) }", dict(N=30000)),
    "pointwise": ("def f(float(N,M) A, float(M) b) -> (B) { B(i,j) = A(i,j) + b(j) }", dict(N=300, M=512)),
}  # fmt: skip


@cache
def sketch(name: str, target: str = "h200") -> wb.Sketch:
    text, sizes = PROBLEMS[name]
    return wb.sketch(wb.operator(text), sizes, Target(target))


def steps(schedule: wb.Schedule) -> str:
    """All of them."""
    return " | ".join(map(str, schedule.trace))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("target", ["h200", "t4"])
def test_the_default_point_is_the_recipe(name: str, target: str):
    found = sketch(name, target)
    assert found.space.size > 1
    assert found.at() == wb.autoschedule(found.schedule.program, target)
    assert all(d.name.isidentifier() for d in found.space.decisions)


@pytest.mark.parametrize("name", PROBLEMS)
def test_random_points_are_legal_and_fit_the_gpu(name: str):
    found = sketch(name)
    schedules = [found.at(p) for p in found.space.sample(examples(quick=4, ci=8, full=80), 3)]
    assert all(s.verdict for s in schedules)
    assert len({s.key for s in schedules}) > 1
    for schedule in schedules:
        kernel = wb.generate(schedule, target="h200")  # CodegenError where shared memory or threads do not fit
        assert kernel.launches
    assert wb.Schedule.from_json(found.schedule.program, schedules[0].to_json()) == schedules[0]


def test_what_a_product_decides_stands_in_its_text():
    found = sketch("product")
    usual = {d.name: d.options[0] for d in found.space.decisions}
    assert (usual["C_way"], usual["C_padded"], usual["C_moved"], usual["C_unrolled"]) == ("tiles", True, 4, False)
    source = wb.generate(found.at(C_tile_m=64, C_tile_n=32, C_cells_m=4, C_cells_n=2), target="h200").source
    assert "__launch_bounds__(256)" in source
    assert "pipeline('C/k_o') |" in steps(found.at(C_stages=2, C_asynchronous=False))
    assert "pipeline" not in steps(found.at(C_stages=1))
    assert "split('C/k', 8)" in steps(found.at(C_depth=8))
    assert "A_own" in steps(found.at())
    assert "A_own" not in steps(found.at(C_in_registers=False))
    assert "stage" not in steps(found.at(C_way="loops"))


def test_tensor_cores_are_a_decision_where_the_types_allow_them():
    found = sketch("product in bfloat16")
    way = next(d for d in found.space.decisions if d.name == "C_way")
    assert way.options == ("tensor cores", "tiles", "loops")
    assert "wb_mma" in steps(found.at(C_tile_m=64, C_warps=4))
    assert "wb_mma" not in steps(found.at(C_way="tiles"))


def test_rows_grids_and_pieces_are_decided_by_name():
    assert "bind('R/m', 'block.x')" not in steps(sketch("sum of columns").at())
    assert "split_reduction('R/n', 125)" in steps(sketch("sum of columns").at(R_split=16))
    assert "split_reduction('s/n', 1024)" in steps(sketch("dot product").at(s_piece=1024))
    assert "tile({'B/j': 16, 'B/i': 16})" in steps(sketch("transposition").at(B_tile=16))
    assert "storage_align" not in steps(sketch("transposition").at(B_padded=False))
    grid = sketch("pointwise")
    assert "split('B/j', 2, names=('j_q', 'j_v'))" in steps(grid.at(B_vector=2, B_threads=64))
    assert "unroll('B/i_w')" in steps(grid.at(B_rows=4))


def test_more_threads_than_a_block_has_get_more_cells_each():
    small, large = threads_for(256, 256, 1, 1, Target("h200")), threads_for(16, 16, 16, 16, Target("h200"))
    assert small.height * small.width == 1024
    assert large.height * large.width == 32
    assert warps_for(16, 64, 8, 32).warps == 1


@pytest.mark.parametrize("name", ["embedding", "histogram", "cholesky", "seidel_2d", "lstm"])
def test_operators_that_no_recipe_was_made_for_have_spaces_too(name: str):
    found = wb.sketch(wb.ops.load(name), grown_sizes(name), Target("a100"))
    assert found.space.size > 1
    assert all(found.at(p).verdict for p in found.space.sample(3, 1))
