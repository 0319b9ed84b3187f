"""Random models through random lines of passes compute the same; the models of the examples through each pass."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.programs import EXAMPLES
from tests.graph.random_passes import EXACT, check, random_line
from tests.support import examples
from workbench.graph.evaluation.values import same


@pytest.mark.parametrize("seed", range(examples(quick=12, ci=60, full=2000)))
def test_a_random_model_computes_the_same_after_random_passes(seed):
    check(seed, random_line(seed))


@pytest.mark.parametrize("name", [*EXACT, "everything"])
def test_what_is_there_is_what_is_tried(name):
    assert name == "everything" or name in wb.passes
    assert set(wb.passes) - set(EXACT) <= {"mixed_precision", "quantize", "fuse", "convert_layout", "channels_last"}


@pytest.mark.parametrize("name", EXACT)
def test_every_example_computes_the_same_after_the_pass(name):
    for title, example in EXAMPLES.items():
        before = wb.model(example.text, example.constants)
        after = before | getattr(wb.passes, name)()
        assert wb.model(str(after), after.constants) == after, title
        assert same(before.evaluate(*example.arguments), after.evaluate(*example.arguments)), title


def test_the_default_line_computes_the_same_on_every_example():
    for title, example in EXAMPLES.items():
        before = wb.model(example.text, example.constants)
        after = wb.optimize(before)
        _close(before.evaluate(*example.arguments), after.evaluate(*example.arguments), title)


def _close(a, b, title):
    if isinstance(a, np.ndarray) and a.dtype.kind == "f":
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5), title
    elif isinstance(a, tuple):
        for left, right in zip(a, b, strict=True):
            _close(left, right, title)
    else:
        assert same(a, b), title
