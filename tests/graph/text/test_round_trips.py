"""A text is printed, read and printed the same; the model that is read back is the model."""

from __future__ import annotations

import pytest

from tests.graph.programs import EXAMPLES
from workbench.graph import model


@pytest.mark.parametrize("name", EXAMPLES)
def test_printed(name, golden):
    """Print, read, print: the same."""
    example = EXAMPLES[name]
    first = model(example.text, example.constants)
    second = model(str(first), first.constants)
    assert str(second) == str(first)
    assert second == first
    assert hash(second) == hash(first)
    golden(str(first))


def test_there_are_forty_programs():
    assert len(EXAMPLES) >= 40
