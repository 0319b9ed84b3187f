"""Networks as graphs of calls, small enough to be read: what fusion does to each is a golden table."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.models.small_operators import OPERATORS
from workbench.graph import Model, model

HEAD = """
def heads(float(T,64) x) -> (float(4,T,16) y) { y(h,t,d) = x(t,h*16+d) }
def scaled(float(H,T,S) x) -> (y) { y(h,t,s) = 0.25 * x(h,t,s) }
def merged(float(4,T,16) x) -> (float(T,64) y) { y(t,e) = x(e/16,t,e%16) }
def shifted(float(M,N) x) -> (float(M,N) y) { y(i,j) = i > 0 ? x(i-1,j) : 0.0 }
def decayed(float(M,N) x) -> (float(M,N) y) { y(i,j) = x(i,j)  for t in 1:M { y(t,j) = 0.5 * y(t-1,j) + x(t,j) } }
def chosen(float(M,N) x, int32(K) at) -> (y) { y(k,j) = x(at(k),j) }
def most(float(M,N) x) -> (y) { y(i) max=! x(i,j) }
"""
NETWORKS = {
    "resnet block": """
fn main(x: float32[2, 16, 12, 12], k: float32[16, 16, 3, 3], m: float32[16], v: float32[16], g: float32[16]) {
    %a = relu4(batch_norm_inference(conv2d(x, k, stride=1, pad=1, dilation=1), m, v, g, m, 0.1))
    %b = batch_norm_inference(conv2d(%a, k, stride=1, pad=1, dilation=1), m, v, g, m, 0.1)
    relu4(add4(%b, x))
}""",
    "attention": """
fn main(
    x: float32[t, 64], wq: float32[64, 64], wk: float32[64, 64], wv: float32[64, 64], wo: float32[64, 64],
    b: float32[64]
) {
    %n = layer_norm(x, b, b, 0.00001)
    %q = heads(bias(linear(%n, wq), b))
    %k = heads(bias(linear(%n, wk), b))
    %v = heads(bias(linear(%n, wv), b))
    %y = merged(mixed(softmax3(scaled(scores(%q, %k))), %v))
    %r = add(bias(linear(%y, wo), b), x)
    layer_norm(%r, b, b, 0.00001)
}""",
    "lstm cell": """
fn main(
    x: float32[n, 32], h: float32[n, 32], c: float32[n, 32], w: float32[128, 32], u: float32[128, 32], b: float32[128]
) {
    let (i, f, g, o) = gates(bias(add(linear(x, w), linear(h, u)), b));
    %c = add(times(sigma(f), c), times(sigma(i), tanh2(g)))
    (times(sigma(o), tanh2(%c)), %c)
}""",
    "mlp": """
fn main(x: float32[n, 64], a: float32[128, 64], p: float32[128], b: float32[10, 128], q: float32[10]) {
    softmax(bias(linear(gelu2(bias(linear(x, a), p)), b), q))
}""",
    "odd": """
fn main(x: float32[300, 40], at: int32[64]) {
    %y = less(x, mean(x))
    %z = over(%y, root(mean(square(%y))))
    (mean(times(decayed(%z), sigma(%z))), most(shifted(%z)), square(chosen(%z, at)))
}""",
}  # fmt: skip


def network(name: str) -> Model:
    """One of the networks."""
    return model(OPERATORS + HEAD + NETWORKS[name])


def arrays_of(of: Model, sizes: dict[str, int]) -> list[Any]:
    """Arrays for the parameters of a network."""
    random = np.random.default_rng(7)
    found = []
    for parameter in of.main.parameters:
        kind: Any = parameter.type
        shape = [sizes[str(d.only_atom().name)] if d.constant is None else d.constant for d in kind.dims]
        values = random.uniform(0.1, 1, shape) if kind.element.is_float else random.integers(0, 64, shape)
        found.append(values.astype(kind.element.numpy))
    return found
