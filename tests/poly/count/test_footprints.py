"""`loop_footprints` against the touches of the generated nest, one by one, and against `poly.bytes`."""

from __future__ import annotations

from collections import defaultdict

import pytest

import workbench as wb
from workbench import poly
from workbench.errors import LoweringError
from workbench.lang.algebra.folding import fold
from workbench.poly.count.footprints import loop_footprints

CASES = {
    "matmul": lambda: wb.schedule(wb.ops.matmul, M=5, N=4, K=7) | wb.tile(m=2, n=3),
    "trmm": lambda: wb.schedule(wb.ops.trmm, M=6, N=3) | wb.tile(m=2, k=4),
    "jacobi": lambda: wb.schedule(wb.ops.jacobi_1d, N=9, steps=3),
    "skewed": lambda: wb.autoschedule(wb.ops.seidel_2d, fusion="default", N=6, M=5, steps=2),
    "conv": lambda: wb.schedule(wb.ops.conv2d, N=1, C=2, H=4, W=5, F=2, KH=3, KW=2, stride=2, pad=1, dilation=1),
    "blur": lambda: wb.schedule(wb.ops.blur, H=6, W=7) | wb.compute_at("R", "B/y"),
    "cumsum": lambda: wb.schedule(wb.ops.cumsum, M=3, N=5),
    "nobody planned for": lambda: wb.schedule(
        wb.operator("def odd(float(N) A) -> (s) { s(i / 3) +=! A(j) * A(N - 1 - i) where i in 0:N, j in i:N }"), N=7
    ),
}


def brute(schedule, foot):
    """(array, kind) → iteration → cells, from the touches."""
    seen = defaultdict(lambda: defaultdict(set))
    for t in wb.trace_touches(schedule, after=0):
        if t.statement in foot.statements:
            own = schedule.program.statement(t.statement)
            values = {**schedule.program.sizes, **dict(zip(own.dims, t.instance, strict=True))}
            when = tuple(fold(loop.row(t.statement), values) for loop in foot.path)
            kinds = ("read", "write") if t.kind == "accumulate" else (t.kind,)
            for kind in kinds:
                seen[t.array, kind][when].add(t.element)
    return seen


def brought(cells):
    before = {when: cells.get((*when[:-1], when[-1] - 1), set()) if when else set() for when in cells}
    return sum(len(own - before[when]) for when, own in cells.items())


def distinct(cells):
    return len(set().union(*cells.values()))


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_touches_one_by_one(name):
    schedule = CASES[name]()
    for foot in loop_footprints(schedule.program, schedule.tree):
        seen = brute(schedule, foot)
        for array in foot.arrays:
            if schedule.program.arrays[array.array].scope == "local":
                continue  # its cells have names of their own, and share their storage
            reads, writes = seen[array.array, "read"], seen[array.array, "write"]
            assert array.held == len(reads.get(foot.at, set()) | writes.get(foot.at, set())), (foot.path, array)
            assert array.loads in (brought(reads), brought(reads) - distinct(reads)), (foot.path, array)
            assert array.stores in (brought(writes), brought(writes) - distinct(writes)), (foot.path, array)


@pytest.mark.parametrize("name", [n for n in CASES if n != "nobody planned for"])
def test_everything_held_at_once_moves_the_least(name):
    schedule = CASES[name]()
    assert loop_footprints(schedule.program, schedule.tree)[0].moved_bytes == poly.bytes(schedule.program)


def test_iterations_are_counted_and_named():
    schedule = CASES["matmul"]()
    found = {foot.path[-1].name: foot.iterations for foot in loop_footprints(schedule.program, schedule.tree)[1:]}
    assert found | {"m_o": 3, "n_o": 6, "m_i": 10, "n_i": 20, "k": 140} == found


def test_storage_that_a_step_makes_is_held_once():
    schedule = CASES["blur"]()
    nodes = {f.path[-1].name: f for f in loop_footprints(schedule.program, schedule.tree)[1:]}
    (row,) = (a for a in nodes["y"].arrays if a.array not in ("I", "B"))
    assert (row.held, row.loads, row.stores) == (3 * 5, 0, 0)


def test_a_gather_holds_at_most_a_cell_for_each_instance():
    schedule = wb.schedule(wb.ops.embedding, **wb.ops.embedding.examples[-1])
    inner = loop_footprints(schedule.program, schedule.tree)[-1]
    assert {a.array: a.held for a in inner.arrays} == {"table": 1, "idx": 1, "O": 1}


def test_a_program_without_instances_holds_nothing():
    schedule = wb.schedule(wb.ops.matmul, M=0, N=3, K=2)
    assert {f.held_bytes for f in loop_footprints(schedule.program, schedule.tree)} == {0}


def test_sizes_are_needed():
    schedule = wb.schedule(wb.ops.matmul, M=3)
    with pytest.raises(LoweringError, match="footprints need every size; give K, N"):
        loop_footprints(schedule.program, schedule.tree)
