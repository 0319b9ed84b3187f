"""isl's scheduler: its trees are legal, complete, and named after dims."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.poly.making import Maker, conv, jacobi, matmul, op, read, seidel, span, statement, tensor
from tests.poly.time.test_scanning import check
from tests.support import examples
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang import operator
from workbench.poly import can_parallelize, isl_tree, lower, violations
from workbench.poly.programs.tree import Band, Sequence, loops, statements
from workbench.poly.scheduling import scheduler, worker

SMALL = {"M": 3, "N": 4, "K": 2, "T": 3, "C": 2, "H": 4, "W": 5, "R": 2, "S": 1, "P": 2, "Q": 3}


@pytest.mark.parametrize("fusion", ["none", "default", "max"])
@pytest.mark.parametrize("make", [matmul, conv, jacobi, seidel])
@pytest.mark.parametrize("symbolic", [False, True])
def test_trees_are_legal_and_visit_everything(make, fusion, symbolic):
    made = make()
    sizes = {n: SMALL[n] for n in made.size_names}
    program = lower(made, {} if symbolic else sizes)
    tree = isl_tree(program, fusion)
    assert violations(program, tree) == ()
    check(program, tree, sizes)


def test_random_programs():
    for seed in range(examples(quick=5, ci=25, full=200)):
        program = lower(Maker(seed).operator(), {"N": 3, "M": 2} if seed % 2 else {})
        for fusion in scheduler.FUSIONS:
            tree = isl_tree(program, fusion)
            assert violations(program, tree) == ()
            check(program, tree, {"N": 3, "M": 2})


def test_fusion_levels_differ():
    i, j = span("i", "N"), span("j", "N")
    body = [statement(("X", "i"), read("A", "i"), [i]), statement(("Y", "j"), read("X", "j"), [j])]
    tensors = [tensor("A", "input", "N"), tensor("X", "output", "N"), tensor("Y", "output", "N")]
    program = lower(op("chain", tensors, body, "N"))
    assert isinstance(isl_tree(program, "none"), Sequence)
    fused = isl_tree(program, "default")
    assert isinstance(fused, Band)
    assert statements(fused) == ("S0", "S1")


def test_loops_bear_the_names_of_dims_and_matmul_is_parallel_outside():
    program = lower(matmul())
    tree = isl_tree(program, "default")
    assert [loop.name for loop in loops(tree)] == ["m", "n", "k"]
    assert can_parallelize(program, tree, "m")
    assert not can_parallelize(program, tree, "k")


def test_an_unknown_level_lists_the_known_ones():
    with pytest.raises(ScheduleError, match="known: none, default, max"):
        isl_tree(lower(matmul()), "smart")


@pytest.mark.parametrize(
    ("fusion", "easier"),
    [("max", "Use fusion='default' or 'none', "), ("default", "Use fusion='none', "), ("none", "Use ")],
)
def test_a_scheduler_that_is_stopped_advises_what_was_not_asked(fusion, easier):
    steps = " ".join(f"T{k}(i,j) = T{k - 1}(i,j) + 1" for k in range(1, 31))
    scheduler.isl_tree.cache_clear()
    with pytest.raises(BudgetExceeded) as caught:
        isl_tree(lower(operator(f"def chain(float(M,N) T0) -> (T30) {{ {steps} }}")), fusion, 0.00001)
    advice = f"{easier}wb.autoschedule(op) without fusion=, or allow more time: "
    assert str(caught.value).endswith(f"{advice}wb.poly.isl_tree(program, {fusion!r}, seconds=2e-05)")


def test_the_clock_stops_the_scheduler_and_the_next_problem_is_solved():
    steps = " ".join(f"T{k}(i,j) = T{k - 1}(i,j) + 1" for k in range(1, 21))  # a long problem for so short a time
    scheduler.isl_tree.cache_clear()
    with pytest.raises(BudgetExceeded, match="stopped after 1e-05 s"):
        isl_tree(lower(operator(f"def chain(float(M,N) T0) -> (T20) {{ {steps} }}")), "max", 0.00001)
    program = lower(matmul(), {"M": 11, "N": 12, "K": 13})
    assert [loop.name for loop in loops(isl_tree(program, "default"))] == ["m", "n", "k"]


def test_the_worker_needs_no_current_directory(monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    worker.WORKER.stop()
    scheduler.isl_tree.cache_clear()
    assert statements(isl_tree(lower(seidel()), "none")) == ("S0",)


def test_several_threads_and_a_forked_process_ask():
    programs = [lower(matmul(), {"M": n, "N": 3, "K": 5}) for n in range(2, 10)]
    scheduler.isl_tree.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert all(len(statements(tree)) == 2 for tree in pool.map(isl_tree, programs))
    scheduler.isl_tree.cache_clear()
    with get_context("fork").Pool(1) as forked:
        assert forked.apply(_statements_of_seidel) == ("S0",)
    assert _statements_of_seidel() == ("S0",)


def _statements_of_seidel() -> tuple[str, ...]:
    return statements(isl_tree(lower(seidel()), "none"))


LONG_NUMBERS = """def f(float(K) X) -> (float(4) T, double(K, K, 6, 2, K) R) {
    T(j) += float(j) where j in 0:4
    R(k, l, 2 * m + 1, n, p) = double(3 * m + n >= 0 && 3 * m + n <= 3 ? T(3 * m + n) : 1) * double(p)
        where k in 1:K, l in 0:K, m in 0:3, n in 0:2, p in 0:K
}"""


@pytest.mark.slow
def test_numbers_that_grow_long_do_not_hold_anybody_up():
    """Where isl takes care not to coalesce loops, few operations take minutes here, and much memory."""
    program = lower(operator(LONG_NUMBERS))
    tree = isl_tree(program, "max", 10.0)
    assert not violations(program, tree)


def test_a_process_without_memory_is_stopped():
    many = "; ".join(f"S{n}[i] : 0 <= i < {n}" for n in range(2_000))
    problem = replace(scheduler._problem(lower(matmul()), "max"), domain=f"{{ {many} }}")
    small = worker.Worker(1 << 20)
    with pytest.raises(BudgetExceeded, match="stopped at 1 MiB"):
        small.solve(problem, 60.0)
    small.stop()
