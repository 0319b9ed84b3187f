"""`python -m bench.models.fusion_rules`: models of elementary operators, fused by legality and by Relay's rule.

Both sides have the same operators, generator, recipes, planner and runner; only the groups differ.  In one process, in
turns; the time of a side is the median of its rounds' medians, its results are held against the interpreter.  Prints
kernels, milliseconds and the ratio (Relay's rule over legality) of each model, also of the least times, which a busy
machine disturbs less, and the geometric means; writes JSON.

The first four are pieces of BERT-base (Devlin et al., 2019; 12 heads of 64, 3072 inside) in the elementary operators
that compilers see: a normalisation of 8 sequences of 512 places, a softmax over the 30522 words of 128 places, the
weights of attention among 512 places, an encoder's layer over 128.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

import workbench as wb
from bench.facts import write_results
from bench.models.command_line import model_parser
from bench.models.small_operators import OPERATORS
from bench.timing import batches
from workbench.graph import Model

RULES = ("legality", "relay")
OWN = """
def largest(float(M,N) x) -> (y) { y(i) max=! x(i,j) }
def total(float(M,N) x) -> (y) { y(i) +=! x(i,j) }
def exponential(float(M,N) x) -> (y) { y(i,j) = exp(x(i,j)) }
def inverse_root(float(M) x) -> (y) { y(i) = 1.0 / sqrt(x(i) + 0.00001) }
def stretched(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) * r(i) }
def gained(float(M,N) x, float(N) g) -> (y) { y(i,j) = x(i,j) * g(j) }
def heads(float(T,E) x, int32 H) -> (y) { y(h,t,d) = x(t,h*(E/H)+d) where h in 0:H, d in 0:E/H }
def scaled(float(H,T,S) x) -> (y) { y(h,t,s) = 0.125 * x(h,t,s) }
def largest3(float(H,T,S) x) -> (y) { y(h,t) max=! x(h,t,s) }
def less3(float(H,T,S) x, float(H,T) r) -> (y) { y(h,t,s) = x(h,t,s) - r(h,t) }
def exponential3(float(H,T,S) x) -> (y) { y(h,t,s) = exp(x(h,t,s)) }
def total3(float(H,T,S) x) -> (y) { y(h,t) +=! x(h,t,s) }
def over3(float(H,T,S) x, float(H,T) r) -> (y) { y(h,t,s) = x(h,t,s) / r(h,t) }
def merged(float(H,T,D) x) -> (y) { y(t,e) = x(e/D,t,e%D) where e in 0:H*D }

fn norm(x: float32[m, n], g: float32[n], b: float32[n]) -> float32[m, n] {
    %y = less(x, mean(x))
    bias(gained(stretched(%y, inverse_root(mean(square(%y)))), g), b)
}
fn row_softmax(x: float32[m, n]) -> float32[m, n] {
    %e = exponential(less(x, largest(x)))
    over(%e, total(%e))
}
fn weights(q: float32[h, t, d], k: float32[h, s, d]) -> float32[h, t, s] {
    %s = scaled(scores(q, k))
    %e = exponential3(less3(%s, largest3(%s)))
    over3(%e, total3(%e))
}
"""
MODELS = {
    "layer norm": "fn main(x: float32[4096, 768], g: float32[768], b: float32[768]) { norm(x, g, b) }",
    "softmax": "fn main(x: float32[128, 30522]) { row_softmax(x) }",
    "attention weights": "fn main(q: float32[12, 512, 64], k: float32[12, 512, 64]) { weights(q, k) }",
    "transformer layer": """
fn main(
    x: float32[128, 768], q: float32[768, 768], k: float32[768, 768], v: float32[768, 768], o: float32[768, 768],
    u: float32[3072, 768], d: float32[768, 3072], b: float32[768], c: float32[3072], g: float32[768]
) {
    %q = heads(bias(linear(x, q), b), H=12)
    %k = heads(bias(linear(x, k), b), H=12)
    %v = heads(bias(linear(x, v), b), H=12)
    %s = merged(mixed(weights(%q, %k), %v))
    %h = norm(add(bias(linear(%s, o), b), x), g, b)
    norm(add(bias(linear(gelu2(bias(linear(%h, u), c)), d), b), %h), g, b)
}""",
    "lstm cells": """
fn cell(
    x: float32[n, k], h: float32[n, m], c: float32[n, m], w: float32[4*m, k], u: float32[4*m, m], b: float32[4*m]
) -> (float32[n, m], float32[n, m]) {
    let (i, f, g, o) = gates(bias(add(linear(x, w), linear(h, u)), b));
    %c = add(times(sigma(f), c), times(sigma(i), tanh2(g)))
    (times(sigma(o), tanh2(%c)), %c)
}
fn main(
    x: float32[64, 128], h: float32[64, 128], c: float32[64, 128], w: float32[512, 128], u: float32[512, 128],
    b: float32[512]
) {
    let (h1, c1) = cell(x, h, c, w, u, b);
    let (h2, c2) = cell(h1, h1, c1, w, u, b);
    cell(h2, h2, c2, w, u, b)
}""",
    "residual blocks": """
fn block(
    x: float32[n, c, h, w], k: float32[c, c, 3, 3], m: float32[c], v: float32[c], g: float32[c]
) -> float32[n, c, h, w] {
    %a = relu4(batch_norm_inference(conv2d(x, k, stride=1, pad=1, dilation=1), m, v, g, m, 0.1))
    %b = batch_norm_inference(conv2d(%a, k, stride=1, pad=1, dilation=1), m, v, g, m, 0.1)
    relu4(add4(%b, x))
}
fn main(x: float32[1, 32, 32, 32], k: float32[32, 32, 3, 3], m: float32[32], v: float32[32], g: float32[32]) {
    block(block(x, k, m, v, g), k, m, v, g)
}""",
}


def prepared(name: str) -> tuple[Model, list[Any]]:
    """A model without calls of functions, and arguments for it."""
    model = wb.model(OPERATORS + OWN + MODELS[name]) | wb.passes.inline() | wb.passes.to_graph_form()
    model |= wb.passes.dead_code()
    random = np.random.default_rng(0)
    shapes = [[d.constant for d in each.type.dims] for each in model.main.parameters]  # type: ignore[union-attr]
    arguments: list[Any] = []
    for shape in shapes:
        scale = 1 / math.sqrt(shape[-1]) if len(shape) > 1 and len(arguments) else 1.0
        arguments.append((scale * random.uniform(0.1, 1.0, shape)).astype(np.float32))
    return model, arguments


def compared(name: str, threads: int, seconds: float, rounds: int) -> dict[str, Any]:
    """Both rules at one model."""
    model, arguments = prepared(name)
    expected = _flat(model.evaluate(*arguments))
    built, found = {}, {"model": name, "threads": threads, "calls": len(wb.graph.fused(model, rule="relay").before)}
    for rule in RULES:
        fused = wb.graph.fused(model, rule=rule)
        built[rule] = wb.build(fused.model, threads=threads)
        for mine, exact in zip(_flat(built[rule](*arguments)), expected, strict=True):
            np.testing.assert_allclose(mine, exact, rtol=1e-3, atol=1e-4 * np.abs(exact).max())
        found[rule] = {"kernels": len(built[rule].programs[0].steps), "rounds": []}
    for _ in range(rounds):
        for rule in RULES:
            times, _ = batches(lambda call=built[rule]: call(*arguments), seconds / rounds, seconds / rounds / 4)
            found[rule]["rounds"].append(statistics.median(times))
            found[rule]["least"] = min(*times, found[rule].get("least", math.inf))
    for rule in RULES:
        found[rule]["seconds"] = statistics.median(found[rule]["rounds"])
        found[rule]["profile"] = str(built[rule].profile(*arguments, seconds=0.1))
    for name, of in (("ratio", "seconds"), ("least_ratio", "least")):
        found[name] = found["relay"][of] / found["legality"][of]
    return found


def _flat(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def main() -> None:
    parser = model_parser(__doc__, "bench.models.fusion_rules", seconds=2.0)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--profiles", action="store_true", help="print both profiles by node")
    given = parser.parse_args()
    results = []
    print(f"{'model':20} T  calls  kernels: legality, relay    ms: legality    relay   ratio  of least")
    for name in given.models:
        for threads in given.threads:
            one = compared(name, threads, given.seconds, given.rounds)
            results.append(one)
            own, relay = one["legality"], one["relay"]
            ratios = f"{one['ratio']:6.2f} {one['least_ratio']:6.2f}"
            times = f"{own['seconds'] * 1e3:14.3f} {relay['seconds'] * 1e3:8.3f}  {ratios}"
            kernels = f"{own['kernels']:17}, {relay['kernels']:5}"
            print(f"{name:20} {threads}  {one['calls']:5}  {kernels}  {times}", flush=True)
            if given.profiles:
                print(own["profile"], relay["profile"], sep="\n")
    for name in ("ratio", "least_ratio"):
        mean = math.exp(statistics.fmean(math.log(one[name]) for one in results))
        print(f"{name}: geometric mean {mean:.2f}, worst {min(one[name] for one in results):.2f}")
    write_results(given.out, results)


if __name__ == "__main__":
    main()
