"""Verdicts against enumeration: random programs, random trees, random loop kinds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.poly.interpreting import date, dates, instances, judge
from tests.poly.making import Maker, calc, jacobi, lift, matmul, op, read, seidel, span, statement, tensor
from tests.poly.time.test_scanning import tiled
from tests.poly.trees import scramble
from tests.support import examples
from workbench.errors import ScheduleError
from workbench.poly import band_permutable, can_parallelize, can_vectorize, dependences, lower, naive_tree, violations
from workbench.poly.dependence import violations as violating
from workbench.poly.programs.program import Dependence, Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence, Tree
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.witness import fix_sizes, witness


def verdicts(program: Program, tree: Tree, dependence: Dependence, sizes: dict[str, int]) -> dict:
    """Every pair of a dependence that the tree gets wrong, with reason and loop."""
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    left = {n: v for n, v in sizes.items() if n in program.symbols}
    relation = fix_sizes(isl.parse_map(dependence.relation), left).wrap().flatten()
    wrong, times = {}, dates(program, tree, sizes)
    for point in unpack.points(relation):
        a, b = point[: len(s.dims)], point[len(s.dims) :]
        verdict = judge(times[s.id, a], times[t.id, b], reduction=dependence.kind == "reduction")
        if verdict is not None:
            wrong[a, b] = verdict
    return wrong


def collide(program: Program, tree: Tree, sizes: dict[str, int]) -> set[str]:
    """Statements two instances of which have one time."""
    seen, twice = set(), set()
    for s, point in instances(program, sizes):
        key = (s, tuple(v for _, _, v in date(program, tree, s, point, sizes)))
        if key in seen:
            twice.add(s)
        seen.add(key)
    return twice


def check_verdict(program: Program, tree: Tree, sizes: dict[str, int]) -> bool:
    """Assert that `violations` says what enumeration says; whether the tree is legal."""
    found = violations(program, tree)
    assert {v.statement for v in found if v.dependence is None} == collide(program, tree, sizes)
    by_dependence = {v.dependence: v for v in found if v.dependence is not None}
    for d in dependences(program):
        wrong = verdicts(program, tree, d, sizes)
        assert (d in by_dependence) == bool(wrong), (d, wrong)
        if wrong:
            v = by_dependence[d]
            pair = tuple(v.source.values()), tuple(v.target.values())
            assert wrong[pair] == (v.reason, v.loop)
            assert pair == min(p for p, w in wrong.items() if w == (v.reason, v.loop))
    return not found


def test_random_trees_agree_with_enumeration():
    legal, tried = 0, examples(quick=30, ci=120, full=1500)
    for seed in range(tried):
        random = Random(seed)
        sizes = random.choice([{"N": 3, "M": 2}, {"N": 2, "M": 3}, {"N": 1, "M": 2}])
        program = lower(Maker(seed).operator(), sizes)
        legal += check_verdict(program, scramble(naive_tree(program), random, program), sizes)
    assert tried / 10 < legal < tried * 9 / 10


def test_symbolic_verdicts_are_those_of_the_worst_sizes():
    """Symbolic violations appear at the witness sizes and at none with a smaller sum."""
    checked = 0
    for seed in range(examples(quick=10, ci=40, full=300)):
        random = Random(seed)
        op_ = Maker(seed).operator()
        general = lower(op_)
        tree = scramble(naive_tree(general), random, general)
        for v in violations(general, tree):
            if v.dependence is None:
                continue
            checked += 1
            pair = tuple(v.source.values()), tuple(v.target.values())
            assert verdicts(general, tree, v.dependence, v.sizes)[pair] == (v.reason, v.loop)
            total = sum(v.sizes.values())
            for n in range(total):
                smaller = {"N": n, "M": total - 1 - n}
                assert (v.reason, v.loop) not in verdicts(general, tree, v.dependence, smaller).values()
    assert checked > 10


@pytest.mark.parametrize("make", [matmul, seidel, jacobi])
def test_the_naive_order_is_legal(make):
    assert violations(lower(make()), naive_tree(lower(make()))) == ()


def test_tiled_matmul_is_legal_and_a_parallel_reduction_races():
    program = lower(matmul())
    assert violations(program, tiled(program, {"m_o": "parallel", "n_i": "vector"})) == ()
    (v,) = violations(program, tiled(program, {"k": "parallel"}))
    assert (v.reason, v.loop, v.sizes) == ("race", "k", {"M": 1, "N": 1, "K": 2})
    assert (v.source, v.target) == ({"m": 0, "n": 0, "k": 0}, {"m": 0, "n": 0, "k": 1})
    assert violations(program, tiled(program, {"k": "vector"})) == ()


def test_rectangular_tiles_of_seidel_are_illegal_until_skewed():
    program = lower(seidel())

    def tiles(i_row) -> Tree:
        rows = [calc("t", "/", 4), calc(i_row, "/", 4), calc("t", "%", 4), calc(i_row, "%", 4)]
        return Band(tuple(Loop(f"l{n}", (("S0", r),)) for n, r in enumerate(rows)), Leaf("S0"))

    (v, *_) = violations(program, tiles(lift("i")))
    assert (v.reason, v.loop) == ("order", "l1")
    assert violations(program, tiles(calc("i", "+", "t"))) == ()


def test_loops_over_dims_that_a_dependence_keeps_equal_are_not_compared(monkeypatch):
    """They are most loops of most schedules: each dim is compared once, whatever loops are made of it."""
    compared: list[str] = []
    compare = violating.compare_text

    def noted(program: Program, loop: Loop, *pair: Any) -> str:
        compared.append(loop.name)
        return compare(program, loop, *pair)

    monkeypatch.setattr(violating, "compare_text", noted)
    program = lower(matmul(), {"M": 37, "N": 41, "K": 29})
    assert violations(program, tiled(program, {"m_o": "parallel"})) == ()
    assert set(compared) == {"k"}


def test_menus():
    program = lower(matmul())
    tree = naive_tree(program)
    assert [can_parallelize(program, tree, name) for name in "mnk"] == [True, True, False]
    assert can_vectorize(program, tree, "k")
    assert band_permutable(program, tree, tree)
    stencil = lower(seidel())
    assert not can_parallelize(stencil, naive_tree(stencil), "i")
    assert not can_vectorize(stencil, naive_tree(stencil), "i")
    assert not band_permutable(stencil, naive_tree(stencil), naive_tree(stencil))
    with pytest.raises(ScheduleError, match="known: m, n, k"):
        can_parallelize(program, tree, "x")
    assert can_parallelize(program, tree, "C.init/m")
    with pytest.raises(ScheduleError, match="known: m, n"):
        can_parallelize(program, tree, "C.init/k")


def test_a_scatter_may_race():
    """`O(idx(i)) += A(i)`: two updates may meet in one cell, so the loop is not parallel, and says may."""
    i = span("i", "N")
    index = read("idx", "i")
    body = [statement(("O", index), read("A", "i"), [i], "+")]
    tensors = [tensor("A", "input", "N"), tensor("idx", "input", "N"), tensor("O", "inout", "M")]
    program = lower(op("scatter", tensors, body, "N M"))
    tree = Band((Loop("i", (("S0", lift("i")),), "parallel"),), Leaf("S0"))
    (v,) = violations(program, tree)
    assert v.reason == "race"
    assert v.dependence.kind == "reduction"
    assert not v.dependence.exact


def test_malformed_trees_are_refused():
    program = lower(matmul())
    with pytest.raises(ScheduleError, match=r"lacks statement C\b"):
        violations(program, Leaf("S0"))
    with pytest.raises(ScheduleError, match=r"occurs 2 times"):
        violations(program, Sequence((Leaf("S0"), Leaf("S0"), Leaf("S1"))))
    with pytest.raises(ScheduleError, match="known: S0, S1"):
        violations(program, Sequence((Leaf("S0"), Leaf("S1"), Leaf("S7"))))
    with pytest.raises(ScheduleError, match="no row"):
        violations(program, Band((Loop("m", (("S0", lift("m")),)),), Sequence((Leaf("S0"), Leaf("S1")))))


def test_a_witness_is_found_where_isl_finds_no_minimum():
    relation = isl.parse_map(
        "{ S[j] -> S[k] : j mod 2 = 0 and k mod 2 = 0 and j + 2 <= k <= j + 3 and 2 <= k <= 5 and 3*floor(k/3) > j }"
    )
    found = witness(relation, (), ("j",), ("k",))
    assert (found.source, found.target) == ({"j": 2}, {"k": 4})
