"""Operators that were pickled, sent to another process or copied, are called like any other."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import workbench as wb
from workbench.lang.dtypes import DTYPES

TEXT = "def f<T>(T(N) A, int32(N) I) -> (o) { o(i) = A(i) * T(I(i)) }"


@pytest.mark.parametrize("sent", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_a_sent_operator_is_called_and_evaluated(sent):
    op = sent(wb.operator(TEXT))
    A, index = np.arange(5, dtype="f4"), np.arange(5, dtype="i4")
    np.testing.assert_array_equal(op.evaluate(A, index), A * A)
    np.testing.assert_array_equal(op(A, index), A * A)


def test_element_types_stay_the_same_objects():
    assert all(pickle.loads(pickle.dumps(t)) is t and copy.deepcopy(t) is t for t in DTYPES.values())
