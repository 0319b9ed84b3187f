"""Five networks: groups of both rules side by side, each equal to the interpreter, each kernel right."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.fusion.networks import NETWORKS, arrays_of, network
from workbench.graph import fused, side_by_side
from workbench.graph.fusion.call_graph import call_graphs, operator_of
from workbench.graph.terms.nodes import Constant
from workbench.graph.typing.signatures import signature


@pytest.mark.parametrize("name", NETWORKS)
def test_groups_side_by_side(name, golden):
    first = network(name)
    results = [fused(first, rule=rule) for rule in ("relay", "legality")]
    golden("\n\n".join([side_by_side(results), *map(str, results)]) + "\n")


@pytest.mark.parametrize("rule", ["relay", "legality"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_fused_network_computes_the_same(name, rule):
    first = network(name)
    arrays = arrays_of(first, {"n": 5, "t": 9})
    found, expected = fused(first, rule=rule).model.evaluate(*arrays), first.evaluate(*arrays)
    for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_its_kernels_compute_the_same(name):
    first = network(name)
    arrays = arrays_of(first, {"n": 5, "t": 9})
    changed = fused(first).model
    (graph,) = call_graphs(changed.main)
    values = dict(zip(changed.main.parameters, arrays, strict=True))
    for call in graph.calls:
        op = operator_of(call)
        given = [v.array if isinstance(v, Constant) else values[v] for v in graph.arguments[call]]
        parameters = [each.name for each in signature(op).parameters]
        scalars = {name: int(size.constant or 0) for name, size in call.sizes}
        ordered = dict(zip(parameters, given, strict=True)) | scalars
        sizes = op.sizes(*(ordered[name] for name in op.parameters))
        made = wb.build(wb.autoschedule(op, sizes=sizes))(*given)
        for at, array in enumerate(made if isinstance(made, tuple) else (made,)):
            values[call, at] = array
    expected = first.evaluate(*arrays)
    results = expected if isinstance(expected, tuple) else (expected,)
    for result in results:
        alike = [v for v in values.values() if v.shape == result.shape]
        assert any(np.allclose(result, each, rtol=1e-3, atol=1e-4) for each in alike)
