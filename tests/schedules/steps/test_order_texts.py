"""Each order step as its tree and as the C it becomes."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.target import Target

SEIDEL = wb.ops.load("seidel_2d")
BLUR = wb.operator("def blur(float(N) A) -> (B, C) { B(i) = A(i) * 2\n C(i) = B(i) + B(i + 1) where i in 0:N - 1 }")
THREE = wb.operator("""def three(float(N,M) A) -> (X, Y, Z) {
    X(i,j) = A(i,j) + 1
    Y(i,j) = X(i,j) * 2
    Z(p,q) = X(q,p) * 3
}""")
POINTS = wb.operator("def points(float(C,H,W) I, float(F,C) K) -> (O) { O(f,h,w) +=! I(c,h,w) * K(f,c) }")
MATMUL = wb.ops.matmul
ROWS = {"C": 3, "H": 4, "W": 6, "F": 5}
GRID = {"N": 7, "M": 8, "steps": 3}

CASES = {
    "skew": (SEIDEL, {}, wb.skew("A.1/j", by="A.1/i", factor=2) | wb.interchange("A.1/j", "A.1/i"), GRID),
    "shift": (BLUR, {}, wb.shift("C/i", 1) | wb.merge("B", "C"), {"N": 9}),
    "reverse": (MATMUL, {}, wb.reverse("k") | wb.reverse("n"), {"M": 3, "N": 4, "K": 5}),
    "fuse": (POINTS, ROWS, wb.fuse("h", "w") | wb.split("h_w", 8) | wb.parallelize("h_w_o"), {}),
    "affine": (SEIDEL, {}, wb.affine({"A.1": [[1, 0, 0], [1, 1, 0], [2, 1, 1]]}), GRID),
    "unroll_jam": (MATMUL, {"M": 6, "N": 5, "K": 4}, wb.unroll_jam("m", 4), {}),
    "serial": (MATMUL, {}, wb.parallelize("m") | wb.vectorize("n") | wb.serial("m"), {"M": 3, "N": 4, "K": 5}),
    "merge": (THREE, {}, wb.arrange("Z", "Y") | wb.merge("X", "Z", loops={"i": "q", "j": "p"}), {"N": 3, "M": 4}),
    "distribute": (THREE, {}, wb.merge("X", "Y", depth=2) | wb.distribute("Y", loop="j"), {"N": 3, "M": 4}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_tree_and_the_code(case, golden):
    op, bound, steps, sizes = CASES[case]
    schedule = wb.schedule(op, **bound) | steps
    text = wb.generate(schedule, Target(vector_bits=512)).source
    golden(f"{schedule}\n\n{text[text.index(f'int {op.name}(') :]}")
    agree(schedule, sizes)
