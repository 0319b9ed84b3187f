"""The schedule that a call of a model begins with: its operator, with the element types and sizes of that call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import WorkbenchError
from workbench.graph.engines.arrays.lowering import sizes_of
from workbench.graph.engines.sites import ArrayType, array_type, site_of
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.fusion.results import FusionResult
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import symbols, value_of
from workbench.graph.terms.nodes import Call, Primitive
from workbench.graph.terms.types import TensorType, Type
from workbench.graph.terms.walking import postorder
from workbench.schedules import Schedule
from workbench.schedules import schedule as scheduled


def schedule_of(call: Call, model: Model, sizes: Mapping[str, int]) -> Schedule:
    """The operator that is called, in the order of its text; named dimensions without a size stay open.

    Raises WorkbenchError where the element types vary, or what the operator needs to have a program is not known.
    """
    types = model.typing.types
    site = site_of(call, types)
    if isinstance(site, str):
        raise WorkbenchError(f"{operator_of(call).name}: {site}")
    arguments = tuple(_with_numbers(types[each], sizes) for each in call.arguments)
    given = {name: value_of(of, sizes) for name, of in call.sizes if symbols(of) <= sizes.keys()}
    if len(given) == len(call.sizes) and all(each is not None and each.is_concrete for each in arguments):
        known = replace(site, arguments=arguments, sizes=given)
        return scheduled(site.operator, sizes_of(known))
    return scheduled(site.operator, given)


def _with_numbers(of: Type, sizes: Mapping[str, int]) -> ArrayType | None:
    found = array_type(of)
    if found is None or not isinstance(of, TensorType):
        return None
    pairs = zip(of.dims, found.shape, strict=True)
    return ArrayType(
        found.dtype, tuple(value_of(dim, sizes) if symbols(dim) <= sizes.keys() else word for dim, word in pairs)
    )


def kernel_of(call: Call, result: FusionResult) -> tuple[Call, Model]:
    """The call that stands for a call before fusion, and the model it is in; the call itself if it is alone."""
    group = next((each for each in result.groups if call in each.calls), None)
    if group is None:
        return call, result.original
    for node in postorder(*result.model.functions.values()):
        if isinstance(node, Call) and isinstance(node.function, Primitive) and node.function.operator == group.operator:
            return node, result.model
    return call, result.original
