"""Constants that kernels read in panels are packed when a program is made, and nobody sees a difference."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.graph import Builder

LAYER = wb.operator("""
def layer<T>(T(M,K) x, T(N,K) w, T(N) b) -> (z) {
    y(m,n) +=! x(m,k) * w(n,k)
    z(m,n) = max(y(m,n) + b(n), 0.0)
}
""")
TURNED = wb.operator("def turned<T>(T(M,K) w, T(K,N) x) -> (z) { z(m,n) +=! w(m,k) * x(k,n) }")
CONVOLVED = wb.operator("""
def convolved(float(N,C,H,W) x, float(F,C,3,3) w) -> (z) { z(n,f,h,v) +=! x(n,c,h+i,v+j) * w(f,c,i,j) }
""")
POINTWISE = wb.operator("""
def pointwise(float(N,C,H,W) x, float(F,C) w, float(F) b) -> (z) {
    y(n,f,h,v) +=! x(n,c,2*h,v) * w(f,c) where h in 0:(H - 1)/2 + 1
    z(n,f,h,v) = y(n,f,h,v) + b(f)
}
""")
PATCHES = wb.operator("""
def patches(float(N,C,H,W) x, float(F,C,4,4) w) -> (z) {
    z(n,f,h,v) +=! x(n,c,4*h+i,4*v+j) * w(f,c,i,j) where h in 0:H/4, v in 0:W/4
}
""")
POWERS = wb.operator("""
def powers(float(B,M,K) x, float(N,K,B) w) -> (z) {
    y(b,n,m) +=! x(b,m,k) * exp(w(n,k,b))
    z(b,n,m) = y(b,n,m) - w(n,0,b)
}
""")
CASES = {
    "layer": (LAYER, [(37, 90), (101, 90), (101,)], 0, "float32"),
    "layer in double": (LAYER, [(9, 300), (203, 300), (203,)], 0, "float64"),
    "few rows": (LAYER, [(3, 700), (129, 700), (129,)], 0, "float32"),
    "weights on the left": (TURNED, [(70, 65), (65, 101)], 1, "float32"),
    "convolution": (CONVOLVED, [(2, 5, 12, 11), (33, 5, 3, 3)], 0, "float32"),
    "pixels that fill no vector": (POINTWISE, [(2, 70, 5, 3), (101, 70), (101,)], 0, "float32"),
    "pixels that lie apart": (PATCHES, [(1, 3, 33, 48), (40, 3, 4, 4)], 0, "float32"),
    "batches, a function, and a second read": (POWERS, [(3, 33, 40), (50, 40, 3)], 0, "float32"),
}


def array(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def model(op, shapes, given, dtype):
    """One call whose arguments are constants, but the one in the place `given`."""
    b = Builder()
    x = b.parameter("x", f"{dtype}[{', '.join(map(str, shapes[given]))}]")
    own = [x if at == given else array(shape, dtype, at) for at, shape in enumerate(shapes)]
    return b.model(b.call(op, *own))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_a_call_with_constants_computes_what_the_interpreter_does(name, threads):
    op, shapes, given, dtype = CASES[name]
    made = model(op, shapes, given, dtype)
    built = wb.build(made, threads=threads)
    for seed in (1, 2):
        x = array(shapes[given], dtype, seed)
        x.reshape(-1)[-1] = np.inf
        np.testing.assert_allclose(built(x), made.evaluate(x), rtol=2e-4, atol=1e-4)


def test_a_second_start_finds_the_kernels_that_pack(monkeypatch):
    from workbench.graph.running import step_kernels

    op, shapes, given, dtype = CASES["layer"]
    made, x = model(op, shapes, given, dtype), array(shapes[given], dtype, 3)
    first = wb.build(made, threads=1)(x)
    monkeypatch.setattr(step_kernels, "_generated", lambda call, _: pytest.fail("generated again"))
    again = wb.build(made, threads=1)
    assert np.array_equal(again(x), first)
    (program,) = again.programs
    assert [value.name for value in program.packed.values()] == ["w_local"]


def test_programs_for_other_sizes_share_what_was_packed():
    b = Builder()
    w, bias = array((101, 90), "float32"), array((101,), "float32")
    hidden = b.call(LAYER, b.parameter("x", "float32[n, 90]"), w, bias)
    made = b.model(hidden)
    built = wb.build(made, threads=1)
    for n in (64, 65, 64):
        x = array((n, 90), "float32", n)
        np.testing.assert_allclose(built(x), made.evaluate(x), rtol=1e-4, atol=1e-5)
    first, second = (set(map(id, program.packed.values())) for program in built.programs)
    assert first == second
    assert first


def test_filters_of_small_pictures_are_packed_only_where_they_are_constants():
    op, shapes, given, dtype = CASES["pixels that fill no vector"]
    (program,) = wb.build(model(op, shapes, given, dtype), threads=1).programs
    assert [value.name for value in program.packed.values()] == ["w_local"]
    (program,) = wb.build(model(op, shapes, 1, dtype), threads=1).programs
    assert not program.packed


def test_what_is_given_is_not_packed_before():
    b = Builder()
    x, w = b.parameter("x", "float32[64, 90]"), b.parameter("w", "float32[101, 90]")
    made = b.model(b.call(LAYER, x, w, array((101,), "float32")))
    built = wb.build(made, threads=1)
    (program,) = built.programs
    assert not program.packed
    given = array((64, 90), "float32"), array((101, 90), "float32")
    np.testing.assert_allclose(built(*given), made.evaluate(*given), rtol=1e-4, atol=1e-5)
