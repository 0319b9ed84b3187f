"""Dimensions have names: what is equal is known, what may be equal a run checks, the rest is wrong."""

from __future__ import annotations

import pytest

from tests.graph.programs import array
from workbench.errors import CallError, ModelError
from workbench.graph import model
from workbench.graph.text.printing_types import print_type

ADD = "def add<T>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }\n"
JOIN = "def join<T>(T(N) x, T(M) y) -> (z) { z(i) = i < N ? x(i) : y(i-N) where i in 0:N+M }\n"


def checks(text: str) -> list[str]:
    return [str(check) for check in model(ADD + JOIN + text).checks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn main(x: float32[n], y: float32[n]) { add(x, y) }", []),
        ("fn main(x: float32[n], y: float32[m]) { add(x, y) }", ["n == m: add: y"]),
        ("fn main(x: float32[n], y: float32[m]) { (add(x, y), add(y, x)) }", ["n == m: add: y"]),
        ("fn main(x: float32[n], y: float32[m]) { add(join(x, y), join(y, x)) }", []),
        ("fn main(x: float32[n], y: float32[2*n]) { add(join(x, x), y) }", []),
        ("fn main(x: float32[n], y: float32[m]) -> float32[m] { x }", ["m == n: the result of the function"]),
        ("fn main(x: float32[n], y: float32[m], c: bool) { if c { x } else { y } }",
         ["n == m: the branches of an if have one type"]),
        ("fn f(x: float32[n], y: float32[n]) -> float32[n] { add(x, y) }\n"
         "fn main(x: float32[p], y: float32[q]) { f(x, y) }", ["p == q: f: argument 2"]),
        ("fn main(x: float32[a, b]) { let y = softmax(x)\n let f = fn(z) { add(z, z) }\n (y, f) }", []),
        ("fn main(x: float32[a, b], y: float32[c]) { let k = top_k(x, k=c).0\n (k, add(y, y)) }", []),
        ("fn main(x: List<float32[n]>, y: float32[m]) { Cons(y, x) }", ["m == n: Cons: argument 2"]),
    ],
)  # fmt: skip
def test_what_only_a_run_can_decide_is_recorded(text, expected):
    assert checks(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "fn main(x: float32[3], y: float32[4]) { add(x, y) }",
        "fn main(x: float32[n], y: float32[n + 1]) { add(x, y) }",
        "fn main(x: float32[2*n], y: float32[2*m + 1]) { add(x, y) }",
        "fn main(x: float32[n + m + 1], y: float32[n]) { add(x, y) }",
        "fn main(x: float32[n], y: float32[m]) { add(join(x, y), join(x, join(y, y))) }",
    ],
)
def test_what_no_sizes_make_equal_is_an_error(text):
    if "join(x, join" in text:  # equal where m is 0
        assert checks(text) == ["n + m == n + 2 * m: add: y"]
        return
    with pytest.raises(ModelError, match="expected float32"):
        model(ADD + JOIN + text)


def test_two_unknown_lengths_are_told_apart_and_one_equals_itself():
    """What Relay's `?` cannot say."""
    text = ADD + "fn main(x: float32[n], y: float32[m]) -> float32[n] { add(x, add(y, y)) }"
    made = model(text)
    assert len(made.checks) == 1
    for n in (0, 1, 5):
        assert made.evaluate(array(n), array(n)).shape == (n,)
    with pytest.raises(CallError, match="n and m must be equal, and m = 3, n = 2"):
        made.evaluate(array(2), array(3))


def test_the_check_of_a_function_inside_is_made_when_it_is_called():
    text = (
        ADD
        + "fn f(x: float32[a], y: float32[b]) -> float32[a] { add(x, y) }\nfn main(x: float32[n]) { f(x, softplus(x)) }"
    )
    made = model(text)
    assert [check.within for check in made.checks] == ["f"]
    assert made.evaluate(array(3)).shape == (3,)


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 16, 63, 64])
def test_one_model_serves_every_batch(batch):
    made = model("fn main(x: float32[b, 4], w: float32[4, 3]) -> float32[b, 3] { softmax(matmul(x, w)) }")
    assert made.checks == ()
    assert made.evaluate(array(batch, 4), array(4, 3)).shape == (batch, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn main(f, x) { f(f(x)) }", "fn(fn(a) -> a, a) -> a"),
        ("fn main(x, y) { x + y }", "fn(t[], t[]) -> t[]"),
        ("fn main(x) { softmax(x) }", "fn(t[d, i]) -> t[d, i]"),
        ("fn main(x, w) { matmul(x, matmul(w, w)) }", "fn(t[d, i], t[i, i]) -> t[d, i]"),
        ("fn main(x, y) { join(x, join(x, y)) }", "fn(t[d], t[i]) -> t[2 * d + i]"),
        ("fn main(xs) { match xs { Nil => None   Cons(x, _) => Some(x) } }", "fn(List<a>) -> Option<a>"),
        ("fn main(r, x) { r := Cons(x, !r)\n !r }", "fn(ref(List<a>), a) -> List<a>"),
        ("fn main(x: float32[n]) { let f = fn(y) { (x, y) }\n (f(1), f(x)) }",
         "fn(float32[n]) -> ((float32[n], int32), (float32[n], float32[n]))"),
    ],
)  # fmt: skip
def test_types_that_nobody_writes_are_found(text, expected):
    assert print_type(model(JOIN + text).type_of("main")) == expected


def test_a_dimension_is_solved_for_when_it_can_be():
    text = "def halve<T>(T(2*N) x) -> (y) { y(i) = x(2*i) where i in 0:N }\nfn main(x: float32[k + k]) { halve(x) }"
    assert print_type(model(text).type_of("main")) == "fn(float32[2 * k]) -> float32[k]"


def test_names_of_one_function_mean_nothing_in_another():
    text = "fn f(x: float32[n, m]) -> float32[n, m] { x }\nfn main(x: float32[m, n]) { f(x) }"
    assert print_type(model(text).type_of("main")) == "fn(float32[m, n]) -> float32[m, n]"


def test_a_cell_is_not_polymorphic():
    text = "fn main(x: float32[n]) {\n    let r = ref(Nil)\n    r := Cons(x, Nil)\n    r := Cons(1, Nil)\n    !r\n}"
    with pytest.raises(ModelError, match="what is written to a reference"):
        model(text)


def test_a_type_variable_does_not_escape():
    text = "fn main(n: int32) {\n    let r = ref(Nil)\n    let f = fn<a>(x: a) -> () { r := Cons(x, Nil) }\n    f(1)\n}"
    with pytest.raises(ModelError, match="the type a is the function's own"):
        model(text)
