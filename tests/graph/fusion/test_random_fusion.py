"""Fused models equal the interpreter's result for the model before, by both rules, on random graphs and programs."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.fusion.random_calls import random_arrays, random_calls
from tests.graph.random_models import random_arguments, random_model
from tests.support import examples
from workbench.graph import model
from workbench.graph.evaluation.values import Data
from workbench.graph.fusion.fusing import RULES, fused

CALLS = range(examples(quick=4, ci=12, full=400))
PROGRAMS = range(examples(quick=4, ci=16, full=1000))
KERNELS = range(examples(quick=1, ci=3, full=60))


def near(a, b) -> bool:
    """Equal but for rounding, whatever the values are: a fused definition may round once less."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, Data):
        return isinstance(b, Data) and a.constructor == b.constructor and all(map(near, a.fields, b.fields))
    if callable(a):
        return callable(b)
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", CALLS)
def test_a_random_graph_of_calls_computes_the_same_fused(seed, rule):
    first = random_calls(seed)
    result = fused(first, rule=rule)
    arrays = random_arrays(seed)
    assert near(result.model.evaluate(*arrays), first.evaluate(*arrays))
    assert model(str(result.model), result.model.constants) == result.model
    assert result.kernels == result.calls - sum(len(group.calls) - 1 for group in result.groups)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", PROGRAMS)
def test_a_random_program_computes_the_same_fused(seed, rule):
    first = random_model(seed, 40)
    result = fused(first, rule=rule)
    arguments = random_arguments(seed)
    assert near(result.model.evaluate(*arguments), first.evaluate(*arguments))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", KERNELS)
def test_default_schedules_of_fused_definitions_are_right(seed):
    result = fused(random_calls(seed, 9))
    for group in result.groups:
        op = group.operator
        random = np.random.default_rng(seed)
        sizes = {"n": 5}
        arrays = []
        for name in op.parameters:
            tensor = op.tensors[name]
            shape = tuple(wb.poly.lower(op, sizes).arrays[name].extent) if tensor.rank else ()
            extents = [int(e.value) for e in shape]
            values = random.standard_normal(extents) if tensor.dtype.is_float else random.integers(0, 3, extents)
            array = np.asarray(values).astype(tensor.dtype.numpy)
            arrays.append(array if tensor.rank else array[()])
        made = wb.build(wb.autoschedule(op, sizes={k: v for k, v in sizes.items() if k in op.size_names}))(*arrays)
        assert near(made, op.evaluate(*arrays)), str(op)
