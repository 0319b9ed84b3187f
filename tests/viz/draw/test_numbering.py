"""Statements and arrays keep their numbers, and so their colours and marks, through all steps, in every picture."""

from __future__ import annotations

from itertools import pairwise

import pytest

import workbench as wb
from workbench import viz
from workbench.viz.draw.palette import array_numbers, glyph, statement_numbers, statement_role

COST_VOLUME = """
def cost_volume(float(C,H,W) L, float(C,H,W) R, int32 D) -> (V, best) {
    V(d,h,w) +=! L(c,h,w) * R(c,h,w-d) where d in 0:4, w in 4:W, h in 0:H
    best(h,w) max=! V(d,h,w) where d in 0:4, w in 4:W, h in 0:H
}"""
WAYS = {
    "matmul": (
        lambda: wb.schedule(wb.ops.matmul, M=64, N=64, K=64),
        [wb.decompose_reduction("C"), wb.tile({"C/m": 16, "C/n": 16}), wb.stage("A", "C/m_i"), wb.stage("B", "C/m_i")],
    ),
    "attention": (
        lambda: wb.schedule(wb.ops.attention, B=2, M=16, D=8, N=16, E=8),
        [wb.merge("S", "top"), wb.parallelize("O/b"), wb.split_reduction("O/n", 4)],
    ),
}


def ways(name):
    made, steps = WAYS[name]
    found = [made()]
    for step in steps:
        found.append(found[-1] | step)
    return found


@pytest.mark.parametrize("name", WAYS)
def test_a_name_keeps_its_number_through_every_step(name):
    found = ways(name)
    assert len({len(s.program.statements) for s in found}) > 1, "a step adds a statement"
    for before, after in pairwise(found):
        for numbers in (statement_numbers, array_numbers):
            old, new = numbers(before.program), numbers(after.program)
            assert old.items() <= new.items()
            assert sorted(new.values()) == list(range(len(new)))


def test_the_first_numbers_are_the_places_in_the_operator():
    program = wb.lower(wb.operator(COST_VOLUME.replace(", int32 D", "")), C=3, H=4, W=9)
    assert list(statement_numbers(program)) == [s.name for s in program.statements]
    assert list(array_numbers(program)) == list(program.arrays)


@pytest.mark.parametrize("name", WAYS)
def test_panel_and_pictures_use_the_same_numbers(name):
    after = ways(name)[-1]
    numbers = statement_numbers(after.program)
    panel = wb.panel(after)
    assert {s["name"]: s["number"] for s in panel.domain["statements"]}.items() <= numbers.items()
    assert panel.domain["marks"].items() <= array_numbers(after.program).items()
    told = viz.tree(after).text + viz.domain(after).text
    drawn = [s for s in after.program.statements if f"{glyph(numbers[s.name])} {s.name}(" in told]
    assert drawn
    roles = {run[1] for line in panel.code["lines"] for run in line["runs"]}
    assert {statement_role(numbers[s.name]) for s in after.program.statements} & roles
    assert roles & {f"s{n}" for n in range(18)} <= {statement_role(n) for n in numbers.values()}


def test_the_statement_with_most_work_has_the_largest_cost():
    for made in (ways("matmul")[0], ways("matmul")[-1]):
        costs = {s["name"]: s["cost"] for s in wb.panel(made).domain["statements"]}
        assert max(costs, key=lambda name: costs[name]) == "C"
    first = {s["name"]: s["cost"] for s in wb.panel(ways("matmul")[0]).domain["statements"]}
    assert first["C.init"] == 64 * 64  # a touch of each cell, at the sizes that it has
