"""The model of times on a GPU: what it counts agrees with exact counts, and more work, or fewer warps, cost more."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import pytest

import workbench as wb
from workbench import poly
from workbench.errors import BuildError
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.models.features import features_of
from workbench.tune.models.gpu_times import Registers, kernel_times, total_seconds
from workbench.tune.models.gpu_work import KernelWork, kernel_works

H200 = Target("h200")
TURNED = wb.operator("def turned(float(N,M) A) -> (B) { B(j,i) = A(i,j) }")
PRODUCT = wb.operator("def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
HALF = wb.operator(
    "def half(bfloat16(M,K) A, bfloat16(K,N) B) -> (float(M,N) C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }"
)
SQUARE = {"M": 256, "N": 256, "K": 256}


def turned(size: int = 256, **decisions: object) -> Schedule:
    return wb.sketch(TURNED, dict(N=size, M=2 * size), H200).at(**decisions)


def product(**decisions: object) -> Schedule:
    return wb.sketch(PRODUCT, SQUARE, H200).at(**{"C_splits": 1, **decisions})


def seconds(schedule: Schedule, target: Target = H200, **registers: Registers) -> float:
    return total_seconds(kernel_times(schedule, target, registers))


def units(work: KernelWork, memory: str) -> float:
    return sum(t.units for t in work.of(memory))


@pytest.mark.parametrize("decisions", [{}, {"B_padded": False}, {"B_mapping": "gridded"}, {"B_tile": 16}])
def test_sectors_and_turns_are_those_that_are_counted_one_by_one(decisions):
    schedule = turned(**decisions)
    (work,) = kernel_works(schedule, H200)
    exact = sum(a.units for a in wb.coalescing(schedule).accesses)
    assert units(work, "global") == pytest.approx(exact)
    assert units(work, "shared") == pytest.approx(sum(a.units for a in wb.bank_conflicts(schedule).accesses))


def test_blocks_threads_and_operations_are_those_of_the_launches():
    schedule = product()
    (work,) = kernel_works(schedule, H200)
    (launch,) = wb.generate(schedule, target="h200").launches
    assert work.blocks == launch.grid[0] * launch.grid[1] * launch.grid[2]
    assert work.threads == launch.threads
    assert work.operations == poly.flops(schedule.program.original)
    stored = [t for t in work.of("global") if t.array == "C"]
    assert sum(t.units * 32 for t in stored) == 256 * 256 * 4  # each result is written once, in whole sectors


def test_loops_of_the_host_start_a_kernel_again_and_again():
    schedule = wb.autoschedule(wb.ops.load("jacobi_2d"), "h200", M=64, N=64, steps=5)
    works = kernel_works(schedule, H200)
    assert {w.starts for w in works} == {1, 5}
    kernels = [t for t in kernel_times(schedule, H200) if t.starts == 5]
    assert total_seconds(tuple(kernels)) > 5 * 2.5e-6


def test_staging_reuse_padding_and_tensor_cores_are_worth_what_they_should_be():
    assert seconds(product()) < seconds(product(C_way="loops"))
    assert seconds(product(C_cells_m=8, C_cells_n=8)) < seconds(product(C_cells_m=1, C_cells_n=1))
    assert seconds(turned(4096)) < seconds(turned(4096, B_padded=False))
    assert seconds(turned(4096)) < seconds(turned(4096, B_mapping="gridded"))
    half = wb.sketch(HALF, {"M": 1024, "N": 1024, "K": 1024}, H200)
    assert kernel_works(half.at(), H200)[0].tensor
    assert seconds(half.at()) < seconds(half.at(C_way="tiles"))


def test_spills_and_few_warps_cost_and_what_does_not_fit_is_refused():
    schedule = product()
    good = seconds(schedule, product=Registers(64))
    assert seconds(schedule, product=Registers(64, spilled_bytes=4096)) > good
    assert seconds(schedule, product=Registers(255)) >= good
    with pytest.raises(BuildError, match="product: no block of it fits a multiprocessor of h200: registers"):
        seconds(schedule, product=Registers(256))


def test_a_slower_gpu_takes_longer():
    slow = Target("t4")
    schedule = wb.sketch(TURNED, dict(N=8192, M=8192), slow).at()
    assert seconds(schedule, slow) > seconds(schedule, H200)
    fast = replace(H200, gpu=replace(H200.device, bandwidth_gbs=2 * H200.device.bandwidth_gbs))
    few = Registers(24)  # all warps are resident: the bandwidth is the limit
    assert seconds(schedule, fast, turned=few) < seconds(schedule, H200, turned=few)
    assert seconds(schedule, fast, turned=Registers(255)) == seconds(schedule, H200, turned=Registers(255))


def test_features_are_finite_and_have_the_same_names_for_every_schedule():
    rows = [features_of(s, H200) for s in (product(), product(C_way="loops"), turned(), turned(B_mapping="gridded"))]
    assert {frozenset(row) for row in rows} == {frozenset(rows[0])}
    assert all(isfinite(value) for row in rows for value in row.values())
    assert rows[0]["stages"] == 3
    assert rows[0]["asynchronous"] == 1
    assert rows[1]["stages"] == 1
    assert rows[2]["shared_units"] < features_of(turned(B_padded=False), H200)["shared_units"]
    assert rows[0]["first_cells"] > rows[1]["first_cells"]
