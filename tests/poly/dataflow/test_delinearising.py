"""Memory as cells, and back."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import LoweringError
from workbench.lang.dtypes import FLOAT64, INT64
from workbench.lang.expr import Const, Size
from workbench.poly.dataflow.delinearising import cells_in_memory, delinearised, memory_elements, same_cells
from workbench.poly.programs.program import Array, Program
from workbench.poly.sets import isl, unpack

TEXT = """
void f(double A[12], double B[3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) %s
}"""


def array(extents: list[int], strides: list[int]) -> Array:
    zeros, wide, steps = ([Const(n, INT64) for n in part] for part in ([0] * len(extents), extents, strides))
    return Array("X", FLOAT64, tuple(zeros), tuple(wide), tuple(steps), "input")


PADDED = array([3, 2], [4, 1])


def program(body: str) -> Program:
    return wb.from_c(TEXT % body)


def test_places_are_those_of_the_layout():
    found = {p[:2]: p[2] for p in unpack.points(cells_in_memory(PADDED, "mem").wrap().flatten())}
    assert found == {(i, j): 4 * i + j for i in range(3) for j in range(2)}
    assert memory_elements(PADDED) == 10
    assert memory_elements(array([], [])) == 1
    assert str(same_cells(PADDED, "Y").get_tuple_name(isl.dim.out)) == "Y"


def test_accesses_to_memory_are_accesses_to_cells():
    found = delinearised(program("B[i] = A[4 * i + j];"), {"A": PADDED})
    read = next(a for a in found.statements[0].accesses if a.array == "A")
    assert isl.parse_map(read.relation).is_equal(isl.parse_map("{ S0[i, j] -> A[i, j] : 0 <= i < 3 and 0 <= j < 2 }"))
    assert found.arrays["A"].rank == 2
    assert found != program("B[i] = A[4 * i + j];")


def test_memory_without_a_cell_is_refused():
    with pytest.raises(LoweringError, match="memory of A is touched that holds no cell"):
        delinearised(program("B[i] = A[4 * i + j + 1];"), {"A": PADDED})


def test_cells_that_share_memory_stay_memory():
    once = program("B[i] = A[j];")
    assert delinearised(once, {"A": array([3, 2], [0, 1])}).statements == once.statements


def test_a_layout_needs_its_sizes():
    unknown = Array("X", FLOAT64, (Const(0, INT64),), (Size("N"),), (Const(1, INT64),), "input")
    with pytest.raises(LoweringError, match="sizes are bound"):
        memory_elements(unknown)
