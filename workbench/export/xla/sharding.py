"""Traced calls whose arrays lie on several devices: axes that may be cut stay cut, the others are whole on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.experimental.custom_partitioning import ArrayMapping, SdyShardingRule, custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from workbench.export.xla.axes import Axis, separable_axes
from workbench.export.xla.calling import Arrays, Traced
from workbench.export.xla.kernels import Kernels


def partitioned(call: Traced, kernels: Kernels) -> Traced:
    """The call with a rule for arrays that are sharded; without one XLA gathers them."""
    op = kernels.family.op
    axes = separable_axes(op)
    if not axes:
        return call
    operands, outputs = kernels.operands, op.outputs

    def plain(*arrays: jax.Array) -> Arrays:
        return call(*arrays)

    function: Any = custom_partitioning(plain)

    def partition(mesh: Any, given: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
        places = [*zip(operands, given, strict=True), *zip(outputs, results, strict=True)]
        cuts = _cuts(axes, places)
        own = {name: _sharding(mesh, op.tensors[name].rank, name, axes, cuts) for name, _ in places}
        return mesh, call, tuple(own[n] for n in outputs), tuple(own[n] for n in operands)

    function.def_partition(partition, sharding_rule=_rule(kernels, axes))
    return function


def _rule(kernels: Kernels, axes: list[Axis]) -> SdyShardingRule:
    """Dimensions with a name in common are cut alike; one that is not of an axis is named alone, and never cut."""
    op, whole = kernels.family.op, []

    def factor(name: str, dimension: int) -> str:
        for number, axis in enumerate(axes):
            if axis.get(name) == dimension:
                return f"axis{number}"
        whole.append(f"whole{len(whole)}")
        return whole[-1]

    def mapping(name: str) -> ArrayMapping:
        return ArrayMapping(*(factor(name, d) for d in range(op.tensors[name].rank)))

    operands, results = tuple(map(mapping, kernels.operands)), tuple(map(mapping, op.outputs))
    return SdyShardingRule(operands, results, need_replication_factors=tuple(whole))


def _cuts(axes: list[Axis], places: list[tuple[str, Any]]) -> list[Any]:
    """For each axis the axes of the mesh along which its first array with a cut has it; None for none."""
    found: list[Any] = []
    for axis in axes:
        specs = [_cut(value, axis[name]) for name, value in reversed(places) if name in axis]
        found.append(next((s for s in specs if s is not None and s not in found), None))
    return found


def _cut(value: Any, dimension: int) -> Any:
    """How a dimension is cut, where the parts are of one length."""
    sharding = value.sharding
    if not isinstance(sharding, NamedSharding) or dimension >= len(sharding.spec):
        return None
    names = sharding.spec[dimension]
    if names is None:
        return None
    parts = 1
    for name in (names,) if isinstance(names, str) else names:
        parts *= sharding.mesh.shape[name]
    return None if value.shape[dimension] % parts else names


def _sharding(mesh: Any, rank: int, name: str, axes: list[Axis], cuts: list[Any]) -> NamedSharding:
    spec: list[Any] = [None] * rank
    for axis, cut in zip(axes, cuts, strict=True):
        if name in axis:
            spec[axis[name]] = cut
    return NamedSharding(mesh, PartitionSpec(*spec))
