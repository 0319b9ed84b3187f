"""Relay's class of an operator, read off its definition: nobody writes it down.

The classes are those of Relay's `TOpPattern` (Roesch et al. 2019), ordered by how hard they are to fuse.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Unary, index_names, reads
from workbench.lang.operator import For, Operator, Statement


class OpPattern(IntEnum):
    """How the cells of the results depend on those of the arguments."""

    ELEMENTWISE = 0
    """Each on the same cell of every argument."""
    BROADCAST = 1
    """The same, and some arguments have fewer axes."""
    INJECTIVE = 2
    """On cells that are found by moving, one for one: a transposition, a slice, a gather."""
    REDUCTION = 3
    """On whole axes, which the result no longer has."""
    OUT_FUSABLE = 4
    """On many, in a way of its own (products, windows, rows that are normalised); the like of 0 may follow it."""
    OPAQUE = 8
    """In no way that is known."""


@lru_cache(maxsize=1024)
def op_pattern(op: Operator) -> OpPattern:
    """The class of an operator.

    >>> from workbench.ops.catalogue import load
    >>> [op_pattern(load(name)).name for name in ("bias_relu", "softmax", "matmul")]
    ['BROADCAST', 'OUT_FUSABLE', 'OUT_FUSABLE']
    """
    if _is_opaque(op):
        return OpPattern.OPAQUE
    statements = list(op.statements())
    sums = [s for s in statements if s.reduction is not None]
    plain = max((_moves(s) for s in statements if s.reduction is None), default=OpPattern.ELEMENTWISE)
    if not sums:
        return plain
    products = [s for s in sums if is_product(s)]
    if len(op.outputs) > 1 or len(products) > 1 or (products and len(sums) > 1):
        return OpPattern.REDUCTION if not products and _is_reduced(op, sums) else OpPattern.OPAQUE
    if not products and _is_reduced(op, sums) and not any(map(_is_windowed, sums)):
        return OpPattern.REDUCTION
    return OpPattern.OUT_FUSABLE if plain <= OpPattern.INJECTIVE else OpPattern.OPAQUE


def is_product(statement: Statement) -> bool:
    """Whether it sums up products of cells of different tensors, one of which is needed for several results.

    So it is for matrix products and convolutions, also depthwise ones, and not for a weighted mean.
    """
    if statement.reduction != "+" or len(statement.values) != 1:
        return False
    summed, every = set(statement.indices("reduction")), set(statement.indices("free", "reduction"))
    factors = [f for f in _factors(statement.values[0]) if any(reads(f)) and index_names(f) & summed]
    tensors = [{r.tensor for r in reads(f)} for f in factors]
    return len(factors) > 1 and tensors[0] != tensors[-1] and any(every - index_names(f) for f in factors)


def _factors(value: Expr) -> list[Expr]:
    match value:
        case Binary("*", left, right, _):
            return [*_factors(left), *_factors(right)]
        case Cast(operand, _) | Unary("-", operand, _):
            return _factors(operand)
        case _:
            return [value]


def _is_opaque(op: Operator) -> bool:
    """Recurrences, scatters, and what accumulates into an argument."""
    if op.language != "operator" or any(isinstance(step, For) for step in op.body):
        return True
    if any(op.tensors[name].role == "inout" for name in op.outputs):
        return True
    return any(_scatters(s) or _reads_other_cells(s) for s in op.statements())


def _scatters(statement: Statement) -> bool:
    return any(any(reads(*target.subscripts)) for target in statement.targets)


def _reads_other_cells(statement: Statement) -> bool:
    """Whether it reads what it writes, but for the very cell."""
    own = {target.tensor: target.subscripts for target in statement.targets}
    return any(r.tensor in own and r.subscripts != own[r.tensor] for r in reads(*statement.values))


def _moves(statement: Statement) -> OpPattern:
    """The class of a statement that sums up nothing, by what it reads."""
    target = statement.targets[0].subscripts
    if not all(isinstance(s, Index) for s in target):
        return OpPattern.INJECTIVE
    return max((_moved(r, target) for r in reads(*statement.values)), default=OpPattern.ELEMENTWISE)


def _moved(read: Read, target: tuple[Expr, ...]) -> OpPattern:
    if read.subscripts == target:
        return OpPattern.ELEMENTWISE
    places = [target.index(s) for s in read.subscripts if s in target]
    others = [s for s in read.subscripts if s not in target]
    in_order = all(a < b for a, b in pairwise(places))
    if in_order and all(isinstance(s, Const) and fold(s, {}) == 0 for s in others):
        return OpPattern.BROADCAST
    return OpPattern.INJECTIVE


def _is_reduced(op: Operator, sums: list[Statement]) -> bool:
    """Whether no result has more axes than what is summed up into."""
    ranks = [len(s.targets[0].subscripts) for s in sums]
    return all(op.tensors[name].rank <= min(ranks) for name in op.outputs)


def _is_windowed(statement: Statement) -> bool:
    """Whether cells near to one another are summed up: a subscript has a free index and a reduced one."""
    free, summed = set(statement.indices("free")), set(statement.indices("reduction"))
    subscripts = (s for r in reads(*statement.values) for s in r.subscripts)
    return any(index_names(s) & free and index_names(s) & summed for s in subscripts)

