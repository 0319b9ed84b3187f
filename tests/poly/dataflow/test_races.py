"""Races of written loops against all pairs of touches."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.fromc.nests import random_function
from tests.support import examples
from workbench.errors import OperatorError
from workbench.poly.dataflow.last_writers import paths
from workbench.poly.dataflow.races import races
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl, unpack

LOOPS = {
    "apart": ("B[i] = A[i];", []),
    "carried": ("if (i > 0) B[i] = B[i - 1];", ["B"]),
    "sum": ("s[0] = s[0] + A[i];", ["s"]),
    "two arrays": ("B[0] = A[i]; s[0] = A[i];", ["B", "s"]),
    "its own": ("double t[2]; t[0] = A[i]; B[i] = t[0];", []),
    "shared": ("u[0] = A[i]; B[i] = u[0];", ["u"]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_known_loops(name):
    body, arrays = LOOPS[name]
    head = "void f(double A[5], double B[5], double s[1], double u[1]) {"
    program = wb.from_c(f"{head} for (int i = 0; i < 5; i++) {{ {body} }} }}")
    assert [race.array for race in races(program, [program.statements[0].id])] == arrays


def test_atomic_updates_may_meet_one_another_only():
    text = "void f(double A[5], double s[1], double B[5]) { for (int i = 0; i < 5; i++) { s[0] += A[i]; %s } }"
    alone, read = wb.from_c(text % "B[i] = A[i];"), wb.from_c(text % "B[i] = s[0];")
    assert not list(races(alone, ["S0"], {"S0"}))
    assert [str(r) for r in races(read, ["S0"], {"S0"})] == [
        "the loop i is parallel, but its iterations 1 and 0 may meet in a cell of s"
    ]
    assert not list(races(alone, ["S0"], (), {"s"}))


def brute(program: Program, inner: str) -> set[str]:
    """The arrays on which iterations of the loop around a statement race, touch by touch."""
    where = paths(program)
    around, depth = where[inner][:-1], len(program.statement(inner).dims)
    touches = [
        (a.array, p[len(s.dims) :], p[:depth], a.kind == "write")
        for s in program.statements
        if where[s.id][: len(around)] == around
        for a in s.accesses
        for p in unpack.points(isl.parse_map(a.relation).wrap().flatten())
    ]
    cells: dict[object, list[tuple[tuple[int, ...], bool]]] = {}
    for array, cell, iteration, writes in touches:
        cells.setdefault((array, cell, iteration[:-1]), []).append((iteration, writes))
    return {
        key[0]  # type: ignore[index]
        for key, found in cells.items()
        if any(writes for _, writes in found) and any(a != b and w for a, w in found for b, _ in found)
    }


def test_random_nests_agree_with_all_pairs():
    asked = raced = 0
    for seed in range(examples(quick=12, ci=40, full=400)):
        try:
            program = wb.from_c(random_function(seed))
            program = wb.from_c(random_function(seed), sizes=dict.fromkeys(program.symbols, 4))
        except OperatorError:
            continue  # it only changes local variables
        for s in program.statements:
            if s.dims and all(a.exact for x in program.statements for a in x.accesses):
                found = {race.array for race in races(program, [s.id])}
                assert found == brute(program, s.id), random_function(seed)
                asked, raced = asked + 1, raced + bool(found)
    assert asked > raced > 0
