"""Models to test with, each with arguments and what they give by NumPy: one for every construct, and some networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.graph.evaluation.values import data


def array(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers in float32."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


@dataclass(frozen=True)
class Example:
    """A model's text, its arguments and its value: lists as Python's, numbers as numbers."""

    text: str
    arguments: tuple[Any, ...] = ()
    expected: Any = None
    constants: tuple[np.ndarray, ...] = ()


def softmax(x: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


LISTS = """
fn map<a, b>(f: fn(a) -> b, xs: List<a>) -> List<b> {
    match xs {
        Nil => Nil
        Cons(x, rest) => Cons(f(x), map(f, rest))
    }
}
fn fold<a, b>(f: fn(b, a) -> b, start: b, xs: List<a>) -> b {
    match xs { Nil => start   Cons(x, rest) => fold(f, f(start, x), rest) }
}
fn append<a>(xs: List<a>, ys: List<a>) -> List<a> {
    match xs { Nil => ys   Cons(x, rest) => Cons(x, append(rest, ys)) }
}
fn reverse<a>(xs: List<a>) -> List<a> { fold(fn(done, x) { Cons(x, done) }, Nil, xs) }
"""

SCALARS: dict[str, Example] = {
    "constant": Example("fn main() { 3 }", (), 3),
    "arithmetic": Example("fn main(a: int32, b: int32) { (a + 2) * b - a / 2 % 3 }", (7, 5), 45),
    "comparisons": Example("fn main(a: float32) { a < 1.0 && a >= -1.0 || a == 7.5 }", (7.5,), True),
    "literals": Example("fn main() { (double(0.1), int64(3), true, -inf, 1e-07, uint8(200), half(0.5)) }", (),
                        (0.1, 3, True, -np.inf, np.float32(1e-7), 200, 0.5)),
    "if": Example("fn main(a: int32) { if a < 0 { 0 - a } else { a } }", (-4,), 4),
    "else_if": Example("fn main(a: int32) { if a < 0 { -1 } else if a == 0 { 0 } else { 1 } }", (0,), 0),
    "let": Example("fn main(a: int32) {\n    let b: int32 = a * a\n    let a = b + 1\n    a * b\n}", (3,), 90),
    "tuples": Example("fn main(a: int32) { let t = (a, (a + 1, true), (a,), ())\n (t.1.0, t.2.0, t.0) }", (3,), (4, 3, 3)),
    "destructuring": Example("fn main(a: int32) { let (x, _, y) = (a, 1, a * 2)\n x + y }", (3,), 9),
    "block_expression": Example("fn main(a: int32) { { let b = a + 1; b * b } - a }", (3,), 13),
}  # fmt: skip

FUNCTIONS: dict[str, Example] = {
    "recursion": Example("fn main(n: int32) -> int32 { if n < 2 { n } else { main(n - 1) + main(n - 2) } }", (10,), 55),
    "mutual_recursion": Example(
        "fn even(n: int32) -> bool { if n == 0 { true } else { odd(n - 1) } }\n"
        "fn odd(n: int32) -> bool { if n == 0 { false_() } else { even(n - 1) } }\n"
        "fn false_() { 1 < 0 }\nfn main(n: int32) { (even(n), odd(n)) }", (7,), (False, True)),
    "inferred_mutual_recursion": Example(
        "fn even(n) { if n == 0 { true } else { odd(n - 1) } }\nfn odd(n) { if n == 0 { 1 < 0 } else { even(n - 1) } }\n"
        "fn main(n: int32) { even(n) }", (6,), True),
    "local_recursion": Example(
        "fn main(n: int32) {\n    let power = fn(b: int32, e: int32) -> int32 {\n"
        "        if e == 0 { 1 } else { b * power(b, e - 1) }\n    }\n    power(2, n)\n}", (10,), 1024),
    "closure": Example("fn main(a: int32) { let add = fn(x) { fn(y) { x + y } }\n add(a)(5) }", (3,), 8),
    "higher_order": Example("fn twice<a>(f: fn(a) -> a) -> fn(a) -> a { fn(x) { f(f(x)) } }\n"
                            "fn main(a: int32) { twice(twice(fn(x) { x * 2 }))(a) }", (3,), 48),
    "polymorphic_identity": Example("fn id<a>(x: a) -> a { x }\nfn main(a: int32, x: float32[n]) { (id(a), id(x), id(id)(true)) }",
                                    (3, array(4)), (3, array(4), True)),
    "let_polymorphism": Example("fn main(a: int32) { let pair = fn(x) { (x, x) }\n (pair(a), pair(true)) }", (3,),
                                ((3, 3), (True, True))),
    "operator_as_value": Example("fn apply(f: fn(float32[n]) -> float32[n], x: float32[n]) { f(x) }\n"
                                 "fn main(x: float32[n]) { apply(softplus, x) }", (array(5),), np.log1p(np.exp(array(5)))),
    "constructor_as_value": Example(LISTS + "fn main(xs: List<int32>) { map(Some, xs) }", ([1, 2],),
                                    [data("Some", 1), data("Some", 2)]),
    "called_at_once": Example("fn main(a: int32) { fn(x) { x + 1 }(a) }", (3,), 4),
    "compose": Example("fn compose<a, b, c>(f: fn(b) -> c, g: fn(a) -> b) -> fn(a) -> c { fn(x) { f(g(x)) } }\n"
                       "fn main(a: int32) { compose(fn(x) { x < 9 }, fn(x) { x * 2 })(a) }", (3,), True),
    "church": Example("fn main(a: int32) { let two = fn(f) { fn(x) { f(f(x)) } }\n two(two)(fn(x) { x + 1 })(a) }", (3,), 7),
}  # fmt: skip

DATA: dict[str, Example] = {
    "map": Example(LISTS + "fn main(xs: List<int32>, k: int32) { map(fn(x) { x * k }, xs) }", ([1, 2, 3], 4), [4, 8, 12]),
    "reverse_append": Example(LISTS + "fn main(xs: List<int32>) { append(reverse(xs), xs) }", ([1, 2],), [2, 1, 1, 2]),
    "list_of_tensors": Example(LISTS + "fn main(xs: List<float32[n]>) { map(gelu_tanh, map(softplus, xs)) }"),
    "nested_match": Example(
        "fn main(xs: List<(int32, Option<int32>)>) -> int32 {\n    match xs {\n        Nil => 0\n"
        "        Cons((a, None), Nil) => a\n        Cons((a, Some(b)), _) => a * b\n"
        "        Cons((a, None), Cons((c, _), _)) => a - c\n    }\n}", ([(5, None), (2, 3)],), 3),
    "option": Example("fn main(x: Option<float32[n]>, y: float32[n]) { match x { None => y  Some(z) => softplus(z) } }",
                      (None, array(4)), array(4)),
    "tree": Example(
        "fn sum(t: Tree<int32>) -> int32 { match t { Leaf => 0  Node(x, l, r) => sum(l) + x + sum(r) } }\n"
        "fn main(t: Tree<int32>) { sum(t) }", ((5, (2, None, None), (4, None, (1, None, None))),), 12),
    "own_type": Example(
        "type Shape = Circle(float32) | Box(float32, float32)\n"
        "fn area(s: Shape) -> float32 { match s { Circle(r) => 3.0 * r * r   Box(a, b) => a * b } }\n"
        "fn main(s: Shape) { area(s) + area(Box(2.0, 3.0)) }", (data("Circle", 2.0),), 18.0),
    "parameters_of_types": Example(
        "type Either<a, b> = Left(a) | Right(b)\n"
        "fn swap<a, b>(e: Either<a, b>) -> Either<b, a> { match e { Left(x) => Right(x)   Right(y) => Left(y) } }\n"
        "fn main(a: int32) { match swap(Left(a)) { Right(x) => x   Left(y) => if y { 0 } else { 1 } } }", (3,), 3),
    "functions_in_data": Example(
        "type Layer = Layer(fn(float32[4]) -> float32[4])\n"
        "fn run(x: float32[4], layers: List<Layer>) -> float32[4] {\n"
        "    match layers { Nil => x   Cons(Layer(f), rest) => run(f(x), rest) }\n}\n"
        "fn main(x: float32[4]) { run(x, Cons(Layer(softplus), Cons(Layer(fn(y) { y }), Nil))) }", (array(4),),
        np.log1p(np.exp(array(4)))),
    "expressions": Example(
        "type Expr = Number(int32) | Sum(Expr, Expr) | Product(Expr, Expr) | Where(Expr, Expr, Expr)\n"
        "fn value(e: Expr) -> int32 {\n    match e {\n        Number(n) => n\n        Sum(a, b) => value(a) + value(b)\n"
        "        Product(Number(n), b) => if n == 0 { 0 } else { n * value(b) }\n"
        "        Product(a, b) => value(a) * value(b)\n"
        "        Where(c, a, b) => if value(c) == 0 { value(b) } else { value(a) }\n    }\n}\n"
        "fn main(n: int32) { value(Where(Number(1), Sum(Number(n), Product(Number(2), Number(3))), Number(0))) }", (1,), 7),
    "empty_list": Example(LISTS + "fn main() { append(Nil, Cons(1, Nil)) }", (), [1]),
}  # fmt: skip

CELLS: dict[str, Example] = {
    "counter": Example(LISTS + "fn main(xs: List<int32>) {\n    let count = ref(0)\n"
                       "    let next = fn(x) { count := !count + 1; x * !count }\n    (map(next, xs), !count)\n}",
                       ([5, 5, 5],), ([5, 10, 15], 3)),
    "cell_of_a_function": Example("fn main(a: int32) {\n    let f = ref(fn(x: int32) { x })\n    f := fn(x) { x * 2 }\n    (!f)(a)\n}",
                                  (4,), 8),
    "order_in_a_tuple": Example("fn main() { let r = ref(0)\n (!r, { r := 1; !r }, !r) }", (), (0, 1, 1)),
    "order_of_a_shared_node": Example("fn main() {\n    let r = ref(1)\n    %now = !r\n    let _ = r := %now + 1\n    (%now, !r)\n}",
                                      (), (1, 2)),
    "knot": Example("fn main(n: int32) {\n    let f = ref(fn(x: int32) { x })\n"
                    "    f := fn(x) { if x == 0 { 1 } else { x * (!f)(x - 1) } }\n    (!f)(n)\n}", (5,), 120),
    "swap": Example("fn swap<a>(x: ref(a), y: ref(a)) -> () { let t = !x\n x := !y\n y := t }\n"
                    "fn main() { let a = ref(1); let b = ref(2); swap(a, b); (!a, !b) }", (), (2, 1)),
}  # fmt: skip

SIZES: dict[str, Example] = {
    "symbolic": Example("fn main(x: float32[n, k], w: float32[k, m]) -> float32[n, m] { matmul(x, w) }",
                        (array(3, 4), array(4, 5)), array(3, 4) @ array(4, 5)),
    "arithmetic_dims": Example("fn main(x: float32[m, n], y: float32[m, n]) -> float32[m, 2*n] { interleave(x, y) }\n"
                               "def interleave(float(M,N) X, float(M,N) Y) -> (Z) {\n"
                               "    Z(m,n) = n % 2 == 0 ? X(m,n/2) : Y(m,n/2) where n in 0:2*N\n}",
                               (array(2, 3), array(2, 3, seed=1)),
                               np.stack([array(2, 3), array(2, 3, seed=1)], -1).reshape(2, 6)),
    "size_arguments": Example("fn main(x: float32[1, 2, h, w]) { max_pool2d(x, k=3, stride=2, pad=1) }"),
    "named_size_argument": Example("fn main(x: float32[1, 2, h, w], y: float32[k]) { avg_pool2d(x, k=k, stride=k, pad=0) }",
                                   (array(1, 2, 6, 6), array(3)), array(1, 2, 6, 6).reshape(1, 2, 2, 3, 2, 3).mean((3, 5))),
    "check_at_run_time": Example("fn main(x: float32[n], y: float32[m]) { join(x, y) }\n"
                                 "def join(float(N) x, float(N) y) -> (z) { z(i) = x(i) + y(i) }",
                                 (array(3), array(3)), array(3) * 2),
    "polymorphic_in_dims": Example("fn f(x: float32[n, k]) -> float32[n, k] { softmax(x) }\n"
                                   "fn main(x: float32[n, 3], y: float32[2, n]) { (f(x), f(y)) }",
                                   (array(4, 3), array(2, 4)), (softmax(array(4, 3)), softmax(array(2, 4)))),
    "any_element_type": Example("fn f<t: floats>(x: t[n, k]) -> t[n, k] { softmax(x) }\n"
                                "fn main(x: float32[2, 3], y: double[2, 3]) { (f(x), f(y)) }",
                                (array(2, 3), array(2, 3).astype(float)), (softmax(array(2, 3)), softmax(array(2, 3).astype(float)))),
    "accumulated": Example("fn main(a: float32[n, k], b: float32[k, m], c: float32[n, m]) { gemm(a, b, 2.0, 1.0, c) }",
                           (array(2, 3), array(3, 2), array(2, 2)), 2 * array(2, 3) @ array(3, 2) + array(2, 2)),
}  # fmt: skip

ADD2 = "def add2<T: numbers>(T(M,N) x, T(M,N) y) -> (z) { z(m,n) = x(m,n) + y(m,n) }\n"
MUL2 = "def mul2<T: numbers>(T(M,N) x, T(M,N) y) -> (z) { z(m,n) = x(m,n) * y(m,n) }\n"
LINEAR = "def linear<T>(T(M,K) x, T(N,K) w, T(N) b) -> (y) {\n    y(m,n) +=! x(m,k) * w(n,k)\n    y(m,n) = y(m,n) + b(n)\n}\n"
UNARY = (
    "def sigmoid2<T>(T(M,N) x) -> (y) { y(m,n) = sigmoid(x(m,n)) }\ndef tanh2<T>(T(M,N) x) -> (y) { y(m,n) = tanh(x(m,n)) }\n"
)
RELU4 = "def relu4<T>(T(N,C,H,W) x) -> (y) { y(n,c,h,w) = max(x(n,c,h,w), 0) }\n"
ADD4 = "def add4<T>(T(N,C,H,W) x, T(N,C,H,W) z) -> (y) { y(n,c,h,w) = x(n,c,h,w) + z(n,c,h,w) }\n"

NETWORKS: dict[str, Example] = {
    "mlp": Example(
        LINEAR + "fn main(x: float32[batch, 8]) -> float32[batch, 4] {\n"
        "    %hidden = bias_relu(matmul(x, const#0), const#1)\n    softmax(linear(%hidden, const#2, const#3))\n}",
        (array(3, 8),),
        softmax(np.maximum(array(3, 8) @ array(8, 6) + array(6), 0) @ array(4, 6).T + array(4)),
        (array(8, 6), array(6), array(4, 6), array(4))),
    "resnet_block": Example(
        RELU4 + ADD4 + "fn main(x: float32[n, c, h, w], k1: float32[c, c, 3, 3], k2: float32[c, c, 3, 3]) -> float32[n, c, h, w] {\n"
        "    %a = relu4(conv2d(x, k1, stride=1, pad=1, dilation=1))\n"
        "    relu4(add4(x, conv2d(%a, k2, stride=1, pad=1, dilation=1)))\n}"),
    "lstm_cell": Example(
        "fn step(x: float32[b, i], h: float32[b, k], c: float32[b, k], w: float32[4, k, i], u: float32[4, k, k], bias: float32[4, k])"
        " -> (float32[b, k], float32[b, k]) { lstm_cell(x, h, c, w, u, bias) }\n"
        "fn run(xs: List<float32[b, i]>, h: float32[b, k], c: float32[b, k], w: float32[4, k, i], u: float32[4, k, k],"
        " bias: float32[4, k]) -> float32[b, k] {\n    match xs {\n        Nil => h\n        Cons(x, rest) => {\n"
        "            let (h, c) = step(x, h, c, w, u, bias)\n            run(rest, h, c, w, u, bias)\n        }\n    }\n}\n"
        "fn main(xs: List<float32[b, i]>, h: float32[b, k], c: float32[b, k], w: float32[4, k, i], u: float32[4, k, k],"
        " bias: float32[4, k]) { run(xs, h, c, w, u, bias) }"),
    "tree_lstm": Example(
        LINEAR + ADD2 + MUL2 + UNARY + "type Parse<a> = Word(a) | Phrase(Parse<a>, Parse<a>)\n"
        "fn node(t: Parse<float32[1, d]>, w: float32[d, d], b: float32[d]) -> (float32[1, d], float32[1, d]) {\n"
        "    match t {\n        Word(x) => {\n            %c = tanh2(linear(x, w, b))\n            (tanh2(%c), %c)\n        }\n"
        "        Phrase(l, r) => {\n            let (hl, cl) = node(l, w, b)\n            let (hr, cr) = node(r, w, b)\n"
        "            %h = linear(add2(hl, hr), w, b)\n            %c = add2(mul2(sigmoid2(%h), cl), mul2(sigmoid2(%h), cr))\n"
        "            (mul2(sigmoid2(%h), tanh2(%c)), %c)\n        }\n    }\n}\n"
        "fn main(t: Parse<float32[1, d]>, w: float32[d, d], b: float32[d]) -> float32[1, d] { node(t, w, b).0 }",
        (data("Phrase", data("Word", array(1, 3)), data("Word", array(1, 3, seed=1))), array(3, 3), array(3))),
    "attention": Example(
        "fn main(x: float32[b, s, d], wq: float32[d, e], wk: float32[d, e], wv: float32[d, e]) -> float32[b, s, e] {\n"
        "    attention(project(x, wq), project(x, wk), project(x, wv))\n}\n"
        "def project<T>(T(B,S,D) x, T(D,E) w) -> (y) { y(b,s,e) +=! x(b,s,d) * w(d,e) }",
        (array(2, 3, 4), array(4, 5), array(4, 5, seed=1), array(4, 5, seed=2))),
}  # fmt: skip

EXAMPLES: dict[str, Example] = {**SCALARS, **FUNCTIONS, **DATA, **CELLS, **SIZES, **NETWORKS}

Oracle = Callable[..., Any]
