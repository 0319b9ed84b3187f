"""Sources of values against a run of the written order that remembers who wrote each cell."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.poly import brute
from tests.poly.making import Maker, matmul, seidel
from tests.support import examples
from workbench.errors import WorkbenchError
from workbench.lang.expr import reads
from workbench.lang.operator import Operator
from workbench.poly import lower
from workbench.poly.dataflow.last_writers import Assignment, Dataflow, assignments, pointwise
from workbench.poly.sets import isl, unpack

SIZES = {"N": 3, "M": 2}
Source = tuple[str, tuple[int, ...]]


def remembered(op: Operator, sizes: dict[str, int]) -> set[tuple[Source, Source]]:
    """(reader, source) for all values read: what was last written for certain, and all updates since."""
    written: dict[brute.Cell, list[Source]] = {}
    pairs = set()
    for event in brute.events(op, sizes):
        pairs |= {(event.key, source) for cell in event.reads for source in written.get(cell, [cell])}
        for cell in event.writes:
            before = written.get(cell, [cell]) if event.update else []
            written[cell] = [*before, event.key]
    return pairs


def named(flow: Dataflow, step: Assignment) -> set[tuple[Source, Source]]:
    """(reader, source) for the reads of a step."""
    pairs = set()
    for read in set(reads(step.value)):
        for piece in unpack.maps(flow.read(step, read)):
            name = str(piece.get_tuple_name(isl.dim.out))
            label = flow.steps[name].own.name if name in flow.steps else name
            n = piece.dim(isl.dim.in_)
            points = unpack.points(piece.wrap().flatten())
            pairs |= {((step.own.name, p[:n]), (label, p[n:])) for p in points}
    return pairs


def compare(op: Operator, sizes: dict[str, int]) -> int:
    program = lower(op, sizes)
    flow = Dataflow(program, assignments(program))
    found = {pair for step in flow.steps.values() for pair in named(flow, step)}
    assert found == remembered(op, sizes)
    return len(found)


@pytest.mark.parametrize(("op", "sizes"), [(matmul(), {"M": 2, "N": 2, "K": 3}), (seidel(), {"T": 3, "N": 5})])
def test_known_programs_agree_with_a_run(op, sizes):
    assert compare(op, sizes) > 10


def test_random_programs_agree_with_a_run():
    assert sum(compare(Maker(seed).operator(), SIZES) for seed in range(examples(quick=12, ci=60, full=600))) > 100


TEXT = """
void f(int n, double A[n], int idx[n], double B[n]) {
    for (int i = 0; i < n; i++) B[i] = 0.0;
    for (int i = 0; i < n; i++) B[idx[i]] = A[i];
    for (int i = 0; i < n; i++) A[i] = B[i];
}"""


def test_writes_that_data_place_hide_nothing():
    program = wb.from_c(TEXT, n=3)
    flow = Dataflow(program, assignments(program))
    last = next(s for s in flow.steps.values() if s.array == "A")
    found = unpack.maps(flow.read(last, last.value))
    assert {str(m.get_tuple_name(isl.dim.out)): unpack.count(m.wrap()) for m in found} == {"S0_0": 3, "S1_0": 9}


def test_cells_at_the_end_and_each_on_its_own():
    program = wb.from_c(TEXT, n=3)
    flow = Dataflow(program, assignments(program, "text_"), initial={"A": isl.parse_map("{ A[x] -> given[x] }")})
    cells = isl.parse_map("{ each[x] -> B[x] : 0 <= x < 3 }")
    names = {str(m.get_tuple_name(isl.dim.out)) for m in unpack.maps(flow.of(cells, flow.end(cells)))}
    assert names == {"text_S0_0", "text_S1_0"}
    step = flow.steps["text_S1_0"]
    assert [str(m.get_tuple_name(isl.dim.out)) for m in unpack.maps(flow.read(step, step.value))] == ["given"]
    single, time = pointwise(step.cells, flow.time(step))
    assert single.is_single_valued()
    assert time.domain().is_equal(single.domain())
    assert step.operator == "="


def test_memory_that_holds_no_cell_is_not_read():
    program = wb.from_c("void f(double A[4], double B[4]) { for (int i = 0; i < 4; i++) B[i] = A[i]; }")
    flow = Dataflow(program, assignments(program), initial={"A": isl.parse_map("{ A[x] -> A[x] : x < 3 }")})
    with pytest.raises(WorkbenchError, match="A is read where it holds no cell"):
        flow.read(flow.steps["S0_0"], flow.steps["S0_0"].value)
