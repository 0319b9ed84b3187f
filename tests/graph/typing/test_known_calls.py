"""Calls that are typed at once have the types that inference gives them where they stand."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.graph.fusion.random_calls import random_calls
from tests.graph.random_models import random_model
from tests.support import examples
from workbench.errors import ModelError
from workbench.graph import Model, model
from workbench.graph.typing import known_calls
from workbench.graph.typing.programs import Typing, infer

SEEDS = range(examples(quick=15, ci=40, full=400))
SQUEEZED = wb.operator("""
def squeezed<T>(T(N,M) x, int32 step) -> (y, s) {
    y(i,j) = x(i, step*j) where j in 0:(M-1)/step+1
    s(i) +=! y(i,j)
}""")


def said(found: Typing) -> list[str]:
    """What a typing says of each node and function; unknowns that are left have whatever number."""
    every = [*found.types.values(), *found.schemes.values(), *map(str, found.checks)]
    return [re.sub(r"\?\d+", "?", repr(each)) for each in every]


def typing(of: Model) -> Typing:
    """The types of a model, inferred anew."""
    return infer(of.functions, of.datatypes)


@pytest.mark.parametrize("make", [random_model, random_calls])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_model_has_the_types_that_each_call_has_by_itself(monkeypatch, seed, make):
    made = make(seed)
    at_once = said(typing(made))
    monkeypatch.setattr(known_calls, "_known_type", lambda *_: None)
    assert said(typing(made)) == at_once


def test_calls_that_are_alike_are_looked_at_once():
    """Also one of an operator that nobody planned for, of which a condition asks for the sizes."""
    calls = "squeezed(x, step=2).0, squeezed(x, step=2).1, squeezed(x, step=3)"
    text = f"{SQUEEZED}\nfn main(x: float32[n, 8]) {{ ({calls}) }}"
    made = model(text)
    known_calls.type_at.cache_clear()
    assert typing(made).types == made.typing.types
    assert known_calls.type_at.cache_info()[:2] == (1, 2)  # hits, misses


@pytest.mark.parametrize(
    "call",
    ["squeezed(x, step=0)", "squeezed(x, step=2, wide=3)", "matmul(w, w)", "matmul(x, c)", "squeezed(s, step=1)"],
)
def test_what_does_not_fit_is_told_where_it_stands(monkeypatch, call):
    text = f"{SQUEEZED}\nfn main(x: float32[n, 8], c: float64[8, 2], s: float32[n], w: float32[3, 5]) {{ {call} }}"
    said = []
    for _ in range(2):
        with pytest.raises(ModelError) as raised:
            model(text)
        said.append(str(raised.value))
    monkeypatch.setattr(known_calls, "_known_type", lambda *_: None)
    with pytest.raises(ModelError) as raised:
        model(text)
    assert {*said} == {str(raised.value)}


def test_sizes_that_only_a_run_can_compare_are_checked_by_each_call():
    text = "fn main(x: float32[n, m], y: float32[k, 4]) { (matmul(x, y), matmul(x, y)) }"
    for _ in range(2):
        assert [str(each).partition(":")[0] for each in model(text).checks] == ["m == k"]
