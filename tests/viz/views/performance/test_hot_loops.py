"""The machine code of the default recipe: register tiles stay in registers, hot loops have the width of the machine.

Libraries for another ISA are compiled, read, and never called.
"""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.runtime.measuring.machine_code import why_unreadable
from workbench.viz.views.performance.hot_loops import statement_loops, work_shares

pytestmark = pytest.mark.skipif(bool(why_unreadable()), reason=f"install binutils on x86-64: {why_unreadable()}")

MACHINES = {
    "AVX2": wb.Target(vector_bits=256, vector_registers=16, isa=("avx2", "fma"), march="haswell", cores=2),
    "AVX-512": wb.Target(
        vector_bits=512, vector_registers=32, isa=("avx2", "fma", "avx512f"), march="skylake-avx512", cores=2
    ),
}
PRODUCTS = {
    "matmul": {"M": 256, "N": 256, "K": 256},
    "tmm": {"M": 128, "N": 256, "K": 256},
    "tbmm": {"B": 8, "N": 26, "M": 72, "K": 26},
    "conv2d": {"N": 1, "C": 32, "H": 28, "W": 28, "F": 64, "KH": 3, "KW": 3, "stride": 1, "pad": 1, "dilation": 1},
    "mlp1": {"B": 64, "M": 512, "N": 128},
}
ROWS = {
    "softmax": {"M": 64, "N": 1024},
    "bias_relu": {"M": 64, "N": 1024},
    "jacobi_2d": {"N": 128, "M": 128, "steps": 4},
    "lookup": {"E": 1000, "D": 64, "B": 32, "L": 10},
}


def hot(schedule, machine):
    found = statement_loops(wb.build(schedule, machine), schedule.program)
    return [loop for loop in found if loop.hot]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_register_tile_does_not_spill(name, machine):
    target = MACHINES[machine]
    loops = hot(wb.autoschedule(wb.ops.load(name), target, sizes=PRODUCTS[name]), target)
    assert loops
    for loop in loops:
        assert loop.code.spills == 0, loop.code.text
        assert loop.code.fused >= 6, loop.code.text
        assert loop.code.bits == target.vector_bits
        assert loop.code.loads < 1.25 * loop.code.fused, loop.code.text


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ROWS)
def test_a_hot_loop_has_the_width_of_the_machine(name, machine):
    target = MACHINES[machine]
    loops = hot(wb.autoschedule(wb.ops.load(name), target, sizes=ROWS[name]), target)
    assert loops
    for loop in loops:
        assert loop.code.vectorised or not loop.code.fused + loop.code.others, loop.code.text
        assert loop.code.bits == target.vector_bits, loop.code.text


def test_a_tile_of_more_cells_than_registers_spills():
    """The reader sees what the tests above forbid."""
    target = MACHINES["AVX2"]
    naive = wb.schedule(wb.ops.matmul, M=96, N=96, K=96) | wb.decompose_reduction("C")
    tiled = naive | wb.tile({"C/m": 8, "C/n": 32}) | wb.reorder("C/m_o", "C/n_o", "C/k", "C/m_i", "C/n_i")
    (loop,) = hot(tiled | wb.unroll("C/m_i") | wb.vectorize("C/n_i"), target)
    assert loop.code.spills > 0


def test_shares_are_of_operations_or_else_of_instances():
    mlp = wb.lower(wb.ops.mlp1, B=4, M=100, N=4)
    shares = work_shares(mlp)
    assert max(shares.values()) > 0.9
    assert sum(shares.values()) == pytest.approx(1)
    assert sum(work_shares(wb.lower(wb.ops.transpose, M=3, N=5)).values()) == pytest.approx(1)
