"""Arrays of every kind: a right result or one clear sentence, and never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError, KernelError
from workbench.lang import Operator

A = np.random.default_rng(1).standard_normal((5, 6)).astype("f4")
B = np.random.default_rng(2).standard_normal((6, 7)).astype("f4")


@pytest.fixture(scope="module")
def matmul() -> Operator:
    return wb.operator("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")


def misaligned(array: Any) -> Any:
    memory = np.zeros(array.nbytes + 1, "u1")
    found = np.ndarray(array.shape, array.dtype, memory, 1)
    found[...] = array
    return found


def read_only(array: Any) -> Any:
    found = array.copy()
    found.flags.writeable = False
    return found


class Stubborn(np.ndarray):
    """A subclass that refuses to be indexed."""

    def __getitem__(self, key: Any) -> Any:
        raise RuntimeError("not indexed")


def field(array: Any) -> Any:
    both = np.zeros(array.shape, [("x", "f4"), ("y", "i2")])
    both["x"] = array
    return both["x"]


GOOD = {
    "reversed": lambda a: np.flip(np.flip(a).copy()),
    "other byte order": lambda a: a.astype(">f4"),
    "misaligned": misaligned,
    "read-only": read_only,
    "a field of a record": field,
    "a matrix": np.matrix,
    "a subclass": lambda a: a.view(Stubborn),
    "a masked array without a mask": np.ma.array,
    "a memoryview": memoryview,
    "a list": lambda a: a.tolist(),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", GOOD)
def test_inputs_of_strange_kinds_are_right(matmul: Operator, kind: str) -> None:
    np.testing.assert_allclose(matmul(GOOD[kind](A), GOOD[kind](B)), A @ B, rtol=1e-4, atol=1e-5)


def test_repeated_rows_are_right(matmul: Operator) -> None:
    rows = np.broadcast_to(A[:1], A.shape)
    np.testing.assert_allclose(matmul(rows, B), rows @ B, rtol=1e-4, atol=1e-5)


CONVERT = r"is not an element type; known: bool, .*\. Convert the array, for example with \.astype\('float32'\)"
SHARED = r"out C has elements that share memory .*give an array in which each has its own"
REFUSED_INPUTS = {
    "objects": (lambda a: a.astype(object), f"A has dtype object, which {CONVERT}"),
    "complex numbers": (lambda a: a.astype("c8"), f"A has dtype complex64, which {CONVERT}"),
    "long doubles": (lambda a: a.astype("g"), f"A has dtype .*, which {CONVERT}"),
    "records": (lambda a: np.zeros(a.shape, "f4,i2"), CONVERT),
    "half": (lambda a: a.astype("f2"), r"A expected type float but found float16; convert this array: A\.astype"),
    "truth values": (lambda a: a > 0, r"A expected type float but found bool; convert this array: A\.astype"),
    "masked elements": (lambda a: np.ma.array(a, mask=a > 0), r"elements masked, .*array\.filled\(0\)"),
    "rank": (lambda a: a[0], "A expected a tensor with 2 dimensions but found 1"),
    "size": (lambda a: a[:, :4], "mismatched sizes for K"),
    "strings": (lambda a: a.astype(str), "argument A|not an element type"),
}


@pytest.mark.parametrize("kind", REFUSED_INPUTS)
def test_inputs_that_do_not_fit_are_explained(matmul: Operator, kind: str) -> None:
    change, message = REFUSED_INPUTS[kind]
    with pytest.raises(CallError, match=message):
        matmul(change(A), B)


REFUSED_OUTPUTS = {
    "read-only": (lambda: read_only(np.zeros((5, 7), "f4")), "out C is read-only; give a writable array"),
    "repeated rows": (lambda: np.lib.stride_tricks.as_strided(np.zeros(7, "f4"), (5, 7), (0, 4)), SHARED),
    "overlapping rows": (lambda: np.lib.stride_tricks.as_strided(np.zeros(70, "f4"), (5, 7), (4, 4)), SHARED),
    "objects": (lambda: np.zeros((5, 7), object), "C has element type object, expected float32"),
    "shape": (lambda: np.zeros((7, 5), "f4"), "C"),
}


@pytest.mark.parametrize("kind", REFUSED_OUTPUTS)
def test_outputs_that_do_not_fit_are_explained(matmul: Operator, kind: str) -> None:
    make, message = REFUSED_OUTPUTS[kind]
    with pytest.raises(CallError, match=message):
        matmul(A, B, out=make())


@pytest.mark.parametrize("make", [lambda: np.zeros((5, 7), ">f4"), lambda: misaligned(np.zeros((5, 7), "f4"))])
def test_outputs_of_strange_kinds_are_filled(matmul: Operator, make: Any) -> None:
    out = make()
    assert matmul(A, B, out=out) is out
    np.testing.assert_allclose(out, A @ B, rtol=1e-4, atol=1e-5)


def test_outputs_must_not_overlap_each_other_but_may_be_the_input() -> None:
    both = wb.operator("def two(float(N) A) -> (B, C) { B(i) = A(i)\n C(i) = A(i) + 1 }")
    memory = np.arange(10, dtype="f4")
    for out in ((memory, memory), (memory[:9], memory[1:])):
        with pytest.raises(CallError, match="out B and C share memory; give each its own"):
            both(np.ones(len(out[0]), "f4"), out=out)
    turn = wb.operator("def turn(float(N) A) -> (B) { B(i) = A(N-1-i) where i in 0:N }")
    np.testing.assert_array_equal(turn(memory, out=memory), np.arange(10)[::-1])


def test_tensors_of_torch_that_numpy_does_not_take(matmul: Operator) -> None:
    torch = pytest.importorskip("torch", reason="install torch: pip install torch")
    tensor = torch.from_numpy(A)
    refused = {
        r"requires a gradient, .* give A\.detach\(\)": tensor.clone().requires_grad_(),
        r"Use Tensor\.to_dense\(\)": tensor.to_sparse(),
        "meta device": torch.empty(5, 6, device="meta"),
        r"Use tensor\.resolve_neg\(\)": torch.view_as_complex(torch.rand(5, 6, 2)).conj().imag,
    }
    for message, given in refused.items():
        with pytest.raises(CallError, match=f"argument A.*{message}"):
            matmul(given, B)
    with pytest.raises(CallError, match="elements that share memory"):
        matmul(A, B, out=torch.zeros(1, 7).expand(5, 7))


class Broken:
    """Claims to hold an array."""

    shape, dtype, ndim = (5, 6), np.dtype("f4"), 2

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __array__(self, *_: Any, **__: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [ZeroDivisionError("no"), 5, None, np.zeros((2, 2), "f4"), np.array(["x"])])
def test_objects_that_lie_about_their_array(matmul: Operator, answer: Any) -> None:
    with pytest.raises(CallError):
        matmul(Broken(answer), B)


# -- indices ---------------------------------------------------------------------------------------

NESTED = "def pick(float(V) T, int32(V) P, int64(N) I) -> (O) { O(n) = T(P(I(n))) }"
ADDED = "def put(float(N) A, int32(N) I) -> (float(M) O) { O(I(n)) += A(n) }"


@pytest.mark.parametrize("bad", [9, -1, 2**31, 2**40, -(2**63), 2**63 - 1])
def test_a_gather_through_a_gather_says_which_index_misses(bad: int) -> None:
    op, table, places = wb.operator(NESTED), np.arange(9, dtype="f4"), np.arange(9, dtype="i4")[::-1].copy()
    good = np.array([0, 8, 3])
    np.testing.assert_array_equal(op(table, places, good), table[places[good]])
    with pytest.raises(KernelError, match=rf"reaches P out of range: at n=1 a subscript is {bad}, but P has shape"):
        op(table, places, np.array([0, bad, 3]))
    if abs(bad) < 2**31:
        places[3] = bad
        with pytest.raises(KernelError, match=rf"reaches T out of range: at n=2 a subscript is {bad}, but T has shape"):
            op(table, places, good)


def test_a_guard_that_is_data_is_checked_before_what_it_guards() -> None:
    op = wb.operator(
        "def pick(float(V) T, int32(V) P, int64(N) I) -> (O) {\n O(n) = I(n) >= 0 && P(I(n)) > 0 ? T(P(I(n))) : -1.0 }"
    )
    table, places = np.arange(9, dtype="f4"), np.arange(9, dtype="i4") - 4
    given = np.array([0, 8, 3, -(2**62), 6])
    np.testing.assert_array_equal(op(table, places, given), [-1, 4, -1, -1, 2])
    with pytest.raises(KernelError, match="reaches P out of range: at n=2 a subscript is 4611686018427387904"):
        op(table, places, np.array([0, 8, 2**62]))


def test_a_scatter_that_misses_writes_nothing() -> None:
    op, out = wb.operator(ADDED), np.full(3, 7, "f4")
    with pytest.raises(KernelError, match=r"(?s)an index of O .*nothing was written.*at n=1 a subscript is 5"):
        op(np.ones(3, "f4"), np.array([0, 5, 2], "i4"), out=out)
    np.testing.assert_array_equal(out, 7)
    good = np.array([0, 2, 2], "i4")
    np.testing.assert_array_equal(op(np.ones(3, "f4"), good, out=out, unchecked=True), [8, 7, 9])


def test_tables_without_rows() -> None:
    op, empty = wb.operator(NESTED), np.zeros(0, "f4")
    assert op(empty, np.zeros(0, "i4"), np.zeros(0, "i8")).shape == (0,)
    with pytest.raises(KernelError, match=r"but P has shape \(0,\)"):
        op(empty, np.zeros(0, "i4"), np.zeros(1, "i8"))


# -- values and sizes ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 8, 33])
def test_nan_and_infinity_in_reductions(n: int) -> None:
    op = wb.operator(
        "def r(float(M,N) A) -> (s, p, hi, lo) {\n s(m) +=! A(m,n)\n p(m) *=! A(m,n)\n"
        " hi(m) max=! A(m,n)\n lo(m) min=! A(m,n) }"
    )
    given = np.random.default_rng(n).random((6, n), "f4")
    if n:
        given[1, n // 2], given[2, n - 1], given[3, 0], given[4] = np.nan, np.inf, -np.inf, np.nan
    for found, wanted in zip(op(given), op.evaluate(given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


def huge(*shape: int) -> Any:
    """An array of any size that takes four bytes."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), shape, (0,) * len(shape))


@pytest.mark.parametrize("rows", [2**31, 2**40, 2**60])
def test_only_the_plan_of_huge_arrays(matmul: Operator, rows: int) -> None:
    plan = matmul.plan(huge(rows, 1), huge(1, 4))
    assert plan.sizes == {"M": rows, "K": 1, "N": 4}
    assert matmul.flops(M=rows, K=rows, N=rows) == 2 * rows**3
    assert wb.lower(matmul, M=rows, K=1, N=4).sizes["M"] == rows


def test_results_that_no_memory_holds(matmul: Operator) -> None:
    with pytest.raises(KernelError, match=r"not enough memory: a result of 17,592,186,044,416 bytes"):
        matmul(huge(2**40, 1), huge(1, 4))
    with pytest.raises(CallError, match=r"the output C would take 5\.32e\+36 bytes, more than any machine addresses"):
        matmul(huge(2**60, 1), huge(1, 2**60))
    with pytest.raises(CallError, match="not enough memory to evaluate it with NumPy"):
        matmul.evaluate(huge(2**50, 1), huge(1, 4))


def test_integer_products_inside_an_operator_of_floats_are_verified() -> None:
    op = wb.operator(
        "def q(int8(M,K) A, int8(K,N) B, float s, int32 zero) -> (C) {\n"
        " T(m,n) +=! (int32(A(m,k)) - zero) * int32(B(k,n))\n P(m) *=! A(m,k) > 0 ? 1 : 2\n"
        " C(m,n) = float(T(m,n) + P(m)) * s }"
    )
    random = np.random.default_rng(3)
    a, b = random.integers(-128, 128, (9, 20), "i1"), random.integers(-128, 128, (20, 7), "i1")
    assert wb.verify(op, a, b, 0.1, 3)
    assert wb.verify(wb.build(wb.autoschedule(op)), a, b, 0.1, 3)
