"""`independent_parts`: a set is the product of its parts, so counting them apart is exact."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import examples
from workbench.poly.count.counting import cardinality, independent_parts
from workbench.poly.sets import isl, unpack


def parts(text):
    return [str(p) for p in independent_parts(isl.parse_set(text))]


def test_dimensions_that_share_a_constraint_stay_together():
    assert len(parts("{ [a, b, c, d] : 0 <= a <= b < 5 and 0 <= c < 3 and d = 2 }")) == 3


def test_a_quantified_variable_ties_dimensions_together():
    assert (
        len(parts("{ [i, j, k] : 0 <= i < 3 and exists (q : 2q <= j <= 2q + i and 0 <= q < 3) and 0 <= k < 9 }")) == 2
    )


@pytest.mark.parametrize("text", ["{ [] }", "{ [i] : 0 <= i < 7 }", "{ [i, j] : 0 <= i <= j < 4 }"])
def test_what_cannot_be_divided_is_left_whole(text):
    assert len(parts(text)) == 1


CONSTRAINTS = st.lists(
    st.tuples(st.tuples(*[st.integers(-2, 2)] * 4), st.integers(-3, 6), st.sampled_from([0, 0, 2, 3])), max_size=3
)


@given(CONSTRAINTS)
@settings(max_examples=examples(quick=20, ci=100, full=2000), deadline=None)
def test_the_product_of_the_parts_counts_the_set(constraints):
    text, names = ["0 <= a < 4 and 0 <= b < 4 and 0 <= c < 4 and 0 <= d < 4"], "abcd"
    for factors, constant, modulus in constraints:
        sum_ = " + ".join(f"{f}{n}" for f, n in zip(factors, names, strict=True))
        text.append(f"({sum_} + {constant}) mod {modulus} = 0" if modulus else f"{sum_} + {constant} >= 0")
    points = isl.parse_set(f"{{ [a, b, c, d] : {' and '.join(text)} }}")
    brute = sum(
        all(
            (sum(f * x for f, x in zip(factors, point, strict=True)) + constant) % modulus == 0
            if modulus
            else (sum(f * x for f, x in zip(factors, point, strict=True)) + constant) >= 0
            for factors, constant, modulus in constraints
        )
        for point in product(range(4), repeat=4)
    )
    assert cardinality(points) == brute
    for piece in unpack.basic_sets(points.make_disjoint()):
        assert prod(unpack.count(p) for p in independent_parts(piece)) == unpack.count(piece)
