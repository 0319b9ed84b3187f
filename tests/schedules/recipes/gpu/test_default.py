"""The GPU recipes: chosen by structure, legal, every kernel bound, and right when they are executed as C."""

from __future__ import annotations

import re
from functools import cache
from math import prod

import numpy as np
import pytest

import workbench as wb
from tests.ops.awkward import awkward_sizes
from tests.ops.test_compiled import agree, given, needs_out
from tests.ops.test_values import arguments
from tests.support import examples
from workbench.errors import ScheduleError
from workbench.poly.programs.tree import loops
from workbench.poly.threads.grid import on_grid, regions
from workbench.poly.threads.warps import block_of
from workbench.schedules.recipes.gpu import products as gpu_products

NAMES = wb.ops.list()[:: examples(quick=9, ci=3, full=1)]
EXECUTED = ("softmax", "layer_norm", "dot", "channels_last", "cumsum", "argmax", "conv2d", "jacobi_2d")
PRODUCTS = ("matmul", "tmm", "batched_matmul", "conv2d")


def unbound(schedule) -> list:
    return [r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound]


def executed(name: str, schedule, sizes: dict[str, int]) -> None:
    op = wb.ops.load(name)
    arrays, out = arguments(name, sizes)
    out = out if needs_out(op) else None
    agree(name, wb.build(schedule)(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_is_bound_and_legal(name):
    schedule = wb.autoschedule(wb.ops.load(name), "h200", sizes=awkward_sizes(name)[0])
    assert schedule.verdict
    assert not unbound(schedule)
    order = on_grid(schedule.tree)
    assert all(block_of(schedule.program, order, r.statements).threads <= 1024 for r in regions(order))


@pytest.mark.parametrize("name", EXECUTED)
def test_executed_at_awkward_sizes(name):
    sizes = awkward_sizes(name)[0]
    executed(name, wb.autoschedule(wb.ops.load(name), "cuda", sizes=sizes), sizes)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_awkward_sizes(name, monkeypatch):
    monkeypatch.setattr(gpu_products, "WORK", 1)
    sizes = {"M": 37, "N": 41, "K": 19, "B": 3} if name != "conv2d" else awkward_sizes(name)[0] | {"F": 9, "W": 21}
    op = wb.ops.load(name)
    sizes = {k: v for k, v in sizes.items() if k in op.examples[0]}
    schedule = wb.autoschedule(op, "t4", sizes=sizes)
    assert "stage(" in schedule.python()
    executed(name, schedule, sizes)


def steps(text: str, target: str = "h200", **sizes: int) -> str:
    return wb.autoschedule(wb.operator(text), target, sizes=sizes).python()


def test_the_name_of_an_operator_decides_nothing():
    text = "def {}(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n) }}"
    assert steps(text.format("matmul"), M=64, N=64, K=64) == steps(text.format("salad"), M=64, N=64, K=64)


@cache
def large_product() -> wb.Schedule:
    """A product with tiles as large as the recipe makes them."""
    return wb.autoschedule(wb.ops.matmul, "h200", M=640, N=768, K=128)


@pytest.mark.slow
def test_a_product_has_its_operands_in_shared_memory_without_conflicts():
    schedule = large_product()
    assert {"A_tile", "B_tile", "A_own", "B_own", "C_own"} <= {*schedule.program.arrays}
    turns = {f"{a.statement} {a.kind}": a.efficiency for a in wb.bank_conflicts(schedule).accesses}
    for part in ("prologue", "body"):  # columns become rows, and rows begin where 16 bytes may
        assert turns.pop(f"A_tile.load.{part} write") >= 0.5
    assert {"B_tile.load.body write", "A_own.load read", "B_own.load read"} <= {*turns}
    assert set(turns.values()) == {1}
    assert wb.coalescing(schedule).efficiency == 1
    kernel = wb.occupancy(schedule, "h200").kernels[-1]
    assert kernel.shared_bytes * 2 <= wb.Target("h200").device.shared_bytes
    assert kernel.registers < 128


def test_sums_stay_in_registers_until_the_end():
    schedule = large_product()
    text = wb.generate(schedule, target="h200").source
    assert "float C_own[16];" in text
    assert "__shared__ float C_own" not in text
    assert len(wb.generate(schedule, target="h200").launches) == 1
    for line in ("*(float4 *)&B_own[0] = *(const float4 *)&B_tile[", "wb_copy_async(&B_tile[", "*(float4 *)&C["):
        assert line in text


@pytest.mark.parametrize(
    ("target", "K", "stages", "waits"), [("h200", 128, 3, 1), ("h200", 96, 3, 0), ("t4", 64, 0, 2)]
)
def test_copies_are_ahead_where_the_gpu_copies_by_itself_and_there_are_pieces(
    target: str, K: int, stages: int, waits: int
):
    schedule = wb.autoschedule(wb.ops.matmul, target, M=320, N=192, K=K)
    assert [getattr(s, "stages", 0) for s in schedule.trace if s.name == "pipeline"] == [stages] * bool(stages)
    text = wb.generate(schedule, target=target).source
    loop = text[text.index("for (int64_t k_o = 0;") if stages else text.index("for (int64_t k_o") :]
    assert loop.count("__syncthreads();") == waits
    A, B = (np.random.default_rng(n).standard_normal(s, np.float32) for n, s in enumerate([(320, K), (K, 192)]))
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), A, B)


@pytest.mark.parametrize("K", [20, 64])
def test_what_is_little_is_copied_at_once(K: int):
    schedule = wb.autoschedule(wb.ops.matmul, "h200", M=320, N=192, K=K)
    assert "pipeline" not in {s.name for s in schedule.trace}
    assert wb.generate(schedule, target="h200").source.count("__syncthreads();") == 1
    A, B = (np.random.default_rng(n).standard_normal(s, np.float32) for n, s in enumerate([(320, K), (K, 192)]))
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), A, B)


def test_rows_have_a_block_each_in_one_kernel():
    schedule = wb.autoschedule(wb.ops.load("softmax"), "h200", M=100, N=1000)
    assert len(regions(on_grid(schedule.tree))) == 1
    assert {x.kind for x in loops(schedule.tree)} == {"block.x", "thread.x", "serial", "vector"}
    assert wb.occupancy(schedule, "h200").kernels[0].threads == 256


@pytest.mark.parametrize(("name", "passes"), [("softmax", ["X", "Y"]), ("layer_norm", ["X"])])
def test_a_row_stays_in_registers_between_the_passes_over_it(name: str, passes: list[str]):
    schedule = wb.autoschedule(wb.ops.load(name), "h200", M=40, N=768)
    text = wb.generate(schedule, target="h200").source
    body = text[text.index('extern "C"') :]
    for array in passes:
        assert len(re.findall(rf"\b{array}\[", body)) == 1
        assert f"    float {array}_row[3];" in body
    agree(name, wb.build(schedule, target="cuda-on-cpu")(*arguments(name, {"M": 40, "N": 768})[0]),
          wb.ops.load(name).evaluate(*arguments(name, {"M": 40, "N": 768})[0]))  # fmt: skip


def test_a_row_that_threads_do_not_divide_evenly_is_read_again():
    assert "X_row" not in steps("def f(float(M,N) X) -> (top, Y) { top(m) max=! X(m,n) Y(m,n) = X(m,n) - top(m) }",
                                M=99, N=1000)  # fmt: skip


def test_rows_of_several_short_dims_are_one_loop_for_all_threads():
    sizes = {"N": 8, "G": 5, "D": 4, "H": 14, "W": 9}
    schedule = wb.autoschedule(wb.ops.load("group_norm"), "h200", sizes=sizes)
    assert [s.name for s in schedule.trace].count("fuse") == 3
    assert wb.occupancy(schedule, "h200").kernels[0].threads == 256
    body = wb.generate(schedule, target="h200").source.partition('extern "C"')[2]
    rows = [line for line in body.splitlines() if "total_rf +=" in line or "square_rf +=" in line]
    assert len(rows) == 2
    assert not any("%" in line or "/" in line for line in rows)
    executed("group_norm", schedule, sizes)
    arrays, _ = arguments("group_norm", sizes)
    agree("group_norm", wb.build(schedule, target="cuda-on-cpu")(*arrays), wb.ops.load("group_norm").evaluate(*arrays))


def test_rows_with_gaps_between_them_stay_several_loops():
    text = "def f(float(M,H,W) X) -> (S) { S(m) +=! X(m,2*h,w) where h in 0:H/2 }"
    assert "fuse(" not in steps(text, M=200, H=20, W=40)


def test_what_threads_found_is_added_up_by_shuffles():
    text = wb.generate(wb.autoschedule(wb.ops.load("softmax"), "h200", M=40, N=600), target="h200").source
    body = text[text.index('extern "C"') :]
    assert "total_all = wb_warp_sum_float32(total_rf);" in body
    assert re.findall(r"__shared__ (.*);", body) == ["float top_warps[8]", "float total_warps[8]"]
    assert body.count("__syncthreads();") == 4  # one inside each sum, and one before what it gives is read


@pytest.mark.parametrize(("name", "sizes"), [("softmax", {"M": 2, "N": 600}), ("dot", {"N": 9000})])
def test_sums_by_shuffles_are_right_and_nothing_is_found_in_them(name, sizes):
    op = wb.ops.load(name)
    schedule = wb.autoschedule(op, "h200", sizes=sizes)
    assert "vectorize(" in schedule.python()
    arrays, _ = arguments(name, sizes)
    agree(name, wb.build(schedule, target="cuda-on-cpu")(*arrays), op.evaluate(*arrays))
    found = wb.sanitize(schedule, *arrays)
    assert found, str(found)


def test_one_long_row_is_added_up_in_two_passes():
    schedule = wb.autoschedule(wb.ops.load("dot"), "h200", N=1 << 20)
    order = on_grid(schedule.tree)
    found = [{x.kind for x in r.loops} for r in regions(order) if r.loops]
    assert {"block.x", "thread.x", "serial", "vector"} in found
    assert len(found) == 2
    assert prod(len(r.statements) for r in regions(order)) > 1


SPLIT = "def sums(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * B(k,n) }"


def test_a_long_reduction_with_few_tiles_is_added_up_by_several_blocks():
    operator, sizes = wb.operator(SPLIT), {"M": 35, "N": 50, "K": 1100}
    schedule = wb.autoschedule(operator, "h200", sizes=sizes)
    assert "atomic('C_own.add')" in schedule.python()
    assert "bind('C/k_s', 'block.z')" in schedule.python()
    A, B = (np.random.default_rng(n).standard_normal(s, np.float32) for n, s in enumerate([(35, 1100), (1100, 50)]))
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), A, B)


@pytest.mark.parametrize(("sizes", "why"), [
    ({"M": 4096, "N": 4096, "K": 4096}, "tiles enough for every multiprocessor"),
    ({"M": 64, "N": 64, "K": 200}, "too short"),
])  # fmt: skip
def test_other_reductions_stay_in_their_block(sizes: dict[str, int], why: str):
    assert "atomic" not in wb.autoschedule(wb.operator(SPLIT), "h200", sizes=sizes).python(), why


def test_short_sides_are_tiles_in_whole_and_nobody_asks_for_their_ends():
    sizes = {"B": 400, "M": 26, "K": 72, "N": 26}
    text = wb.generate(wb.autoschedule(wb.ops.load("batched_matmul"), "h200", sizes=sizes), target="h200").source
    loop = text[text.index("for (int64_t k = 0;") :]
    assert "__launch_bounds__(169)" in text
    assert "if (" not in loop[: loop.index("Z_own[")]


def test_a_transposition_goes_through_a_padded_tile():
    schedule = wb.autoschedule(wb.ops.load("transpose"), "h200", M=100, N=512)
    assert "storage_align('A_local', 0, 32, 1)" in schedule.python()
    assert wb.bank_conflicts(schedule).worst == 1


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_a_pool_is_one_kernel_and_its_frame_a_condition(name):
    sizes = awkward_sizes(name)[0]
    schedule = wb.autoschedule(wb.ops.load(name), "h200", sizes=sizes)
    assert "inline('P')" in schedule.python()
    assert len(regions(on_grid(schedule.tree))) == 1
    executed(name, schedule, sizes)


def test_the_frame_of_a_convolution_is_written_once():
    schedule = wb.autoschedule(
        wb.operator("""
            def f(float(C,H) I, float(F,C,3) W) -> (O) {
                P(c,y) = y >= 1 && y < H + 1 ? I(c,y-1) : 0.0 where c in 0:C, y in 0:H+2
                O(f,y) +=! P(c,y+j) * W(f,c,j) where y in 0:H
            }"""), "h200", C=64, H=4096, F=64,
    )  # fmt: skip
    assert "inline" not in schedule.python()


def test_a_recurrence_stays_in_its_thread():
    text = "def scan(float(N,M) X) -> (float(N,M) Y) { for i in 0:N { Y(i,j) = X(i,j) + (i > 0 ? Y(i-1,j) : 0.0) } }"
    found = {x.name: x.kind for x in loops(wb.autoschedule(wb.operator(text), "cuda", N=64, M=512).tree)}
    assert found == {"j_o": "block.x", "j_i": "thread.x", "i": "serial"}


@pytest.mark.parametrize("name", ["matmul", "softmax", "bias_relu", "transpose", "dot"])
def test_symbolic_sizes(name):
    schedule = wb.autoschedule(wb.ops.load(name), "cuda")
    assert schedule.verdict
    assert not unbound(schedule)


def test_a_sum_of_unknown_length_is_cut_in_pieces_once():
    schedule = wb.autoschedule(wb.ops.load("dot"), "cuda")
    assert schedule.python().count("'block.x'") <= 3
    kernel = wb.build(schedule, target="cuda-on-cpu")
    for n in (0, 1, 5000, 20_000):
        x = np.ones(n, np.float32)
        assert kernel(x, x) == n


def test_an_unknown_target_lists_the_known_ones():
    with pytest.raises(
        ScheduleError, match=r"unknown target .rocket.; known: c, cuda, hip, .*p100, .*h200, or a wb\.Target"
    ):
        wb.autoschedule(wb.ops.matmul, "rocket", M=8, N=8, K=8)


def test_an_array_that_a_statement_writes_itself_is_not_copied_as_a_tile():
    """Its other half, mirrored: a tile of it would be the whole array, which no block can hold."""
    mirror = "C(i,j) = C(j,i) where i in 0:N, j in 0:i"
    op = wb.operator(f"def mirrored(float(N,M) X) -> (C) {{ C(i,j) = X(i,j) + 1\n {mirror} }}")
    schedule = wb.autoschedule(op, "h200", N=512, M=512)
    assert not [step for step in schedule.trace if step.name == "stage"]
    assert wb.generate(schedule, target="h200").source


def test_nests_inside_a_serial_loop_are_grids_each():
    op = wb.operator("""
    def decayed(float(B,T,D) q, float(B,T,D) k, float(B,T,E) v, float(B,T) g) -> (o) {
        S(b,d,e) = 0.0 where b in 0:B, d in 0:D, e in 0:E
        for t in 0:T {
            S(b,d,e) = sigmoid(g(b,t)) * S(b,d,e) + k(b,t,d) * v(b,t,e)
            o(b,t,e) +=! q(b,t,d) * S(b,d,e)
        }
    }""")
    schedule = wb.autoschedule(op, "h200", sizes=dict(B=2, T=5, D=3, E=7))
    assert "add_unit_loop" not in schedule.python()
    assert not unbound(schedule)
    arrays = [np.random.default_rng(n).standard_normal(shape).astype("float32")
              for n, shape in enumerate([(2, 5, 3), (2, 5, 3), (2, 5, 7), (2, 5)])]  # fmt: skip
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), *arrays)
