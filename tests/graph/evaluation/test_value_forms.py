"""Values are taken apart into form and leaves, and put together again."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import examples
from workbench.graph.evaluation.value_forms import is_leaf, put_together, taken_apart
from workbench.graph.evaluation.values import Data, list_of

NAMES = "Nil", "Cons", "Node"


def inside(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(values, max_size=3).map(tuple)
    return several | st.builds(Data, st.sampled_from(NAMES), several)


def kind(leaf: Any) -> tuple[Any, ...] | None:
    return ((leaf % 3,), "int") if isinstance(leaf, int) else None


@settings(max_examples=examples(quick=30, ci=100, full=1000))
@given(st.recursive(st.integers(), inside, max_leaves=12))
def test_a_value_is_its_form_and_its_leaves(value):
    apart = taken_apart(value, kind, 1000)
    assert apart is not None
    leaves, form = apart
    assert put_together(form, leaves) == value
    assert [each[0] for each in form if is_leaf(each)] == [(leaf % 3,) for leaf in leaves]
    again = taken_apart(put_together(form, [leaf + 3 for leaf in leaves]), kind, 1000)
    assert again == ([leaf + 3 for leaf in leaves], form)


def test_deep_values_large_ones_and_strange_leaves():
    deep = list_of(range(50_000))
    apart = taken_apart(deep, kind, 100_001)
    assert apart is not None
    assert put_together(apart[1], apart[0]) == deep
    assert taken_apart(deep, kind, 100_000) is None
    assert taken_apart((1, "2"), kind, 9) is None
