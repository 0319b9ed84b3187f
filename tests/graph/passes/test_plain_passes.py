"""What each of the plain passes does, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.graph.tracing import node_count

p = wb.passes


def after(text, *steps, constants=()):
    found = wb.model(text, constants)
    for step in steps:
        found = found | step
    return found


def body(model) -> str:
    """The text of the entry, in one line."""
    return " ".join(str(model).partition("fn main")[2].partition("{")[2].rpartition("}")[0].split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn main() { 2 + 3 * 4 }", "14"),
        ("fn main(x: int32) { let a = 2; x + a * 3 }", "x + 6"),
        ("fn main(x: int32) { let a = 1 + 1; let b = a + 1; let c = b + 1; x + c }", "x + 4"),
        ("fn main(x: int32) { if 1 < 2 { x } else { x + 1 } }", "x"),
        ("fn main(x: int32) { (1 + 1, x).1 + (3, 4).0 }", "(2, x).1 + 3"),
        ("fn main() { fn(x: int32) { x + (1 + 1) } }", "fn(x: int32) { x + 2 }"),
    ],
)
def test_what_is_constant_is_folded(text, expected):
    assert body(after(text, p.fold_constants())) == expected


def test_weights_are_folded_and_large_results_are_not():
    text = "def outer1(float(N) a, float(M) b) -> (c) { c(i,j) = a(i) * b(j) }\nfn main() { outer1(const#0, const#1) }"
    vectors = [np.arange(3, dtype="float32"), np.ones(5, "float32")]
    folded = after(text, p.fold_constants(), constants=vectors)
    assert np.array_equal(folded.constants[0], np.outer(*vectors))
    kept = after(text, p.fold_constants(most_bytes=59), constants=vectors)
    assert not kept.trace[0].changed


def test_a_call_that_fails_is_left_to_fail_where_it_is_computed():
    op = wb.operator("def take(float(N) x, int32(M) at) -> (y) { y(i) = x(at(i)) }")
    b = wb.graph.Builder()
    c = b.parameter("c", "bool")
    x, wrong = np.ones(3, "float32"), np.array([0, 7, 0], "int32")
    model = b.model(b.condition(c, b.call(op, x, wrong), x))
    found = model | p.fold_constants()
    assert np.array_equal(found.evaluate(False), x)
    with pytest.raises(wb.errors.CallError):
        found.evaluate(True)


# --- dead code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn main(x: int32) { let a = x + 1; x }", "x"),
        ("fn main(x: int32) { let a = x + 1; let b = a + 1; x }", "x"),
        ("fn main(x: int32) { (x, x + 1).0 }", "x"),
        ("fn main(x: int32) { let f = fn(n: int32) -> int32 { if n < 1 { 0 } else { f(n - 1) } }; x }", "x"),
        ("fn main(x: int32) { let r = ref(x); x }", "x"),
        ("fn main(x: int32) { let r = ref(x); let a = !r; x }", "x"),
    ],
)
def test_what_nobody_asks_for_goes(text, expected):
    assert body(after(text, p.dead_code())) == expected


@pytest.mark.parametrize(
    "text",
    [
        "fn main(r: ref(int32)) { let _ = r := 1; 2 }",
        "fn main(f: fn(int32) -> int32) { let a = f(1); 2 }",
        "fn main(r: ref(int32)) { let f = fn() { r := 1 }; let _ = f(); 2 }",
        "fn main(r: ref(int32)) { let a = (!r, 1); let _ = r := 1; a.0 }",
    ],
)
def test_what_others_may_see_stays(text):
    assert not after(text, p.dead_code()).trace[0].changed


def test_functions_that_the_entry_does_not_reach_go():
    text = "fn f(x: int32) { g(x) } fn g(x: int32) { x } fn h(x: int32) { f(x) } fn main(x: int32) { g(x) }"
    assert list(after(text, p.dead_code()).functions) == ["g", "main"]


def test_quiet_functions_are_not_computed_in_vain():
    head = """
fn map<a, b>(f: fn(a) -> b, xs: List<a>) -> List<b> {
    match xs { Nil => Nil  Cons(x, rest) => Cons(f(x), map(f, rest)) }
}
"""
    quiet = head + "fn main(xs: List<int32>) { let ys = map(fn(x) { x + 1 }, xs); xs }"
    assert body(after(quiet, p.dead_code())) == "xs"
    loud = head + "fn main(xs: List<int32>, r: ref(int32)) { let ys = map(fn(x) { let _ = r := x; 1 }, xs); xs }"
    assert not after(loud, p.dead_code()).trace[0].changed


# --- common subexpressions


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("fn main(x: float32[n]) { (softplus(x), softplus(x)) }", 3),
        ("fn main(x: float32[n]) { (softplus(softplus(x)), softplus(softplus(x))) }", 4),
        ("fn main(x: float32[n], c: bool) { (softplus(x), if c { softplus(x) } else { x }) }", 4),
        ("fn main(x: int32) { (x + 1, x + 1, x + 2) }", 4),
        ("fn main(r: ref(int32)) { let a = !r; (a + 1, a + 1) }", 5),
    ],
)
def test_what_is_the_same_is_one_node(text, nodes):
    assert node_count(after(text, p.common_subexpressions())) == nodes


@pytest.mark.parametrize(
    "text",
    [
        "fn main(x: float32[n], c: bool) { if c { softplus(x) } else { gelu_tanh(softplus(x)) } }",
        "fn main(r: ref(int32)) { (!r + 1, !r + 1) }",
        "fn main() { (ref(1), ref(1)) }",
        "fn main(f: fn(int32) -> int32) { (f(1), f(1)) }",
        "fn main() { (Cons(1, Nil), Cons(1.0, Nil)) }",
    ],
)
def test_what_is_not_the_same_stays_two(text):
    assert not after(text, p.common_subexpressions()).trace[0].changed


# --- inline


def test_a_body_stands_in_the_words_of_its_place():
    text = """
fn pool(x: float32[b, c, 2*k, 2*k]) -> float32[b, c, k, k] { max_pool2d(x, k=2, stride=2, pad=0) }
fn near<a>(x: a, size: float32[m]) -> (a, float32[m]) { let y: float32[m] = softplus(size); (x, y) }
fn main(p: float32[n, 3, 8, 8], q: float32[len]) { near(pool(p), q) }
"""
    found = after(text, p.inline(), p.dead_code())
    assert list(found.functions) == ["main"]
    x, y = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype("float32"), np.ones(3, "float32")
    for a, b in zip(found.evaluate(x, y), wb.model(text).evaluate(x, y), strict=True):
        assert np.array_equal(a, b)


def test_cells_of_two_copies_are_two():
    text = "fn cell() { ref(0) } fn main() { let a = cell(); let b = cell(); let _ = a := 1; (!a, !b) }"
    assert after(text, p.inline()).evaluate() == (1, 0)


def test_recursive_and_large_functions_stay():
    text = "fn f(n: int32) -> int32 { if n < 1 { 0 } else { f(n - 1) } } fn main(n: int32) { f(n) }"
    assert not after(text, p.inline()).trace[0].changed
    text = "fn f(x: int32) { x + x * x } fn main(n: int32) { f(n) }"
    assert not after(text, p.inline(most_nodes=1)).trace[0].changed
