"""Tiles of sums: rows of windows that lie far apart are summed up side by side, their blocks outside all loops."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.schedules.analysis.blocking import Blocking, blocking
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

WIDE = Target(vector_bits=512, vector_registers=32, cores=2)
TAPS = """def taps(float(Z + R - 1,Y,X) A, float(R) w, int32 Z) -> (O) {
    O(z,y,x) +=! A(z+r,y,x) * w(r) where z in 0:Z, r in 0:R
}"""
ROWS = """def rows(float(C,H,W) A, float(C,K,L) w) -> (O) { O(c,y,x) +=! A(c,y+k,x+l) * w(c,k,l) }"""


def plan(text: str, **sizes: int) -> Blocking | None:
    program = wb.lower(wb.operator(text), sizes)
    return blocking(structure(program, program.statement("O").id), WIDE)


def test_taps_along_an_axis_of_large_planes_are_taken_for_several_planes_at_once() -> None:
    found = plan(TAPS, Z=168, Y=64, X=100, R=9)
    assert found is not None
    assert (found.rows, found.vector_size, found.apart) == ((("z", 4),), 32, True)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (TAPS, {"Z": 168, "Y": 4, "X": 100, "R": 9}),
        (ROWS, {"C": 4, "H": 302, "W": 1002, "K": 3, "L": 3}),
    ],
)
def test_windows_that_the_first_cache_holds_stay_in_long_rows(text: str, sizes: dict[str, int]) -> None:
    found = plan(text, **sizes)
    assert found is not None
    assert (found.rows, found.apart) == ((), False)


@pytest.mark.parametrize("z", [16, 23])
def test_results_are_the_oracles(z: int) -> None:
    schedule = default_schedule(wb.lower(wb.operator(TAPS), Z=z, Y=41, X=101, R=3), WIDE)
    assert "reorder('O/z_o', 'O/y', 'O/x_o', 'O/z_i', 'O/x_i')" in map(str, schedule.trace)
    agree(schedule)
