"""Names that the generator or Python's calls use themselves, and text that is no name: nothing is confused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support import examples
from workbench.lang import Operator

KEYS = ["op", "M", "N", "A", "B", "I", "s", "k", "C", "D", "R", "T", "i", "j", "q"]
TEXT = """
def {op}(float({M},{N}) {A}, float({N}) {B}, int32({M}) {I}, float {s}, int32 {k}) -> ({C}, {D}, {R}) {{
    {T}({i}) +=! {A}({i},{j}) * {B}({j}) * {s}
    {C}({i},{j}) = exp({A}({i},{j})) + {T}({i}) + {A}({I}({i}),{j})
    {D}({i},{j},{q}) = {C}({i},{j}) where {q} in 0:{k}
    {R}({j}) max=! {C}({i},{j})
}}"""

PLAIN = {key: f"zz{key}" for key in KEYS}

# What the generator makes of T, i, j and op, given to something else.
DERIVED = {
    "op": "op", "T": "T", "A": "T_r", "B": "T_r2", "C": "op_check", "D": "op_workspace", "R": "op_context", "I": "T_r3",
    "i": "i", "j": "j", "q": "i_o", "M": "i_i", "N": "j_o", "s": "j_i", "k": "j_u",
}  # fmt: skip


def called(names: dict[str, str]) -> tuple[Any, ...]:
    """What the operator of these names answers."""
    return operator(names)(*arrays())


def operator(names: dict[str, str]) -> Operator:
    return wb.operator(TEXT.format(**names))


def arrays() -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((37, 41)).astype("f4"), random.standard_normal(41).astype("f4")
    return a, b, (np.arange(37) * 7 % 37).astype("i4"), 2.0, 3


def test_names_that_the_generator_would_derive_may_be_taken() -> None:
    expected = operator(PLAIN).evaluate(*arrays())
    for found, wanted in zip(called(DERIVED), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_words_that_the_generator_uses_may_be_names() -> None:
    """Whatever identifier the C of this operator contains, an operator may use it too."""
    source = operator(PLAIN).plan(*arrays()).build().source
    words = sorted(set(re.findall(r"[A-Za-z_]\w*", source)) - {*PLAIN.values(), "float", "int", "for", "in", "where"})
    words = [w for w in words if w not in {"exp", "max", "inf", "zzop", "def"}]
    expected = operator(PLAIN).evaluate(*arrays())
    for at in range(0, len(words) - len(KEYS), len(KEYS) * examples(quick=4, ci=3, full=1)):
        names = dict(zip(KEYS, words[at : at + len(KEYS)], strict=True))
        for found, wanted in zip(called(names), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=str(names))


@pytest.mark.parametrize("word", ["self", "out", "unchecked", "sizes", "operator", "threads"])
def test_a_scalar_may_have_the_name_of_an_argument(word: str) -> None:
    op = wb.operator(f"def f(float(N) A, int32 {word}) -> (B) {{ B(i) = A(i) where i in 0:{word} }}")
    given = np.arange(4, dtype="f4")
    np.testing.assert_array_equal(op(given, 3), given[:3])
    np.testing.assert_array_equal(op.evaluate(given, 3), given[:3])
    assert op.sizes(given, 3) == {"N": 4, word: 3}
    assert wb.lower(op, sizes={word: 3, "N": 4}).sizes == {word: 3, "N": 4}


EVIL = ["*/ evil(); /*", '#include "evil.h"', "%s%n%d evil", '"evil"', "'evil'", "$(evil)", "??/evil", "// evil \\",
        "/* evil", "\x1b[31mevil", "\x00evil", "evil 😀 ∑"]  # fmt: skip


@pytest.mark.parametrize("text", EVIL)
def test_a_comment_never_reaches_the_c(text: str) -> None:
    op = wb.operator(f"def f(float(N) A) -> (B) {{ # {text}\n B(i) = A(i) }}")
    assert "evil" not in wb.generate(wb.schedule(op)).source


@pytest.mark.parametrize("text", [*EVIL, "evil()"])
def test_no_door_lets_unchecked_text_into_the_c(text: str) -> None:
    """Names of loops and buffers, processors, element types and sizes: refused in a short message."""
    mm = wb.ops.matmul
    naive = wb.schedule(mm)
    doors = [
        lambda: wb.operator(f"def {text}(float(N) A) -> (B) {{ B(i) = A(i) }}"),
        lambda: wb.operator(f"def f(float(N) {text}) -> (B) {{ B(i) = 1.0 where i in 0:N }}"),
        lambda: wb.einsum(f"{text}->"),
        lambda: mm.astype(text),
        lambda: wb.lower(mm, sizes={text: 3}),
        lambda: naive | wb.split("m", 4, names=(text, "other")),
        lambda: naive | wb.tile(m=4, n=4) | wb.stage("A", "k", buffer=text),
        lambda: wb.Target(march=text),
        lambda: wb.Target(dialect=text),
        lambda: mm(np.ones((2, 2), "f4"), np.ones((2, 2), "f4"), **{text: 1}),
    ]
    for number, door in enumerate(doors):
        with pytest.raises(wb.errors.WorkbenchError) as caught:
            door()
        assert len(str(caught.value)) < 3000, number
