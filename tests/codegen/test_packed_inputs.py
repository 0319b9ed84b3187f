"""Inputs that hold the same in every call are packed by kernels of their own; what they compute, models show."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.codegen.packed_inputs import packed_inputs
from workbench.errors import IllegalSchedule
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.target import Target

LAYER = wb.operator("""
def layer(float(M,K) x, float(N,K) w, float(N) b) -> (z) {
    y(m,n) +=! x(m,k) * w(n,k)
    z(m,n) = max(y(m,n) + b(n), 0.0)
}
""")
MACHINE = Target("c", vector_bits=256, cores=2)


def scheduled(known, op=LAYER, **sizes):
    with known_operands(known):
        return wb.autoschedule(op, target=MACHINE, sizes={"M": 37, "N": 101, "K": 90, **sizes})


def test_a_known_operand_is_packed_apart_and_taken_as_it_is_packed():
    kernel, (packing,) = packed_inputs(scheduled({"w"}), MACHINE, {"w"})
    assert (packing.source, [a.name for a in kernel.signature.inputs]) == ("w", ["x", packing.array, "b"])
    assert [a.name for a in packing.kernel.signature.arrays] == ["w", packing.array]
    assert f"{packing.array}.load" in packing.kernel.source
    body = kernel.source.split("int layer(")[1]
    assert f"{packing.array}.load" not in body
    assert "w[" not in body


def test_what_is_not_known_is_packed_in_every_call():
    schedule = scheduled(set())
    kernel, packings = packed_inputs(schedule, MACHINE, {"w"})
    assert not packings
    assert kernel.source == wb.generate(schedule, MACHINE).source


def test_a_packed_input_that_is_read_elsewhere_too_is_taken_twice():
    op = wb.operator("""
    def traced(float(M,K) x, float(N,K) w) -> (z) {
        y(m,n) +=! x(m,k) * w(n,k)
        z(m,n) = y(m,n) + w(n,0)
    }
    """)
    kernel, (packing,) = packed_inputs(scheduled({"w"}, op), MACHINE, {"w"})
    assert [a.name for a in kernel.signature.inputs] == ["x", "w", packing.array]


def test_an_illegal_schedule_is_refused():
    running = wb.operator("def running(float(N) x) -> (y) { y(0) = x(0)  for n in 1:N { y(n) = y(n-1) + x(n) } }")
    schedule = wb.schedule(running, N=8)
    broken = wb.reverse("n").on(schedule)
    with pytest.raises(IllegalSchedule):
        packed_inputs(broken, MACHINE, set())
