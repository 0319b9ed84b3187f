"""Which instances of a statement may be evaluated together although it reads what it writes.

Instances run in lexicographic order.  Only where a statement reads cells that other instances
write does that matter; `serial_indices` finds the loops that carry such a conflict when subscripts
are an index plus a constant, `conflict_free` decides any other case by enumerating the cells of a block.
"""

from __future__ import annotations

import numpy as np

from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Unary, reads, walk
from workbench.lang.operator import Statement
from workbench.lang.oracle.blocks import Array
from workbench.lang.oracle.values import Cells, Values

Offset = tuple[str, int] | None


def own_reads(statement: Statement) -> list[Read]:
    """Every read, in values and in target subscripts, of a tensor the statement writes."""
    written = {target.tensor for target in statement.targets}
    roots = [*statement.values, *(s for target in statement.targets for s in target.subscripts)]
    # The dict drops nodes that occur several times (inlined lets).
    nodes = {id(node): node for root in roots for node in walk(root)}
    return [node for node in nodes.values() if isinstance(node, Read) and node.tensor in written]


def serial_indices(statement: Statement, reads: list[Read]) -> frozenset[str] | None:
    """Indices to run one value after another, so that the others may run together; None if not uniform.

    A read at a constant distance from the target conflicts along the indices whose distance is not
    zero; the outermost of them carries it, unless it leads to a cell that is assigned later: blocks read before they
    write.  A read of the target's own cell conflicts only with the other contributions to that cell, so the reduction
    indices carry it.
    """
    target = [name_offset(s) for s in statement.targets[0].subscripts]
    names = [t[0] for t in target if t and t[0]]
    if None in target or len(set(names)) < len(names):
        return None
    once = statement.reduction is None and len(statement.targets) == 1 and set(statement.indices("free")) <= set(names)
    serial: set[str] = set()
    for read in reads:
        moved = _moved(target, [name_offset(s) for s in read.subscripts])
        if moved is None:
            return None
        order = [index for index in statement.indices() if index in moved]
        before = once and bool(order) and moved[order[0]] > 0
        if "" not in moved and not before:
            serial.update(order[:1] or statement.indices("reduction"))
    return frozenset(serial)


def _moved(target: list[Offset], read: list[Offset]) -> dict[str, int] | None:
    """How far a read is from the target, by index; "" among them if they never meet."""
    moved = {}
    for write_at, read_at in zip(target, read, strict=True):
        if write_at is None or read_at is None or write_at[0] != read_at[0]:
            return None
        if write_at[1] != read_at[1]:
            moved[write_at[0]] = read_at[1] - write_at[1]
    return moved


def name_offset(subscript: Expr) -> Offset:
    """`(name, c)` of `name + c`, `("", c)` of a constant, else None."""
    match subscript:
        case Index(name, _):
            return name, 0
        case Const(c, _):
            return "", int(c)
        case Cast(operand, _):
            return name_offset(operand)
        case Unary("-", Const(c, _), _):
            return "", -int(c)
        case Binary("+" | "-" as op, left, right, _):
            return _offset_sum(op, name_offset(left), name_offset(right))
        case _:
            return None


def _offset_sum(op: str, a: Offset, b: Offset) -> Offset:
    if a is None or b is None or (b[0] and (a[0] or op == "-")):
        return None
    return a[0] or b[0], a[1] + (b[1] if op == "+" else -b[1])


def conflict_free(values: Values, statement: Statement, reads: list[Read]) -> bool:
    """Whether no instance of the block reads a cell that another instance of the block writes."""
    if any(_addressed_by_own_cells(read, statement) for read in reads):
        return False
    written = {target.tensor for target in statement.targets}
    instances = np.arange(int(np.prod(values.block.shape)))
    for name in written:
        target = next(t for t in statement.targets if t.tensor == name)
        cells = values.memory[name]
        owner = np.full(cells.array.size + 1, -1)
        addresses = _addresses(values, cells, target.subscripts)
        owner[addresses] = instances
        shared = np.bincount(addresses, minlength=owner.size) > 1
        for read in (r for r in reads if r.tensor == name):
            at = _addresses(values, cells, read.subscripts)
            if ((owner[at] >= 0) & ((owner[at] != instances) | shared[at])).any():
                return False
    return True


def _addressed_by_own_cells(read: Read, statement: Statement) -> bool:
    written = {target.tensor for target in statement.targets}
    expressions = [*read.subscripts, *(s for t in statement.targets for s in t.subscripts)]
    return any(read.tensor in written for read in reads(*expressions))


def _addresses(values: Values, cells: Cells, subscripts: tuple[Expr, ...]) -> Array:
    """Linear position of a subscript for every instance; one past the end where it is out of range."""
    shape = values.block.shape
    linear: Array = np.zeros(shape, np.int64)
    inside: Array = np.ones(shape, bool)
    # Guards are ignored: a read that is never made can only ask for more order than needed.
    nowhere = np.zeros((1,) * len(shape), bool)
    for subscript, lower, extent in zip(subscripts, cells.lower, cells.array.shape, strict=True):
        at = values.subscript(subscript, nowhere) - lower
        inside &= (at >= 0) & (at < extent)
        linear = linear * extent + at
    return np.where(inside, linear, cells.array.size).ravel()
