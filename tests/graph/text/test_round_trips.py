"""A text is printed, read and printed the same; the model that is read back is the model."""

from __future__ import annotations

import pytest

from tests.graph.programs import EXAMPLES
from workbench.graph import model


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_model_prints_reads_and_prints_the_same(name, golden):
    example = EXAMPLES[name]
    first = model(example.text, example.constants)
    second = model(str(first), first.constants)
    assert str(second) == str(first)
    assert second == first
    assert hash(second) == hash(first)
    golden(str(first))


def test_there_are_forty_programs():
    assert len(EXAMPLES) >= 40
