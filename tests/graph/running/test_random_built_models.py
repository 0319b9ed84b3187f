"""Built models compute what the interpreter does: random ones with control flow and data, and all examples."""

from __future__ import annotations

import pytest

from tests.graph.programs import EXAMPLES
from tests.graph.random_models import random_arguments, random_model
from tests.graph.running.comparing import agrees
from tests.support import examples
from workbench.graph import build_model, model


@pytest.mark.parametrize("seed", range(examples(quick=24, ci=200, full=2000)))
def test_a_random_model_built_is_what_the_interpreter_says(seed):
    given, arguments = random_model(seed), random_arguments(seed)
    built = build_model(given)
    expected = given.evaluate(*arguments)
    assert agrees(built(*arguments), expected)
    assert agrees(built(*arguments), expected)  # once more, with all that it remembers


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_built_is_what_the_interpreter_says(name):
    example = EXAMPLES[name]
    given = model(example.text, example.constants)
    assert agrees(build_model(given)(*example.arguments), given.evaluate(*example.arguments))
