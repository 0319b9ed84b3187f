"""Products on tensor cores: the text, executed on a processor and compiled, equals the oracle at awkward sizes."""

from __future__ import annotations

import re
from unittest.mock import patch

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ScheduleError
from workbench.runtime.compilers.gpu_compiling import gpu_binary
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.schedules.kernels.fragment_banks import fragment_turns
from workbench.schedules.kernels.tensor_cores import BFLOAT16, FLOAT16, TF32
from workbench.schedules.recipes.gpu import products as gpu_products

PRODUCTS = {
    "bf16": "def p(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
    "transposed": "def p(float16(K,M) A, float16(N,K) B) -> (C) { C(m,n) +=! B(n,k) * A(k,m) }",
    "batched": "def p(float16(G,M,K) A, float16(G,K,N) B) -> (C) { C(g,m,n) +=! A(g,m,k) * B(g,k,n) }",
    "heads": "def p(float16(G,M,H,K) A, float16(G,N,H,K) B) -> (C) { C(g,h,m,n) +=! A(g,m,h,k) * B(g,n,h,k) }",
    "convolution": ("def p(bfloat16(C,Y,X) I, bfloat16(F,C,R,S) W) -> (O) { O(f,y,x) +=! I(c,y+r,x+s) * W(f,c,r,s) }"),
    "added to": (
        "def p(bfloat16(M,K) A, bfloat16(K,N) B, float(M,N) D) -> (C) { C(m,n) = D(m,n)  C(m,n) += A(m,k) * B(k,n) }"
    ),
}
SIZES = {"M": 33, "N": 35, "K": 70, "G": 2, "H": 2, "C": 19, "Y": 5, "X": 36, "F": 33, "R": 3, "S": 3}


def on_cores(text, target="h200", **sizes):
    op = wb.operator(text)
    with patch.object(gpu_products, "WORK", 1):
        return wb.autoschedule(op, target, sizes={n: sizes.get(n, SIZES[n]) for n in op.size_names})


def arrays(schedule):
    random, program = np.random.default_rng(1), schedule.program
    given = [program.arrays[p.name] for p in wb.generate(schedule, target="h200").signature.inputs]
    shapes = [[int(e.value) for e in a.extent] for a in given]
    return [random.standard_normal(s, np.float32).astype(a.dtype.numpy) for s, a in zip(shapes, given, strict=True)]


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_default_recipe_asks_for_them_and_is_right_where_no_tile_is_full(name):
    schedule = on_cores(PRODUCTS[name])
    built = wb.build(schedule, target="cuda-on-cpu")
    assert any(step.name == "replace" for step in schedule.trace)
    assert wb.verify(built, *arrays(schedule))


@pytest.mark.parametrize("sizes", [(64, 64, 128), (1, 40, 150), (130, 8, 33)], ids=str)
def test_full_tiles_ahead_of_their_use_and_very_thin_ones(sizes):
    schedule = on_cores(PRODUCTS["bf16"], **dict(zip("MNK", sizes, strict=True)))
    if sizes == (64, 64, 128):
        assert "asm(" in wb.generate(schedule, target="h200").source
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), *arrays(schedule))


@pytest.mark.parametrize(("name", "loads"), [("bf16", "mt"), ("transposed", "tm"), ("heads", "mm")])
def test_whole_tiles_are_loaded_as_matrices_however_they_lie(name, loads):
    schedule = on_cores(PRODUCTS[name], M=32, N=64, K=32, G=1, H=2)
    text = wb.generate(schedule, target="h200").source
    assert f"x32_{loads}(C_own" in text
    assert "wb_pair(" not in text
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), *arrays(schedule))


def test_parts_that_may_not_be_whole_are_loaded_as_matrices_where_they_are():
    schedule = on_cores(PRODUCTS["bf16"], M=64, N=100, K=64)
    text = wb.generate(schedule, target="h200").source
    assert re.search(r"if \(100 - 64 \* n_o >= 64\) \{\n +wb_mma_\w+_mt\(.*\n.*else \{\n +wb_mma_\w+_ws\(", text)
    found = wb.sanitize(schedule, *arrays(schedule))
    assert found, found


def test_one_kernel_for_all_sizes():
    built = wb.build(wb.autoschedule(wb.operator(PRODUCTS["bf16"]), "h200"), target="cuda-on-cpu")
    assert "asm(" in built.source
    for sizes in ((130, 70, 50), (1, 3, 2)):
        M, N, K = sizes
        A, B = arrays(on_cores(PRODUCTS["bf16"], M=M, N=N, K=K))
        assert wb.verify(built, A, B)


def test_infinities_beyond_the_last_row_and_column_do_not_spread():
    schedule = on_cores(PRODUCTS["bf16"])
    A, B = arrays(schedule)
    A[-1], B[:, -1] = np.inf, np.nan
    C = wb.build(schedule, target="cuda-on-cpu")(A, B)
    assert np.isfinite(C[:-1, :-1]).all()
    assert np.isnan(C[:, -1]).all()


@pytest.mark.slow
def test_nobody_races_for_the_tiles():
    schedule = on_cores(PRODUCTS["bf16"], M=40, N=33, K=140)
    assert "wb_copies_wait(" in wb.generate(schedule, target="h200").source
    found = wb.sanitize(schedule, *arrays(schedule))
    assert found, found


@pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc to compile CUDA text")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", ["bf16", "transposed", "convolution"])
def test_it_compiles_without_warnings_and_without_spills(name, architecture):
    kernel = wb.generate(on_cores(PRODUCTS[name]), target="h200")
    assert gpu_binary(kernel, architecture).warnings == ()
    assert all(k.spill_store_bytes == 0 for k in kernel.resources.kernels)


@pytest.mark.parametrize("target", ["v100", "t4"])
def test_older_gpus_execute_the_loops(target):
    assert "wb_mma" not in wb.generate(on_cores(PRODUCTS["bf16"], target), target=target).source


def test_a_schedule_for_tensor_cores_runs_on_a_gpu_without_them_and_in_c():
    schedule = on_cores(PRODUCTS["bf16"], M=20, N=24, K=16)
    assert "asm(" not in wb.generate(schedule, target="v100").source
    assert wb.verify(wb.build(schedule, target="c"), *arrays(schedule))


def test_words_of_32_bits_are_rounded_for_who_asks():
    """tf32: the schedule of bfloat16 for floats, which no recipe chooses since it loses digits."""
    text = PRODUCTS["bf16"].replace("bfloat16", "float")
    steps = [s for s in on_cores(PRODUCTS["bf16"], M=64, N=32, K=32).trace if s.name != "storage_align"]
    schedule = wb.schedule(wb.operator(text), M=64, N=32, K=32)
    for step in steps:
        schedule = schedule | (wb.replace(step.loop, TF32) if step.name == "replace" else step)
    A, B = arrays(schedule)
    C = wb.build(schedule, target="cuda-on-cpu")(A, B)
    assert "wb_mma_m16n8k8_tf32" in wb.generate(schedule, target="h200").source
    assert 1e-6 < np.abs(C - A @ B).max() < 0.05
    whole = np.round(4 * A).astype(np.float32), np.round(4 * B).astype(np.float32)
    np.testing.assert_array_equal(wb.build(schedule, target="cuda-on-cpu")(*whole), whole[0] @ whole[1])


@pytest.mark.parametrize("kernel", [BFLOAT16, FLOAT16, TF32], ids=lambda k: k.name)
def test_every_element_lies_in_one_register(kernel):
    rows, columns, depth = kernel.shape
    sizes = (kernel.left, rows * depth), (kernel.right, depth * columns), (kernel.result, rows * columns)
    for fragment, size in sizes:
        places = [fragment.place(lane, r) for lane in range(32) for r in range(fragment.registers)]
        assert len({*places}) == len(places) == size


def test_rows_are_apart_so_that_no_lane_waits_for_another():
    """Degrees before and after: rows of 32 or 128 elements lie in the same banks, those of 40 or 136 do not."""
    assert fragment_turns(BFLOAT16.left, (32, 1), 2) == [4, 4, 4, 4]
    assert fragment_turns(BFLOAT16.left, (40, 1), 2) == [1, 1, 1, 1]
    assert fragment_turns(BFLOAT16.right, (128, 1), 2) == [8, 8]
    assert fragment_turns(BFLOAT16.right, (136, 1), 2) == [1, 1]
    assert fragment_turns(BFLOAT16.left, (36, 1), 2) == [2, 2, 2, 2]  # no row begins at a multiple of 16 bytes
    schedule = on_cores(PRODUCTS["bf16"], M=64, N=64, K=64)
    loads = [a for a in wb.bank_conflicts(schedule).accesses if a.statement == "C"]
    assert [(a.array, a.worst) for a in loads] == [("A_tile", 1), ("B_tile", 1)]
    assert sum(s.name == "storage_align" for s in schedule.trace) == 2


def test_replace_says_what_a_warp_needs():
    schedule = wb.schedule(wb.operator(PRODUCTS["bf16"]), M=32, N=32, K=32) | wb.tile(m=16, n=8, k=16)
    with pytest.raises(ScheduleError, match="bind loops of 8 and 4 iterations"):
        schedule | wb.replace("C/m_i", BFLOAT16)
    lanes = schedule | wb.split("m_i", 8) | wb.split("n_i", 4)
    bound = lanes | wb.reorder("m_o", "n_o", "k_o", "m_i_i", "n_i_i", "m_i_o", "n_i_o", "k_i")
    bound = bound | wb.bind("m_i_i", "thread.y") | wb.bind("n_i_i", "thread.x")
    with pytest.raises(ScheduleError, match="m = 0, n = 1 belongs on lane 0"):
        bound | wb.replace("m_i_o", BFLOAT16)
