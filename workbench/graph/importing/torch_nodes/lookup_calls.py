"""Gathers and scatters."""

from __future__ import annotations

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import lookups, movement
from workbench.graph.importing.written.elementwise import broadcast, cast, elementwise, expand
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL, INT64

REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add", "multiply": "mul"}


def embedding(call: Call) -> Value:
    """Rows of a table."""
    return lookups.gather(call.g, call.value("weight"), call.value("indices"), 0)


def gather(call: Call) -> Value:
    """Elements where indices say, along an axis."""
    x, at, axis = call.value("self"), call.value("index"), call("dim")
    for other in range(x.rank):
        if other != axis % x.rank and at.dims[other] != x.dims[other]:
            x = movement.sliced(call.g, x, other, dimension(0), at.dims[other], 1)
    return lookups.gather_elements(call.g, x, at, axis)


def index_select(call: Call) -> Value:
    """Slices where indices say, along an axis."""
    return lookups.gather(call.g, call.value("self"), call.value("index"), call("dim"))


def indexed(call: Call) -> Value:
    """Indexing by several tensors; None leaves an axis as it is."""
    x, places = call.value("self"), list(call("indices"))
    if any(place is not None and place.element == BOOL for place in places):
        call.refuse("indexing by truth values: the shape of its result depends on data")
    places += [None] * (x.rank - len(places))
    return lookups.index_many(call.g, x, places)


def index_put(call: Call) -> Value:
    """Elements at places replaced, or added to; by truth values where those choose."""
    g, x, places = call.g, call.value("self"), list(call("indices"))
    values = cast(g, call.value("values"), x.element)
    if len(places) == 1 and places[0] is not None and places[0].element == BOOL:
        mask = movement.reshape(g, places[0], (*places[0].dims, *[dimension(1)] * (x.rank - places[0].rank)))
        if values.rank:
            call.refuse("tensors put where truth values choose: their number depends on data")
        return elementwise(g, "select", "a ? b : c", mask, values, x, element=x.element)
    axes = [at for at, place in enumerate(places) if place is not None]
    given: list[Value] = [place for place in places if place is not None]
    dims = broadcast([place.dims for place in given])
    if axes != list(range(len(axes))):
        return _put_behind(call, x, axes, given, values)
    columns = [movement.reshape(g, expand(g, cast(g, place, INT64), dims), (*dims, dimension(1))) for place in given]
    indices = movement.concatenated(g, columns, len(dims))
    updates = expand(g, values, (*dims, *x.dims[len(given) :]))
    return lookups.scatter_nd(g, x, indices, updates, "add" if call("accumulate", False) else "none")


def _put_behind(call: Call, x: Value, axes: list[int], given: list[Value], values: Value) -> Value:
    """Elements at places along axes that are not the first ones: those are moved to the front, and back."""
    g, dims = call.g, broadcast([place.dims for place in given])
    rest = [at for at in range(x.rank) if at not in axes]
    first = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    before, after = [x.dims[at] for at in rest if at < first], [x.dims[at] for at in rest if at >= first]
    whole = expand(g, values, (*before, *dims, *after))
    inner = range(len(before), len(before) + len(dims))
    fronted = movement.transpose(g, whole, [*inner, *(at for at in range(whole.rank) if at not in inner)])
    order = [*axes, *rest]
    arguments = {**call.arguments, "self": movement.transpose(g, x, order), "indices": given, "values": fronted}
    put = index_put(Call(call.name, call.place, arguments, call.result, g, call.around))
    return movement.transpose(g, put, [order.index(at) for at in range(x.rank)])


def scatter(call: Call) -> Value:
    """Elements put, or added, along an axis."""
    x, at = call.value("self"), call.value("index")
    source = call("src", call("value"))
    updates = source if isinstance(source, Value) else expand(call.g, call.tensor(source, x.element), at.dims)
    for axis in range(updates.rank):
        updates = movement.sliced(call.g, updates, axis, dimension(0), at.dims[axis], 1)
    reduction = "add" if call.name == "scatter_add" else REDUCTIONS[call("reduce")] if call("reduce") else "none"
    if call.name == "scatter_reduce" and not call.arguments.get("include_self", True):
        call.refuse("include_self=False")
    return _scattered(call, x, at, updates, reduction)


def _scattered(call: Call, x: Value, at: Value, updates: Value, reduction: str) -> Value:
    return lookups.scatter_elements(call.g, x, at, updates, call("dim"), reduction)


def index_add(call: Call) -> Value:
    """Slices added at places along an axis."""
    x, at, source, axis = call.value("self"), call.value("index"), call.value("source"), call("dim")
    order = [axis % x.rank, *(each for each in range(x.rank) if each != axis % x.rank)]
    back = [order.index(each) for each in range(x.rank)]
    g = call.g
    column = movement.reshape(g, at, (*at.dims, dimension(1)))
    front, updates = movement.transpose(g, x, order), movement.transpose(g, source, order)
    return movement.transpose(g, lookups.scatter_nd(g, front, column, updates, "add"), back)


def one_hot(call: Call) -> Value:
    """A new axis with 1 at an index and 0 elsewhere."""
    count = call.number("num_classes", -1)
    if count < 0:
        call.refuse("the number of classes depends on data; give num_classes")
    off, on = (call.g.scalar(number, INT64) for number in (0, 1))
    return lookups.one_hot(call.g, call.value("self"), count, off, on, -1)


WRITERS: dict[str, Writer] = {
    "embedding": embedding,
    "gather": gather,
    "index": indexed,
    "index_add": index_add,
    "index_put": index_put,
    "index_select": index_select,
    "one_hot": one_hot,
    "scatter": scatter,
    "scatter_add": scatter,
    "scatter_reduce": scatter,
}
