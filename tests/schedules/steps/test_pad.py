"""`pad`: partial tiles are filled up with neutral elements."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import LOOKUP, MATMUL
from tests.small_sizes import MACHINE
from workbench.errors import ScheduleError
from workbench.schedules import Schedule

PATHS = "def paths(float(M,K) A, float(K,N) B) -> (C) { C(m,n) min=! A(m,k) + B(k,n) }"
PEAKS = "def peaks(int32(M,K) A, int32(K,N) B) -> (C) { C(m,n) max=! min(A(m,k), B(k,n)) }"
DISTANCES = "def distances(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! abs(A(m,k) - B(n,k)) * (A(m,k) - B(n,k)) }"


def staged(text: str, **sizes: int) -> Schedule:
    """Tiles of 4 x 16 x 8 with all three arrays in buffers."""
    tiled = wb.schedule(wb.operator(text), **sizes) | wb.decompose_reduction("C")
    tiled = tiled | wb.tile({"C/m": 4, "C/n": 16, "C/k": 8}) | wb.reorder("k_i", "m_i", "n_i")
    return tiled | wb.stage("C", "n_o") | wb.stage("A", "C/k_o") | wb.stage("B", "C/k_o")


def test_tiles_of_a_product_are_full_and_infinities_stay_out(golden) -> None:
    full = staged(MATMUL) | wb.pad("C/k_o") | wb.unroll("C/m_i") | wb.vectorize("C/n_i")
    code = wb.generate(full, MACHINE).source
    code = code[code.index("int matmul(") :]
    golden(f"{full}\n\n{code}")
    assert "C_local_r[4][2]" in code
    assert "k_i < 8;" in code
    for sizes in (dict(M=9, K=13, N=17), dict(M=1, K=1, N=1), dict(M=8, K=16, N=16), dict(M=5, K=0, N=6)):
        agree(full, sizes)
    A, B = np.ones((9, 13), np.float32), np.ones((13, 17), np.float32)
    A[-1], B[:, -1], B[-1, 0] = np.inf, np.nan, -np.inf
    op = full.original.definition
    assert op is not None
    np.testing.assert_array_equal(wb.build(full)(A, B), op.evaluate(A, B))


@pytest.mark.parametrize("text", [PATHS, PEAKS, DISTANCES])
def test_other_reductions_get_their_own_neutral_element(text: str) -> None:
    full = staged(text) | wb.pad("C/k_o")
    agree(full, dict(M=6, K=11, N=19))
    fill = next(s for s in full.program.statements if s.name == "A_local.pad")
    assert fill.text.endswith({PATHS: "inf", PEAKS: "-2147483648", DISTANCES: "= 0.0"}[text]), fill.text


def test_only_the_reduction_is_padded_where_the_rest_is_full() -> None:
    full = staged(MATMUL, M=8, N=16, K=13) | wb.pad("C/k_o")
    agree(full)
    assert [s.name for s in full.program.statements if s.name.endswith(".pad")] == ["A_local.pad", "B_local.pad"]


def test_a_convolution_is_padded_too() -> None:
    text = "def c(float(N,C,W) I, float(F,C,K) W1) -> (O) { O(n,f,x) +=! I(n,c,x+k) * W1(f,c,k) }"
    naive = wb.schedule(wb.operator(text)) | wb.decompose_reduction("O") | wb.tile({"O/f": 4, "O/x": 8, "O/c": 2})
    buffers = naive | wb.stage("O", "x_o") | wb.stage("I", "c_o") | wb.stage("W1", "c_o")
    agree(buffers | wb.pad("c_o"), dict(N=2, C=3, W=13, F=5, K=3))


@pytest.mark.parametrize(
    ("schedule", "loops", "message"),
    [
        (lambda: wb.schedule(wb.operator(MATMUL)) | wb.tile(m=4), ("m_o",), r"would write C outside; stage\("),
        (lambda: staged(MATMUL, M=8, N=16, K=8), ("C/k_o",), "every tile is full already"),
        (lambda: staged(MATMUL), (), "name the loops"),
        (lambda: staged(MATMUL), ("q",), "unknown loop 'q'"),
        (lambda: staged(MATMUL.replace("A(m,k) *", "exp(A(m,k)) + ")), ("C/k_o",), "no element is known"),
        (lambda: wb.schedule(wb.operator(LOOKUP)) | wb.tile(d=4), ("d_o",), "data decide|outside"),
    ],
)
def test_what_cannot_be_padded_is_said(schedule: object, loops: tuple[str, ...], message: str) -> None:
    made = schedule()  # type: ignore[operator]
    with pytest.raises(ScheduleError, match=message):
        made | wb.pad(*loops)
