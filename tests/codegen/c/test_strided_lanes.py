"""Lanes along rows that are walked backwards, in steps, or filled in turn by two statements: values, and nothing beside
them touched.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.codegen.passes.test_partial_lanes import guarded
from workbench.target import Target

ROWS = {
    "read backwards": ("B(i) = A(N - 1 - i) where i in 0:N", "wb_v{}_backwards"),
    "written backwards": ("B(N - 1 - i) = A(i) where i in 0:N", "wb_v{}_put_backwards"),
    "backwards both": ("B(N - 1 - i) = A(N - 1 - i) where i in 0:N", "wb_v{}_put_backwards"),
    "every third": ("B(i) = A(3 * i) where i in 0:N / 3", "wb_v{}_apart"),
    "every third backwards": ("B(i) = A(N - 1 - 3 * i) where i in 0:N / 3", "wb_v{}_apart"),
    "every second": ("B(i) = A(2 * i + 1) where i in 0:N / 2", "wb_v{}_every_second"),
}
IN_TURN = {
    "in turn": "B(2 * i) = A(i) where i in 0:N\n B(2 * i + 1) = A(N - 1 - i) where i in 0:N",
    "the second first": "B(2 * i + 1) = A(i) where i in 0:N\n B(2 * i) = A(N - 1 - i) where i in 0:N",
}
NOT_IN_TURN = {
    "read again": "B(2 * i) = A(i) where i in 0:N\n B(2 * i + 1) = B(2 * i) where i in 0:N",
    "with a hole": "B(3 * i) = A(i) where i in 0:N\n B(3 * i + 1) = A(i) where i in 0:N",
}
TYPES = ("float32", "float64", "int8", "uint16", "int64", "bfloat16", "bool")
SIZES = (0, 1, 2, 3, 15, 16, 17, 33, 64, 100)
MACHINES = [Target(vector_bits=bits, cores=1) for bits in (128, 256, 512)]


def letter(kind: str, bits: int) -> str:
    dtype = wb.lang.dtypes.dtype(kind)
    lanes = bits // max(32 if dtype.is_half else 8, dtype.bits)
    return f"{lanes}{'u' if dtype.is_half or kind[0] == 'b' else kind[0]}{max(8, dtype.bits)}"


def values(kind: str, n: int) -> np.ndarray:
    numbers = np.random.default_rng(n).integers(0, 2 if kind == "bool" else 40, n)
    return guarded(numbers.astype(wb.lang.dtypes.dtype(kind).numpy))


def agree(op: wb.Operator, schedule: wb.Schedule, target: Target, kind: str) -> str:
    kernel = wb.build(schedule, target)
    for n in SIZES:
        array = values(kind, n)
        expected = op.evaluate(array)
        out = tuple(guarded(np.zeros_like(e)) for e in expected)
        kernel(array, out=out)
        for computed, wanted in zip(out, expected, strict=True):
            np.testing.assert_array_equal(computed, wanted)
    return kernel.source


@pytest.mark.parametrize("target", MACHINES, ids=lambda t: str(t.vector_bits))
@pytest.mark.parametrize("kind", TYPES)
def test_rows_backwards_and_in_steps(kind: str, target: Target) -> None:
    outputs = [f"B{n}" for n in range(len(ROWS))]
    lines = [text.replace("B(", f"{b}(") for b, (text, _) in zip(outputs, ROWS.values(), strict=True)]
    op = wb.operator(f"def f({kind}(N) A) -> ({', '.join(outputs)}) {{ {' '.join(lines)} }}")
    schedule = wb.schedule(op)
    for b in outputs:
        schedule = schedule | wb.vectorize(f"{b}/i")
    source = agree(op, schedule, target, kind)
    for _, helper in ROWS.values():
        assert helper.format(letter(kind, target.vector_bits)) in source


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", IN_TURN | NOT_IN_TURN)
def test_two_statements_that_fill_a_row(name: str, kind: str) -> None:
    zero = "j < 0" if kind == "bool" else f"{kind}(0)"
    op = wb.operator(f"""def f({kind}(N) A) -> ({kind}(3 * N + 3) B, C) {{
        B(j) = {zero} where j in 0:3 * N + 3
        {(IN_TURN | NOT_IN_TURN)[name]}
        C(i) = A(i)
    }}""")
    schedule = wb.schedule(op) | wb.merge("B.1", "B.2") | wb.vectorize("B.2/i")
    assert ("put_in_turn(&" in agree(op, schedule, MACHINES[1], kind)) == (name in IN_TURN)
