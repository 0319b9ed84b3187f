"""What a statement leaves in a tensor: a new tensor, or some cells of the old one replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.errors import CodegenError
from workbench.export.ort.body.contractions import contraction
from workbench.export.ort.body.domains import Domain
from workbench.export.ort.body.elementwise import Named
from workbench.export.ort.body.values import Cells, Values
from workbench.lang.algebra.identities import neutral
from workbench.lang.algebra.normal_form import growth
from workbench.lang.dtypes import BOOL, INT64, UINT64, DType
from workbench.lang.expr import Expr, Index, Read, index_names
from workbench.lang.operator import Operator, Statement, Target

_SCATTERED = {"+": "add", "*": "mul", "min": "min", "max": "max"}
AS_BITS = {"+": "max", "*": "min"}  # of bool, as whole numbers
_REDUCED = {"+": "ReduceSum", "*": "ReduceProd", "min": "ReduceMin", "max": "ReduceMax"}


def apart(op: Operator, target: Target, axes: Sequence[str]) -> list[str]:
    """The axes of which two values might write the same cell: by none of the subscripts they are told apart."""
    found = list(axes)
    for subscript in target.subscripts:
        own = index_names(subscript) & set(axes)
        if len(own) == 1 and _told_apart(op, subscript, next(iter(own))):
            found = [axis for axis in found if axis not in own]
    return found


def _told_apart(op: Operator, subscript: Expr, axis: str) -> bool:
    if isinstance(subscript, Read):
        promised = any(p.kind == "injective" and p.tensor == subscript.tensor for p in op.promises)
        return promised and subscript.subscripts == (Index(axis),)
    return growth(subscript, axis) not in (None, 0)


def covers(values: Values, target: Target, cells: Cells) -> bool:
    """Whether the box of the axes is the whole tensor."""
    own = [values.covered(cells, d, s) for d, s in enumerate(target.subscripts)]
    return None not in own and len(set(own)) == len(own)


def replaced(domain: Domain, target: Target, cells: Cells, value: Named) -> str:
    """The tensor with the values of the instances in their cells; two never write the same."""
    values, mask = domain.values, domain.mask
    value = values.write.rounded(value, cells.dtype)
    if not covers(values, target, cells):
        return _scattered(domain, target, cells, value, "none", ())
    if mask is not None:
        value = values.write.select(mask, value, values.cells(cells, target.subscripts, guarded=False))
    order = [s.name for s in target.subscripts if isinstance(s, Index)]
    axes = _in_order(values, order)
    return values.arranged(Named(values.expanded(value, axes), axes, value.dtype), order).name


def accumulated(
    domain: Domain, target: Target, cells: Cells, value: Named, reduction: str, axes: Sequence[str]
) -> str:
    """The tensor with a value for each point of some axes combined into its cells, several into one where they meet."""
    write = domain.values.write
    if cells.dtype == UINT64 and reduction in ("min", "max"):
        raise CodegenError(f"{reduction} of uint64 into computed cells: ONNX Runtime has no operator for it")
    if cells.dtype == BOOL:  # of which ONNX has no sums
        wide = replace(cells, dtype=INT64, name=write.as_type(Named(cells.name, (), BOOL), INT64).name)
        how = AS_BITS.get(reduction, reduction)
        found = accumulated(domain, target, wide, write.as_type(value, INT64), how, axes)
        return write.as_type(Named(found, (), INT64), BOOL).name
    found = _scattered(domain, target, cells, value, _SCATTERED[reduction], axes)
    return write.rounded(Named(found, (), value.dtype), cells.dtype).name


def _scattered(
    domain: Domain, target: Target, cells: Cells, value: Named, reduction: str, every: Sequence[str]
) -> str:
    values, graph, mask = domain.values, domain.values.graph, domain.mask
    places = [values.position(cells, d, s, guarded=mask is not None) for d, s in enumerate(target.subscripts)]
    used = {a for part in (*places, value, *([mask] if mask else [])) for a in part.axes}
    axes = _in_order(values, [*used, *every])
    name = cells.name if places else graph("Unsqueeze", cells.name, graph.constant([0]))
    table, _ = values.stacked(places or [values.write.constant(0, INT64)], axes)
    table = graph("Reshape", table, graph.constant([-1, max(1, len(places))]))
    row = graph("Reshape", values.expanded(value, axes), graph.constant([-1]))
    if mask is not None:
        kept = graph("Reshape", values.expanded(mask, axes), graph.constant([-1]))
        table, row = graph("Compress", table, kept, axis=0), graph("Compress", row, kept, axis=0)
    found = graph("ScatterND", name, table, row, reduction=reduction)
    return found if places else graph("Squeeze", found, graph.constant([0]))


def _in_order(values: Values, axes: Sequence[str]) -> tuple[str, ...]:
    return tuple(a for a in values.order if a in axes)


# -- before the first write


def one_number_tensor(values: Values, cells: Cells, number: Named) -> str:
    """A tensor of one number."""
    extents = [values.extent(cells, d).name for d in range(len(cells.extent))]
    return values.graph("Expand", number.name, values.shape(extents))


def identity(statement: Statement, dtype: DType) -> int | float | bool:
    """What a reduction starts from."""
    return neutral(str(statement.reduction), dtype)


# -- reductions along axes


def reduced(values: Values, value: Named, axes: Sequence[str], reduction: str, dtype: DType) -> Named:
    """The value combined along some axes; along one that it lacks it is repeated."""
    write = values.write
    if not axes:
        return value
    if value.dtype == BOOL:
        found = reduced(values, write.as_type(value, INT64), axes, AS_BITS.get(reduction, reduction), INT64)
        return write.as_type(found, BOOL)
    if dtype == UINT64 and reduction in ("min", "max"):
        return write.biased(reduced(values, write.biased(value), axes, reduction, INT64))
    every = _in_order(values, [*value.axes, *axes])
    kept = tuple(a for a in every if a not in axes)
    name = values.expanded(value, every)
    if value.dtype == INT64 and reduction == "+":  # whose own reduction rounds
        ones = values.graph("Expand", values.graph.constant(1), values.lengths(_in_order(values, axes)))
        return contraction(values, [Named(name, every, INT64), Named(ones, _in_order(values, axes), INT64)], kept)
    places = values.graph.constant([every.index(a) for a in axes])
    return Named(values.graph(_REDUCED[reduction], name, places, keepdims=0), kept, value.dtype)
