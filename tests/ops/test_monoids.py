"""The laws that reductions assume: the monoids of the library are associative and commutative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import ops
from workbench.lang.operator import Monoid
from workbench.lang.oracle.numbers import Arithmetic
from workbench.lang.oracle.tuples import combine, identity_tuple

MONOIDS: dict[str, Monoid] = {m.name: m for name in ops.list() for m in ops.load(name).monoids}
WIDE = Arithmetic(wide=True)
NUMBERS = st.floats(-40, 40) | st.integers(-3, 3).map(float)
INDICES = st.integers(0, 9)

# What a single contribution looks like: the tuples that a monoid meets are combinations of these.
ELEMENTS = {
    "log_sum": st.tuples(NUMBERS, st.just(1.0)),
    "weighted": st.tuples(NUMBERS, st.just(1.0), NUMBERS),
    "spread": st.tuples(st.just(1.0), NUMBERS, st.just(0.0)),
    "two": st.tuples(NUMBERS, st.just(-np.inf)),
    "argmax_pair": st.tuples(NUMBERS, INDICES),
    "argmin_pair": st.tuples(NUMBERS, INDICES),
    "best_left": st.tuples(st.integers(0, 1), NUMBERS, INDICES),
}


def arrays(monoid, values):
    return [np.asarray(v).astype(WIDE.working(d)) for v, d in zip(values, monoid.dtypes, strict=True)]


def folded(monoid, elements):
    total = identity_tuple(monoid, WIDE)
    for element in elements:
        total = combine(monoid, WIDE, total, arrays(monoid, element))
    return total


def same(left, right):
    with np.errstate(all="ignore"):
        for a, b in zip(left, right, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_every_monoid_of_the_library_is_examined():
    assert set(MONOIDS) == set(ELEMENTS)


@pytest.mark.parametrize("name", ELEMENTS)
@given(data=st.data())
def test_laws(name, data):
    monoid = MONOIDS[name]
    some = st.lists(ELEMENTS[name], max_size=4)
    with np.errstate(all="ignore"):
        a, b, c = (folded(monoid, data.draw(some)) for _ in range(3))
        nothing = identity_tuple(monoid, WIDE)
        same(combine(monoid, WIDE, nothing, a), a)
        same(combine(monoid, WIDE, a, nothing), a)
        same(combine(monoid, WIDE, a, b), combine(monoid, WIDE, b, a))
        left = combine(monoid, WIDE, combine(monoid, WIDE, a, b), c)
        same(left, combine(monoid, WIDE, a, combine(monoid, WIDE, b, c)))
