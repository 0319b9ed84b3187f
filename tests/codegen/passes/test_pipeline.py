"""The nest rewrites, one by one: what they say of themselves, and where every node comes from."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.gpu_schedules import staged_matmul
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.small_sizes import MACHINE, small_rewrites, small_schedule
from workbench.codegen.cuda.pipeline import GRID_PASSES
from workbench.codegen.inspection import nodes_of
from workbench.codegen.nest.nest import Accumulate, Define, For, Nest, Write, children, walk
from workbench.codegen.passes.pipeline import REWRITES
from workbench.errors import CodegenError
from workbench.lang.expr import index_names
from workbench.poly.programs.tree import loops


def tiled() -> wb.Schedule:
    matmul = wb.ops.load("matmul")
    naive = wb.schedule(matmul, M=64, N=60, K=64)
    return naive | wb.tile(m=6, n=16) | wb.unroll("m_i") | wb.vectorize("n_i") | wb.parallelize("m_o")


def test_the_rewrites_of_a_tiled_product_can_be_read(golden):
    golden(str(wb.rewrites(tiled(), MACHINE)))


def test_rewrites_are_found_by_name_and_know_whether_they_did_anything():
    found = wb.rewrites(tiled(), MACHINE)
    assert [r.name for r in found] == [r.name for r in REWRITES]
    assert len(found) == len(REWRITES)
    assert found["vector loops and register tiles"].changed
    assert "registers C.r" in found["vector loops and register tiles"].diff
    assert not found["micro-kernels"].changed
    assert found["micro-kernels"].diff == ""
    with pytest.raises(CodegenError, match=r"known: storage of local arrays"):
        found["no such"]


def test_a_loop_knows_the_step_that_made_it():
    found = wb.rewrites(tiled(), MACHINE)
    texts = {found.origin(node) for node in nodes_of(found[0].before)}
    assert "m_o, made by step 1: tile(m=6, n=16)" in texts
    assert "k, of the naive order" in texts


def test_rewrites_want_a_schedule():
    with pytest.raises(CodegenError, match="takes a Schedule"):
        wb.rewrites(wb.ops.load("matmul"))


ON_GRIDS = {
    "double-buffered matmul": lambda: staged_matmul(2),
    "softmax": lambda: recipe_schedule("softmax"),
    "jacobi": lambda: recipe_schedule("jacobi_2d"),
}


@pytest.mark.parametrize("name", ON_GRIDS)
def test_the_passes_on_the_way_to_kernels_can_be_read(name, golden):
    golden(str(wb.rewrites(ON_GRIDS[name](), "cuda")))


def test_passes_on_the_way_to_kernels_are_found_by_name():
    found = wb.rewrites(staged_matmul(2), "cuda")
    assert [r.name for r in found] == [p.name for p in GRID_PASSES]
    assert "threads wait, for all copies" in found["barriers"].diff
    assert "B_local in shared memory" in found["memory"].diff
    assert not found["wide accesses"].changed


@pytest.mark.parametrize("name", PAIRS)
def test_provenance_survives_every_pass_on_the_way_to_kernels(name):
    schedule = recipe_schedule(name)
    found, program = wb.rewrites(schedule, "h200"), schedule.program
    for step in found:
        writes = [w for w in nodes_of(step.after) if isinstance(w, Write)]
        assert {w.statement for w in writes} == {s.id for s in program.statements}
        assert all(len(w.instance) == len(program.statement(w.statement).dims) for w in writes)
        assert all(found.origin(n) for n in nodes_of(step.after) if isinstance(n, For | Define))


def test_no_pass_disguises_a_bound_loop():
    """A loop over blocks or threads is one from the first nest to the last."""
    for step in wb.rewrites(recipe_schedule("matmul"), "h200"):
        kinds = {n.kind for n in nodes_of(step.after) if isinstance(n, For)}
        assert {"block.x", "thread.x"} <= kinds
        assert "parallel" not in kinds


def defined(nest: Nest, known: frozenset[str] = frozenset()) -> None:
    """Every expression of an instance is over loop variables that are known where it stands."""
    match nest:
        case For() | Define():
            known |= {nest.variable}
        case Accumulate(locals_, _, _):
            assert all(d.variable for x in locals_ for d in x.dims)
        case Write():
            assert set().union(*(index_names(e) for e in nest.instance)) <= known, nest
    for child in children(nest):
        defined(child, known)


@pytest.mark.parametrize("name", wb.ops.list())
def test_provenance_survives_every_rewrite(name):
    found, program = small_rewrites(name), small_schedule(name).program
    known = {loop.name for loop in loops(small_schedule(name).tree)}
    statements = {w.statement for w in walk(found[0].before) if isinstance(w, Write)}
    for step in found:
        writes = [w for w in walk(step.after) if isinstance(w, Write)]
        assert {w.statement for w in writes} == statements
        assert all(len(w.instance) == len(program.statement(w.statement).dims) for w in writes)
        assert all(found.origin(n) for n in walk(step.after) if isinstance(n, For | Define))
        assert {n.loop for n in walk(found[0].before) if isinstance(n, For | Define)} <= known
        defined(step.after)
