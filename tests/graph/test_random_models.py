"""Random models are printed and read back, changed in form, and evaluated: always the same."""

from __future__ import annotations

import pytest

from tests.graph.random_models import random_arguments, random_model
from tests.support import examples
from workbench.graph import model
from workbench.graph.evaluation.values import same

SEEDS = range(examples(quick=40, ci=50, full=2000))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_model_is_what_it_prints(seed):
    first = random_model(seed)
    second = model(str(first), first.constants)
    assert str(second) == str(first)
    assert second == first
    arguments = random_arguments(seed)
    value = first.evaluate(*arguments)
    assert same(first.evaluate(*arguments), value)
    assert same(second.evaluate(*arguments), value)


@pytest.mark.parametrize("form", ["graph_form", "a_normal_form", "basic_block_form"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_model_computes_the_same_in_every_form(seed, form):
    first = random_model(seed)
    changed = getattr(first, form)()
    arguments = random_arguments(seed)
    assert same(changed.evaluate(*arguments), first.evaluate(*arguments))
    again = model(str(changed), changed.constants)
    assert again == changed
    assert getattr(changed, form)() == changed
