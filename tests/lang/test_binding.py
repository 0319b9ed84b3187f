"""A call: sizes solved from shapes, everything checked, messages that name the parameter and the size."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.errors import CallError
from workbench.lang import bind, operator

MATMUL = operator("def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
CONV = operator("""
def conv(float((H-1)*s+K) I, float(K) W, float(4) bias, int32 s, float x) -> (O) {
    O(h) +=! x * I(s*h+k) * W(k) + bias(0)
}""")
GENERIC = operator("def scale<T>(T(N) X, T(N) Y, T alpha) -> (T(N) Z) { Z(i) = alpha * X(i) + Y(i) }")
INOUT = operator("def acc(int32(B) I, float(B,D) G) -> (float(V,D) T) { T(I(b), d) += G(b,d) }")


def zeros(*shape: int, dtype: str = "float32") -> np.ndarray:
    """An array of zeros."""
    return np.zeros(shape, dtype)


def test_sizes_come_from_shapes():
    binding = bind(MATMUL, (zeros(2, 3), zeros(3, 5)), {})
    assert binding.sizes == {"M": 2, "K": 3, "N": 5}
    assert set(binding.arrays) == {"A", "B"}


def test_arithmetic_dimensions_are_solved():
    binding = bind(CONV, (zeros(9), zeros(3), zeros(4)), {"s": 2, "x": 1})
    assert binding.sizes == {"s": 2, "K": 3, "H": 4}
    assert binding.scalars == {"x": 1.0}


def test_a_size_that_no_shape_tells_is_given_by_keyword():
    with pytest.raises(CallError, match=r"no shape tells H; give it as H=\.\.\. \(known: s=0, K=3\)"):
        bind(operator(CONV.text.replace("O(h) +=!", "O(h) +=!")), (zeros(3), zeros(3), zeros(4), 0, 1.0), {})


def test_anything_with_a_shape_and_a_dtype_will_do():
    fake = SimpleNamespace(shape=(2, 3), dtype=SimpleNamespace())
    fake.dtype = type("dtype", (), {"__str__": lambda self: "torch.float32"})()
    assert bind(MATMUL, (fake, zeros(3, 5)), {}).sizes["M"] == 2


def test_generic_types_come_from_the_arrays():
    binding = bind(GENERIC, (zeros(3, dtype="float64"), zeros(3, dtype="float64"), 2), {})
    assert binding.op.tensors["Z"].dtype.name == "float64"
    assert binding.op.generic == ()
    assert binding.scalars == {"alpha": 2.0}


def test_in_out_tensors_tell_sizes():
    table = zeros(7, 2)
    binding = bind(INOUT, (zeros(3, dtype="int32"), zeros(3, 2)), {}, table)
    assert binding.sizes == {"B": 3, "D": 2, "V": 7}
    assert binding.out["T"] is table


@pytest.mark.parametrize(
    ("arrays", "scalars", "message"),
    [
        ((zeros(2, 3), zeros(4, 5)), {}, "mismatched sizes for K: K = 3 from A, dimension 1; B, dimension 0 has 4"),
        ((zeros(2, 3),), {}, "matmul expected 2 inputs but found 1: missing B"),
        ((zeros(2, 3),) * 3, {}, r"matmul expected 2 inputs \(A, B\) but found 3"),
        ((zeros(2, 3), zeros(3)), {}, r"B expected a tensor with 2 dimensions but found 1 \(shape \(3,\)\)"),
        ((zeros(2, 3), zeros(3, 5, dtype="float64")), {}, "B expected type float but found double; .*astype"),
        ((zeros(2, 3), zeros(3, 5, dtype=">f4")), {}, "B has dtype >f4, which is not an element type"),
        ((zeros(2, 3), zeros(3, 5, dtype="complex64")), {}, "B has dtype complex64"),
        ((zeros(2, 3), [1.0]), {}, r"B expected an array \(with shape and dtype\) but found list"),
        ((zeros(2, 3), zeros(3, 5)), {"A": 1}, "'A' is given twice"),
        ((zeros(2, 3), zeros(3, 5)), {"X": 1}, "unknown parameter 'X'; known: A, B, M, K, N"),
        ((zeros(2, 3), zeros(3, 5)), {"K": 4}, "K = 4 from the keyword; A, dimension 1 has 3"),
    ],
)
def test_what_does_not_fit_matmul(arrays, scalars, message):
    with pytest.raises(CallError, match=message):
        bind(MATMUL, arrays, scalars)


@pytest.mark.parametrize(
    ("arrays", "scalars", "message"),
    [
        (
            (zeros(10), zeros(3), zeros(4)),
            {"s": 2, "x": 1.0},
            r"I, dimension 0 expected H \* s \+ K - s = 9 .* but found 10",
        ),
        (
            (zeros(9), zeros(3), zeros(5)),
            {"s": 2, "x": 1.0},
            "bias, dimension 0 expected the constant size 4 but found 5",
        ),
        (
            (zeros(9), zeros(3), zeros(4)),
            {"s": 2.5, "x": 1.0},
            "'s' shapes the program: expected an integer but found float",
        ),
        ((zeros(9), zeros(3), zeros(4)), {"s": True, "x": 1.0}, "expected an integer but found bool"),
        ((zeros(9), zeros(3), zeros(4)), {"s": 2, "x": "1"}, "x expected type float but found str"),
        ((zeros(9), zeros(3), zeros(4)), {"s": 2, "x": zeros(1)}, "x expected a tensor with 0 dimensions but found 1"),
        (
            (zeros(9), zeros(3), zeros(4)),
            {"s": -2, "x": 1.0, "H": -2},
            "s > 0 does not hold for s = -2: s multiplies an index",
        ),
    ],
)
def test_what_does_not_fit_a_convolution(arrays, scalars, message):
    with pytest.raises(CallError, match=message):
        bind(CONV, arrays, scalars)


def test_types_of_a_generic_operator_must_agree():
    with pytest.raises(CallError, match="T = float32 from X; Y has float64"):
        bind(GENERIC, (zeros(3), zeros(3, dtype="float64"), 2), {})


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (None, "'T' is read before it is written; give its initial contents as out="),
        (zeros(7, 3), "mismatched sizes for D: D = 2 from G, dimension 1; T, dimension 1 has 3"),
        ((zeros(7, 2), zeros(7, 2)), r"out= expected 1 arrays \(T\) but found 2"),
        (zeros(7, 2, dtype="float64"), "T expected type float but found double"),
    ],
)
def test_outputs_are_checked(out, message):
    with pytest.raises(CallError, match=message):
        bind(INOUT, (zeros(3, dtype="int32"), zeros(3, 2)), {}, out)


def test_a_plain_output_may_be_given():
    binding = bind(MATMUL, (zeros(2, 3), zeros(3, 5)), {}, zeros(2, 5))
    assert binding.out["C"].shape == (2, 5)
    with pytest.raises(CallError, match="C, dimension 0 expected M = 2"):
        bind(MATMUL, (zeros(2, 3), zeros(3, 5)), {}, zeros(3, 5))


def test_integers_must_fit():
    op = operator("def f(uint8(N) A, uint8 b, bool c) -> (O) { O(i) = c ? A(i) : b }")
    assert bind(op, (zeros(2, dtype="uint8"), np.uint8(255), True), {}).scalars == {"b": 255, "c": True}
    with pytest.raises(CallError, match="b = 256 does not fit into uint8"):
        bind(op, (zeros(2, dtype="uint8"), 256, True), {})


def test_conditions_of_calls_between_defs():
    op = operator("""
def add(float(N) X, float(N) Y) -> (Z) { Z(i) = X(i) + Y(i) }
def f(float(M) A, float(K) B) -> (C) { C = add(A, B) }
""")
    assert bind(op, (zeros(3), zeros(3)), {}).sizes == {"M": 3, "K": 3}
    with pytest.raises(CallError, match="M == K does not hold for K = 4, M = 3"):
        bind(op, (zeros(3), zeros(4)), {})


def test_zero_sized_arrays_fit():
    assert bind(MATMUL, (zeros(0, 3), zeros(3, 0)), {}).sizes == {"M": 0, "K": 3, "N": 0}


def test_a_type_for_which_the_operator_means_nothing():
    with pytest.raises(CallError, match=r"scale means nothing for T = bool"):
        bind(GENERIC, (zeros(3, dtype="bool"), zeros(3, dtype="bool"), True), {})


def test_one_array_of_another_type_is_to_be_converted_and_all_of_them_may_change_the_operator():
    double, single, whole = (zeros(3, 3, dtype=kind) for kind in ("float64", "float32", "int32"))
    of_a = "matmul: A expected type float but found double; "
    either = "convert the arrays to float32, or use matmul.astype('double')"
    for arrays, message in (
        ((double, single), of_a + "convert this array: A.astype('float32')"),
        ((single, double), "matmul: B expected type float but found double; convert this array: B.astype('float32')"),
        ((double, whole), of_a + "convert this array: A.astype('float32')"),
        ((double, double), of_a + either),
    ):
        with pytest.raises(CallError) as caught:
            bind(MATMUL, arrays, {})
        assert str(caught.value) == message


def test_an_operator_of_one_array_may_be_changed_or_the_array():
    twice = operator("def twice(float(N) A, int32(N) I) -> (B) { B(i) = 2.0 * A(i) * I(i) }")
    with pytest.raises(CallError) as caught:
        bind(twice, (zeros(3, dtype="float64"), zeros(3, dtype="int32")), {})
    message = "A expected type float but found double; convert the array to float32, or use twice.astype('double')"
    assert str(caught.value) == f"twice: {message}"


def test_a_foreign_array_is_converted_by_its_own_means():
    fake = SimpleNamespace(shape=(3, 3), dtype=type("dtype", (), {"__str__": lambda self: "torch.float64"})())
    with pytest.raises(CallError, match=r"convert this array: A\.to\(torch\.float32\)"):
        bind(MATMUL, (fake, zeros(3, 3)), {})
