"""The CUDA text that recipes give to twelve operators, as golden files that are read as code."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.codegen.test_cuda_text import kernels
from tests.recipe_kernels import PAIRS, recipe_schedule


@pytest.mark.parametrize("name", PAIRS)
def test_the_text_of_an_operator_scheduled_by_a_recipe(name, golden):
    golden(kernels(wb.generate(recipe_schedule(name), target="h200")))
