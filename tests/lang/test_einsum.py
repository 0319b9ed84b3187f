"""`einsum` against NumPy's, and `astype`."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError, OperatorError
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
        ("..i->i", "unexpected '.' at position 0; an ellipsis is three points"),
        ("i......->i", "more than one '...'"),
        ("i->...i", "'...' of the result occurs in no operand"),
        ("i1->i", "unexpected '1' at position 1; indices are single letters"),
        ("i->j->k", "more than one ->"),
    ],
)
def test_malformed_specifications(spec, message):
    with pytest.raises(OperatorError, match=message):
        einsum(spec)


BROADCASTS = [
    "...ij,...jk->...ik", "...ij,...jk", "i...,...->...", "i...", "...ii->...i", "...,...", "...i,...i->...",
    "b...i,i...b->...", "...->...", "ij...,...j->i...", "a...b,b...->a", "...i,...j,k->...ijk",
]  # fmt: skip


@pytest.mark.parametrize("spec", BROADCASTS)
def test_an_ellipsis_is_numpys(spec):
    """Ranks and sizes of 1 from the arrays at the call."""
    random = Random(spec)
    for _ in range(40):
        arrays = drawn(spec, random)
        try:
            expected = np.einsum(spec, *arrays)
        except ValueError:
            with pytest.raises((CallError, OperatorError)):
                einsum(spec).evaluate(*arrays)
            continue
        np.testing.assert_array_equal(einsum(spec).evaluate(*arrays), expected)


def drawn(spec: str, random: Random) -> list[np.ndarray]:
    """Arrays of a specification: some sizes are 1, an ellipsis stands for up to three axes."""
    sizes = {letter: random.choice((1, 2, 3, 4)) for letter in "abijk"}
    full = [random.choice((1, 2, 3)) for _ in range(3)]
    generator = np.random.default_rng(random.randrange(1 << 30))
    arrays = []
    for operand in spec.partition("->")[0].split(","):
        dots = [1 if random.random() < 0.3 else size for size in full[random.randrange(4) :]]
        before, found, after = operand.partition("...")
        shape = [sizes[x] for x in before] + (dots if found else []) + [sizes[x] for x in after]
        arrays.append(generator.integers(-3, 4, shape).astype(np.float32))
    return arrays


def test_sizes_of_1_fit_where_it_is_asked_for():
    ones, table = np.ones((2, 1), np.float32), np.arange(20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_array_equal(
        einsum("ij,jk->ik", broadcasts=True).evaluate(ones, table), np.einsum("ij,jk->ik", ones, table)
    )


def test_a_call_runs_the_operator_of_its_shapes():
    a, b = np.ones((7, 2, 3), np.float32), np.ones((3, 4), np.float32)
    np.testing.assert_array_equal(wb.einsum("...ij,...jk->...ik")(a, b), np.full((7, 2, 4), 3, np.float32))


def test_shapes_that_do_not_fit():
    with pytest.raises(CallError, match="expected 2 operands but found 1"):
        einsum("...i,i->...").at((2, 3))
    with pytest.raises(CallError, match=r"'\.\.\.ij' takes an array of at least 2 axes, not of 1"):
        einsum("...ij->...").at((2,))
    with pytest.raises(CallError, match=r"stands for 1 axes, and the result has no"):
        einsum("...i->i").at((2, 3))


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
