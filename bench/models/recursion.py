"""Recursive models: built, against PyTorch eager, which walks the same data node by node.

    python -m bench.models.recursion [--threads 1 2] [--seconds 1] [--rounds 5] [--out FILE]

A binary Tree-LSTM (Tai, Socher and Manning, ACL 2015) over four random trees, and over trees most of which come too
seldom to have a program of their own, and a recurrent network over characters that takes a list of unknown length, one
after the other in one process.  Results are compared with eager.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import torch

import workbench as wb
from bench.facts import write_results
from bench.models.command_line import model_parser
from bench.timing import batches

WIDTH, HIDDEN, LEAVES, CHARACTERS, LENGTH, TREES = 128, 128, 32, 64, 64, 4
TREE_LSTM = """
def linear<T>(T(M,K) x, T(N,K) w, T(N) b) -> (y) { y(m,n) +=! x(m,k) * w(n,k)  y(m,n) = y(m,n) + b(n) }
def beside<T>(T(M,K) l, T(M,K) r) -> (y) {
    y(m,k) = l(m,k) where k in 0:K
    y(m,K+k) = r(m,k) where k in 0:K
}
def leaf_cell<T>(T(M,N) a, int32 H) -> (h, c) {
    c(m,j) = sigmoid(a(m,j)) * tanh(a(m,2*H+j)) where j in 0:H
    h(m,j) = sigmoid(a(m,H+j)) * tanh(c(m,j))
}
def inner_cell<T>(T(M,N) a, T(M,H) l, T(M,H) r) -> (h, c) {
    c(m,j) = sigmoid(a(m,j)) * tanh(a(m,2*H+j)) + sigmoid(a(m,3*H+j)) * l(m,j) + sigmoid(a(m,4*H+j)) * r(m,j)
    h(m,j) = sigmoid(a(m,H+j)) * tanh(c(m,j))
}
type Parse<a> = Word(a) | Phrase(Parse<a>, Parse<a>)
fn node(t: Parse<float32[1, WIDTH]>) -> (float32[1, HIDDEN], float32[1, HIDDEN]) {
    match t {
        Word(x) => leaf_cell(linear(x, const#0, const#1), H=HIDDEN)
        Phrase(l, r) => {
            let (hl, cl) = node(l)
            let (hr, cr) = node(r)
            inner_cell(linear(beside(hl, hr), const#2, const#3), cl, cr)
        }
    }
}
fn main(t: Parse<float32[1, WIDTH]>) -> float32[1, HIDDEN] { node(t).0 }
"""
CHARACTER_NETWORK = """
def linear<T>(T(M,K) x, T(N,K) w, T(N) b) -> (y) { y(m,n) +=! x(m,k) * w(n,k)  y(m,n) = y(m,n) + b(n) }
def state<T>(T(M,N) a, T(M,K) s, T(N,K) u) -> (y) {
    y(m,n) +=! s(m,k) * u(n,k)
    y(m,n) = tanh(a(m,n) + y(m,n))
}
def scores<T>(T(M,K) s, T(N,K) v, T(N) c) -> (y) {
    a(m,n) +=! s(m,k) * v(n,k)
    a(m,n) = a(m,n) + c(n)
    top(m) max=! a(m,n)
    sum(m) +=! exp(a(m,n) - top(m))
    y(m,n) = a(m,n) - top(m) - log(sum(m))
}
fn walk(
    xs: List<float32[1, CHARACTERS]>, s: float32[1, HIDDEN], done: List<float32[1, CHARACTERS]>
) -> List<float32[1, CHARACTERS]> {
    match xs {
        Nil => done
        Cons(x, rest) => {
            let next = state(linear(x, const#0, const#2), s, const#1)
            walk(rest, next, Cons(scores(next, const#3, const#4), done))
        }
    }
}
fn main(xs: List<float32[1, CHARACTERS]>, s: float32[1, HIDDEN]) { walk(xs, s, Nil) }
"""


def _model(text: str, weights: list[np.ndarray]) -> wb.Model:
    """A text over weights that are constants, as those of a trained network are."""
    for name, size in (("WIDTH", WIDTH), ("HIDDEN", HIDDEN), ("CHARACTERS", CHARACTERS)):
        text = text.replace(name, str(size))
    return wb.optimize(wb.model(text, weights))


def random_tree(random: np.random.Generator, leaves: int) -> Any:
    """A parse of so many words, divided anywhere."""
    if leaves == 1:
        return wb.graph.data("Word", random.standard_normal((1, WIDTH)).astype("f4"))
    left = int(random.integers(1, leaves))
    return wb.graph.data("Phrase", random_tree(random, left), random_tree(random, leaves - left))


def tensors(tree: Any) -> Any:
    """The same tree for PyTorch."""
    if tree.constructor == "Word":
        return torch.from_numpy(tree.fields[0])
    return tuple(map(tensors, tree.fields))


def tree_state(tree: Any, weights: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What eager computes for a tree."""
    w, b, u, v = weights
    if isinstance(tree, torch.Tensor):
        i, o, g = torch.nn.functional.linear(tree, w, b).chunk(3, 1)
        c = torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    (hl, cl), (hr, cr) = tree_state(tree[0], weights), tree_state(tree[1], weights)
    i, o, g, left, right = torch.nn.functional.linear(torch.cat([hl, hr], 1), u, v).chunk(5, 1)
    c = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(left) * cl + torch.sigmoid(right) * cr
    return torch.sigmoid(o) * torch.tanh(c), c


def character_scores(xs: list[torch.Tensor], state: torch.Tensor, weights: list[torch.Tensor]) -> list[torch.Tensor]:
    """What eager computes for a text."""
    w, u, b, v, c = weights
    found = []
    for x in xs:
        state = torch.tanh(torch.nn.functional.linear(x, w, b) + torch.nn.functional.linear(state, u))
        found.append(torch.log_softmax(torch.nn.functional.linear(state, v, c), -1))
    return found


def _weights(random: np.random.Generator, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [(random.standard_normal(shape) / shape[-1] ** 0.5).astype("f4") for shape in shapes]


Calls = tuple[Callable[[], Any], Callable[[], Any]]


def tree_calls(threads: int, different: int = TREES) -> Calls:
    """Ours and eager on the same trees, some in a call; the same ones again after so many `different` ones."""
    random = np.random.default_rng(0)
    weights = _weights(random, (3 * HIDDEN, WIDTH), (3 * HIDDEN,), (5 * HIDDEN, 2 * HIDDEN), (5 * HIDDEN,))
    trees = [random_tree(random, LEAVES) for _ in range(different)]
    built = wb.build(_model(TREE_LSTM, weights), threads=threads)
    own = [torch.from_numpy(each) for each in weights]
    mine, theirs = cycle(trees), cycle([tensors(tree) for tree in trees])
    return (
        lambda: [built(tree) for tree in islice(mine, TREES)],
        lambda: [tree_state(tree, own)[0].numpy() for tree in islice(theirs, TREES)],
    )


def character_calls(threads: int) -> Calls:
    """Ours and eager on the same text."""
    random = np.random.default_rng(0)
    shapes = (HIDDEN, CHARACTERS), (HIDDEN, HIDDEN), (HIDDEN,), (CHARACTERS, HIDDEN), (CHARACTERS,)
    weights = _weights(random, *shapes)
    text = [np.eye(CHARACTERS, dtype="f4")[None, at] for at in random.integers(0, CHARACTERS, LENGTH)]
    state = np.zeros((1, HIDDEN), "f4")
    built = wb.build(_model(CHARACTER_NETWORK, weights), threads=threads)
    xs, own = [torch.from_numpy(x) for x in text], [torch.from_numpy(each) for each in weights]
    first = torch.from_numpy(state)
    return (
        lambda: wb.graph.to_list(built(text, state))[::-1],
        lambda: [each.numpy() for each in character_scores(xs, first, own)],
    )


MODELS = {"tree-lstm": tree_calls, "of new trees": partial(tree_calls, different=256), "char-rnn": character_calls}


def compared(name: str, threads: int, seconds: float, rounds: int) -> dict[str, Any]:
    """Ours and eager at one model, in turn."""
    torch.set_num_threads(threads)
    calls = dict(zip(("workbench", "eager"), MODELS[name](threads), strict=True))
    with torch.no_grad():
        for mine, theirs in zip(calls["workbench"](), calls["eager"](), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)
        found: dict[str, Any] = {which: {"rounds": [], "least": float("inf")} for which in calls}
        for _ in range(rounds):
            for which, call in calls.items():
                times, _ = batches(call, seconds / rounds, seconds / rounds / 4)
                found[which]["rounds"].append(statistics.median(times))
                found[which]["least"] = min(found[which]["least"], *times)
    for one in found.values():
        one["seconds"] = statistics.median(one["rounds"])
    ratios = {f"{of} ratio": found["eager"][of] / found["workbench"][of] for of in ("seconds", "least")}
    return {"model": name, "threads": threads, **found, **ratios}


def main() -> None:
    parser = model_parser(__doc__, "bench.models.recursion")
    given = parser.parse_args()
    results = []
    print(f"{'model':12} T  ms, least: workbench  eager              ratio  of least")
    for name in MODELS:
        for threads in given.threads:
            one = compared(name, threads, given.seconds, given.rounds)
            results.append(one)
            pairs = [(one[which]["seconds"], one[which]["least"]) for which in ("workbench", "eager")]
            times = "  ".join(f"{median * 1e3:8.3f}, {least * 1e3:8.3f}" for median, least in pairs)
            print(f"{name:12} {threads}  {times}  {one['seconds ratio']:5.2f} {one['least ratio']:5.2f}", flush=True)
    print(f"geometric mean {statistics.geometric_mean(one['seconds ratio'] for one in results):.2f}")
    write_results(given.out, results)


if __name__ == "__main__":
    main()
