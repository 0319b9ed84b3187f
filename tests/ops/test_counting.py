"""Counts of operations, points and bytes: closed formulas, and enumeration."""

from __future__ import annotations

import pytest

from tests.lang.brute_force import instances
from tests.ops.awkward import PRIMES
from workbench import ops, poly
from workbench.errors import CallError
from workbench.lang import operator
from workbench.ops import counting

FORMULAS = {
    "matmul": lambda M, N, K: 2 * M * N * K,
    "conv2d_bias": lambda N, C, H, W, F, KH, KW: (2 * C * KH * KW + 1) * N * F * (H - KH + 1) * (W - KW + 1),
    "trmm": lambda M, N: M * (M + 1) * N,
    "dot": lambda N: 2 * N,
    "transpose": lambda M, N: 0,
    "softmax": lambda M, N: 5 * M * N,
    "bias_relu": lambda M, N: 2 * M * N,
    "layer_norm": lambda M, N: (1 + 4 + 8) * M * N,
    "bias_gelu": lambda M, N: (1 + 5) * M * N,
    "argmax": lambda M, N: 0,
    "top_two": lambda M, N: 4 * M * N,
    "jacobi_1d": lambda N, steps: 3 * (N - 2) * steps,
    "lookup": lambda E, D, B, L: B * L * D,
    "attention": lambda B, M, N, D, E: B * M * (2 * N * D + N + 3 * N + N + 2 * N * E + E),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_flops(name):
    op, sizes = ops.load(name), PRIMES[name]
    assert ops.flops(op, **sizes) == FORMULAS[name](**sizes)


@pytest.mark.parametrize("name", ops.list())
def test_the_program_counts_like_the_operator(name):
    op, sizes = ops.load(name), PRIMES[name]
    assert poly.flops(poly.lower(op, dict(sizes))) == ops.flops(op, **sizes)


def test_flops_at_sizes_of_practice():
    assert ops.flops(ops.matmul, M=4096, N=4096, K=4096) == 2 * 4096**3
    assert ops.flops(ops.trmm, M=5000, N=3) == 5000 * 5001 * 3
    assert ops.flops(ops.syrk, N=1000, K=10) == 1000 * 1001 * 10


@pytest.mark.parametrize("name", ops.list())
def test_points_are_counted_as_they_are_enumerated(name):
    op = ops.load(name)
    sizes = {k: min(v, 4) if k in op.size_names else v for k, v in PRIMES[name].items()}
    for statement in op.statements():
        wanted = sum(1 for _ in instances(statement.ranges, sizes, {}))
        assert counting.points(statement.ranges, sizes) == wanted


def test_blocks_change_no_count(monkeypatch):
    monkeypatch.setattr(counting, "BLOCK_POINTS", 5)
    assert ops.flops(ops.trmm, M=37, N=3) == 37 * 38 * 3


def test_a_let_is_counted_once():
    op = operator("def f(float(N) X) -> (Y) { Y(i) = a * a * a where a = exp(X(i)) }")
    assert ops.flops(op, N=10) == 30


def test_equal_terms_are_counted_once():
    op = operator("def f(float(N) X) -> (Y) { Y(i) = X(i) * X(i) + X(i) * X(i) }")
    assert ops.flops(op, N=10) == poly.flops(poly.lower(op, {"N": 10})) == 20


EACH = {
    "X(i) - 1.0": 1,
    "-X(i)": 1,
    "min(X(i), 1.0, 2.0)": 2,
    "fma(X(i), 2.0, 1.0)": 2,
    "exp(abs(X(i)))": 2,
    "X(i) > 0.0 && !(X(i) == 3.0)": 0,
    "isnan(X(i)) ? X(i) + 1.0 : X(i) * 2.0": 2,
    "float(i * 3 % N)": 0,
    "int32(X(i)) & 7": 1,
    "double(X(i))": 0,
}


@pytest.mark.parametrize("value", EACH)
def test_what_counts(value):
    op = operator(f"def f(float(N) X) -> (Y) {{ Y(i) = {value} where i in 0:N }}")
    assert ops.flops(op, N=1) == poly.flops(poly.lower(op, {"N": 1})) == EACH[value]


def test_arithmetic_on_indices_is_not_counted():
    op = operator("def f(float(N) X) -> (Y) { Y(i) = i * 3 + 1 < N - 2 ? X(i / 2) : 0 where i in 0:N }")
    assert ops.flops(op, N=10) == 0


def test_bytes():
    assert ops.bytes(ops.matmul, M=2, N=3, K=5) == 4 * (2 * 5 + 5 * 3 + 2 * 3)
    assert ops.bytes(ops.gemm, M=2, N=3, K=5) == 4 * (2 * 5 + 5 * 3 + 2 * 2 * 3 + 2)
    assert ops.bytes(ops.matmul_bf16, M=2, N=3, K=5) == 2 * (2 * 5 + 5 * 3) + 4 * 2 * 3
    assert ops.bytes(ops.softmax, M=7, N=5) == 4 * 2 * 35


def test_a_table_that_is_read_rarely_moves_only_what_is_read():
    few = ops.bytes(ops.lookup, E=1000000, D=64, B=2, L=3)
    assert few == 4 * (2 * 3 * 64 + 2 * 3 + 2 * 64)


def test_a_missing_size_is_named():
    with pytest.raises(CallError, match=r"matmul needs K: give M=\.\.\., K=\.\.\., N=\.\.\."):
        ops.flops(ops.matmul, M=2, N=3)
