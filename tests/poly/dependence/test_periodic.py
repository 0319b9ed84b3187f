"""Stencils on a torus: reads in many pieces are analysed piece by piece, in no more work than the pieces need."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import workbench as wb
from workbench.poly.dependence.flow import dependences
from workbench.poly.dependence.flow_cache import times_of
from workbench.poly.dependence.piecewise_flow import last_writes, pieces
from workbench.poly.sets import isl
from workbench.poly.time.timemap import prefix

OPERATIONS = 4_000_000  # a tenth of what an interactive question may take
SPELLINGS = {
    "remainders": ("({0} + 1) % n", "({0} - 1 + n) % n"),
    "choices": ("({0} == n - 1 ? 0 : {0} + 1)", "({0} == 0 ? n - 1 : {0} - 1)"),
}


def torus(spelling: str, dims: str = "ijk") -> str:
    """A stencil of a point, its neighbours along each axis, and its corners: 15 reads in three dims."""
    further, back = SPELLINGS[spelling]
    ways = {0: "{0}", 1: further, -1: back}
    near = [o for o in product((0, 1, -1), repeat=len(dims)) if sum(map(abs, o)) in (0, 1, len(dims))]
    cells = ["".join(f"[{ways[w].format(d)}]" for w, d in zip(offset, dims, strict=True)) for offset in near]
    total = " + ".join(f"A[t % 2]{cell}" for cell in dict.fromkeys(cells))
    loops = " ".join(f"for (int {d} = 0; {d} < n; {d}++)" for d in dims)
    shape, point = "[n]" * len(dims), "".join(f"[{d}]" for d in dims)
    body = f"for (int t = 0; t < T; t++) {loops} A[(t + 1) % 2]{point} = 0.0625 * ({total});"
    return f"void torus(int T, int n, double A[2]{shape}) {{ {body} }}"


def reference(steps: int, start: np.ndarray) -> np.ndarray:
    grid = start.copy()
    axes = tuple(range(start.ndim - 1))
    near = [o for o in product((0, 1, -1), repeat=len(axes)) if sum(map(abs, o)) in (0, 1, len(axes))]
    for t in range(steps):
        grid[(t + 1) % 2] = 0.0625 * sum(np.roll(grid[t % 2], [-w for w in o], axes) for o in near)
    return grid


@pytest.mark.parametrize("sizes", [{}, {"n": 20, "T": 10}], ids=["symbolic", "bound"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_torus_of_15_reads_is_judged_in_little_work(spelling, sizes):
    start = wb.schedule(wb.from_c(torus(spelling)), sizes=sizes)
    assert len(start.program.statements[0].reads) == 15
    dependences.cache_clear()
    with wb.poly.budget(OPERATIONS):
        assert start.can(wb.parallelize("i")).outcome == "legal"
        assert start.can(wb.parallelize("t")).outcome in ("illegal", "unproved")
        assert wb.autoschedule(start.program).verdict


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_torus_computes_what_numpy_says(spelling):
    rng = np.random.default_rng(5)
    for steps, n in ((1, 4), (3, 5), (2, 1), (4, 2)):
        start = rng.integers(-8, 8, (2, n, n, n)).astype(float)
        grid = start.copy()
        wb.from_c(torus(spelling))(steps, n, grid)
        np.testing.assert_allclose(grid, reference(steps, start), rtol=1e-13)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_pieces_together_have_the_flow_of_the_whole(spelling):
    for dims, sizes in (("i", {}), ("i", {"n": 5, "T": 4}), ("ij", {"n": 4, "T": 3})):
        program = wb.lower(wb.from_c(torus(spelling, dims)), sizes)
        (own,) = program.statements
        relations = [isl.parse_union_map(a.relation) for a in own.reads]
        sinks = relations[0]
        for relation in relations[1:]:
            sinks = sinks.union(relation)
        must = isl.parse_union_map(own.writes[0].relation)
        (name, row), *_ = times_of(program, [own]).items()
        times = isl.parse_union_map(f"{prefix(program)}{{ {name} -> [{', '.join(row)}] }}")
        assert len(list(pieces(sinks))) > 1
        found, missing = last_writes(sinks, must, None, times)
        info = isl.UnionAccessInfo.from_sink(sinks).set_schedule_map(times).set_must_source(must)
        flow = info.compute_flow()
        assert found.is_equal(flow.get_may_dependence())
        assert missing.is_equal(flow.get_may_no_source())
