"""Axes along which arrays may be cut between devices, against the oracle: parts of inputs give parts of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.jax.jax_calls import arguments, several
from tests.export.sampled import small
from workbench.export.xla.axes import separable_axes

BY_HAND = {
    "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }": [{"A": 0, "C": 0}, {"B": 1, "C": 1}],
    "def f(float(M,N) A) -> (B) { S(i) +=! A(i,j)\n B(i,j) = A(i,j) / S(i) }": [{"A": 0, "B": 0, "S": 0}],
    "def f(float(M,N) A) -> (B) { B(j,i) = A(i,j) }": [{"A": 0, "B": 1}, {"A": 1, "B": 0}],
    "def f(float(N) A) -> (B) { B(i) = A(i) / N }": [],
    "def f(float(N) A) -> (B) { B(i) = A(i) * i }": [],
    "def f(float(N) A) -> (B) { B(i) = i > 2 ? A(i) : 0 }": [],
    "def f(float(N) A) -> (B) { B(i) = A(N-1-i) }": [],
    "def f(float(N) A) -> (B) { B(i) = A(i) + A(i+1) where i in 0:N-1 }": [],
    "def f(float(N,N) A) -> (B) { B(i) = A(i,i) }": [],
    "def f(float(N) A) -> (B, s) { B(i) = A(i)\n s +=! A(i) }": [],
    "def f(float(N) A) -> (B, c) { B(i) = A(i)\n c(i) +=! 1.0 where i in 0:N, j in 0:N }": [],
    "def f(float(N) A, float(N) X) -> (B) { s +=! X(j)\n B(i) = A(i) + s }": [],
    "def f(float(N,D) T, int32(M) I) -> (O) { O(m,d) = T(I(m),d) where d in 0:D }":
        [{"T": 1, "O": 1}, {"I": 0, "O": 0}],
    "def f(float(N,M) A) -> (B) { B(0,j) = A(0,j) where j in 0:M\n for t in 1:N { B(t,j) = B(t-1,j) + A(t,j) } }":
        [{"A": 1, "B": 1}],
    "def f(float(N) A, int32(N) P) -> (float(N) B) where injective(P) { B(P(i)) = A(i) }": [],
}  # fmt: skip


@pytest.mark.parametrize("text", BY_HAND)
def test_axes_are_found_where_no_value_depends_on_their_length_or_place(text):
    found = separable_axes(wb.operator(text))
    assert sorted(sorted(axis.items()) for axis in found) == sorted(sorted(axis.items()) for axis in BY_HAND[text])


def test_of_a_reduction_of_tuples_it_is_the_axis_of_what_is_kept():
    assert separable_axes(wb.ops.argmax) == [{"A": 0, "V": 0, "I": 0}]


def cut(name: str, array: Any, axis: dict[str, int], part: slice) -> Any:
    return array if name not in axis else array[(slice(None),) * axis[name] + (part,)]


@pytest.mark.parametrize("name", wb.ops.list())
def test_parts_of_the_inputs_give_parts_of_the_results(name):
    op, sizes = small(name)
    given = arguments(op, sizes)
    whole = evaluated(op, given)
    for axis in separable_axes(op):
        length = whole[op.outputs[0]].shape[axis[op.outputs[0]]]
        for part in (slice(0, length // 2), slice(length // 2, length)):
            found = evaluated(op, {n: cut(n, v, axis, part) for n, v in given.items()})
            for output, value in found.items():
                known = cut(output, whole[output], axis, part)
                assert known.shape == value.shape
                np.testing.assert_allclose(value.astype(float), known.astype(float), rtol=1e-5, atol=1e-5)


def test_most_operators_of_the_library_have_such_an_axis():
    found = [separable_axes(wb.ops.load(name)) for name in wb.ops.list()]
    assert sum(map(bool, found)) > len(found) / 2


def evaluated(op: wb.Operator, given: dict[str, Any]) -> dict[str, np.ndarray]:
    updated = [o for o in op.outputs if op.tensors[o].role == "inout"]
    out = tuple(np.copy(given[o]) if o in updated else None for o in op.outputs) if updated else None
    return dict(zip(op.outputs, several(op.evaluate(*(given[n] for n in op.parameters), out=out)), strict=True))
