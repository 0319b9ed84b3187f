"""Partial evaluation: what vanishes, what stays, and that it ends."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.graph.terms.nodes import Call, Function, Global, If, Match, NewReference, Primitive
from workbench.graph.terms.walking import postorder

FOLD = """
fn fold<a, b>(f: fn(b, a) -> b, start: b, xs: List<a>) -> b {
    match xs { Nil => start  Cons(x, rest) => fold(f, f(start, x), rest) }
}
"""
FLOW = (If, Match, NewReference, Global)


def evaluated(text, **options):
    return wb.model(text) | wb.passes.partial_evaluate(**options)


def flow(model) -> list[str]:
    """What is left of control flow in the entry, functions inside included."""
    nodes = [node for node in postorder(model.main) if node is not model.main]
    called = [node for node in nodes if isinstance(node, Call) and not isinstance(node.function, Primitive)]
    return sorted(type(node).__name__ for node in [*nodes, *called] if isinstance(node, (*FLOW, Function)))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("fn main(x: int32) { let f = fn(y) { y + x }; f(f(1)) }", (3,)),
        ("fn main(x: int32) { let r = ref(x); let _ = r := !r + 1; !r * 2 }", (3,)),
        ("fn main(x: int32) { match Some(x) { None => 0  Some(y) => y + 1 } }", (3,)),
        ("fn main(x: int32, y: int32) { match (x, Cons(y, Nil)) {\n(a, Cons(b, _)) => a - b\n(a, Nil) => a } }",
         (7, 2)),
        (FOLD + "fn main(x: int32, y: int32) { fold(fn(s, e) { s * e }, 2, Cons(x, Cons(y, Nil))) }", (7, 2)),
        ("fn pow(n: int32, x: int32) -> int32 { if n == 0 { 1 } else { x * pow(n - 1, x) } }"
         "fn main(x: int32) { pow(5, x) }", (3,)),
        ("fn even(n: int32) -> bool { if n == 0 { true } else { odd(n - 1) } }"
         "fn odd(n: int32) -> bool { if n == 0 { false } else { even(n - 1) } }"
         "fn main(x: int32) { if even(6) { x } else { 0 } }", (3,)),
        ("fn main(x: int32) { let fact = fn(n: int32) -> int32 { if n < 2 { 1 } else { n * fact(n - 1) } };"
         "x * fact(5) }", (3,)),
        ("fn main(x: int32) { let r = ref(fn(n: int32) -> int32 { n }); let f = fn(n) { (!r)(n) + 1 };"
         "let _ = r := f; let g = !r; let _ = r := fn(n) { n * 3 }; g(x) }", (3,)),
    ],
)  # fmt: skip
def test_known_control_flow_vanishes(text, arguments):
    found = evaluated(text)
    assert flow(found) == []
    assert found.evaluate(*arguments) == wb.model(text).evaluate(*arguments)


@pytest.mark.parametrize(
    ("text", "left", "arguments"),
    [
        (FOLD + "fn main(xs: List<int32>) { fold(fn(s, e) { s + e }, 0, xs) }", ["Function", "Global"], ([1, 2],)),
        ("fn main(x: int32) { if x < 0 { let r = ref(x); -3 * !r } else { x } }", ["If"], (-2,)),
        ("fn main(x: int32) { let r = ref(0); let _ = if x < 0 { r := 1 } else { () }; !r }",
         ["If", "NewReference"], (-2,)),
    ],
)  # fmt: skip
def test_what_only_a_run_decides_stays(text, left, arguments):
    found = evaluated(text)
    assert set(flow(found)) == set(left)
    assert found.evaluate(*arguments) == wb.model(text).evaluate(*arguments)


def test_a_list_of_which_the_beginning_is_known_is_taken_apart_so_far():
    found = evaluated(FOLD + "fn main(x: int32, xs: List<int32>) { fold(fn(s, e) { s + e }, 0, Cons(x, xs)) }")
    assert str(found).partition("fn main")[2].count("fold") <= 2
    assert "0 + x" in str(found)
    assert found.evaluate(1, [2, 3]) == 6


def test_an_unrolled_recurrence_has_no_control_flow():
    text = FOLD + """
fn main(h: float32[2, 4], c: float32[2, 4], xs: (float32[2, 3], float32[2, 3]), wx: float32[4, 4, 3],
        wh: float32[4, 4, 4], b: float32[4, 4]) {
    let step = fn(state: (float32[2, 4], float32[2, 4]), x) { lstm_cell(x, state.0, state.1, wx, wh, b) }
    fold(step, (h, c), Cons(xs.0, Cons(xs.1, Nil))).0
}
"""
    found = wb.model(text) | wb.passes.partial_evaluate()
    assert flow(found) == []
    random = np.random.default_rng(0)
    h, c, x, y = (random.standard_normal(s).astype("float32") for s in ((2, 4), (2, 4), (2, 3), (2, 3)))
    w = [random.standard_normal(s).astype("float32") for s in ((4, 4, 3), (4, 4, 4), (4, 4))]
    cell = wb.ops.load("lstm_cell")
    expected = cell.evaluate(y, *cell.evaluate(x, h, c, *w), *w)[0]
    assert np.array_equal(found.evaluate(h, c, (x, y), *w), expected)


def test_recursion_without_end_is_cut():
    text = "fn f(n: int32) -> int32 { f(n + 1) } fn main(c: bool) { if c { f(0) } else { 7 } }"
    found = evaluated(text, most_calls=20)
    assert found.evaluate(False) == 7


def test_order_of_effects_is_kept():
    text = """
fn main(r: ref(int32), x: int32) {
    let f = fn(y) { let old = !r; let _ = r := old + y; old };
    (f(x), f(1), !r)
}
"""
    from workbench.graph.evaluation.values import Cell

    found = evaluated(text)
    assert "Function" not in flow(found)
    assert found.evaluate(Cell(np.int32(5)), 2) == (5, 7, 8)


def test_a_gradient_of_closures_and_cells_becomes_calls_of_operators():
    """Reverse mode as a macro makes it: every value has a cell for its adjoint, and a closure that goes back."""
    pairs = {"fn(a, b)": "fn(a: (float32[n, p], ref(float32[n, p])), b: (float32[p, q], ref(float32[p, q])))",
             "fn(a)": "fn(a: (float32[n, 3], ref(float32[n, 3])))"}  # fmt: skip
    text = """
def zeros<T>(T(N,M) like) -> (z) { z(i,j) = 0.0 * like(i,j) }
def sum2<T>(T(N,M) a, T(N,M) b) -> (c) { c(i,j) = a(i,j) + b(i,j) }
def nt<T>(T(M,N) d, T(K,N) w) -> (g) { g(m,k) +=! d(m,n) * w(k,n) }
def tn<T>(T(M,K) x, T(M,N) d) -> (g) { g(k,n) +=! x(m,k) * d(m,n) }
def through<T>(T(M,N) d, T(M,N) y) -> (g) { g(m,n) = y(m,n) > 0 ? d(m,n) : 0 }
def rectified<T>(T(M,N) x) -> (y) { y(m,n) = max(x(m,n), 0) }

fn main(x: float32[n, 4], v: float32[4, 3], w: float32[3, 2], seed: float32[n, 2]) {
    let back = ref(fn() { () })
    let product = fn(a, b) {
        let z = matmul(a.0, b.0)
        let dz = ref(zeros(z))
        let before = !back
        let _ = back := fn() {
            let _ = a.1 := sum2(!(a.1), nt(!dz, b.0))
            let _ = b.1 := sum2(!(b.1), tn(a.0, !dz))
            before()
        }
        (z, dz)
    }
    let rectify = fn(a) {
        let y = rectified(a.0)
        let dy = ref(zeros(y))
        let before = !back
        let _ = back := fn() {
            let _ = a.1 := sum2(!(a.1), through(!dy, y))
            before()
        }
        (y, dy)
    }
    let xs = (x, ref(zeros(x)))
    let vs = (v, ref(zeros(v)))
    let ws = (w, ref(zeros(w)))
    let result = product(rectify(product(xs, vs)), ws)
    let _ = result.1 := seed
    let _ = (!back)()
    (result.0, !(xs.1), !(vs.1), !(ws.1))
}
"""
    for short, whole in pairs.items():
        text = text.replace(short, whole)
    found = evaluated(text)
    assert flow(found) == []
    random, shapes = np.random.default_rng(0), ((5, 4), (4, 3), (3, 2), (5, 2))
    x, v, w, seed = (random.standard_normal(shape).astype("float32") for shape in shapes)
    y = np.maximum(x @ v, 0)
    dz = (seed @ w.T) * (y > 0)
    for got, expected in zip(found.evaluate(x, v, w, seed), (y @ w, dz @ v.T, x.T @ dz, y.T @ seed), strict=True):
        assert np.allclose(got, expected, rtol=1e-5, atol=1e-5)
