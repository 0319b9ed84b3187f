"""Gradients of windows gather: a cell sums up what belongs to it, with as many terms as a window has places."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import Point, complaints
from workbench.lang.algebra.folding import fold
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Index, Select, walk
from workbench.lang.operator import Statement
from workbench.lang.printing.printer import show

# Name → parameters, statement, sizes.
WINDOWS = {
    "strided": (
        "double(C,W) I, double(F,C,K) w", "O(f,x) +=! I(c, 2*x+k) * w(f,c,k)", {"C": 2, "W": 11, "F": 3, "K": 3},
    ),
    "dilated and strided": (
        "double(C,W) I, double(F,C,K) w", "O(f,x) +=! I(c, 3*x+2*k) * w(f,c,k) where x in 0:(W-2*K)/3",
        {"C": 2, "W": 14, "F": 2, "K": 3},
    ),
    "strides that are known at the call": (
        "double(C,W) I, double(F,C,K) w, int32 s, int32 d",
        "O(f,x) +=! I(c, s*x+d*k) * w(f,c,k) where x in 0:(W-d*K)/s",
        {"C": 2, "W": 13, "F": 2, "K": 3, "s": 2, "d": 3},
    ),
    "padded by conditions": (
        "double(C,H,W) I, double(F,C,3,3) w",
        "O(f,y,x) +=! (y+p-1 >= 0 && y+p-1 < H && x+q-1 >= 0 && x+q-1 < W ? I(c,y+p-1,x+q-1) : 0) * w(f,c,p,q)"
        " where y in 0:H, x in 0:W",
        {"C": 2, "H": 5, "W": 6, "F": 2},
    ),
    "padded, strided and dilated": (
        "double(C,W) I, double(F,C,K) w",
        "O(f,x) +=! (2*x+3*k-4 >= 0 && 2*x+3*k-4 < W ? I(c,2*x+3*k-4) : 0) * w(f,c,k) where x in 0:W/2",
        {"C": 2, "W": 12, "F": 2, "K": 3},
    ),
    "each channel by itself": (
        "double(C,H,W) I, double(C,3,3) w",
        "O(c,y,x) +=! (2*y+p-1 >= 0 && 2*y+p-1 < H && 2*x+q-1 >= 0 && 2*x+q-1 < W ? I(c,2*y+p-1,2*x+q-1) : 0)"
        " * w(c,p,q) where y in 0:(H+1)/2, x in 0:(W+1)/2",
        {"C": 2, "H": 6, "W": 7},
    ),
    "three dimensions": (
        "double(D,H,W) I, double(A,B,E) w", "O(z,y,x) +=! I(z+a,2*y+b,x+e) * w(a,b,e)",
        {"D": 4, "H": 7, "W": 5, "A": 2, "B": 3, "E": 2},
    ),
    "the kernel from its end": (
        "double(W) I, double(K) w", "O(x) +=! I(x+K-1-k) * w(k) where x in 0:W-K+1", {"W": 9, "K": 4},
    ),
    "in steps of a window": (
        "double(W) I, double(F,4) w", "O(f,x) +=! I(4*x+k) * w(f,k) where x in 0:W/4", {"W": 12, "F": 3},
    ),
}  # fmt: skip


def operator(name: str) -> tuple[wb.Operator, dict[str, int]]:
    parameters, statement, sizes = WINDOWS[name]
    return wb.operator(f"def f({parameters}) -> (O) {{ {statement} }}"), sizes


def point(name: str) -> Point:
    op, sizes = operator(name)
    generator = np.random.default_rng(0)
    given = [
        sizes[n] if n in op.scalars else generator.standard_normal([fold(e, sizes) for e in op.tensors[n].extent])
        for n in op.parameters
    ]
    return Point(op, given)


def sums_into(gradient: wb.Operator, name: str) -> list[Statement]:
    return [s for s, _ in walked(gradient.body) if s.targets[0].tensor == name]


@pytest.mark.parametrize("name", WINDOWS)
def test_against_differences(name):
    assert complaints(point(name)) == []


@pytest.mark.parametrize("name", WINDOWS)
def test_every_cell_is_written_by_its_own_instance(name):
    for s in sums_into(wb.grad(operator(name)[0]), "d_I"):
        assert all(isinstance(each, Index) for each in s.targets[0].subscripts)
        assert {each.name for each in s.targets[0].subscripts} == set(s.indices("free"))


@pytest.mark.parametrize("name", [name for name in WINDOWS if name != "in steps of a window"])
def test_the_sum_is_a_convolution_without_conditions_whose_ranges_are_those_of_the_kernel(name):
    op, _ = operator(name)
    gradient = wb.grad(op)
    phases = sums_into(gradient, "d_I_phases")
    (s,) = phases or sums_into(gradient, "d_I")
    assert bool(phases) == ("stride" in name or name in ("each channel by itself", "three dimensions"))
    assert not [node for node in walk(s.values[0]) if isinstance(node, Select)]
    if phases:
        return  # of each phase: test_phases.py
    weights = {show(extent) for extent in op.tensors["w"].extent}
    assert {(show(r.lower), show(r.upper)) for r in s.ranges if r.kind == "reduction"} <= {("0", x) for x in weights}


def test_where_windows_do_not_overlap_a_cell_has_one_position():
    (s,) = sums_into(wb.grad(operator("in steps of a window")[0]), "d_I")
    assert "padded" not in wb.grad(operator("in steps of a window")[0]).text
    assert set(s.indices("reduction")) <= {"f", "x"}
