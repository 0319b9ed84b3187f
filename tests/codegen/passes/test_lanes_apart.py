"""Sums stay in registers only where lanes and unrolled loops surely add to different cells."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.schedules import Transform
from workbench.schedules.transform import applied
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)
SPREAD = """def spread(double(K) X, double(U) Y, double(L) Z) -> (double(K + U) T) {
    T(k + u) +=! X(k) * Y(u) * Z(l) where k in 0:K, l in 0:L, u in 0:U
}"""
ROWS = "def rows(double(K,L) X, int32(K) J) -> (double(K) T) {{ T({}) +=! X(k,l) where k in 0:K, l in 0:L }}"
BLOCKS = "def blocks(double(K,U,L) X) -> (double({0} * K + U) T) {{ T({0} * k + u) +=! X(k,u,l) where u in 0:U }}"
SMALLEST = """
monoid smallest(float value, int32 index) {
    identity (inf, 2147483647)
    combine (v, i), (w, j) -> (v < w ? v : w, v < w ? i : j)
}
def f(float(L,M) X) -> (V, I) { (V(j), I(j)) smallest=! (X(j,l), 7) where j in 0:L, l in j:M }"""


@pytest.mark.parametrize(
    ("order", "unrolled", "lanes"),
    [("klu", "u", "k"), ("kul", "u", "k"), ("lku", "k", "u"), ("ulk", "k", "u"), ("luk", "u", "k")],
)
def test_two_loops_that_add_to_one_dimension(order: str, unrolled: str, lanes: str) -> None:
    schedule = wb.schedule(wb.operator(SPREAD), K=16, U=8, L=13)
    schedule = applied(schedule, wb.reorder(*(f"T/{x}" for x in order))) | wb.unroll(f"T/{unrolled}")
    agree(schedule | wb.vectorize(f"T/{lanes}"))


@pytest.mark.parametrize("cell", ["k / 2", "max(k - 2, 0)", "k % 5", "J(k) % 3"])
@pytest.mark.parametrize("step", [wb.vectorize("T/k"), wb.unroll("T/k")], ids=str)
@pytest.mark.parametrize("outside", [True, False])
def test_cells_that_several_iterations_add_to(cell: str, step: Transform, outside: bool) -> None:
    schedule = wb.schedule(wb.operator(ROWS.format(cell)), K=16, L=9)
    agree((schedule if outside else schedule | wb.interchange("T/l", "T/k")) | step)


@pytest.mark.parametrize(("pitch", "kept"), [(4, True), (3, False), (6, True)])
def test_steps_longer_than_the_other_loop_keep_cells_apart(pitch: int, kept: bool) -> None:
    schedule = wb.schedule(wb.operator(BLOCKS.format(pitch)), K=12, U=4, L=9)
    schedule = schedule | wb.reorder("T/k", "T/l", "T/u") | wb.unroll("T/u") | wb.vectorize("T/k")
    assert ("T_r" in wb.generate(schedule, AVX2).source) == kept
    agree(schedule)


def test_a_number_contributed_to_a_tuple_keeps_its_type() -> None:
    """In lanes it is a vector of that type, on a domain that is no box, too."""
    schedule = wb.schedule(wb.operator(SMALLEST), L=9, M=20) | wb.decompose_reduction("V") | wb.tile({"V/j": 4})
    schedule = schedule | wb.reorder("V/j_o", "V/l", "V/j_i") | wb.unroll("V/j_i") | wb.vectorize("V/l")
    agree(schedule)
