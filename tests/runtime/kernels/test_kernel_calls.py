"""Calls of compiled kernels: the border, repairs, and what is said when an argument does not fit."""

from __future__ import annotations

import array
import ctypes
import gc
import sys
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.runtime.hand import adder, make, numbers, parameter, symbolic_adder, taker
from workbench.errors import CallError, KernelError
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.runtime.kernels.border import Border
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.settings import settings


@pytest.fixture(params=["border", "ctypes"])
def add(request: pytest.FixtureRequest) -> CompiledKernel:
    """A + alpha B through the border, and as on an interpreter that does not show its functions."""
    return through(request.param, adder())


def through(way: str, built: CompiledKernel) -> CompiledKernel:
    if way == "border":
        assert built.border.call is not None
        return built
    border = Border(None, built.border.plain, built.border.repeat)
    return CompiledKernel(built.kernel, border, built.library, built.toolchain, (), built.rebuild)


A, B = numbers(16), numbers(16, seed=1)


def test_a_result_is_allocated_or_given(add: CompiledKernel) -> None:
    np.testing.assert_array_equal(add(A, B, 1.0), A + B)
    out = np.full(16, np.nan, np.float32)
    assert add(A, B, 1.0, out=out) is out
    np.testing.assert_array_equal(out, A + B)


def test_scalars_by_position_keyword_and_type(add: CompiledKernel) -> None:
    for value in (2, 2.0, np.float32(2), np.float64(2), np.int8(2), np.array(2.0), True + 1):
        np.testing.assert_array_equal(add(A, B, value), A + 2 * B)
        np.testing.assert_array_equal(add(A, B, alpha=value), A + 2 * B)


@pytest.mark.parametrize(
    "views",
    [
        lambda a: a[::-1],
        lambda a: np.repeat(a, 3)[1::3],
        lambda a: a.astype(">f4"),
        lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float32),
        lambda a: a.tolist(),
        lambda a: tuple(a.tolist()),
        lambda a: memoryview(a),
        lambda a: array.array("f", a.tolist()),
        lambda a: np.ma.masked_array(a),
    ],
)
def test_inputs_of_every_kind(add: CompiledKernel, views: Any) -> None:
    seen = np.asarray(views(A), np.float32)
    np.testing.assert_array_equal(add(views(A), views(B), 1), seen + np.asarray(views(B), np.float32))


@pytest.mark.parametrize("step", [-1, 2, -3])
def test_strided_outputs(add: CompiledKernel, step: int) -> None:
    space = np.full(16 * abs(step), np.float32(7))
    out = space[::step]
    assert add(A, B, 1, out=out) is out
    np.testing.assert_array_equal(out, A + B)
    assert np.count_nonzero(space == 7) == space.size - 16


def test_an_output_in_foreign_byte_order(add: CompiledKernel) -> None:
    out = np.zeros(16, ">f4")
    assert add(A, B, 1, out=out) is out
    np.testing.assert_array_equal(out, A + B)


@pytest.mark.parametrize("shift", [0, 1, -1, 7])
def test_an_output_that_overlaps_an_input_is_still_right(add: CompiledKernel, shift: int) -> None:
    space = np.arange(40, dtype=np.float32)
    x, out = space[8:24], space[8 + shift : 24 + shift]
    expected = x + 0.5 * B
    add(x, B, 0.5, out=out)
    np.testing.assert_array_equal(out, expected)


def test_interleaved_memory_is_no_overlap(add: CompiledKernel) -> None:
    space = np.zeros((16, 2), np.float32)
    space[:, 0] = A
    add(space[:, 0], B, 1, out=space[:, 1])
    np.testing.assert_array_equal(space[:, 1], A + B)
    np.testing.assert_array_equal(space[:, 0], A)


def _read_only() -> Any:
    frozen = np.zeros(16, np.float32)
    frozen.flags.writeable = False
    return frozen


REFUSED = [
    ((A, B), {}, r"missing alpha; it takes A, B, alpha"),
    ((A, B, 1, 2), {}, r"takes 3 arguments \(A, B, alpha\), not 4"),
    ((A, B, 1), {"alpha": 1}, r"alpha is given twice"),
    ((A, B, 1), {"beta": 1}, r"unknown argument 'beta'; known: A, B, alpha, out"),
    ((A, B, "x"), {}, r"argument alpha: a str cannot be read as an array"),
    ((A, B, 1j), {}, r"alpha is a number \(float32\), not complex128"),
    ((A, B, [1.0, 2.0]), {}, r"alpha is a number \(float32\), not an array of shape \(2,\)"),
    ((A.astype("f8"), B, 1), {}, r"A has element type float64, expected float32.*op.astype\('float64'\)"),
    ((A[:3], B, 1), {}, r"A has shape \(3,\), expected \(16,\): dimension 0 differs"),
    ((A.reshape(4, 4), B, 1), {}, r"A has 2 dimensions \(shape \(4, 4\)\), expected 1"),
    ((A, object(), 1), {}, r"argument B: a object cannot be read as an array"),
    ((A, [[1.0], [1.0, 2.0]], 1), {}, r"argument B: the lists are not of equal lengths"),
    ((A, None, 1), {}, r"argument B: a NoneType cannot be read"),
    ((A, B, 1), {"out": [0.0] * 16}, r"1 output \(C\); out= gives 16"),
    ((A, B, 1), {"out": 3}, r"out C: a int cannot be written to"),
    ((A, B, 1), {"out": _read_only()}, r"out C is read-only"),
    ((A, B, 1), {"out": np.zeros(15, "f4")}, r"C has shape \(15,\), expected \(16,\)"),
    ((A, B, 1), {"out": np.zeros(16)}, r"C has element type float64"),
    ((A, B, 1), {"out": np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (16,), (0,))}, "share memory"),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "keywords", "message"), REFUSED)
def test_what_does_not_fit_is_explained(add: CompiledKernel, arrays: Any, keywords: Any, message: str) -> None:
    with pytest.raises(CallError, match=message):
        add(*arrays, **keywords)
    np.testing.assert_array_equal(add(A, B, 1), A + B)


def test_a_writable_object_that_is_no_array_receives_the_result(add: CompiledKernel) -> None:
    out = array.array("f", [0.0] * 16)
    assert add(A, B, 1, out=out) is out
    np.testing.assert_array_equal(np.array(out, np.float32), A + B)


@pytest.mark.parametrize("way", ["border", "ctypes"])
def test_sizes_of_a_symbolic_kernel_come_from_shapes(way: str) -> None:
    add = through(way, symbolic_adder())
    for shape in [(3, 5), (1, 1), (3, 5), (0, 4), (7, 2)]:
        a, b = numbers(*shape), numbers(*shape, seed=2)
        result = add(a, b)
        assert result.shape == shape
        np.testing.assert_array_equal(result, a + b)
    with pytest.raises(CallError, match=r"B has shape \(5, 3\), expected \(3, 5\)"):
        add(numbers(3, 5), numbers(5, 3))
    np.testing.assert_array_equal(add(numbers(5, 3).T, numbers(3, 5)), numbers(5, 3).T + numbers(3, 5))


def test_a_size_that_no_shape_tells_is_asked_for() -> None:
    fill = make(
        "fill", "for (int64_t i = 0; i < N; ++i) C[i] = v;", parameter("v", ()), parameter("C", ("N",), role="output"),
        symbols=("N",),
    )  # fmt: skip
    with pytest.raises(CallError, match=r"no array tells the size N; give it as a keyword: N=\.\.\."):
        fill(1.0)
    np.testing.assert_array_equal(fill(2.0, N=3), np.full(3, 2, np.float32))
    np.testing.assert_array_equal(fill(3.0, out=np.zeros(4, np.float32)), np.full(4, 3, np.float32))
    np.testing.assert_array_equal(fill(4.0, N=2), np.full(2, 4, np.float32))
    with pytest.raises(CallError, match="expected"):
        fill(1.0, N=3, out=np.zeros(4, np.float32))


def test_compiled_in_sizes_have_to_agree() -> None:
    built = make(
        "stepper", "C[0] = A[0];", parameter("A", (4,)), parameter("C", (1,), role="output"), sizes={"stride": 2}
    )  # fmt: skip
    assert built(numbers(4), stride=2)[0] == numbers(4)[0]
    with pytest.raises(CallError, match=r"built for stride=2, not stride=3"):
        built(numbers(4), stride=3)
    with pytest.raises(CallError, match=r"stride='x' is not a whole number"):
        built(numbers(4), stride="x")


@pytest.mark.parametrize("way", ["border", "ctypes"])
@pytest.mark.parametrize(
    ("element", "good", "bad"),
    [
        ("int8", [-128, 127, np.int64(5)], [128, -129, 1.5, "1"]),
        ("uint8", [0, 255, np.uint8(3)], [256, -1, 2.0]),
        ("int64", [-(2**63), 2**63 - 1], [2**63, 1e3]),
        ("uint64", [0, 2**64 - 1], [2**64, -1]),
        ("bool", [True, False, np.True_], [2, 0.5]),
        ("float64", [0.1, -np.inf, 3, np.float32(0.5)], ["0.1", 1j]),
        ("float16", [0.5, 1, np.float16(0.25)], ["h", 2j]),
        ("bfloat16", [0.5, 3], ["h"]),
    ],
)
def test_scalars_by_value_of_every_type(way: str, element: str, good: list[Any], bad: list[Any]) -> None:
    copy = through(way, make(f"put_{element}", "C[0] = v;", parameter("v", (), element),
                             parameter("C", (), element, "output")))  # fmt: skip
    for value in good:
        result = copy(value)
        assert result.shape == ()
        assert result == result.dtype.type(value)
    for value in bad:
        with pytest.raises(CallError, match="v"):
            copy(value)


@pytest.mark.parametrize("way", ["border", "ctypes"])
@pytest.mark.parametrize(
    "element", ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
                "bfloat16", "float32", "float64"],
)  # fmt: skip
def test_arrays_of_every_type(way: str, element: str) -> None:
    copy = through(way, make(f"copy_{element}", "for (int i = 0; i < 6; ++i) C[i] = A[5 - i];",
                             parameter("A", (2, 3), element), parameter("C", (2, 3), element, "output")))  # fmt: skip
    kind = copy.signature.arrays[0].dtype.numpy
    a = (np.arange(6) % 2 if element == "bool" else np.arange(6)).astype(kind).reshape(2, 3)
    np.testing.assert_array_equal(copy(a).astype("f8"), a.ravel()[::-1].reshape(2, 3).astype("f8"))
    out = np.zeros_like(a)
    assert copy(a, out=out) is out
    assert out.dtype == kind
    wrong = np.zeros((2, 3), np.uint16 if kind.itemsize == 2 and element != "uint16" else np.complex64)
    with pytest.raises(CallError, match="A has element type"):
        copy(wrong)


def test_several_outputs_come_as_a_tuple() -> None:
    both = make(
        "both", "for (int i = 0; i < 4; ++i) { P[i] = A[i]; Q[i] = -A[i]; }",
        parameter("A", (4,)), parameter("P", (4,), role="output"), parameter("Q", (4,), role="output"),
    )  # fmt: skip
    a = numbers(4)
    p, q = both(a)
    np.testing.assert_array_equal([p, q], [a, -a])
    mine = (np.zeros(4, np.float32), np.zeros(4, np.float32))
    assert both(a, out=mine) is mine
    np.testing.assert_array_equal(mine, [a, -a])
    first = np.zeros(4, np.float32)
    given, fresh = both(a, out=(first, None))
    assert given is first
    np.testing.assert_array_equal([given, fresh], [a, -a])
    with pytest.raises(CallError, match=r"out P and Q share memory"):
        both(a, out=(first, first))
    with pytest.raises(CallError, match=r"2 outputs \(P, Q\); out= gives 1"):
        both(a, out=first)


def test_an_output_that_is_read_has_to_be_given() -> None:
    scale = make("scale", "for (int i = 0; i < 4; ++i) X[i] *= 2;", parameter("X", (4,), role="inout"))
    with pytest.raises(CallError, match=r"reads and updates X: give the array as out="):
        scale()
    x = numbers(4)
    expected = 2 * x
    assert scale(out=x) is x
    np.testing.assert_array_equal(x, expected)
    space = np.repeat(numbers(4), 2)
    scale(out=space[::2])
    np.testing.assert_array_equal(space[::2], 2 * numbers(4))
    np.testing.assert_array_equal(space[1::2], numbers(4))


def test_cells_that_nothing_writes_are_zero_or_kept() -> None:
    partial = make("part", "X[1] = 5;", parameter("X", (4,), role="output", zero_fill=True))
    for _ in range(3):
        np.testing.assert_array_equal(partial(), [0, 5, 0, 0])
    np.testing.assert_array_equal(partial(out=np.full(4, 2, np.float32)), [2, 5, 2, 2])
    space = np.full(8, 3, np.float32)
    np.testing.assert_array_equal(partial(out=space[::2]), [3, 5, 3, 3])


@pytest.mark.parametrize("way", ["border", "ctypes"])
def test_an_index_out_of_range_is_an_error_and_the_kernel_lives_on(way: str) -> None:
    take = through(way, taker())
    table = numbers(10)
    with pytest.raises(KernelError, match=r"take: an index of T in O is out of range: I\(i\) \(dimension 0\)"):
        take(table, np.array([1, 2, 10, 3], np.int32))
    np.testing.assert_array_equal(take(table, np.array([1, 2, 9, 0], np.int32)), table[[1, 2, 9, 0]])


def test_workspace_is_aligned_reused_and_refused_when_too_large() -> None:
    scratch = make(
        "scratch", "double *w = workspace; for (int i = 0; i < N; ++i) w[i] = A[i];"
        "C[0] = 0; for (int i = 0; i < N; ++i) C[0] += w[i]; C[1] = (uintptr_t)workspace % 64;",
        parameter("A", ("N",)), parameter("C", (2,), role="output"), symbols=("N",), workspace="8 * N",
    )  # fmt: skip
    for n in (1, 1000, 5, 100_000, 3, 0):
        total, remainder = scratch(np.ones(n, np.float32))
        assert (total, remainder) == (n, 0)
    huge = make("huge", "C[0] = 1;", parameter("C", (1,), role="output"), workspace="(int64_t)1 << 60")
    with pytest.raises(KernelError, match="no memory"):
        huge()


def test_threads_follow_the_settings_and_may_be_fixed() -> None:
    report = make("report", "C[0] = threads;", parameter("C", (1,), role="output"))
    with settings(threads=3):
        assert report()[0] == 3
        assert report(out=np.zeros(1, np.float32))[0] == 3
    with settings(threads=5):
        assert report()[0] == 5
    fixed = CompiledKernel(report.kernel, report.border, report.library, report.toolchain, threads=2)
    with settings(threads=7):
        assert fixed()[0] == 2


def test_empty_arrays_never_reach_the_kernel() -> None:
    crash = make("crash", "*(volatile int *)0 = 1;", parameter("A", (0, 3)), parameter("C", (3, 0), role="output"))
    assert crash(np.zeros((0, 3), np.float32)).shape == (3, 0)
    assert crash(np.zeros((0, 6), np.float32)[:, ::2], out=np.zeros((3, 0), np.float32)).size == 0


def test_other_strides_go_to_the_rebuilt_kernel_or_are_copied() -> None:
    asked: list[dict[str, tuple[int, ...]]] = []

    def rebuild(strides: dict[str, tuple[int, ...]]) -> CompiledKernel | None:
        asked.append(strides)
        return backwards if strides["A"] == (-1,) else None

    body = "for (int i = 0; i < 4; ++i) C[i] = 2 * A[{}i];"
    c = parameter("C", (4,), role="output")
    backwards = make("twice", body.format("-"), parameter("A", (4,), strides=(-1,)), c)
    forwards = make("twice", body.format(""), parameter("A", (4,)), c, rebuild=rebuild)
    a = numbers(8)
    np.testing.assert_array_equal(forwards(a[3::-1]), 2 * a[3::-1])
    np.testing.assert_array_equal(forwards(a[::2]), 2 * a[::2])
    assert asked == [{"A": (-1,)}, {"A": (2,)}]
    np.testing.assert_array_equal(backwards(a[:4]), 2 * a[:4])


def test_a_kernel_for_repeated_rows_refuses_other_ones() -> None:
    rows = make(
        "rows", "for (int i = 0; i < 6; ++i) C[i] = A[i % 3];",
        parameter("A", (2, 3), strides=(0, 1)), parameter("C", (2, 3), role="output"),
    )  # fmt: skip
    row = numbers(3)
    np.testing.assert_array_equal(rows(np.broadcast_to(row, (2, 3))), [row, row])
    with pytest.raises(CallError, match=r"A: built for an array that repeats \(strides \(0, 4\)"):
        rows(numbers(2, 3))


def test_no_reference_is_lost_or_kept() -> None:
    add = adder()
    out, wrong, short = np.zeros(16, np.float32), np.zeros(16), np.zeros(3, np.float32)
    before = [sys.getrefcount(x) for x in (A, B, out, wrong, short)]
    for _ in range(50):
        add(A, B, 1.0, out=out)
        for bad in (wrong, short, None):
            with pytest.raises(CallError):
                add(bad, B, 1.0, out=out)
    gc.collect()
    assert [sys.getrefcount(x) for x in (A, B, out, wrong, short)] == before
    A.resize((16,), refcheck=True)


def test_calls_from_several_threads_at_once() -> None:
    add = symbolic_adder()
    failures: list[object] = []

    def work(seed: int) -> None:
        a, b = numbers(seed + 1, 50, seed=seed), numbers(seed + 1, 50, seed=seed + 9)
        for _ in range(300):
            if not np.array_equal(add(a, b), a + b):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_lock_of_the_interpreter_is_free_while_a_kernel_runs() -> None:
    """A second thread opens the gate that the kernel waits at; with the lock held it never could."""
    waiter = make(
        "waiter", "volatile int64_t *gate = (volatile int64_t *)address;"
        "for (int64_t spins = 0; !*gate && spins < 20000000000; ++spins) {} C[0] = *gate;",
        parameter("address", (), "int64"), parameter("C", (1,), role="output"),
    )  # fmt: skip
    gate = ctypes.c_int64(0)
    timer = threading.Timer(0.05, lambda: setattr(gate, "value", 1))
    timer.start()
    assert waiter(ctypes.addressof(gate))[0] == 1


@pytest.mark.parametrize("family", ["gcc", "clang", "zig"])
def test_the_border_builds_with_every_compiler(family: str) -> None:
    found = {t.family for t in every_toolchain()}
    if family not in found:
        pytest.skip(f"install {family}: this C compiler was not found")
    with settings(compiler=family):
        built = adder()
    assert built.toolchain.family == family
    np.testing.assert_array_equal(built(A, B, 1), A + B)
    assert replace(built.kernel, name="other").source == built.source


def test_large_results_are_aligned_and_use_pages_again() -> None:
    ramp = make("ramp", "for (int i = 0; i < N; ++i) C[i] = i;", parameter("C", ("N",), role="output"), symbols=("N",))
    n = 300_000
    first = ramp(N=n)
    place = first.__array_interface__["data"][0]
    assert place % 4096 == 2048
    kept = first[5:7]
    del first
    second = ramp(N=n)
    assert second.__array_interface__["data"][0] != place
    np.testing.assert_array_equal(kept, [5, 6])
    del kept, second
    addresses = {ramp(N=n).__array_interface__["data"][0] for _ in range(5)}
    assert len(addresses) <= 2


def test_kernels_show_their_source() -> None:
    built = adder()
    assert built.source == str(built) == built.kernel.source
    assert built.source.startswith("#include <stdint.h>\nint add(const float *restrict A")
    assert "wb_border" not in built.source
    assert built.library.exists()
