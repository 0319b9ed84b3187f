"""Arguments of C functions that share memory are refused by every way in; operators compute apart from them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError

SHIFTED = "void p(int n, {}) {{ for (int i = 1; i < n; i++) b[i] = a[i - 1] + 1; }}"
PLAIN = SHIFTED.format("double a[n], double b[n]")
SHARED = r"a and b share memory, and b is updated: .*Give b memory of its own \(a copy\), or say .*\(restrict\)"


def program(text=PLAIN):
    return wb.from_c(text)


def kernel(**sizes):
    return wb.build(wb.schedule(program(), **sizes))


def pairs():
    row, foreign = np.arange(10.0), np.arange(9.0).astype(">f8")
    return {
        "one array": (row[:9], row[:9]),
        "views that overlap": (row[1:], row[:-1]),
        "one turned round": (row[:9], row[8::-1]),
        "one of another byte order": (foreign, foreign),
    }


WAYS = {
    "the program": lambda a, b: program()(9, a, b),
    "the program without sizes": lambda a, b: program()(a, b),
    "the program with out=": lambda a, b: program()(a, out=b),
    "a kernel": lambda a, b: kernel(n=9)(a, b),
    "a kernel as C calls it": lambda a, b: kernel(n=9)(9, a, b),
    "a kernel with out=": lambda a, b: kernel(n=9)(a, out=b),
    "a kernel of any size": lambda a, b: kernel()(9, a, b),
    "the oracle": lambda a, b: wb.evaluate_c(program(), 9, a, b),
    "the oracle with out=": lambda a, b: wb.evaluate_c(program(), a, out=b),
    "verify": lambda a, b: wb.verify(kernel(n=9), a, b),
    "measure": lambda a, b: wb.measure(kernel(n=9), a, b),
}


@pytest.mark.parametrize("how", pairs())
@pytest.mark.parametrize("way", WAYS)
def test_what_a_c_function_updates_may_not_be_another_argument(way, how):
    a, b = pairs()[how]
    with pytest.raises(CallError, match=SHARED):
        WAYS[way](a, b)


def test_a_kernel_that_has_run_looks_again():
    a, b, own = np.arange(9.0), np.zeros(9), kernel(n=9)
    own(a, b)
    for call in (own, program()):
        call(9, a, b)
        with pytest.raises(CallError, match=SHARED):
            call(9, a, a)
    np.testing.assert_array_equal(a, np.arange(9.0))


def test_tensors_of_other_libraries_share_memory_too():
    torch = pytest.importorskip("torch", reason="install torch: pip install torch")
    row = torch.arange(10.0, dtype=torch.float64)
    for a, b in ((row[1:], row[:-1]), (row[1:], row.numpy()[:-1])):
        with pytest.raises(CallError, match=SHARED):
            program()(9, a, b)


@pytest.mark.parametrize(
    "parameters",
    ["double *restrict a, double *b", "double a[n], double *__restrict__ b", "double a[restrict n], double b[n]"],
)
def test_restrict_promises_that_arrays_do_not_overlap(parameters):
    of, row = program(SHIFTED.format(parameters)), np.arange(10.0)
    np.testing.assert_array_equal(of(9, row[:9].copy(), row[1:].copy()), [1.0, *range(1, 9)])
    of(9, row[:9], row[1:])


def test_what_is_only_read_may_be_one_array_and_what_interleaves_is_apart():
    loop = "for (int i = 0; i < n; i++) c[i] = a[i] * b[i];"
    of = wb.from_c(f"void s(int n, double a[n], double b[n], double c[n]) {{ {loop} }}")
    row = np.arange(10.0)
    np.testing.assert_array_equal(of(5, row[:5], row[:5], np.zeros(5)), row[:5] ** 2)
    np.testing.assert_array_equal(program()(5, row[::2], row[1::2]), [1, 1, 3, 5, 7])


def test_an_operator_means_what_its_inputs_held_before():
    shift = wb.operator("def shift(float(N) A) -> (B) { B(i) = A(i) + 2 where i in 0:N-1 }")
    row = np.arange(10, dtype="float32")
    shift(row, out=row[1:])
    np.testing.assert_array_equal(row, [0, *range(2, 11)])


def test_two_arrays_that_are_updated_are_named():
    of = wb.from_c("void t(int n, double a[n], double b[n]) { for (int i = 0; i < n; i++) { a[i] = i; b[i] = -i; } }")
    row = np.zeros(10)
    for call in (lambda: of(9, row[1:], row[:-1]), lambda: wb.evaluate_c(of, 9, row[1:], row[:-1])):
        with pytest.raises(CallError, match=r"a and b share memory|b and a share memory"):
            call()
