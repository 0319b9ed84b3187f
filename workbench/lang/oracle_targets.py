"""Where a statement writes: its target cells as a writable view over a block of instances."""

from __future__ import annotations

from numpy.lib.stride_tricks import as_strided

from workbench.lang.operator import Target
from workbench.lang.oracle_affine import affine
from workbench.lang.oracle_blocks import Array, Block
from workbench.lang.oracle_values import Cells


def target_view(cells: Cells, target: Target, block: Block) -> Array | None:
    """A writable view of the target cells, one axis per index of the block (length 1 for the others).

    None unless every dimension is `a * index + constant` of a different index (a > 0) inside the tensor
    and all free indices of the block occur.
    """
    slices, order = [], []
    for subscript, lower, extent in zip(target.subscripts, cells.lower, cells.array.shape, strict=True):
        form = affine(subscript, block)
        if form is None or len(form[1]) > 1:
            return None
        (name, step), *_ = [*form[1].items(), ("", 1)]
        start = form[0] - lower + (step * block.starts[name] if name else 0)
        stop = start + step * (block.lengths[name] - 1 if name else 0) + 1
        if step < 1 or start < 0 or stop > extent:
            return None
        slices.append(slice(start, stop, step))
        order.append(name)
    return _arranged(cells.array[(*slices, ...)], order, block)


def _arranged(view: Array, order: list[str], block: Block) -> Array | None:
    """Axes in the order of the block's indices: dimensions without one dropped, missing ones of length 1."""
    used = [name for name in order if name]
    free = {r.index for r in block.ranges if r.kind == "free" and block.lengths[r.index] > 1}
    if len(set(used)) < len(used) or free != set(used):
        return None
    axes = [order.index(name) for name in block.names if name in used]
    rest = [axis for axis, name in enumerate(order) if not name]
    moved = view.transpose(axes + rest)
    strides = dict(zip((n for n in block.names if n in used), moved.strides, strict=False))
    return as_strided(
        moved,
        tuple(block.lengths[n] if n in used else 1 for n in block.names),
        tuple(strides.get(n, 0) for n in block.names),
    )
