"""`wb.export.c`: the library computes what the oracle says, whichever kernel runs and however arrays lie in memory."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.export.c_calls import Library, Tensor, tensor
from tests.support import PACKAGE
from workbench.errors import IllegalSchedule, LoweringError, WorkbenchError
from workbench.export.dispatch import LEVELS

MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def library(what: object, folder: Path) -> Library:
    return Library(what, wb.export.c(what, folder).library)


@pytest.fixture(scope="module")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Library:
    op = wb.operator(MATMUL)
    tall = wb.schedule(op, K=5) | wb.parallelize("m")
    return library([wb.autoschedule(op, M=16, K=16, N=16), tall], tmp_path_factory.mktemp("mm"))


def arrays(M: int, K: int, N: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(M + K + N)
    a, b = draw.integers(-4, 5, (M, K)), draw.integers(-4, 5, (K, N))
    return {"A": a.astype(np.float32), "B": b.astype(np.float32), "C": np.full((M, N), np.nan, np.float32)}


@pytest.mark.parametrize(
    ("sizes", "kernel"),
    [
        ((16, 16, 16), "M=16, K=16, N=16"),
        ((16, 16, 17), "all sizes"),
        ((3, 5, 7), "K=5"),
        ((1, 1, 1), "all sizes"),
        ((0, 5, 7), "K=5"),
        ((4, 0, 7), "all sizes"),
        ((61, 67, 71), "all sizes"),
    ],
)
def test_the_kernel_made_for_the_sizes_runs_and_the_fallback_for_all_others(matmul, sizes, kernel):
    given = arrays(*sizes)
    assert matmul.tensors(**given) == 0, matmul.text("message")
    assert matmul.text("kernel").endswith(f": {kernel}")
    np.testing.assert_array_equal(given["C"], given["A"] @ given["B"])
    given["C"][...] = np.nan
    assert matmul.plain(**given, **dict(zip("MKN", sizes, strict=True))) == 0
    np.testing.assert_array_equal(given["C"], given["A"] @ given["B"])


def test_arrays_that_lie_otherwise_in_memory_are_copied(matmul):
    given = arrays(6, 8, 10)
    expected = given["A"] @ given["B"]
    turned = {**given, "A": np.asfortranarray(given["A"]), "B": given["B"][::-1].copy()[::-1]}
    turned["C"] = np.full((12, 20), np.nan, np.float32)[::2, ::-2]
    assert matmul.tensors(**turned) == 0, matmul.text("message")
    np.testing.assert_array_equal(turned["C"], expected)
    unaligned = np.zeros(6 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(6, 8)
    unaligned[...] = given["A"]
    given["C"][...] = np.nan
    assert matmul.tensors(**{**given, "A": unaligned}) == 0
    np.testing.assert_array_equal(given["C"], expected)


def test_the_inputs_of_a_call_whose_output_overlaps_them_are_read_before_it_is_written(matmul):
    given = arrays(9, 9, 9)
    expected = given["A"] @ given["B"]
    assert matmul.tensors(**{**given, "C": given["A"]}) == 0
    np.testing.assert_array_equal(given["A"], expected)


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        (dict(B=np.zeros((4, 2), np.float32)), -10, "mismatched sizes for K: K = 3 from A, dimension 1; B,"),
        (dict(C=np.zeros((2, 3), np.float32)), -10, "C, dimension 1 expected 2 but found 3"),
        (dict(A=np.zeros((2, 3, 1), np.float32)), -10, "A expected a tensor with 2 dimensions but found 3"),
        (dict(A=None), -14, "A is NULL"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_words(matmul, change, status, message):
    assert matmul.tensors(**{**arrays(2, 3, 2), **change}) == status
    assert message in matmul.text("message")


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        (dict(type_bits=64), -12, "A expected type float32 but found float64"),
        (dict(type_code=0), -12, "but found int32"),
        (dict(type_lanes=4), -12, "in lanes"),
        (dict(device_type=2), -13, "device of DLPack's type 2"),
        (dict(data=None), -14, "the data of A is NULL"),
    ],
)
def test_tensors_of_another_kind_are_refused_in_words(matmul, change, status, message):
    given = arrays(2, 3, 2)
    odd: Tensor = tensor(given["A"], matmul.family.op.tensors["A"].dtype, **change)
    assert matmul.tensors(**{**given, "A": odd}) == status
    assert message in matmul.text("message")


def test_negative_sizes_and_null_pointers_are_refused_by_the_plain_function(matmul):
    given = arrays(2, 3, 2)
    assert matmul.plain(**given, M=-1, K=3, N=2) == -11
    assert "the size M must not be negative, got -1" in matmul.text("message")
    assert matmul.plain(**{**given, "B": None}, M=2, K=3, N=2) == -14


def test_a_schedule_that_is_right_for_some_sizes_runs_for_those_alone(tmp_path):
    op = wb.operator("def sums(float(N) A) -> (B) { B(0) = A(0)\n for t in 1:N { B(t) = B(t-1) + A(t) } }")
    risky = wb.preview(wb.schedule(op), wb.parallelize("t"))
    assert not risky.verdict
    assert str(risky.verdict.valid_for) == "0 ≤ N ≤ 2"
    found = library(risky, tmp_path)
    for n, kernel in ((2, "all sizes (0 ? N ? 2)"), (64, "all sizes")):
        a, b = np.arange(n, dtype=np.float32), np.empty(n, np.float32)
        assert found.tensors(A=a, B=b) == 0
        assert found.text("kernel").endswith(f": {kernel}")
        np.testing.assert_array_equal(b, np.cumsum(a, dtype=np.float32))


def test_a_library_for_other_processors_says_so_at_the_call(monkeypatch, tmp_path):
    monkeypatch.setitem(LEVELS, "x86_64", tuple(replace(level, test="0") for level in LEVELS["x86_64"][-1:]))
    monkeypatch.setitem(LEVELS, "aarch64", tuple(replace(level, test="0") for level in LEVELS["aarch64"][-1:]))
    found = library(wb.operator(MATMUL.replace("mm", "elsewhere")), tmp_path)
    assert found.tensors(**arrays(2, 3, 2)) == -15
    assert found.text("message") == "elsewhere: the library has kernels for other processors only"
    assert found.text("isa") == "none"


def test_what_cannot_be_exported_is_refused(tmp_path):
    mm, other = wb.operator(MATMUL), wb.operator("def two(float(N) A) -> (B) { B(i) = 2 * A(i) }")
    with pytest.raises(WorkbenchError, match="mm and two"):
        wb.export.c([mm, other], tmp_path)
    with pytest.raises(WorkbenchError, match=r"takes an operator \(or its program\), a schedule, a study"):
        wb.export.c("mm", tmp_path)
    with pytest.raises(WorkbenchError, match="nothing to export"):
        wb.export.c([], tmp_path)
    with pytest.raises(IllegalSchedule):
        wb.export.c(wb.preview(wb.schedule(mm, M=4, N=4, K=4), wb.parallelize("k")), tmp_path)
    with pytest.raises(LoweringError, match="give stride a value"):
        wb.export.c(wb.ops.conv1d, tmp_path)
    for name, has in (("signal", r"a header signal\.h"), ("printf", "a function printf")):
        taken = wb.operator(f"def {name}(float(N) x) -> (y) {{ y(i) = x(i) }}")
        with pytest.raises(WorkbenchError, match=rf"{name} cannot name a C library, as C has {has}; .* def {name}_op"):
            wb.export.c(taken, tmp_path)
    with pytest.raises(WorkbenchError, match="cannot be written"):
        wb.export.c(mm, tmp_path / "file" if (tmp_path / "file").write_text("") == 0 else tmp_path)


def test_of_a_study_its_best_schedule_is_exported(tmp_path):
    op = wb.operator(MATMUL)
    study = wb.autotune(op, sizes=dict(M=8, N=8, K=8), trials=0)
    found = library([study, op], tmp_path)
    given = arrays(8, 8, 8)
    assert found.tensors(**given) == 0
    assert found.text("kernel").endswith(": M=8, K=8, N=8")
    np.testing.assert_array_equal(given["C"], given["A"] @ given["B"])


def test_users_and_kernels_call_one_thing_by_one_number():
    def numbers(text: str, prefix: str) -> dict[str, str]:
        return dict(re.findall(rf"\b{prefix}([A-Z_]+) = (-\d+)", text))

    public = numbers((PACKAGE / "export" / "clib" / "workbench.h").read_text(), "WORKBENCH_")
    assert public == numbers((PACKAGE / "export" / "dispatch" / "dispatch.h").read_text(), "WB_")
    assert len(public) > 5
