"""Gradients leave out what leads to an extremum that results do not depend on, and only then."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import Point, compared

DEPENDS_NOT = {
    "softmax": "E(m,n) = exp(X(m,n) - top(m)) total(m) +=! E(m,n) Y(m,n) = E(m,n) / total(m)",
    "with a temperature": "E(m,n) = exp((X(m,n) - top(m)) / t) total(m) +=! E(m,n) Y(m,n) = E(m,n) / total(m)",
    "logarithm": "total(m) +=! exp(X(m,n) - top(m)) Y(m,n) = X(m,n) - top(m) - log(total(m))",
    "log of the sum": "total(m) +=! exp(X(m,n) - top(m)) Y(m) = top(m) + log(total(m))",
    "squares": "total(m) +=! exp(2 * (X(m,n) - top(m))) Y(m,n) = exp(X(m,n) - top(m)) / sqrt(total(m))",
    "a mask": "E(m,n) = n > 1 ? exp(X(m,n) - top(m)) : 0.0 total(m) +=! E(m,n) "
    "Y(m,n) = E(m,n) / total(m)",
    "minus infinity": "S(m,n) = n > 1 ? X(m,n) - top(m) : -inf E(m,n) = exp(S(m,n)) total(m) +=! E(m,n) "
    "Y(m,n) = E(m,n) / total(m)",
    "the least of two": "E(m,n) = exp(fmin(X(m,n) - top(m), X(m,n) - top(m) - 1.0)) total(m) +=! E(m,n) "
    "Y(m,n) = E(m,n) / total(m)",
    "a comparison": "Y(m,n) = X(m,n) - top(m) < 0.5 * X(m,n) - top(m) ? X(m,n) : 2 * X(m,n)",
}  # fmt: skip
DEPENDS = {
    "the sum is not divided away": "E(m,n) = exp(X(m,n) - top(m)) Y(m,n) = 2 * E(m,n)",
    "something is added": "total(m) +=! exp(X(m,n) - top(m)) Y(m,n) = exp(X(m,n) - top(m)) / (total(m) + 0.1)",
    "another multiple": "total(m) +=! exp(X(m,n) - top(m)) Y(m,n) = exp(2 * (X(m,n) - top(m))) / total(m)",
    "all rows": "E(m,n) = exp(X(m,n) - top(m)) total +=! E(m,n) Y(m,n) = E(m,n) / total",
    "added up": "total(m) +=! X(m,n) - top(m) Y(m,n) = X(m,n) - total(m)",
    "half of it": "Y(m,n) = n < 2 ? exp(X(m,n) - top(m)) : exp(X(m,n))",
    "compared": "Y(m,n) = X(m,n) * (X(m,n) > 0.5 * top(m) ? 1.0 : 2.0) + 0.0 * top(m) * X(m,n) + top(m)",
    "of another row": "E(m,n) = exp(X(m,n) - top(m)) total(m) +=! E(M-1-m,n) where n in 0:N Y(m,n) = E(m,n) / total(m)",
    "in place": "Y(m,n) = exp(X(m,n) - top(m)) total(m) +=! Y(m,n) Y(m,0) = Y(m,0) / total(m)",
}


def operator(body: str) -> wb.Operator:
    return wb.operator(f"def f(double(M,N) X, double t) -> (Y) {{ top(m) max=! X(m,n) {body} }}")


@pytest.mark.parametrize("name", [*DEPENDS_NOT, *DEPENDS])
def test_a_maximum_is_held_where_no_result_depends_on_it(name):
    body = DEPENDS_NOT.get(name) or DEPENDS[name]
    gradient = wb.grad(operator(body), "X")
    assert ("count(" in str(gradient)) == (name in DEPENDS)


@pytest.mark.parametrize("name", [*DEPENDS_NOT, *DEPENDS])
def test_gradients_agree_with_differences(name):
    op = operator(DEPENDS_NOT.get(name) or DEPENDS[name])
    X = np.random.default_rng(1).standard_normal((3, 5))
    found = compared(Point(op, [X, 1.7]))
    assert found.wrong == []
    assert found.agreed
