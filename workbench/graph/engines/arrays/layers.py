"""Layers: which calls are products of matrices, or layers that libraries have a function for.

A product is shown by its statement; a layer has the definition that the importers write for it, up to renaming.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from workbench.errors import EngineError
from workbench.graph.building import Builder
from workbench.graph.engines.arrays.lowering import sizes_of
from workbench.graph.engines.arrays.windows import MOST_CELLS, lengths_of
from workbench.graph.engines.same_definition import definition_key
from workbench.graph.engines.sites import Site
from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import GELU, elementwise
from workbench.graph.importing.written.normalisations import last_axes, normalised
from workbench.graph.importing.written.reductions import softmax
from workbench.graph.terms.dimensions import dimension
from workbench.graph.terms.nodes import Call, Primitive
from workbench.lang.dtypes import DTYPES, DType
from workbench.lang.expr import Index, Read
from workbench.lang.operator import Operator, Statement
from workbench.lang.oracle.contractions import factors
from workbench.lang.oracle.exact import exact, is_exact
from workbench.records import record

EPSILONS = (1e-5, 1e-6, 1e-12)
"""What layer normalisations of published networks add to the variance."""
MOST_AXES = 5


@record
class Layer:
    """A layer: `relu`, `gelu`, `gelu tanh`, `softmax`, `log_softmax` (along the last axis), or `layer_norm` over it.

    The arguments of a layer norm are the array, scale and bias.
    """

    kind: str
    epsilon: float = 0.0


LAYERS = (
    *map(Layer, ("relu", "gelu", "gelu tanh", "softmax", "log_softmax")),
    *(Layer("layer_norm", epsilon) for epsilon in EPSILONS),
)


@record
class Product:
    """A product of matrices (..., M, K) and (..., K, N): the places of both arguments, and how their axes get there.

    Either all axes before the last two are shared, or the second has two alone.
    """

    operands: tuple[int, int]
    orders: tuple[tuple[int, ...], tuple[int, ...]]


def layer_of(site: Site) -> Layer | None:
    """The layer that a call is, if it has the definition of one."""
    if len(site.dtypes) != 1 or site.dtypes[0] not in ("float32", "float64") or not site.arguments:
        return None
    rank = len(site.arguments[0].shape)
    known = _known(rank, site.dtypes[0]) if 1 <= rank <= MOST_AXES else {}
    return known.get(definition_key(site.operator))


@cache
def _known(rank: int, element: str) -> dict[str, Layer]:
    """Key of a definition → the layer, for arrays with so many axes."""
    return {definition_key(_written(layer, rank, DTYPES[element])): layer for layer in LAYERS}


def _written(layer: Layer, rank: int, dtype: DType) -> Operator:
    """The definition of a layer, as the importers write it."""
    g = Emitter(Builder())
    x = g.parameter("x", dtype, tuple(dimension(f"n{at}") for at in range(rank)))
    call = layer_value(g, layer, x).term
    assert isinstance(call, Call)
    assert isinstance(call.function, Primitive)
    return call.function.operator


def layer_value(g: Emitter, layer: Layer, x: Value) -> Value:
    """What a layer makes of an array, in the words of the importers."""
    match layer.kind:
        case "relu":
            return elementwise(g, "relu", "max(a, 0)", x)
        case "gelu":
            return elementwise(g, "gelu", GELU["none"], x)
        case "gelu tanh":
            return elementwise(g, "gelu", GELU["tanh"], x)
        case "layer_norm":
            scale, bias = (last_axes(g.parameter(name, x.element, x.dims[-1:]), x) for name in ("scale", "bias"))
            return normalised(g, "layer_norm", x, [x.rank - 1], layer.epsilon, scale=scale, bias=bias)
        case _:
            return softmax(g, x, -1, logarithm=layer.kind == "log_softmax")


def is_reshape(site: Site) -> bool:
    """Whether a call of known shapes gives the elements of its argument in the order in which they stand."""
    op = site.operator
    (first, *others), statement = op.body, next(op.statements())
    plain = first is statement and statement.reduction is None and statement.condition is None
    if others or op.promises or not plain or len(site.arguments) != 1:
        return False
    if not isinstance(read := statement.values[0], Read):
        return False
    given, made = (tuple(map(int, each.shape)) for each in (site.arguments[0], site.results[0]))
    target = _indices(statement.targets[0].subscripts)
    if target is None or not 0 < prod(given) == prod(made) <= MOST_CELLS or not all(map(is_exact, read.subscripts)):
        return False
    try:
        sizes = sizes_of(site)
        lengths = lengths_of(statement, sizes)
    except EngineError:
        return False
    walked = dict(zip(target, made, strict=True))
    return tuple(map(lengths.get, target)) == made and _reads_in_order(read, sizes, walked, given)


def _reads_in_order(read: Read, sizes: dict[str, int], lengths: dict[str, int], shape: tuple[int, ...]) -> bool:
    """Whether a read walks through an array of this shape as its indices walk."""
    grid = dict(zip(lengths, np.ix_(*(np.arange(n) for n in lengths.values())), strict=True))
    place: Any = 0
    for subscript, extent in zip(read.subscripts, shape, strict=True):
        at = exact(subscript, {**sizes, **grid})
        if np.min(at) < 0 or np.max(at) >= extent:
            return False
        place = place * extent + at
    return bool((np.broadcast_to(place, tuple(lengths.values())).reshape(-1) == np.arange(prod(shape))).all())


def product_of(site: Site) -> Product | None:
    """A call as a product of matrices; None if its definition is another, or its axes stand in no such order."""
    op = site.operator
    (statement, *others) = op.body
    if others or op.promises or not isinstance(statement, Statement) or statement.reduction != "+":
        return None
    parts, target = factors(statement), statement.targets[0]
    plain = statement.initialise and statement.condition is None and not any(e.bounding for e in statement.ranges)
    if parts is None or len(parts) != 2 or not plain or target.tensor != op.outputs[0]:
        return None
    result = _indices(target.subscripts)
    for a, b in (parts, parts[::-1]):
        if isinstance(a, Read) and isinstance(b, Read) and result:
            found = _ordered(site, result, a, b)
            if found is not None and _is_whole(site, statement, (a, b)):
                return found
    return None


def _indices(subscripts: Sequence[object]) -> tuple[str, ...] | None:
    """The names of plain indices, each once; None for anything else."""
    names = tuple(each.name for each in subscripts if isinstance(each, Index))
    return names if len(set(names)) == len(subscripts) else None


def _ordered(site: Site, result: tuple[str, ...], a: Read, b: Read) -> Product | None:
    """The product if the axes of the result are shared ones, those of `a`, and one of `b`."""
    left, right, names = _indices(a.subscripts), _indices(b.subscripts), inputs_of(site.operator)
    if left is None or right is None or a.tensor not in names or b.tensor not in names:
        return None
    shared = [each for each in result if each in left and each in right]
    rows, columns = [e for e in left if e in result and e not in right], [e for e in right if e not in left]
    summed = [each for each in left if each in right and each not in result]
    rows.sort(key=result.index)
    if len(columns) != 1 or len(summed) != 1 or not rows or (shared and len(rows) > 1):
        return None
    if (*shared, *rows, *columns) != result or len(left) != len(shared) + len(rows) + 1:
        return None
    orders = (tuple(map(left.index, (*shared, *rows, *summed))), tuple(map(right.index, (*shared, *summed, *columns))))
    return Product((names.index(a.tensor), names.index(b.tensor)), orders)


def _is_whole(site: Site, statement: Statement, both: tuple[Read, Read]) -> bool:
    """Whether every index runs along whole axes of what is read and written."""
    try:
        lengths = lengths_of(statement, sizes_of(site))
    except EngineError:
        return False
    shapes = {name: each.shape for name, each in zip(inputs_of(site.operator), site.arguments, strict=False)}
    places = [(each.subscripts, shapes[each.tensor]) for each in both]
    places.append((statement.targets[0].subscripts, site.results[0].shape))
    return all(
        isinstance(s, Index) and lengths.get(s.name) == n
        for subscripts, shape in places for s, n in zip(subscripts, shape, strict=True)
    )  # fmt: skip
