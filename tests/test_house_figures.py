"""The figures of the house: circles are what a search from everywhere finds, types import nothing."""

from __future__ import annotations

import ast
import sys
from random import Random

import pytest

from tests.support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import house_figures


def reached(graph: house_figures.Graph, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize("seed", range(40))
def test_a_circle_is_all_that_is_reached_and_reaches_back(seed):
    random = Random(seed)
    names = [f"m{n}" for n in range(random.randint(1, 12))]
    graph = {name: {random.choice(names) for _ in range(random.randint(0, 3))} - {name} for name in names}
    expected = {frozenset({a} | {b for b in reached(graph, a) if a in reached(graph, b)}) for a in names}
    assert {frozenset(circle) for circle in house_figures.circles_of(graph)} == expected


def test_a_long_chain_needs_no_deep_stack():
    graph = {f"m{n}": {f"m{(n + 1) % 5000}"} for n in range(5000)}
    assert [len(circle) for circle in house_figures.circles_of(graph)] == [5000]


def test_imports_are_those_of_the_run():
    text = """
from typing import TYPE_CHECKING
from p import a
from p.b import name
if TYPE_CHECKING:
    from p.c import Name
def f():
    import p.d
    return import_module("p.e"), import_module("numpy")
"""
    trees = {f"p.{name}": ast.parse("") for name in "abcde"} | {"p.m": ast.parse(text)}
    assert house_figures.imports_of(trees)["p.m"] == {"p.a", "p.b", "p.d", "p.e"}


def test_public_names_are_counted_by_module():
    first, second = "def f(): pass\ndef _g(): pass\nclass C: pass", "class f:\n def C(self): pass"
    trees = {"a": ast.parse(first), "b": ast.parse(second)}
    assert house_figures.definitions(trees) == {"f": 2, "C": 1}


def test_what_a_table_finds_is_not_counted_by_its_name():
    text = 'def add(x): pass\ndef plus(x): pass\nTABLE: dict[str, F] = {"Add": add, "Sum": (plus_of(add), 2)}'
    trees = {name: ast.parse(text) for name in "ab"}
    assert house_figures.definitions(trees) == {"plus": 2}


def test_functions_that_differ_by_names_and_types_are_copies():
    text = "def {0}({1}: {2}) -> {2}:\n {3}\n {4} = [{1}.half(), {1}.other(), {1}.third({5}), {1}.last()]\n return {4}"
    one = text.format("f", "x", "int", "'Words.'", "both", "1")
    two = text.format("g", "y", "str", "'Other words.'", "pair", "1")
    other = text.format("h", "y", "str", "'Other words.'", "pair", "2")
    trees = {name: ast.parse(each) for name, each in (("a", one), ("b", two), ("c", other))}
    assert house_figures.copies(trees) == [("a.f", "b.g")]


def test_a_file_is_entered_where_a_function_of_it_runs():
    nothing = house_figures.entered(ROOT, "p = wb.operator(TEXT)\n#\nlen(TEXT)")
    parsed = house_figures.entered(ROOT, "import workbench.lang\n#\nwb.operator(TEXT)")
    assert nothing == 0
    assert parsed > 10
