"""`einsum` against NumPy's, and `astype`."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import OperatorError
from workbench.lang import astype, einsum, evaluate, operator

SPECS = [
    "mk,kn->mn", "mk,kn", "ij->ji", "ii", "ii->i", "ij->", "i,j->ij", "bij,bjk->bik", "abc,cd,de->abe",
    "tm,mx->tx", "aA,Ab->ab", "i->i", "ij , jk -> ik", "i,i,i", "zyx->xyz", "->", ",->", "ta,at->t",
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_einsum_is_numpys(spec):
    letters = sorted(set("".join(spec.split())) - set(",->"))
    sizes = {letter: n + 2 for n, letter in enumerate(letters)}
    generator = np.random.default_rng(0)
    operands = ["".join(part.split()) for part in spec.partition("->")[0].split(",")]
    arrays = [generator.integers(-4, 5, [sizes[x] for x in operand]).astype(np.float32) for operand in operands]
    op = einsum(spec)
    assert op.generic
    np.testing.assert_array_equal(evaluate(op, *arrays), np.einsum(spec.replace(" ", ""), *arrays))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ij,jk->il", "'l' of the result occurs in no operand"),
        ("ij->ii", "'i' stands twice in the result"),
        ("...i->i", "an ellipsis is not supported"),
        ("i1->i", "unexpected '1' at position 1; indices are single letters"),
        ("i->j->k", "more than one ->"),
    ],
)
def test_malformed_specifications(spec, message):
    with pytest.raises(OperatorError, match=message):
        einsum(spec)


def test_astype_fixes_type_variables():
    op = einsum("mk,kn->mn")
    assert astype(op, "double").tensors["C"].dtype.name == "float64"
    assert astype(op, "int8").tensors["A"].dtype.name == "int8"
    assert astype(op, "double").generic == ()


def test_astype_replaces_the_one_floating_type():
    op = operator("def f(float(N) A, int32(N) I) -> (float(N) B) { B(i) = float(I(i)) * A(i) + 0.1 }")
    assert astype(op, "double").text == (
        "def f(double(N) A, int32(N) I) -> (double(N) B) {\n    B(i) = double(I(i)) * A(i) + 0.1\n}"
    )


@pytest.mark.parametrize(
    ("text", "element", "message"),
    [
        ("def f(float(N) A, double(N) B) -> (C) { C(i) = A(i) * B(i) }", "half", "mixes float32, float64"),
        ("def f(int32(N) A) -> (C) { C(i) = A(i) }", "half", "has no floating type"),
        ("def f(float(N) A) -> (C) { C(i) = A(i) }", "real", "unknown element type 'real'"),
    ],
)
def test_astype_refuses_what_is_not_clear(text, element, message):
    with pytest.raises(OperatorError, match=message):
        astype(operator(text), element)
