"""Operators that nobody planned for, through an exported C library and through the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.c_calls import Library

# Name → (operator's text, the arguments of a call by name, in their order).
ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "a size that is arithmetic": (
        "def widen(float(N+2) A) -> (B) { B(i) = A(i) + A(i+1) * A(i+2) where i in 0:N }",
        dict(A=np.arange(9, dtype=np.float32)),
    ),
    "names that C has taken": (
        "def exp(float(s, a) register, float(a) main) -> (wb_call) { wb_call(i, j) = register(i, j) - main(j) }",
        {"register": np.arange(12, dtype=np.float32).reshape(3, 4), "main": np.ones(4, np.float32)},
    ),
    "no dimensions": (
        "def total(double(N) A, double scale) -> (S) { S +=! scale * A(i) }",
        dict(A=np.arange(7.0), scale=2.5),
    ),
    "two results": (
        "def both(int32(M,N) A) -> (low, high) { low(i) min=! A(i, j)\n high(j) max=! A(i, j) }",
        dict(A=np.arange(15, dtype=np.int32).reshape(5, 3)[::-1].copy()),
    ),
    "cells that nothing writes": (
        "def spread(float(N) A) -> (float(2*N+1) B) { B(2*i+1) = A(i) where i in 0:N }",
        dict(A=np.arange(1, 6, dtype=np.float32)),
    ),
    "indices in the data": (
        "def pick(float(N,D) T, int64(M) I) -> (O) { O(m,d) = T(I(m),d) where d in 0:D }",
        dict(T=np.arange(12, dtype=np.float32).reshape(4, 3), I=np.array([3, 0, 3, 1, 2])),
    ),
    "a promise": (
        "def put(float(N) A, int32(N) P) -> (float(N) B) where injective(P) { B(P(i)) = A(i) }",
        dict(A=np.arange(5, dtype=np.float32), P=np.array([4, 2, 0, 1, 3], np.int32)),
    ),
    "steps one after the other": (
        "def walk(float(N,M) A) -> (B) { B(0, j) = A(0, j) where j in 0:M\n"
        " for t in 1:N { B(t, j) = 0.5 * B(t-1, j) + A(t, j) } }",
        dict(A=np.arange(24, dtype=np.float32).reshape(6, 4)),
    ),
    "a size no shape tells": (
        "def ramp(float(1) A, int32 count) -> (B) { B(i) = A(0) * i where i in 0:count }",
        dict(A=np.array([3.0], np.float32), count=6),
    ),
    "bits": (
        "def parity(uint8(N) A, uint8(N) B) -> (C) { C(i) = (A(i) ^ B(i)) & 1 }",
        dict(A=np.arange(19, dtype=np.uint8), B=np.arange(19, dtype=np.uint8) // 3),
    ),
}  # fmt: skip


def results(op: Any, given: dict[str, Any]) -> tuple[np.ndarray, ...]:
    found = op.evaluate(*given.values())
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("case", ODD)
def test_an_odd_operator_computes_what_the_oracle_says(case, tmp_path: Path):
    text, given = ODD[case]
    op = wb.operator(text)
    found = Library(op, wb.export.c(op, tmp_path).library)
    expected = dict(zip(op.outputs, results(op, given), strict=True))
    outputs = {name: np.full_like(np.asarray(value), 77) for name, value in expected.items()}
    assert found.tensors(**given, **outputs) == 0, found.text("message")
    for name, value in expected.items():
        np.testing.assert_array_equal(outputs[name], value)


def test_an_index_out_of_range_and_a_broken_promise_are_found(tmp_path):
    text, given = ODD["indices in the data"]
    op = wb.operator(text)
    found = Library(op, wb.export.c(op, tmp_path).library)
    out = np.zeros((5, 3), np.float32)
    assert found.tensors(**{**given, "I": np.array([0, 1, 4, 0, 0])}, O=out) > 0
    assert "an index of T" in found.text("message")
    assert "out of range" in found.text("message")
    assert not out.any()
    text, given = ODD["a promise"]
    op = wb.operator(text)
    found = Library(op, wb.export.c(op, tmp_path).library)
    given = {**given, "P": np.array([4, 2, 0, 2, 3], np.int32)}
    assert found.tensors(**given, B=np.zeros(5, np.float32)) == -17
    assert "injective(P) does not hold: P has 2 twice" in found.text("message")


def test_what_an_operator_updates_is_read_first(tmp_path):
    op = wb.ops.gemm
    found = Library(op, wb.export.c(op, tmp_path).library)
    a, b, c = (np.arange(n, dtype=np.float32).reshape(s) for n, s in ((6, (2, 3)), (12, (3, 4)), (8, (2, 4))))
    expected = 2 * a @ b + 0.5 * c
    assert found.tensors(A=a, B=b, alpha=2.0, beta=0.5, C=c) == 0, found.text("message")
    np.testing.assert_array_equal(c, expected)


def test_a_scalar_that_shapes_the_program_has_the_values_of_the_schedules(tmp_path):
    op = wb.ops.conv1d
    both = [wb.schedule(op, stride=s, pad=1, dilation=1) for s in (1, 2)]
    found = Library(both, wb.export.c(both, tmp_path).library)
    image, window = np.arange(22, dtype=np.float32).reshape(1, 2, 11), np.ones((3, 2, 3), np.float32)
    for stride in (1, 2):
        expected = op.evaluate(image, window, stride, 1, 1)
        out = np.zeros_like(expected)
        assert found.tensors(I=image, W=window, stride=stride, pad=1, dilation=1, O=out) == 0, found.text("message")
        np.testing.assert_array_equal(out, expected)
    out = np.zeros((1, 3, 4), np.float32)
    assert found.tensors(I=image, W=window, stride=3, pad=1, dilation=1, O=out) == -15
    assert "no kernel for these scalars" in found.text("message")


def test_a_function_of_c_refuses_to_update_what_it_reads(tmp_path):
    op = wb.from_c("void shift(int n, float *a, float *b) { for (int i = 0; i < n - 1; i++) b[i] = a[i + 1]; }")
    found = Library(op, wb.export.c(op, tmp_path).library)
    a = np.arange(8, dtype=np.float32)
    given = {name: a for name in ("a", "b")}
    assert found.tensors(**given, n=8) == -16, found.text("message")
    assert "share memory" in found.text("message")
