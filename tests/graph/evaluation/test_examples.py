"""What models compute is what NumPy computes, and every form of them computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graph.programs import EXAMPLES
from workbench.graph import Data, model, to_list
from workbench.graph.evaluation.values import same

GIVEN = {name: example for name, example in EXAMPLES.items() if example.expected is not None}


def agrees(found: Any, expected: Any) -> bool:
    """Whether a value of a model is one of Python: floats within rounding, all else exactly."""
    if isinstance(expected, Data):
        pairs = zip(found.fields, expected.fields, strict=True)
        return found.constructor == expected.constructor and all(agrees(*pair) for pair in pairs)
    if isinstance(expected, list | tuple):
        values = to_list(found) if isinstance(expected, list) else found
        return len(values) == len(expected) and all(agrees(*pair) for pair in zip(values, expected, strict=True))
    if np.asarray(expected).dtype.kind == "f":
        return np.allclose(found, expected, rtol=1e-5, atol=1e-6)
    return bool(np.array_equal(found, expected))


@pytest.mark.parametrize("name", GIVEN)
def test_a_model_computes_what_numpy_computes(name):
    example = EXAMPLES[name]
    assert agrees(model(example.text, example.constants).evaluate(*example.arguments), example.expected)


@pytest.mark.parametrize("form", ["graph_form", "a_normal_form", "basic_block_form"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_form_computes_the_same(name, form):
    example = EXAMPLES[name]
    first = model(example.text, example.constants)
    changed = getattr(first, form)()
    assert same(changed.evaluate(*example.arguments), first.evaluate(*example.arguments))
