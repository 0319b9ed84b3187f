"""Where proofs begin and end: a wrong reading of C is certified, as its certificate says, and found by `verify`."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.fromc.numbers import values
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Cast

WRAPS = "void wraps(int n, int A[n]) { for (int i = 0; i < n; i++) if ((unsigned)(i - 3) < 5) A[i] += 2; }"


def signed(op, left, right, spans):
    """A comparison that forgets the conversion to unsigned."""
    return Binary(op, *(x.operand if isinstance(x, Cast) else x for x in (left, right)), BOOL)


def kernel():
    return wb.build(wb.schedule(wb.from_c(WRAPS + " /* read wrongly */"), n=12))


@pytest.fixture
def read_wrongly(monkeypatch):
    monkeypatch.setattr(values, "unwrapped_comparison", signed)


def test_verify_runs_the_text_itself_and_finds_a_program_that_means_something_else(read_wrongly):
    wrong, A = kernel(), np.zeros(12, "int32")
    np.testing.assert_array_equal(wrong(A.copy()), [2] * 8 + [0] * 4)
    for what in (wrong, wrong.schedule.program):
        assert not wb.verify(what, A)
    assert "agrees" not in str(wb.verify(wrong, A))


def test_a_certificate_says_that_the_reading_of_c_is_not_its_own(read_wrongly):
    covers = wb.certify(kernel().schedule).covers
    assert covers[0] == "from the program that from_c raised, before any step,"
    assert any("not: that this program means what the C text means" in line for line in covers)
    assert any("what the compiler makes of it" in line for line in covers)


def test_a_certificate_of_an_operator_begins_at_its_text():
    certificate = wb.certify(wb.schedule(wb.ops.load("matmul").astype("float32"), M=3, N=4, K=5))
    assert certificate.covers[0].startswith("from the operator as the language means it")
    assert "covers\n  from the operator" in str(certificate)
