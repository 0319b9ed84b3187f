"""Generated CUDA text of many operators, executed on the processor, against the oracle at awkward sizes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ops.awkward import awkward_sizes
from tests.ops.test_compiled import agree, given, needs_out
from tests.ops.test_values import arguments
from tests.runtime.emulation.staged import double_buffered, pipelined
from tests.runtime.hand import numbers
from tests.support import examples
from workbench import ops
from workbench.errors import CodegenError, KernelError, WorkbenchError
from workbench.poly.programs.tree import path
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.emulation.records import ORDERS
from workbench.schedules import Schedule

# Every n-th operator, so that each run has some of all families.
EXECUTED = ops.list()[:: examples(quick=13, ci=8, full=1)]
WATCHED = ops.list()[2 :: examples(quick=29, ci=17, full=1)]


def on_threads(schedule: Schedule, size: int = 4) -> Schedule:
    """For each statement: blocks of `size` threads along its first loop that allows it, else one launch of threads."""
    for statement in schedule.program.statements:
        around = path(schedule.tree, statement.id)
        if all(loop.kind == "serial" for loop in around):
            schedule = next(
                filter(None, (_along(schedule, f"{statement.name}/{x.name}", size) for x in around)), schedule
            )
    return schedule


def _along(schedule: Schedule, loop: str, size: int) -> Schedule | None:
    blocks = wb.tile({loop: size}) | wb.bind(f"{loop}_o", "block.x") | wb.bind(f"{loop}_i", "thread.x")
    for steps in (blocks, wb.bind(loop, "thread.x")):
        try:
            return schedule | steps
        except WorkbenchError:
            continue
    return None


def bound(name: str) -> tuple[Schedule, tuple, dict]:
    """The schedule of an operator on threads, and arguments for it."""
    op, sizes = ops.load(name), awkward_sizes(name)[0]
    arrays, out = arguments(name, sizes)
    return on_threads(wb.schedule(op, sizes=sizes)), arrays, given(out if needs_out(op) else None)


@pytest.mark.parametrize("name", EXECUTED)
def test_generated_text_computes_the_operator(name):
    schedule, arrays, out = bound(name)
    if without_threads(schedule):
        return refused(schedule)
    kernel = wb.build(schedule, target="cuda-on-cpu")
    agree(name, kernel(*arrays, **out), ops.load(name).evaluate(*arrays, **out))


@pytest.mark.parametrize("name", WATCHED)
def test_nothing_is_found_in_generated_text(name):
    schedule, arrays, out = bound(name)
    if without_threads(schedule):
        return refused(schedule)
    found = wb.sanitize(schedule, *arrays, **out)
    assert found, str(found)
    assert "no race" in found.proved


def without_threads(schedule: Schedule) -> bool:
    """Whether some statement has loops of which none can be bound without further steps (a sum into one cell)."""
    around = [path(schedule.tree, s.id) for s in schedule.program.statements]
    return any(loops and all(loop.kind == "serial" for loop in loops) for loops in around)


def refused(schedule: Schedule) -> None:
    """Such a schedule has no CUDA text, and the message names the step to add."""
    with pytest.raises(CodegenError, match="is bound"):
        wb.build(schedule, target="cuda-on-cpu")


def test_most_operators_have_threads():
    alone = [name for name in EXECUTED if without_threads(bound(name)[0])]
    assert len(alone) <= len(EXECUTED) // 4, alone


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("schedule", "n"), [(double_buffered, 1), (double_buffered, 37), (pipelined, 17)])
def test_tiles_in_shared_memory_give_the_product(schedule, n, order):
    kernel = build_on_cpu(wb.generate(schedule(n), target="cuda"), order=order)
    assert wb.verify(kernel, numbers(n, n, seed=1), numbers(n, n, seed=2))


def test_an_index_in_the_data_that_is_out_of_range_is_named():
    op = wb.operator("def take(float(N) T, int32(M) I) -> (O) { O(i) = T(I(i)) where i in 0:M }")
    schedule = wb.schedule(op, N=5, M=6) | wb.bind("O/i", "thread.x")
    kernel = wb.build(schedule, target="cuda-on-cpu")
    good, bad = np.array([0, 4, 2, 2, 1, 3], np.int32), np.array([0, 4, 2, 5, 1, 3], np.int32)
    np.testing.assert_array_equal(kernel(numbers(5), good), numbers(5)[good])
    with pytest.raises(KernelError, match="an index of T in O is out of range"):
        kernel(numbers(5), bad)


def test_a_kernel_serves_all_sizes():
    kernel = wb.build(on_threads(wb.schedule(wb.ops.matmul)), target="cuda-on-cpu")
    for m, n, k in ((1, 1, 1), (5, 7, 3), (16, 17, 2), (4, 9, 0)):
        a, b = numbers(m, k), numbers(k, n)
        assert kernel(a, b).shape == (m, n)
        assert wb.verify(kernel, a, b)
