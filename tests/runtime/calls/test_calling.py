"""Operators meet arrays: `op(...)` and `op.plan(...)`."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.runtime.hand import numbers
from tests.support import ROOT
from workbench.errors import CallError, KernelError, WorkbenchError
from workbench.lang import Operator, evaluate
from workbench.runtime import measure, verify
from workbench.runtime.calls import call_table, preparing, promises
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.settings import settings

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
TAKE = "def take(float(V,D) T, int32(N) I) -> (O) { O(n,d) = T(I(n),d) }"
SCATTER = "def put(float(N) A, int32(N) I) -> (float(N) O) { O(I(n)) += A(n) }"
STRIDED = "def slide(float(N) A, float(K) W, int32 stride) -> (O) { O(i) +=! A(i * stride + k) * W(k) }"
GENERIC = "def twice<T>(T(N) A, T by) -> (B) { B(i) = by * A(i) }"
BLEND = "def blend(float(N) A, float(N) B, float t) -> (C) { C(i) = (1.0 - t) * A(i) + t * B(i) }"


@pytest.fixture(scope="module")
def matmul() -> Operator:
    return wb.operator(MATMUL)


def agree(op: Operator, *arrays: Any, **scalars: Any) -> None:
    checked = verify(op, *arrays, **scalars)
    assert checked, str(checked)


# -- arrays of every kind --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: np.asfortranarray(a),
        lambda a: a[::-1],
        lambda a: a[:, ::-1],
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.broadcast_to(a[:, :1], a.shape),
        lambda a: a.astype(">f4"),
        lambda a: np.pad(a, 3)[3:-3, 3:-3],
        lambda a: memoryview(a),
        lambda a: a.tolist(),
        lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view("f4").reshape(a.shape),
        lambda a: np.rec.fromarrays([a, a.astype("i1")], names="x,y")["x"],
    ],
)
def test_inputs_of_every_kind(matmul: Operator, view: Any) -> None:
    a, b = view(numbers(7, 5)), view(numbers(5, 6, seed=1))
    expected = np.asarray(a, "f8") @ np.asarray(b, "f8")
    for _ in range(2):
        np.testing.assert_allclose(matmul(a, b), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "out",
    [
        lambda: np.zeros((7, 6), "f4"),
        lambda: np.zeros((6, 7), "f4").T,
        lambda: np.zeros((14, 12), "f4")[::2, 1::2],
        lambda: np.zeros((7, 6), "f4")[::-1],
        lambda: np.zeros((7, 6), ">f4"),
        lambda: np.frombuffer(bytearray(1 + 7 * 6 * 4), np.uint8)[1:].view("f4").reshape(7, 6),
    ],
)
def test_outputs_of_every_kind(matmul: Operator, out: Any) -> None:
    a, b = numbers(7, 5), numbers(5, 6, seed=1)
    for _ in range(2):
        given = out()
        assert matmul(a, b, out=given) is given
        np.testing.assert_allclose(given, a @ b, rtol=1e-5, atol=1e-5)


def test_an_output_that_is_also_an_input(matmul: Operator) -> None:
    a, b = numbers(5, 5), numbers(5, 5, seed=1)
    expected = a @ b
    matmul(a, b, out=a)
    np.testing.assert_allclose(a, expected, rtol=1e-5, atol=1e-5)


def test_tensors_of_torch(matmul: Operator) -> None:
    torch = pytest.importorskip("torch", reason="install torch to run this")
    a, b = torch.randn(7, 5), torch.randn(6, 5).t()
    out = torch.zeros(7, 6)
    assert matmul(a, b, out=out) is out
    torch.testing.assert_close(out, a @ b)
    half = torch.randn(6).bfloat16()
    op = wb.operator("def wide(bfloat16(N) A) -> (float(N) B) { B(i) = A(i) }")
    np.testing.assert_array_equal(op(half), half.float().numpy())
    for wanted in (torch.float32, torch.bfloat16):
        words = r"A requires a gradient, .*: give A\.detach\(\), or call wb\.export\.torch"
        with pytest.raises(CallError, match=words):
            matmul(torch.randn(7, 5, dtype=wanted, requires_grad=True), b)


def test_tensors_of_torch_come_out_where_tensors_go_in(matmul: Operator) -> None:
    torch = pytest.importorskip("torch", reason="install torch to run this")
    a, b = torch.randn(7, 5), torch.randn(5, 6)
    for _ in range(2):
        torch.testing.assert_close(matmul(a, b), a @ b)
    torch.testing.assert_close(matmul(a, b.numpy()), a @ b)
    assert isinstance(matmul(a.numpy(), b.numpy()), np.ndarray)
    kernel = wb.build(wb.schedule(matmul, M=7, K=5, N=6))
    torch.testing.assert_close(kernel(a, b), a @ b)
    torch.testing.assert_close(wb.lower(matmul, M=7, K=5, N=6)(a, b), a @ b)
    both = wb.operator("def both(bfloat16(N) A) -> (B, C) { B(i) = A(i)  C(i) = A(i) + A(i) }")
    copied, doubled = both(torch.arange(5.0).bfloat16())
    assert copied.dtype == torch.bfloat16
    torch.testing.assert_close(copied, torch.arange(5.0).bfloat16())
    torch.testing.assert_close(doubled, 2 * torch.arange(5.0))


def test_through_dlpack_alone(matmul: Operator) -> None:
    class Foreign:
        """An array of another library: only DLPack."""

        def __init__(self, array: Any) -> None:
            self._array = array

        def __dlpack__(self, **keywords: Any) -> Any:
            return self._array.__dlpack__(**keywords)

        def __dlpack_device__(self) -> Any:
            return self._array.__dlpack_device__()

    a, b = numbers(3, 4), numbers(4, 2)
    np.testing.assert_allclose(matmul(Foreign(a), Foreign(b)), a @ b, rtol=1e-5)


# -- parameters ------------------------------------------------------------------------------------


def test_scalars_by_position_and_keyword() -> None:
    blend = wb.operator(BLEND)
    a, b = numbers(9), numbers(9, seed=1)
    expected = 0.75 * a + 0.25 * b
    for call in (
        lambda: blend(a, b, 0.25),
        lambda: blend(a, b, t=0.25),
        lambda: blend(a, t=0.25, B=b),
        lambda: blend(A=a, B=b, t=np.float64(0.25)),
        lambda: blend(a, b, np.array(0.25, "f4")),
    ):
        np.testing.assert_allclose(call(), expected, rtol=1e-5, atol=1e-6)


def test_scalars_that_shape_the_program_choose_the_kernel() -> None:
    slide = wb.operator(STRIDED)
    a, w = numbers(20), numbers(3, seed=1)
    for stride in (1, 2, 3, 2, np.int64(1)):
        agree(slide, a, w, stride)
        np.testing.assert_array_equal(slide(a, w, stride), slide(a, w, stride=stride))
    with pytest.raises(CallError, match="'stride' shapes the program: expected an integer but found float"):
        slide(a, w, 2.0)


def test_a_size_that_no_shape_tells_is_a_keyword() -> None:
    spread = wb.operator("def spread(float((N + 1) / 2) A) -> (float(N) B) { B(i) = A(i / 2) where i in 0:N }")
    a = numbers(3)
    np.testing.assert_array_equal(spread(a, N=6), np.repeat(a, 2))
    np.testing.assert_array_equal(spread(a, N=5), np.repeat(a, 2)[:5])
    for wrong in ({}, {"N": 9}, {"N": 2.0}):
        with pytest.raises(CallError, match="N"):
            spread(a, **wrong)


@pytest.mark.parametrize("element", ["float32", "float64", "int32", "int8", "float16"])
def test_generic_operators_take_the_type_of_their_arrays(element: str) -> None:
    twice = wb.operator(GENERIC)
    a = np.arange(5).astype(element)
    result = twice(a, 2)
    np.testing.assert_array_equal(result.astype("f8"), 2.0 * np.arange(5))
    if element != "float16":
        assert result.dtype == element


def test_in_out_tensors_are_updated() -> None:
    add = wb.operator("def add(float(N) A) -> (float(N) C) { C(i) += A(i) }")
    a, c = numbers(6), np.ones(6, "f4")
    assert add(a, out=c) is c
    np.testing.assert_allclose(c, 1 + a, rtol=1e-6)
    add(a, out=c)
    np.testing.assert_allclose(c, 1 + 2 * a, rtol=1e-5)
    with pytest.raises(CallError, match="read before it is written"):
        add(a)


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0), (1, 1, 1)])
def test_empty_sizes(matmul: Operator, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    np.testing.assert_allclose(matmul(numbers(m, k), numbers(k, n)), numbers(m, k) @ numbers(k, n), rtol=1e-5)


REFUSED: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((numbers(3, 4),), {}, "expected 2 inputs but found 1: missing B"),
    ((numbers(3, 4), numbers(4, 2), 1), {}, r"expected 2 inputs \(A, B\) but found 3"),
    ((numbers(3, 4), numbers(3, 2)), {}, "mismatched sizes for K: K = 4 from A, dimension 1; B, dimension 0 has 3"),
    ((numbers(12), numbers(4, 2)), {}, "A expected a tensor with 2 dimensions but found 1"),
    ((numbers(3, 4), numbers(4, 2).astype("f8")), {}, "B expected type float but found double"),
    ((numbers(3, 4), numbers(4, 2)), {"foo": 1}, "unknown parameter 'foo'"),
    ((numbers(3, 4), numbers(4, 2)), {"out": np.zeros((3, 3), "f4")}, r"C.*3"),
    ((numbers(3, 4), numbers(4, 2)), {"out": (1, 2)}, "out"),
    ((numbers(3, 4), numbers(4, 2)), {"out": [[0.0] * 2] * 3}, "out"),
    ((numbers(3, 4), "text"), {}, "argument B: a str cannot be read as an array"),
    ((numbers(3, 4), {}), {}, "argument B: a dict cannot be read as an array"),
    ((numbers(3, 4), None), {}, "argument B: a NoneType cannot be read as an array"),
]


@pytest.mark.parametrize(("arrays", "keywords", "message"), REFUSED)
def test_what_does_not_fit_is_a_call_error(
    matmul: Operator, arrays: tuple[Any, ...], keywords: dict[str, Any], message: str
) -> None:
    with pytest.raises(CallError, match=message):
        matmul(*arrays, **keywords)


# -- data-dependent subscripts ---------------------------------------------------------------------


@pytest.mark.parametrize("index", [[0, 9, 10], [0, -1, 3], [2**31 - 1, 0, 0], [-(2**31), 0, 0]])
def test_a_gather_out_of_range_names_the_place(index: list[int]) -> None:
    take = wb.operator(TAKE)
    table, at = numbers(10, 4), np.array(index, "i4")
    with pytest.raises(KernelError, match=r"(?s)an index of T .*is out of range: I\(n\).*at n=\d"):
        take(table, at)
    good = np.array([3, 0, 9], "i4")
    np.testing.assert_array_equal(take(table, good), table[good])
    np.testing.assert_array_equal(take(table, good, unchecked=True), table[good])
    with settings(unchecked=True):
        np.testing.assert_array_equal(take(table, good), table[good])


def test_a_scatter_out_of_range_is_found() -> None:
    put = wb.operator(SCATTER)
    out = np.zeros(3, "f4")
    with pytest.raises(KernelError, match="an index of O"):
        put(numbers(3), np.array([0, 3, 1], "i4"), out=out)
    out[:] = 0
    put(np.ones(3, "f4"), np.array([2, 2, 0], "i4"), out=out)
    np.testing.assert_array_equal(out, [1, 0, 2])


def test_promises_are_checked_at_every_call() -> None:
    op = wb.operator(
        "def spread(float(N) A, int32(N) I, int32 V) -> (float(V) O) where injective(I), in_range(I, 0, V)"
        " { O(I(n)) = A(n) }"
    )
    a = numbers(3)
    for _ in range(2):
        np.testing.assert_array_equal(op(a, np.array([4, 0, 2], "i4"), 5)[[4, 0, 2]], a)
        with pytest.raises(CallError, match=r"the promise injective\(I\) does not hold: I is 1 at \[0\] and at \[2\]"):
            op(a, np.array([1, 0, 1], "i4"), 5)
        with pytest.raises(CallError, match=r"promise in_range\(I, 0, V\) does not hold: I\[1\] = 5 is not in 0:5"):
            op(a, np.array([1, 5, 0], "i4"), 5)
    op(a, np.array([1, 0, 1], "i4"), 5, unchecked=True)


def test_what_the_kernel_sees_itself_is_not_looked_at_before(monkeypatch) -> None:
    """Every index is looked up, so that the kernel sees them all; half of them are not enough."""
    looked: list[str] = []
    usual = promises.promise_checks

    def noted(op, sizes):
        return tuple((n, lambda a, c=check: (looked.append(op.name), c(a))) for n, check in usual(op, sizes))

    monkeypatch.setattr(call_table, "promise_checks", noted)
    text = "def {}(float(V) T, int32(N) I) -> (float(N) O) where in_range(I, 0, V) {{ O(n) = T(I(n)) {} }}"
    table, index = numbers(4), np.array([3, 0, 1, 2], "i4")
    whole, half = wb.operator(text.format("whole", "")), wb.operator(text.format("half", "where n in 0:N/2"))
    np.testing.assert_array_equal(whole(table, index), table[index])
    half(table, index)
    assert looked == ["half"]
    with pytest.raises(CallError, match=r"promise in_range\(I, 0, V\) does not hold: I\[3\] = 4 is not in 0:4"):
        whole(table, np.array([3, 0, 1, 4], "i4"))


def test_an_access_outside_is_refused_with_an_instance() -> None:
    shifted = wb.operator("def shift(float(N) A, int32 by) -> (float(N) B) { B(i) = A(i + by) where i in 0:N }")
    np.testing.assert_array_equal(shifted(numbers(5), 0), numbers(5))
    with pytest.raises(CallError, match=r"A outside: index 5 in dimension 0 at .*i=4"):
        shifted(numbers(5), 1)
    decided = wb.operator("def maybe(float(N) A, int32 by) -> (float(N) B) { B(i) = A(i) > 0.0 ? A(i + by) : 0.0 }")
    with pytest.raises(CallError, match=r"depending on the data.*unchecked=True"):
        decided(numbers(5), 1)


# -- kernels are remembered ------------------------------------------------------------------------


def test_a_second_call_prepares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    op = wb.operator(MATMUL)
    a, b = numbers(4, 3), numbers(3, 2)
    first = op(a, b)
    monkeypatch.setattr(preparing, "build", lambda *_, **__: pytest.fail("built again"))
    np.testing.assert_array_equal(op(a + 0, b + 0), first)
    np.testing.assert_array_equal(op(a.astype(">f4"), b.tolist()), first)
    np.testing.assert_array_equal(op(a, b, out=np.zeros((4, 2), "f4")), first)


def test_settings_choose_the_kernel() -> None:
    op = wb.operator(MATMUL)
    a, b = numbers(40, 30), numbers(30, 20)
    agree(op, a, b)
    with settings(threads=1):
        assert op.plan(a, b).target.cores == 1
        agree(op, a, b)
    with settings(compiler="no-such-compiler"), pytest.raises(wb.errors.BuildError, match="was not found"):
        op(a, b)
    agree(op, a, b)


def test_many_shapes_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_table, "REMEMBERED", 2)
    op = wb.operator("def copy(float(N) A) -> (B) { B(i) = A(i) }")
    for n in (1, 2, 3, 4, 1):
        np.testing.assert_array_equal(op(numbers(n)), numbers(n))
    (runners,) = op.__dict__["calls"].all.values()
    assert len(runners) <= 2


def test_an_operator_that_was_called_is_stored_without_its_kernels() -> None:
    op = wb.operator("def plus(float(N) A) -> (B) { B(i) = A(i) + 1.0 }")
    op(numbers(3))
    for twin in (pickle.loads(pickle.dumps(op)), copy.deepcopy(op)):
        assert twin == op
        np.testing.assert_array_equal(twin(numbers(3)), op(numbers(3)))


def test_threads_share_an_operator() -> None:
    op = wb.operator(MATMUL)
    failures: list[Any] = []

    def work(seed: int) -> None:
        a, b = numbers(3 + seed % 3, 4, seed=seed), numbers(4, 5, seed=seed + 1)
        for _ in range(20):
            result = op(a, b)
            if not np.allclose(result, a @ b, rtol=1e-4, atol=1e-5):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert failures == []


# -- plans -----------------------------------------------------------------------------------------


def test_a_plan_says_what_will_run_and_compiles_nothing(matmul: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "build", lambda *_, **__: pytest.fail("compiled"))
    plan = matmul.plan(numbers(64, 32), numbers(16, 32).T)
    text = str(plan)
    assert plan.sizes == {"M": 64, "K": 32, "N": 16}
    assert plan.strides == {"B": (1, 32)}
    for part in ("for M=64, K=32, N=16", "B with strides (1, 32)", "decompose_reduction", "compiler: ", "checked"):
        assert part in text
    assert repr(plan) == text
    with pytest.raises(CallError, match="mismatched sizes"):
        matmul.plan(numbers(3, 4), numbers(3, 2))


def test_a_plan_builds_the_kernel_that_the_call_runs(matmul: Operator) -> None:
    a, b = numbers(33, 21), numbers(21, 19)
    kernel = matmul.plan(a, b).build()
    np.testing.assert_array_equal(kernel(a, b), matmul(a, b))
    assert "matmul" in kernel.source


def test_extents_of_one_need_no_kernel_of_their_own(matmul: Operator) -> None:
    column = np.asfortranarray(numbers(5, 1))
    assert matmul.plan(column, numbers(1, 4)).strides == {}


# -- operators nobody planned for ------------------------------------------------------------------

UNPLANNED = [
    ("def trmm(float(M,M) L, float(M,N) B) -> (C) { C(i,j) +=! L(i,k) * B(k,j) where k in 0:i+1 }", [(6, 6), (6, 5)]),
    ("def heat(float(T,N) A) -> (float(T,N) U) { U(0,i) = A(0,i)\n for t in 1:T { U(t,i) = i > 0 && i < N-1 ? "
     "0.25*U(t-1,i-1)+0.5*U(t-1,i)+0.25*U(t-1,i+1) : U(t-1,i) where i in 0:N } }", [(5, 9)]),
    ("def norms(float(N,D) A) -> (big, total) { big(n) max=! abs(A(n,d))\n total(n) +=! A(n,d)*A(n,d) }", [(4, 7)]),
    ("def pad(float(N) A) -> (float(N+4) B) { B(i) = i >= 2 && i < N+2 ? A(i-2) : 1.0 where i in 0:N+4 }", [(6,)]),
    ("def diagonals(float(N,K) A, float(N) B) -> (D, E) { D(i,i) = B(i)\n E(i,j) = B(i) where i in 0:N, j in 0:N\n"
     " for t in 0:N { E(t,t) +=! A(t,k) } }", [(5, 9), (5,)]),
    ("def dot(float(N) A, float(N) B) -> (s) { s +=! A(i) * B(i) }", [(1001,), (1001,)]),
    ("def softmax(float(M,N) A) -> (S) { mx(m) max=! A(m,n)\n E(m,n) = exp(A(m,n) - mx(m))\n s(m) +=! E(m,n)\n"
     " S(m,n) = E(m,n) / s(m) }", [(5, 33)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), UNPLANNED)
def test_operators_nobody_planned_for(text: str, shapes: list[tuple[int, ...]]) -> None:
    op = wb.operator(text)
    arrays = [numbers(*shape, seed=n) for n, shape in enumerate(shapes)]
    agree(op, *arrays)
    backwards = [np.flip(a) for a in arrays]
    agree(op, *backwards)
    agree(op, *[np.asfortranarray(a) for a in arrays])


def test_measuring_an_operator_counts_its_work(matmul: Operator) -> None:
    found = measure(matmul, numbers(8, 9), numbers(9, 10), seconds=0.01)
    assert found.flops == 2 * 8 * 9 * 10
    assert found.bytes_moved == 4 * (8 * 9 + 9 * 10 + 8 * 10)


def test_every_refusal_is_ours(matmul: Operator) -> None:
    """Whatever is passed, the interpreter survives and the error is one of the workbench's."""
    odd: list[Any] = [
        None, 1, 1.5, "a", b"b", [], [[]], (), {}, object(), np.nan, np.array(None), np.zeros(()), np.zeros((2, 2)),
        np.zeros((2, 2), "U3"), np.zeros((2, 2), "M8[s]"), np.zeros((2, 2), object), np.zeros((2, 2), "f4,i4"),
        np.zeros((1,) * 40, "f4"), np.zeros((2, 2), "c8"), range(3), memoryview(b"abc"), type, lambda: 0,
    ]  # fmt: skip
    for a in odd:
        for b in (numbers(2, 2), a):
            for out in (None, a):
                with pytest.raises(WorkbenchError):
                    matmul(a, b, out=out)


def test_evaluate_and_call_agree_on_what_is_left_untouched() -> None:
    op = wb.operator("def some(float(N) A) -> (float(2*N) B) { B(2*i) = A(i) }")
    a = numbers(4)
    np.testing.assert_array_equal(op(a), evaluate(op, a))
    kept = np.full(8, 9, "f4")
    np.testing.assert_array_equal(op(a, out=kept.copy()), evaluate(op, a, out=kept))


@pytest.mark.parametrize("family", ["gcc", "clang", "zig"])
def test_parallel_operators_with_every_compiler(family: str) -> None:
    found = {t.family: t for t in every_toolchain()}
    if family not in found:
        pytest.skip(f"install {family}: this C compiler was not found")
    op = wb.operator("def mix(float(M,N) A) -> (B) { s(m) +=! A(m,n)\n B(m,n) = s(m) - A(m,n) }")
    a = numbers(300, 200)
    with settings(compiler=family, threads=4):
        plan = op.plan(a)
        assert plan.target.parallel == ("openmp" if found[family].openmp else "pool")
        assert "parallel" in plan.schedule.python()
        agree(op, a)
        agree(op, a.T)
        agree(wb.build(plan.schedule), a)


# From 3.12 on Python advises against forks beside threads, whether or not they hold locks.
FORK = """
import os, signal, sys, warnings
import numpy as np, workbench as wb
warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
op = wb.operator("def mix(float(M,N) A) -> (B) { s(m) +=! A(m,n)\\n B(m,n) = s(m) - A(m,n) }")
a = np.arange(60_000, dtype="f4").reshape(300, 200)
with wb.settings(threads=4, compiler=sys.argv[1]):
    first = op(a)
    child = os.fork()
    signal.alarm(60)
    same = np.array_equal(op(a), first)
    if not child:
        os._exit(0 if same else 3)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if same else 4)
"""


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_a_forked_child_computes_too(family: str) -> None:
    if family not in {t.family for t in every_toolchain()}:
        pytest.skip(f"install {family}: this C compiler was not found")
    done = subprocess.run([sys.executable, "-c", FORK, family], cwd=ROOT, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("family", ["gcc", "clang"])
@pytest.mark.parametrize(
    "name",
    ["time", "clock", "div", "omp_get_thread_num", "pthread_create", "memmove", "WB_BORDER_ALL", "size_t", "free"],
)
def test_an_operator_may_have_the_name_of_a_system_function(family: str, name: str) -> None:
    """With the pool (clang) and with OpenMP (gcc), whose calls must not end in the kernel."""
    if family not in {t.family for t in every_toolchain()}:
        pytest.skip(f"install {family}: this C compiler was not found")
    op = wb.operator(f"def {name}(float(M,N) A) -> (B) {{ s(m) +=! A(m,n)\n B(m,n) = s(m) - A(m,n) }}")
    with settings(compiler=family, threads=2):
        np.testing.assert_array_equal(op(np.ones((300, 200), "f4")), 199)


def test_a_symbolic_kernel_meets_one_shape_after_another():
    """With `out` the layout of the last call is tried first."""
    kernel = wb.build(wb.schedule(wb.ops.matmul))
    random = np.random.default_rng(0)
    cases = [[random.random(shape, np.float32) for shape in ((m, 5), (5, n))] for m, n in ((3, 4), (4, 3), (3, 4))]
    for _ in range(3):
        for A, B in cases:
            out = np.empty((len(A), B.shape[1]), np.float32)
            assert kernel(A, B, out=out) is out
            np.testing.assert_allclose(out, A @ B, rtol=1e-5)
            np.testing.assert_allclose(kernel(A, B), A @ B, rtol=1e-5)
    A, B = cases[0]
    with pytest.raises(CallError, match="expected"):
        kernel(A, B, out=np.empty((4, 3), np.float32))


def test_a_scatter_by_data_and_a_number_runs_for_every_number() -> None:
    scatter = "h((i(n) * s + 1) % b) +=! x(n)"
    op = wb.operator(f"def f(float(N) x, int32(N) i, int32 s, int32 b) -> (float(b) h) {{ {scatter} }}")
    kernel = wb.build(wb.schedule(op))
    x, i = np.arange(9, dtype="float32"), np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], "int32")
    for s, b in ((1, 4), (-3, 7), (0, 1), (11, 20)):
        np.testing.assert_array_equal(kernel(x, i, s=s, b=b), op.evaluate(x, i, s=s, b=b))
