"""Loops visit every instance once, in the tree's order, under the schedule's names."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.poly.interpreting import date, instances, loop_structure, visits
from tests.poly.making import Maker, calc, conv, jacobi, lift, matmul, op, read, span, statement, tensor
from tests.poly.trees import scramble
from tests.support import examples
from workbench.errors import ScheduleError
from workbench.poly import lower, naive_tree, scan, violations
from workbench.poly.dependence.violations import check_complete
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence, Tree
from workbench.poly.time.loops import ForLoop, Visit


def check(program: Program, tree: Tree, sizes: dict[str, int]) -> int:
    """Assert that the scanned loops are the tree; the number of instances."""
    seen = list(visits(scan(program, tree), {n: v for n, v in sizes.items() if n in program.symbols}))
    expected = instances(program, sizes)
    assert sorted(seen) == sorted(expected)
    dates = [tuple(value for _, _, value in date(program, tree, s, p, sizes)) for s, p in seen]
    assert dates == sorted(dates)
    return len(seen)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (matmul, {"M": 3, "N": 2, "K": 4}),
        (matmul, {"M": 3, "N": 2, "K": 0}),
        (matmul, {"M": 0, "N": 2, "K": 1}),
        (jacobi, {"T": 2, "N": 6}),
        (conv, {"N": 1, "C": 2, "H": 4, "W": 4, "K": 2, "R": 3, "S": 2, "P": 2, "Q": 3}),
    ],
)
def test_the_naive_tree_visits_the_domain_in_order(make, sizes, symbolic):
    program = lower(make(), {} if symbolic else sizes)
    check(program, naive_tree(program), sizes)


def test_random_trees_of_random_programs():
    visited, clashing = 0, 0
    for seed in range(examples(quick=15, ci=60, full=600)):
        random = Random(seed)
        sizes = random.choice([{"N": 3, "M": 2}, {"N": 4, "M": 5}, {"N": 0, "M": 2}, {"N": 1, "M": 7}])
        program = lower(Maker(seed).operator(), {} if seed % 2 else sizes)
        visited += check(program, naive_tree(program), sizes)
        tree = scramble(naive_tree(program), random, program)
        if any(v.dependence is None for v in violations(program, tree)):
            clashing += 1
            with pytest.raises(ScheduleError, match="same time"):
                scan(program, tree)
        else:
            visited += check(program, tree, sizes)
    assert visited > examples(quick=300, ci=1000, full=10_000)
    assert clashing > 0


def test_initialisation_stands_inside_the_free_loops():
    program = lower(matmul())
    code = scan(program, naive_tree(program))
    nodes = [n for n in loop_structure(code) if isinstance(n, ForLoop | Visit)]
    assert [n.loop if isinstance(n, ForLoop) else n.statement for n in nodes] == ["m", "n", "S0", "k", "S1"]


def tiled(program: Program, kinds: dict[str, str] | None = None) -> Tree:
    """matmul with rows m/4, n/4 | m%4, then init and k."""
    kinds = kinds or {}

    def loop(name: str, row, *ids: str) -> Loop:
        return Loop(name, tuple((i, row) for i in ids), kinds.get(name, "serial"))

    both = ("S0", "S1")
    outer = (loop("m_o", calc("m", "/", 4), *both), loop("n_o", calc("n", "/", 4), *both))
    inner = (loop("m_i", calc("m", "%", 4), *both),)
    first = Band((loop("n_i", calc("n", "%", 4), "S0"),), Leaf("S0"))
    second = Band((loop("k", lift("k"), "S1"), loop("n_i", calc("n", "%", 4), "S1")), Leaf("S1"))
    return Band(outer, Band(inner, Sequence((first, second))))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    "sizes", [{"M": 9, "N": 8, "K": 3}, {"M": 4, "N": 1, "K": 0}, {"M": 3, "N": 11, "K": 1}]
)
def test_tiles_with_tails(sizes, symbolic):
    program = lower(matmul(), {} if symbolic else sizes)
    check(program, tiled(program), sizes)


def test_parallel_and_vector_loops_keep_kind_and_stay_whole():
    program = lower(matmul())
    code = scan(program, tiled(program, {"m_o": "parallel", "n_i": "vector"}))
    kinds = [(n.loop, n.kind) for n in loop_structure(code) if isinstance(n, ForLoop)]
    assert kinds.count(("m_o", "parallel")) == 1
    assert kinds.count(("n_i", "vector")) == 2  # one in each branch of the sequence
    assert ("k", "serial") in kinds


def test_variables_are_unique_along_the_nesting_and_against_sizes():
    program = lower(matmul())
    ids = ("S0", "S1")
    loops = tuple(Loop("N", tuple((i, lift(d)) for i in ids)) for d in "mn")
    tree = Band(loops, Sequence((Leaf("S0"), Band((Loop("N", (("S1", lift("k")),)),), Leaf("S1")))))
    names = [n.variable for n in loop_structure(scan(program, tree)) if isinstance(n, ForLoop)]
    assert names == ["N_1", "N_2", "N_3"]
    check(program, tree, {"M": 2, "N": 3, "K": 2})


def test_names_that_are_isl_keywords():
    """Sizes, indices and tensors may be called like isl's functions and operators."""
    i, j = span("mod", "Max"), span("exists", "floor_", lower="mod")
    body = [statement(("and", "mod", "exists"), read("min", "mod", calc("exists", "%", 2)), [i, j])]
    tensors = [tensor("min", "input", "Max", "floor_"), tensor("and", "output", "Max", "floor_")]
    made = op("keywords", tensors, body, "Max floor_ c0 NaN")
    for sizes in ({"Max": 3, "floor_": 4, "c0": 1, "NaN": 2}, {}):
        program = lower(made, sizes)
        check(program, naive_tree(program), {"Max": 3, "floor_": 4, "c0": 1, "NaN": 2})
        (loop, *_) = [n for n in loop_structure(scan(program, naive_tree(program))) if isinstance(n, ForLoop)]
        assert loop.variable == "mod"


def test_rank_zero_and_empty_programs():
    body = [statement(("s",), read("A", 0), [])]
    made = op("first", [tensor("A", "input", "N"), tensor("s", "output")], body, "N")
    assert scan(lower(made), naive_tree(lower(made))) == Visit("S0", ())
    program = lower(matmul(), {"M": 0, "N": 3, "K": 3})
    assert not list(visits(scan(program, naive_tree(program)), {}))


def test_random_trees_are_complete():
    program = lower(Maker(5).operator())
    check_complete(program, scramble(naive_tree(program), Random(1), program))


LOSES_A_LOOP = """void f(short A[10][11]) {
    for (int i = 1; i < 4; i++)
        for (int j = 2; j < 6; j += 3) {
            for (int k = 1; k < 5; k++)
                if ((i + k) % 2 == 0)
                    A[k + 3][k] += A[j - 2][i];
            A[j + 1][0] = A[j][i] ^ A[2 * i - 2][i];
        }
}"""


def test_loops_that_leave_instances_out_are_refused():
    """isl takes k for a function of the fused loop, which it is not."""
    schedule = wb.schedule(wb.from_c(LOSES_A_LOOP)) | wb.skew("j", by="i")
    wb.generate(schedule)
    with pytest.raises(ScheduleError, match="leaves out instances of A in this order"):
        wb.generate(schedule | wb.fuse("i", "j"))
