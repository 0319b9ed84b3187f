"""What is remembered of an array is what would be found again."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

import workbench as wb
from workbench import poly
from workbench.poly.dependence import flow
from workbench.poly.dependence import flow_cache as known_flow
from workbench.poly.dependence.affected_arrays import affected
from workbench.poly.dependence.flow_cache import Scene, shortened
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Sequence
from workbench.poly.sets import isl
from workbench.schedules import Schedule

PAIR = wb.operator("""
def pair(float(N) A, float(N) B) -> (C, D) {
    C(i) +=! A(j) where i in 0:N
    D(i) = C(i) + B(i)
}
""")


def order(times: dict[str, list[int]]) -> list[bool]:
    """Which of each two comes first, times filled up with zeros."""
    length = max(map(len, times.values()))
    filled = [(*row, *[0] * (length - len(row))) for row in times.values()]
    return [a < b for a, b in combinations(filled, 2)] + [a == b for a, b in combinations(filled, 2)]


@pytest.mark.parametrize("seed", range(200))
def test_shortened_times_come_in_the_same_order(seed):
    random = Random(seed)
    times = {f"S{n}[]": [random.randint(-2, 3) for _ in range(random.randint(0, 4))] for n in range(5)}
    short = shortened({name: [str(x) for x in row] for name, row in times.items()})
    assert order({name: [int(x) for x in row] for name, row in short.items()}) == order(times)
    assert {len(row) for row in short.values()} <= {0, 1, 2, 3, 4}


def test_places_where_something_else_stands_keep_what_they_are():
    assert shortened({"S[i]": ["7", "i", "4"], "T[j]": ["7", "3"]}) == {"S[i]": ["i", "1"], "T[j]": ["3", "0"]}


def staged() -> Schedule:
    return wb.schedule(PAIR, N=12) | wb.decompose_reduction("C") | wb.tile({"C/i": 4}) | wb.stage("A", "C/i_i")


def test_what_another_statement_does_changes_no_scene():
    before = staged() | wb.stage("B", "D/i")
    after = before | wb.stage("D", "D/i")
    assert after.program.digest != before.program.digest
    assert Scene.of(after.program, "A") == Scene.of(before.program, "A")
    assert Scene.of(after.program, "D") != Scene.of(before.program, "D")


def test_another_order_is_another_scene():
    program = staged().program
    turned = replace(program, reference=(staged() | wb.interchange("C/i_i", "C/i_o")).tree)
    assert Scene.of(turned, "C") != Scene.of(program, "C")


@pytest.mark.slow
def test_dependences_are_those_that_are_found_without_memory():
    """Each schedule of a trace that repeats much, with what was remembered before, and from nothing."""
    schedule = wb.autoschedule(wb.ops.load("attention"), "h200", sizes={"M": 70, "N": 50, "D": 40, "E": 24})
    line = [schedule.program]
    while line[-1].parent is not None:
        line.append(line[-1].parent)
    assert len(line) > 3
    for program in reversed(line[::5]):
        flow.dependences.cache_clear()
        found = flow.dependences(program)
        for known in (flow._of_array, flow._flows, flow.dependences, known_flow._analysed):
            known.cache_clear()
        again = flow.dependences(program)
        assert len(found) == len(again)
        for a, b in zip(found, again, strict=True):
            assert replace(a, relation="") == replace(b, relation="")
            assert isl.parse_map(a.relation).is_equal(isl.parse_map(b.relation))


def test_trees_and_expressions_travel_without_what_they_remember():
    tree = staged().tree
    hash(tree)
    back = pickle.loads(pickle.dumps(tree))
    assert back == tree
    assert not hasattr(back, "_hash")
    assert hash(back) == hash(tree)


CHAIN = wb.operator(
    "def chain(float(N) A, float(N) E) -> (C, D, F) { C(i) = 2*A(i)   D(i) = C(i) + 1   F(i) = 3*E(i) }"
)


def in_order(*places: int) -> Program:
    """The program with its three nests in another order."""
    program = wb.schedule(CHAIN, N=6).program
    tree = poly.naive_tree(program)
    assert isinstance(tree, Sequence)
    return replace(program, reference=Sequence(tuple(tree.children[p] for p in places)), digest=str(places))


def test_only_what_is_touched_in_another_order_is_concerned():
    before = in_order(0, 1, 2)
    assert affected(before, in_order(0, 2, 1)) == frozenset()
    assert affected(before, in_order(2, 0, 1)) == frozenset()
    assert affected(before, in_order(1, 0, 2)) == {"C"}
    assert affected(before, in_order(2, 1, 0)) == {"C"}


def test_a_value_that_comes_too_late_is_a_difference_wherever_the_rest_stands():
    before = in_order(0, 1, 2)
    for places in ((0, 2, 1), (2, 0, 1)):
        assert poly.differences(before, in_order(*places)) == ()
    for places in ((1, 0, 2), (2, 1, 0), (1, 2, 0)):
        assert {d.array for d in poly.differences(before, in_order(*places))} == {"C"}
